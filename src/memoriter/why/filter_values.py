"""The attributes of hits that the filter of a query tested, for the receipt.

`why/verify/filtering.py` evaluates the filter on them again. The words of a record (text, title,
summary) are left out, as a receipt never holds them; tests on those are attested.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Final

from memoriter.core.names import Json
from memoriter.core.ranking import Rows
from memoriter.core.record import Record
from memoriter.core.times import to_micros
from memoriter.core.where import EVERYTHING, Not, Test, Where
from memoriter.lanes.port import Context
from memoriter.pipeline.recipe import Recipe
from memoriter.why.verify.filtering import UNREAD

_PARTS: Final = "."


def is_filtered(recipe: Recipe, ctx: Context) -> bool:
    """Whether there is a filter, a scope within the tenant, or a trust that the recipe asks for."""
    query = ctx.query
    tests = query.where != EVERYTHING or bool(query.scope.filters())
    return tests or recipe.select.trust is not None


def filter_values(recipe: Recipe, ctx: Context, rows: Rows) -> list[dict[str, object] | None]:
    """For each hit the values of the tested attributes; None if it was forgotten meanwhile."""
    query = ctx.query
    tests = {test.attribute: test for test in _tests(query.where)}
    names = [*query.scope.filters(), *(["trust"] if recipe.select.trust is not None else [])]
    tests |= {name: Test(name, "exists", value=True) for name in names}
    read = [test for name, test in sorted(tests.items()) if name not in UNREAD]
    records = ctx.fetch(rows.tolist())
    return [None if record is None else dict(_values(read, record)) for record in records]


def _tests(where: Where) -> Iterator[Test]:
    if isinstance(where, Test):
        yield where
    else:
        for part in (where.part,) if isinstance(where, Not) else where.parts:
            yield from _tests(part)


def _values(tests: list[Test], record: Record) -> Iterator[tuple[str, object]]:
    """The attributes that the record has."""
    for test in tests:
        if test.type == "json":
            yield from ((test.attribute, value) for value in _below(record.metadata, test.path))
            continue
        value: object = record
        for part in test.attribute.split(_PARTS):
            value = getattr(value, part)
        if isinstance(value, datetime):
            value = to_micros(value)
        several = test.type in ("strings", "numbers")
        if value is not None and (value or not several):
            yield test.attribute, list(value) if several else value  # pyright: ignore[reportUnknownArgumentType, reportArgumentType, reportCallIssue]  # a tuple of texts or numbers


def _below(value: Json, path: tuple[str, ...]) -> Iterator[Json]:
    for key in path:
        if not isinstance(value, dict) or key not in value:
            return
        value = value[key]
    yield value
