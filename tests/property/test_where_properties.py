"""The filter over columns and the filter over records say the same of every record."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.inside import log_of
from tests.oracle.wheres import passes
from tests.property.strategies import EXAMPLES, conditions, drafts, wheres
from tests.property.worlds import open_toy

from memoriter.core.where import parse_where
from memoriter.testing.whole import whole


def browsed(corpus: list[Any], where: object) -> tuple[set[str], list[Any]]:
    memory = open_toy()
    memory.remember_many(corpus)
    records = [
        record
        for row in whole(log_of(memory), "default").records
        if (record := log_of(memory).latest("default", row.id, 10**6))
    ]
    page = memory.browse(where=where, archived="show", expired="show", limit=100)  # type: ignore[arg-type]
    assert page.total == len(page.records)
    return {record.id for record in page.records}, records


@settings(max_examples=5 * EXAMPLES)
@given(st.lists(drafts(), min_size=1, max_size=5), conditions() | wheres())
def test_columns_and_records_agree(corpus: list[Any], where: dict[str, Any]) -> None:
    hits, records = browsed(corpus, where)
    assert hits == {record.id for record in records if passes(where, record)}


@given(st.lists(drafts(), min_size=1, max_size=5), wheres(), wheres())
def test_boolean_algebra_holds(corpus: list[Any], a: dict[str, Any], b: dict[str, Any]) -> None:
    memory = open_toy()
    memory.remember_many(corpus)

    def ids_where(where: dict[str, Any]) -> set[str]:
        page = memory.browse(where=where, archived="show", expired="show", limit=100)
        return {record.id for record in page.records}

    everything = ids_where({})
    assert ids_where({"not": a}) == everything - ids_where(a)
    assert ids_where({"all": [a, b]}) == ids_where(a) & ids_where(b)
    assert ids_where({"any": [a, b]}) == ids_where(a) | ids_where(b)
    assert ids_where({"not": {"all": [a, b]}}) == ids_where({"any": [{"not": a}, {"not": b}]})
    assert (ids_where({"all": []}), ids_where({"any": []})) == (everything, set())


@given(wheres())
def test_a_parsed_filter_is_taken_as_it_is(where: dict[str, Any]) -> None:
    tree = parse_where(where)
    assert parse_where(tree) is tree
