"""The fields that a Markdown note may begin with: the plain part of YAML that notes use."""

from __future__ import annotations

import re
from typing import Any, Final

from recollect.imports.shapes import is_list, list_of

_FIELD: Final = re.compile(r"([A-Za-z_][\w-]*)\s*:(?:\s+(.*))?$")
_ITEM: Final = re.compile(r"\s*-\s+(.*)$")
_NUMBER: Final = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)")
_FENCE: Final = "---"
_WORDS: Final = {"true": True, "false": False, "null": None, "~": None}


def split(text: str) -> tuple[dict[str, Any], str]:
    r"""(the fields, the rest); a text without such a block has no fields.

    >>> split("---\ntitle: A note\ntags: [x, 'y z']\n---\nIt says this.")
    ({'title': 'A note', 'tags': ['x', 'y z']}, 'It says this.')
    >>> split("---\njust a line\n")
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
    last = ""
    for line in lines:
        field, item = _FIELD.match(line), _ITEM.match(line)
        if field:
            last = field[1]
            out[last] = _value((field[2] or "").strip())
        elif item and last and (is_list(out[last]) or out[last] in (None, "")):
            out[last] = [*list_of(out[last]), _value(item[1].strip())]
    return out


def _value(text: str) -> Any:
    if text.startswith("[") and text.endswith("]"):
        parts = re.findall(r"\"[^\"]*\"|'[^']*'|[^,]+", text[1:-1])
        return [_value(part.strip()) for part in parts if part.strip()]
    if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'":
        return text[1:-1]
    plain = text.split(" #", 1)[0].rstrip()
    if plain.lower() in _WORDS:
        return _WORDS[plain.lower()]
    if _NUMBER.fullmatch(plain):
        return float(plain) if "." in plain else int(plain)
    return plain


def listed(value: object) -> list[str]:
    """Tags, however they are written: a list, or words with commas between."""
    if isinstance(value, str):
        value = value.split(",")
    if not is_list(value):
        return []
    words = (str(one).strip().removeprefix("#") for one in value if one is not None)
    return [word for word in words if word]
