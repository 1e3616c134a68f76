"""Every mistake in a filter is named with its place."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Any

import pytest

from memoriter.core import where
from memoriter.core.errors import BadFilter
from memoriter.core.where import DEPTH_LIMIT, EVERYTHING, AllOf, AnyOf, Not, Range, parse

One = where.Test

MISTAKES: list[tuple[object, str, str]] = [
    (5, "where", "expected an object, got int"),
    ("kind", "where", "expected an object, got str"),
    ([{"kind": "a"}], "where", "expected an object, got list"),
    ({"all": {"kind": "a"}}, "where", "where.all: expected a list"),
    ({"any": "kind"}, "where", "where.any: expected a list"),
    ({"all": [{"kind": "a"}, 3]}, "where.all[1]", "expected an object, got int"),
    ({"not": [1]}, "where.not", "expected an object"),
    ({"not": {"any": [{"tags": "x"}]}}, "where.not.any[0].tags", "'eq' does not test a strings"),
    ({5: 1}, "where", "5 is not the name"),
    ({"knd": "a"}, "where.knd", "there is no attribute 'knd'"),
    ({"source": "a"}, "where.source", "there is no attribute"),
    ({"kind": {}}, "where.kind", "no test given"),
    ({"kind": {"like": "a"}}, "where.kind", "'like' does not test a string"),
    ({"kind": {"range": "a"}}, "where.kind", "'range' does not test"),
    ({"kind": {"gt_fold": "a"}}, "where.kind", "'gt_fold' does not test"),
    ({"kind": {5: "a"}}, "where.kind", "5 does not test"),
    ({"kind": {"any": ["a"]}}, "where.kind", "'any' does not test a string"),
    ({"kind": 1}, "where.kind", "expected text, got int"),
    ({"kind": None}, "where.kind", "expected text, got NoneType"),
    ({"kind": {"in": "a"}}, "where.kind", "where.kind.in: expected a list"),
    ({"kind": {"in": {"a": 1}}}, "where.kind", "expected a list"),
    ({"kind": {"in": ["a", 1]}}, "where.kind.in[1]", "expected text, got int"),
    ({"kind": {"in": ["a"] * 10_001}}, "where.kind", "10001 values, at most 10000"),
    ({"kind": {"prefix": 1}}, "where.kind.prefix", "expected text"),
    ({"kind": {"exists": 1}}, "where.kind.exists", "expected true or false"),
    ({"kind": {"eq": "\ud800"}}, "where.kind", "lone surrogate"),
    ({"tags": {"any": [1]}}, "where.tags.any[0]", "expected text"),
    ({"tags": {"in": ["a"]}}, "where.tags", "'in' does not test a strings"),
    ({"tags": {"gt": "a"}}, "where.tags", "a strings attribute has no order"),
    ({"importance": "1"}, "where.importance", "expected a number, got str"),
    ({"importance": True}, "where.importance", "expected a number, got bool"),
    ({"importance": {"gt": float("nan")}}, "where.importance.gt", "is not between"),
    ({"importance": {"lt": float("inf")}}, "where.importance.lt", "is not between"),
    ({"importance": {"eq_fold": 1}}, "where.importance", "'eq_fold' does not test a number"),
    ({"cycle": 10**400}, "where.cycle", "too large"),
    ({"cycle": 2**53 + 2}, "where.cycle", "is not between"),
    ({"created": "yesterday"}, "where.created", "'yesterday' is not a time"),
    ({"created": datetime(2026, 1, 1)}, "where.created", "has no time zone"),  # noqa: DTZ001
    ({"created": {"gte": "2026-01-01T00:00:00"}}, "where.created.gte", "has no time zone"),
    ({"created": {"gte": True}}, "where.created.gte", "is not a time"),
    ({"created": {"prefix": "2026"}}, "where.created", "'prefix' does not test a time"),
    ({"archived": 1}, "where.archived", "expected true or false, got int"),
    ({"archived": {"gt": True}}, "where.archived", "a flag attribute has no order"),
    ({"metadata.": 1}, "where.metadata.", "a key of the metadata path is empty"),
    ({"metadata.a..b": 1}, "where.metadata.a..b", "a key of the metadata path is empty"),
    ({"metadata": {"a": 1}}, "where.metadata", "there is no attribute"),
    ({"metadata.a": {"eq": [1]}}, "where.metadata.a", "expected a number, got list"),
    ({"metadata.a": {"gt": None}}, "where.metadata.a", "bounds must be all numbers"),
    ({"metadata.a": {"gt": True}}, "where.metadata.a", "bounds must be all numbers"),
    ({"metadata.a": {"gt": 1, "lt": "b"}}, "where.metadata.a", "bounds must be all numbers"),
    ({"metadata.a": float("nan")}, "where.metadata.a", "is not between"),
    ({"metadata.a": 2**60}, "where.metadata.a", "is not between"),
    ({"metadata.\ud800": 1}, "where.metadata.\ud800", "lone surrogate"),
]


@pytest.mark.parametrize(
    ("data", "place", "says"), MISTAKES, ids=[str(n) for n in range(len(MISTAKES))]
)
def test_every_mistake_names_its_place(data: object, place: str, says: str) -> None:
    with pytest.raises(BadFilter) as caught:
        parse(data)
    assert caught.value.field == place
    assert says in caught.value.message
    assert caught.value.message.startswith(place)


def test_a_filter_may_be_deep_but_not_endless() -> None:
    data: dict[str, Any] = {"kind": "a"}
    for _ in range(DEPTH_LIMIT - 1):
        data = {"not": data}
    parse(data)
    with pytest.raises(BadFilter, match="nested deeper than 32"):
        parse({"not": data})
    endless: dict[str, Any] = {}
    endless["not"] = endless
    with pytest.raises(BadFilter, match="nested deeper"):
        parse(endless)


def test_what_filters_mean() -> None:
    assert parse(None) == parse({}) == EVERYTHING
    assert parse({"kind": "a"}) == One("kind", "eq", "a")
    assert parse({"kind": "a", "user": "u"}) == AllOf(
        (One("kind", "eq", "a"), One("user", "eq", "u"))
    )
    assert parse({"any": [{"not": {"pinned": True}}]}) == AnyOf(
        (Not(One("pinned", "eq", value=True)),)
    )
    assert parse({"kind": {"in_fold": ["ÄB"]}}) == One("kind", "in", ("äb",), folded=True)
    moment = 1790812800000000
    for spelled in ("2026-10-01", date(2026, 10, 1), datetime(2026, 10, 1, tzinfo=UTC), moment):
        assert parse({"created": {"gte": spelled}}) == One("created", "range", Range(gte=moment))
    assert parse({"metadata.a\\.b.c": 1}) == One("metadata.a\\.b.c", "eq", 1)
    assert One("metadata.a\\.b.c", "eq", 1).path == ("a.b", "c")
    assert parse({"tags": {"any": {"b", "a"}}}) == One("tags", "any", ("a", "b"))
