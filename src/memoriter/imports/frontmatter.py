"""Parses the front matter of Markdown notes: the simple subset of YAML that notes use.

Written by hand so that no YAML library is needed.
"""

from __future__ import annotations

import re
from typing import Any, Final

from memoriter.imports.source import is_list, list_or_empty

_FIELD: Final = re.compile(r"([A-Za-z_][\w-]*)\s*:(?:\s+(.*))?$")
_ITEM: Final = re.compile(r"\s*-\s+(.*)$")
_BLOCK: Final = re.compile(r"[|>][-+]?")
_NUMBER: Final = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)")
_FENCE: Final = "---"
_WORDS: Final = {"true": True, "false": False, "null": None, "~": None}


def split_frontmatter(text: str) -> tuple[dict[str, Any], str]:
    r"""(fields, text after the front matter); a text without front matter has no fields.

    >>> split_frontmatter("---\ntitle: A note\ntags: [x, 'y z']\n---\nIt says this.")
    ({'title': 'A note', 'tags': ['x', 'y z']}, 'It says this.')
    >>> split_frontmatter("---\nabout: >-\n  over two\n  lines\nmore:\n  a: 1\n  b: 2\n---\n")[0]
    {'about': 'over two lines', 'more': 'a: 1\nb: 2'}
    >>> split_frontmatter("---\njust a line\n")
    ({}, '---\njust a line\n')
    """
    lines = text.splitlines()
    if not lines or lines[0].rstrip() != _FENCE:
        return {}, text
    ends = [at for at, line in enumerate(lines[1:], 1) if line.rstrip() in (_FENCE, "...")]
    if not ends:
        return {}, text
    return _fields(lines[1 : ends[0]]), "\n".join(lines[ends[0] + 1 :])


def _fields(lines: list[str]) -> dict[str, Any]:
    out: dict[str, Any] = {}
    last, between = "", " "  # the field that may go on, and what joins its lines
    for line in lines:
        field, item = _FIELD.match(line), _ITEM.match(line)
        if field:
            last, text = field[1], (field[2] or "").strip()
            between = "\n" if text[:1] == "|" or not text else " "
            out[last] = "" if _BLOCK.fullmatch(text) else _value(text)
        elif item and last and (is_list(out[last]) or out[last] in (None, "")):
            out[last] = [*list_or_empty(out[last]), _value(item[1].strip())]
        elif last and line.strip() and not line.lstrip().startswith("#"):
            out[last] = _longer(out[last], line.strip(), between)
    return out


def _longer(value: Any, line: str, between: str) -> Any:
    """A value continued by another line."""
    if is_list(value):
        return [*value[:-1], f"{value[-1]} {line}"] if value else [line]
    return line if value in (None, "") else f"{value}{between}{line}"


def _value(text: str) -> Any:
    if text.startswith("[") and text.endswith("]"):
        parts = re.findall(r"\"[^\"]*\"|'[^']*'|[^,]+", text[1:-1])
        return [_value(part.strip()) for part in parts if part.strip()]
    if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'":
        return text[1:-1]
    plain = text.split(" #", 1)[0].rstrip()  # a comment
    if plain.lower() in _WORDS:
        return _WORDS[plain.lower()]
    if _NUMBER.fullmatch(plain):
        return float(plain) if "." in plain else int(plain)
    return plain


def string_list(value: object) -> list[str]:
    """A list of texts, from a list or from comma-separated text; a leading `#` is dropped."""
    if isinstance(value, str):
        value = value.split(",")
    if not is_list(value):
        return []
    words = (str(one).strip().removeprefix("#") for one in value if one is not None)
    return [word for word in words if word]
