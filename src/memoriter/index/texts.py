"""The texts of records by field: what analyzers read."""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter
from typing import Final

from memoriter.core.record import Content

_SINGLE: Final = {
    **{name: attrgetter(name) for name in ("text", "title", "summary", "essence", "agent")},
    "path": attrgetter("source.path"),
}
_LISTS: Final = {name: attrgetter(name) for name in ("tags", "concepts", "entities")}


def texts_of(content: Content) -> dict[str, Sequence[str]]:
    """The texts of a record by field, as `Analyzer.analyse` takes them."""
    single = {name: read(content) for name, read in _SINGLE.items()}
    texts: dict[str, Sequence[str]] = {k: (v,) for k, v in single.items() if v is not None}
    return {**texts, **{name: read(content) for name, read in _LISTS.items()}}


def texts_by_field(
    contents: Sequence[Content], fields: Sequence[str]
) -> dict[str, list[tuple[str, ...]]]:
    """The texts of each of these fields, record by record; a field without any is left out."""
    out: dict[str, list[tuple[str, ...]]] = {}
    for name in fields:
        if name in _LISTS:
            column = list(map(_LISTS[name], contents))
        else:
            values: list[str | None] = list(map(_SINGLE[name], contents))
            column = [() if value is None else (value,) for value in values]
        if any(column):
            out[name] = column
    return out
