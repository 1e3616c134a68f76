"""Imports mnestic: the answer of `export_relations` as JSON, relations with headers and rows.

The columns of a relation decide what it holds: one with a text holds records, one with two ends
holds edges. A validity column makes a history: each older version becomes a record of its own that
the newest one supersedes.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby, pairwise
from typing import Any, Final, NamedTuple

from memoriter.imports.fields import FieldMap, edge_kind, record_id, value_excerpt
from memoriter.imports.port import Extracted, Format, ImportedEdge, Lost
from memoriter.imports.source import JSON, BadRow, InputFile, is_list, is_object, list_or_empty
from memoriter.imports.sqlite import table_columns

NAME: Final = "mnestic"
_IDS: Final = ("id", "uid", "uuid", "key", "k", "memory_id", "doc_id")
_TEXTS: Final = ("text", "content", "body", "memory", "note", "message", "document", "chunk")
_ENDS: Final = (("from", "to"), ("fr", "to"), ("src", "dst"), ("source", "target"))
_VECTORS: Final = ("emb", "embedding", "vector", "vec", "v")
_PLACES: Final = {
    "title": "title", "summary": "summary", "kind": "kind", "type": "kind",
    "agent": "agent", "agent_id": "agent",
    "user": "user", "user_id": "user", "session": "session", "session_id": "session",
    "priority": "priority", "cycle": "cycle", "role": "role",
}  # fmt: skip
_LISTS: Final = ("tags", "concepts", "entities")
_TIMES: Final = {"created_at": "created", "created": "created", "ts": "created"}
_SHARES: Final = ("importance", "confidence")
_KINDS: Final = ("kind", "rel", "type", "label", "relation")
_WEIGHTS: Final = ("weight", "w", "score")
_PAIR: Final = 2
_UNTIL: Final = "\0until"
"""Key of the end of a version; the NUL keeps it apart from real columns."""


class Relation(NamedTuple):
    """One relation of a dump; rows are dicts by column."""

    name: str
    headers: list[str]
    rows: list[dict[str, Any]]
    broken: int
    validity: str | None
    """The validity column, if there is one: (time, whether the row holds since then)."""

    def column(self, among: tuple[str, ...]) -> str | None:
        """The first of these names that is a column; None if none is."""
        return next((name for name in among if name in self.headers), None)

    @property
    def ends(self) -> tuple[str, str] | None:
        """The columns of the two ends of an edge; None if it has no edges."""
        return next((pair for pair in _ENDS if set(pair) <= set(self.headers)), None)


def recognise(source: InputFile) -> str | None:
    """Why this is a dump of mnestic: a JSON object of relations. None if it is not."""
    (only,) = source.sample if len(source.sample) == 1 else (None,)
    if is_object(only) and only and all(_relation(each) for each in only.values()):
        return "it is a JSON object of relations with headers and rows"
    return None


def _relation(value: object) -> bool:
    inner: dict[str, Any] = value if is_object(value) else {}
    return is_list(inner.get("headers")) and is_list(inner.get("rows"))


def _validity(value: object) -> bool:
    """Whether the value is a validity: (time, whether the row holds since then)."""
    pair = list_or_empty(value)
    return len(pair) == _PAIR and type(pair[0]) is int and isinstance(pair[1], bool)


def read(source: InputFile) -> Iterator[Extracted]:
    """Records of relations with texts, then edges; other relations are reported as lost."""
    (dump,) = source.sample
    relations = [_read(name, relation) for name, relation in dump.items()]
    for one in relations:
        yield from (BadRow(f"{one.name}", "has more or fewer columns than headers"),) * one.broken
    texts = [r for r in relations if r.column(_TEXTS) and r.column(_IDS)]
    # Ids of relations without history: no version of a history may take them.
    current = {_id(r, row) for r in texts if r.validity is None for row in r.rows}
    for relation in texts:
        if relation.validity is None:
            for nth, row in enumerate(relation.rows):
                yield from _record(relation, row, nth)
        else:
            yield from _history(relation, relation.validity, current)
    for relation in relations:
        if relation.ends:
            yield from _edges(relation, relation.ends)
        elif relation not in texts:
            headers = value_excerpt(relation.headers)
            yield Lost(f"relation {relation.name}", headers, times=len(relation.rows))


def _read(name: str, dump: dict[str, Any]) -> Relation:
    headers = [str(header) for header in dump["headers"]]
    whole = [r for r in dump["rows"] if is_list(r) and len(r) == len(headers)]
    rows = [dict(zip(headers, row, strict=True)) for row in whole]
    # The validity column has no fixed name: it is the one whose values all look like it.
    spans = (c for c in headers if rows and all(_validity(row[c]) for row in rows))
    return Relation(name, headers, rows, len(dump["rows"]) - len(whole), next(spans, None))


def _id(relation: Relation, row: dict[str, Any]) -> str:
    return str(row[relation.column(_IDS) or ""])


def _record(
    relation: Relation, row: dict[str, Any], nth: int, version: int | None = None
) -> Iterator[Extracted]:
    where = f"{relation.name}[{nth}]"
    original = _id(relation, row) + ("" if version is None else f"@{version}")
    record = FieldMap(NAME, where, original)
    record.origin["relation"] = relation.name
    text = relation.column(_TEXTS) or ""
    record.put("text", row[text], text)
    if "text" not in record.fields:
        yield BadRow(where, f"{text}: is missing, empty or no text")
        return
    taken = {text, relation.column(_IDS), relation.validity, relation.column(_VECTORS), _UNTIL}
    for column, value in row.items():
        if column not in taken:
            _column(record, column, value)
    _vector(record, row.get(relation.column(_VECTORS) or ""))
    if relation.validity is not None:
        record.put("valid_from", row[relation.validity][0])
        record.put("valid_until", row.get(_UNTIL))
    yield from record.finish(f"{relation.name} {original}")


def _column(record: FieldMap, column: str, value: object) -> None:
    if column in _LISTS:
        record.put_words(column, value)
    elif column in _PLACES:
        record.put(_PLACES[column], value, column)
    elif column in _TIMES:
        record.put_time(_TIMES[column], value, column)
    elif column in _SHARES:
        record.put_fraction(column, value)
    elif column in ("meta", "metadata") and is_object(value):
        record.metadata = value
    else:
        record.keep(column, value)


def _vector(record: FieldMap, value: object) -> None:
    numbers = list_or_empty(value)
    if numbers and all(type(n) in (int, float) for n in numbers) and any(numbers):
        record.fields["vector"] = numbers
    elif value is not None and value != "":
        record.drop("vector", value)


def _history(relation: Relation, validity: str, current: set[str]) -> Iterator[Extracted]:
    """The versions of every id as records.

    The newest one that holds gets the id itself, unless another relation has a record of that id;
    older ones get `id@time`.
    """

    def order(row: dict[str, Any]) -> tuple[str, int]:
        return _id(relation, row), row[validity][0]

    nth = 0
    for original, group in groupby(sorted(relation.rows, key=order), lambda r: _id(relation, r)):
        events = list(group)
        newest = events[-1]
        for event, after in [*pairwise(events), (newest, None)]:
            since, holds = event[validity]
            nth += 1
            # A retraction only ends the version before it.
            if not holds or (event is newest and original in current):
                continue
            ended = {} if after is None else {_UNTIL: after[validity][0]}
            last = event is newest
            yield from _record(relation, {**event, **ended}, nth - 1, None if last else since)
            if not last and (newest[validity][1] or original in current):
                ends = record_id(original), record_id(f"{original}@{since}")
                fields = {"valid_from": ended[_UNTIL]}
                yield ImportedEdge(f"{relation.name}[{nth - 1}]", *ends, "supersedes", fields)


def _edges(relation: Relation, ends: tuple[str, str]) -> Iterator[Extracted]:
    kind, weight = relation.column(_KINDS), relation.column(_WEIGHTS)
    for nth, row in enumerate(relation.rows):
        rest = {k: v for k, v in row.items() if k not in {*ends, kind, weight} and v is not None}
        fields: dict[str, object] = {"metadata": {**rest, "origin": {"relation": relation.name}}}
        if weight is not None and row[weight] is not None:
            fields["weight"] = row[weight]
        named = edge_kind(str(row[kind])) if kind and row[kind] else edge_kind(relation.name)
        one, two = record_id(str(row[ends[0]])), record_id(str(row[ends[1]]))
        yield ImportedEdge(f"{relation.name}[{nth}]", one, two, named, fields)


def advise(source: InputFile) -> str | None:
    """What to do with a database of mnestic, which cannot be imported."""
    if source.kind == "sqlite" and "cozo" in table_columns(source.path):
        return "it is a store of mnestic: write export_relations([…]) to a JSON file"
    return None


FORMAT: Final = Format(
    NAME, "a dump of mnestic relations (JSON)", JSON, recognise, read, strict=True, advise=advise
)
