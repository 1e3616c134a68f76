"""Edits of a JSON text that leave every other character as it is.

What is added can be taken out again to the same text. An object or list that was empty is filled
directly behind its bracket; one that is made here has a line break there. So a container that is
empty after a removal is removed too if it was made here, and stays if it was there before.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

_SPACE: Final = re.compile(r"[ \t\r\n]*")
_DECODER: Final = json.JSONDecoder()


class _Part(NamedTuple):
    """A member of an object, or an item of a list: where it, its value and both end."""

    step: str | int
    """Its key, or its place in the list."""
    start: int
    value: int
    end: int


def value_added(text: str | None, path: Sequence[str], value: Any) -> str:
    """The text with a value at a path of keys; items of a list come behind those that are there.

    None is a text that does not exist yet.

    >>> value_added('{"a": 1.10}', ["b"], 2)
    '{"a": 1.10, "b": 2}'
    >>> value_added('{"a": [1]}', ["a"], [2, 3])
    '{"a": [1, 2, 3]}'
    """
    if text is None or not text.strip():
        dumped = _dumped(_nested(path, value), text or "", "")
        return f"{dumped}\n" if text is None else f"{text}{dumped}"
    at = _skip(text, 0)
    for depth, key in enumerate(path):
        part = _part(text, at, key)
        if part is None:
            inner = _nested(path[depth + 1 :], value)
            return _appended(text, at, f"{json.dumps(key, ensure_ascii=False)}: ", inner)
        at = part.value
    for item in value:
        text = _appended(text, at, "", item)
    return text


def value_replaced(text: str, path: Sequence[str], value: Any) -> str:
    """The text with another value at a path that it has.

    >>> value_replaced('{"a": {"b" : 1}}', ["a", "b"], 2)
    '{"a": {"b" : 2}}'
    """
    part = _walk(text, path)[-1][2]
    return (
        text[: part.value] + _dumped(value, text, _indent_at(text, part.start)) + text[part.end :]
    )


def value_removed(text: str, path: Sequence[str | int]) -> str | None:
    """The text without what is at a path; None if it was made here and nothing is left of it.

    >>> value_removed('{"a": 1.10, "b": 2}', ["b"])
    '{"a": 1.10}'
    """
    for at, parts, part in reversed(_walk(text, path)):
        if len(parts) > 1 or "\n" not in text[at + 1 : part.start]:
            return _cut(text, parts, part)
    start = _skip(text, 0)
    end = _DECODER.raw_decode(text, start)[1]
    rest = text[:start], text[end:]
    return None if rest in (("", "\n"), ("", "\r\n")) else "".join(rest)


def _cut(text: str, parts: Sequence[_Part], part: _Part) -> str:
    """The text without a part, and without the comma that it needed."""
    place = parts.index(part)
    if place > 0:
        return text[: parts[place - 1].end] + text[part.end :]
    end = parts[1].start if len(parts) > 1 else part.end
    return text[: part.start] + text[end:]


def _walk(text: str, path: Sequence[str | int]) -> list[tuple[int, list[_Part], _Part]]:
    """For each step of a path: where its container begins, the parts of this, and its part."""
    at, steps = _skip(text, 0), list[tuple[int, list[_Part], _Part]]()
    for step in path:
        parts = _parts(text, at)
        part = next(each for each in parts if each.step == step)
        steps.append((at, parts, part))
        at = part.value
    return steps


def _part(text: str, at: int, key: str) -> _Part | None:
    return next((each for each in _parts(text, at) if each.step == key), None)


def _parts(text: str, at: int) -> list[_Part]:
    """The parts of the object or list that begins at a place of a valid text."""
    keyed, parts = text[at] == "{", list[_Part]()
    place = _skip(text, at + 1)
    while text[place] not in "}]":
        start, step = place, len(parts)
        if keyed:
            step, place = _DECODER.raw_decode(text, place)
            place = _skip(text, _skip(text, place) + 1)  # the colon
        value = place
        place = _DECODER.raw_decode(text, place)[1]
        parts.append(_Part(step, start, value, place))
        place = _skip(text, place)
        if text[place] == ",":
            place = _skip(text, place + 1)
    return parts


def _appended(text: str, at: int, label: str, value: Any) -> str:
    """The text with a part behind the others of a container, on a line of its own as they are."""
    parts = _parts(text, at)
    if not parts:
        part = label + _dumped(value, text, _indent_at(text, at))
        return text[: at + 1] + part + text[at + 1 :]
    last = parts[-1]
    before = text[at + 1 if len(parts) == 1 else parts[-2].end : last.start]
    indent = _indent_at(text, last.start)
    space = _line_break(text) + indent if "\n" in before else " "
    return text[: last.end] + "," + space + label + _dumped(value, text, indent) + text[last.end :]


def _dumped(value: Any, text: str, indent: str) -> str:
    """A value as the rest of the text is indented, for a line with this indentation."""
    unit = re.search(r"\n([ \t]+)\S", text)
    dumped = json.dumps(value, indent=unit[1] if unit else 2, ensure_ascii=False)
    return dumped.replace("\n", _line_break(text) + indent)


def _nested(path: Sequence[str], value: Any) -> Any:
    for key in reversed(path):
        value = {key: value}
    return value


def _line_break(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _indent_at(text: str, place: int) -> str:
    """The indentation of the line of a place."""
    line = text[text.rfind("\n", 0, place) + 1 : place]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _skip(text: str, place: int) -> int:
    """The first place from this one on that is not blank."""
    blank = _SPACE.match(text, place)
    return blank.end() if blank else place
