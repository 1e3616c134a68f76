"""Edits of a TOML text that leave every other character as it is: a table is added or removed."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast


def with_table(text: str | None, path: Sequence[str], values: Mapping[str, Any]) -> str:
    r"""The text with a table at its end; None is a text that does not exist yet.

    >>> with_table("a = 1", ["b", "c"], {"d": "e"})
    'a = 1\n[b.c]\nd = "e"\n'
    """
    end = "\r\n" if "\r\n" in (text or "") else "\n"
    # A JSON string and a list of JSON strings are TOML too.
    lines = [f"[{'.'.join(path)}]", *(f"{key} = {json.dumps(of)}" for key, of in values.items())]
    table = "".join(line + end for line in lines)
    return table if text is None else text + end + table


def without_table(text: str, path: Sequence[str]) -> str | None:
    r"""The text without a table, those below it, and the line break that was put before it.

    Comments behind its last value stay. None if nothing is left but what `with_table` made.

    >>> without_table('a = 1\n\n[b.c]\nd = "e"\n\n# f\n  [g]\n', ["b", "c"])
    'a = 1\n\n# f\n  [g]\n'
    """
    made = False
    for start, end in reversed(list(_tables(text, path))):
        before, after = text[:start], text[end:]
        line_break = "\r\n" if before.endswith("\r\n") else "\n"
        blank = before == line_break or before.endswith(line_break * 2)
        made = not before
        if before.endswith(line_break) and (blank or not after):
            before = before.removesuffix(line_break)
        text = before + after
    return None if made and not text else text


def _tables(text: str, path: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Where the table and those below it begin, and where their last values end."""
    own: tuple[int, int] | None = None
    for start, end in _statements(text):
        statement = text[start:end]
        values = tomllib.loads(statement)
        if statement.lstrip(" \t").startswith("["):
            if own is not None:
                yield own
            own = (start, end) if _has(values, path) else None
        elif own is not None and values:
            own = own[0], end
    if own is not None:
        yield own


def _statements(text: str) -> Iterator[tuple[int, int]]:
    """Where each statement of a valid text begins and ends: the fewest lines that are TOML.

    A string or a list of several lines is not TOML before its last line.
    """
    start = end = 0
    for line in re.findall(r"[^\n]*\n|[^\n]+", text):
        end += len(line)
        if _is_toml(text[start:end]):
            yield start, end
            start = end


def _is_toml(text: str) -> bool:
    try:
        tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return False
    return True


def _has(values: Any, path: Sequence[str]) -> bool:
    for key in path:
        if not isinstance(values, dict) or key not in values:
            return False
        values = cast("dict[str, Any]", values)[key]
    return True
