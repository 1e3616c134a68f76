"""What filters mean, and what is said of every mistake in one."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, date, datetime
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from tests.inside import log_of

import memoriter
from memoriter.core import where
from memoriter.core.attributes import ATTRIBUTES, BOUNDS, OPERATORS
from memoriter.core.errors import BadFilter, TooCostly
from memoriter.core.record import Record
from memoriter.core.where import (
    DEPTH_LIMIT,
    EVERYTHING,
    AllOf,
    AnyOf,
    Not,
    Range,
    parse_where,
    to_data,
)
from memoriter.index import filter, read_once
from memoriter.index.dictionary import Dictionary
from memoriter.memory import receipts

One = where.Test

MISTAKES: list[tuple[object, str, str]] = [
    (5, "where", "expected an object, got int"),
    ("kind", "where", "expected an object, got text"),
    ({"all": [{"kind": "a"}, 3]}, "where.all[1]", "expected an object, got int"),
    ({"or": [{"kind": "a"}, 3]}, "where.or[1]", "expected an object, got int"),
    ({"not": 1}, "where.not", "expected an object"),
    ({5: 1}, "where", "5 is not the name"),
    ({"kind": {"foo": "a"}}, "where.kind", "there is no operator 'foo'"),
    ({"kind": {5: "a"}}, "where.kind", "there is no operator 5"),
    ({"kind": {"gt_fold": "a"}}, "where.kind", "there is no operator 'gt_fold'"),
    ({"kind": 1}, "where.kind", "expected text, got int"),
    ({"kind": {"in": ["a", 1]}}, "where.kind.in[1]", "expected text, got int"),
    ({"kind": ["a", 1]}, "where.kind[1]", "expected text, got int"),
    ({"kind": {"in": ["a"] * 10_001}}, "where.kind.in", "10001 values, at most 10000"),
    ({"kind": {"prefix": 1}}, "where.kind.prefix", "expected text"),
    ({"kind": {"exists": 1}}, "where.kind.exists", "expected true or false"),
    ({"kind": {"eq": "\ud800"}}, "where.kind", "lone surrogate"),
    ({"tags": {"any": [1]}}, "where.tags.any[0]", "expected text"),
    ({"tags": 1}, "where.tags", "expected text, got int"),
    ({"importance": "1"}, "where.importance", "expected a number, got str"),
    ({"importance": True}, "where.importance", "expected a number, got bool"),
    ({"importance": {"gt": float("nan")}}, "where.importance.gt", "is not between"),
    ({"importance": {"lt": float("inf")}}, "where.importance.lt", "is not between"),
    ({"cycle": 10**400}, "where.cycle", "the number is not between"),
    ({"cycle": 2**53 + 2}, "where.cycle", "is not between"),
    ({"created": "yesterday"}, "where.created", "'yesterday' is not a time"),
    ({"created": datetime(2026, 1, 1)}, "where.created", "has no time zone"),  # noqa: DTZ001
    ({"created": {"gte": "2026-01-01T00:00:00"}}, "where.created.gte", "has no time zone"),
    ({"created": {"gte": True}}, "where.created.gte", "expected a time, got bool"),
    ({"archived": 1}, "where.archived", "expected true or false, got int"),
    ({"metadata.": 1}, "where.metadata.", "the path 'metadata.' has an empty key"),
    ({"metadata.a..b": 1}, "where.metadata.a..b", "the path 'metadata.a..b' has an empty key"),
    ({"metadata": {"": 1}}, "where.metadata.", "the path 'metadata.' has an empty key"),
    ({"metadata": {5: 1}}, "where.metadata key", "expected text, got int"),
    ({"metadata": {"a\\": {"b": 1}}}, "where.metadata.a\\", "a backslash before a dot"),
    ({"metadata": {"n": {"gte": 3, "x": 1}}}, "where.metadata.n", "'x' is a key"),
    ({"metadata": {"n": {"$gte": 3, "x": 1}}}, "where.metadata.n", "'$gte' is an operator"),
    ({"metadata": {"in": "a", "x": 1}}, "where.metadata", "'in' is an operator"),
    ({"metadata.a": {"eq": {"b": 1}}}, "where.metadata.a", "true, false or null, got dict"),
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
        parse_where(data)
    assert caught.value.field == place
    assert says in caught.value.message
    assert caught.value.message.startswith(place)


RIGHT_FORMS: list[tuple[object, str]] = [
    # groups
    (
        [{"kind": "a"}, {"tags": "b"}],
        "where: expected an object, got a list: several conditions are written "
        '{"all": [{"kind": "a"}, {"tags": "b"}]}',
    ),
    ([], '{"all": [{"tags": "ops"}, {"kind": "note"}]}'),
    (
        {"not": [{"kind": "a"}]},
        "where.not: expected an object, got a list: several conditions "
        'are written {"not": {"any": [{"kind": "a"}]}}',
    ),
    ({"all": {"kind": "a"}}, 'where.all: expected a list of conditions: {"all": [{"kind": "a"}]}'),
    ({"any": "x"}, 'where.any: expected a list of conditions: {"any": [{"tags"'),
    (
        {"$and": [{"kind": "a"}]},
        'where.$and: \'$and\' is written \'all\': {"all": [{"kind": "a"}]}',
    ),
    ({"AND": [{"kind": "a"}]}, '\'AND\' is written \'all\': {"all": [{"kind": "a"}]}'),
    ({"$or": [{"kind": "a"}]}, '\'$or\' is written \'any\': {"any": [{"kind": "a"}]}'),
    ({"$or": [{"no_such": 1}]}, '\'$or\' is written \'any\': {"any": [{"tags": "ops"}'),
    ({"$nor": [{"kind": "a"}]}, '{"not": {"any": [{"kind": "a"}]}}'),
    ({"$not": {"kind": "a"}}, '\'$not\' is written \'not\': {"not": {"kind": "a"}}'),
    # operators of other languages
    (
        {"importance": {"$gt": 0.5}},
        "where.importance: '$gt' is written 'gt': {\"importance\": {\"gt\": 0.5}}",
    ),
    ({"importance": {">=": 0.5}}, "'>=' is written 'gte': {\"importance\": {\"gte\": 0.5}}"),
    ({"kind": {"$in": ["a"]}}, '\'$in\' is written \'in\': {"kind": {"in": ["a"]}}'),
    ({"kind": {"==": "a"}}, '\'==\' is written \'eq\': {"kind": {"eq": "a"}}'),
    ({"kind": {"ne": "a"}}, '\'ne\' is written with \'not\': {"not": {"kind": "a"}}'),
    ({"kind": {"!=": "a"}}, '\'!=\' is written with \'not\': {"not": {"kind": "a"}}'),
    ({"kind": {"nin": ["a"]}}, '\'nin\' is written with \'not\': {"not": {"kind": ["a"]}}'),
    ({"tags": {"$nin": ["a"]}}, '{"not": {"tags": ["a"]}}'),
    ({"tags": {"ne": "a"}}, '{"not": {"tags": "a"}}'),
    ({"kind": {"not": "a"}}, '\'not\' stands around a condition: {"not": {"kind": "a"}}'),
    ({"tags": {"not": {"all": ["a"]}}}, '{"not": {"tags": {"all": ["a"]}}}'),
    ({"tags": {"contains": "a"}}, '\'contains\' is written \'any\': {"tags": {"any": ["a"]}}'),
    ({"tags": {"contains_all": ["a"]}}, 'is written \'all\': {"tags": {"all": ["a"]}}'),
    (
        {"text": {"contains": "ssh"}},
        "where.text: no operator looks inside a text, as 'contains' "
        'would: use {"text": {"prefix": "ssh"}}, or recall the words',
    ),
    (
        {"title": {"like": "Stand%"}},
        '\'like\' is written \'prefix\': {"title": {"prefix": "Stand"}}',
    ),
    ({"title": {"like": "%up"}}, "no operator looks inside a text"),
    (
        {"title": {"ilike": "a%"}},
        '\'ilike\' is written \'prefix_fold\': {"title": {"prefix_fold": "a"}}',
    ),
    ({"title": {"startsWith": "a"}}, 'is written \'prefix\': {"title": {"prefix": "a"}}'),
    ({"title": {"$regex": "^a"}}, "no operator looks inside a text"),
    ({"importance": {"like": "x"}}, "importance holds one number, so there is no 'like'"),
    (
        {"importance": {"between": [0.2, 0.8]}},
        '\'between\' is written with bounds: {"importance": {"gte": 0.2, "lte": 0.8}}',
    ),
    ({"created": {"range": {"gte": "2026-01-01"}}}, '{"created": {"gte": "2026-01-01"}}'),
    (
        {"created": {"after": date(2026, 1, 1)}},
        '\'after\' is written \'gt\': {"created": {"gt": "2026-01-01"}}',
    ),
    ({"created": {"$gt": "soon"}}, '\'$gt\' is written \'gt\': {"created": {"gt": "2026-10-01"}}'),
    ({"user": {"is_null": True}}, '{"user": {"exists": false}}'),
    ({"user": {"is_null": False}}, '{"user": {"exists": true}}'),
    ({"kind": {"$in": ["x" * 200]}}, '\'$in\' is written \'in\': {"kind": {"in": ["note"]}}'),
    ({"kind": {"$eq": "\ud800"}}, '\'$eq\' is written \'eq\': {"kind": {"eq": "note"}}'),
    (
        {"metadata": {"n": {"$gte": 3}}},
        "where.metadata.n: '$gte' is written 'gte': {\"metadata.n\": {\"gte\": 3}}",
    ),
    ({"metadata.n": {"ne": 3}}, '{"not": {"metadata.n": 3}}'),
    # operators that another type has
    (
        {"tags": {"eq": "ops"}},
        'where.tags: tags holds several values: use {"tags": {"any": ["ops"]}}',
    ),
    ({"tags": {"in": ["a", "b"]}}, 'tags holds several values: use {"tags": {"any": ["a", "b"]}}'),
    ({"tags": {"gt": "a"}}, "tags holds several values and has no order"),
    ({"tags": {"$gt": "a"}}, "tags holds several values, so there is no '$gt'"),
    ({"tags": {"between": ["a", "b"]}}, "tags holds several values, so there is no 'between'"),
    ({"refs": {"eq": 3}}, 'refs holds several values: use {"refs": {"any": [3]}}'),
    ({"kind": {"any": ["a", "b"]}}, 'kind holds one text: use {"kind": {"in": ["a", "b"]}}'),
    ({"kind": {"range": "a"}}, "'range' is written with bounds"),
    ({"created": {"prefix": "2026"}}, 'created holds one time: use {"created": {"gte":'),
    ({"importance": {"eq_fold": 1}}, 'importance holds one number: use {"importance": {"eq": 1}}'),
    ({"archived": {"gt": True}}, "archived is true or false and has no order"),
    ({"archived": [True, False]}, 'archived is true or false: use {"archived": {"eq": true}}'),
    # values of another shape
    (
        {"tags": {"any": "ops"}},
        'where.tags.any: expected a list of values: {"tags": {"any": ["ops"]}}',
    ),
    ({"kind": {"in": "a"}}, 'where.kind.in: expected a list of values: {"kind": {"in": ["a"]}}'),
    ({"kind": {"in": {"a": 1}}}, 'expected a list of values: {"kind": {"in": ["note"]}}'),
    ({"kind": {"eq": ["a", "b"]}}, 'where.kind.eq: takes one value: {"kind": {"in": ["a", "b"]}}'),
    ({"kind": {"eq_fold": ["a"]}}, '{"kind": {"in_fold": ["a"]}}'),
    ({"metadata.a": {"eq": [1]}}, 'takes one value: {"metadata.a": {"in": [1]}}'),
    ({"kind": None}, 'test for an absent attribute with {"kind": {"exists": false}}'),
    ({"tags": None}, '{"tags": {"exists": false}}'),
    ({"kind": {}}, 'where.kind: no test given, for example {"kind": "note"}'),
    # names
    (
        {"knd": "a"},
        "where.knd: there is no attribute 'knd'; did you mean 'kind'? Use {\"kind\": \"a\"}",
    ),
    ({"importence": {"gt": 0.5}}, 'did you mean \'importance\'? Use {"importance": {"gt": 0.5}}'),
    (
        {"type": "note"},
        "there is no attribute 'type'; did you mean 'kind'? Use {\"kind\": \"note\"}",
    ),
    ({"type": {"$in": ["a"]}}, 'did you mean \'kind\'? Use {"kind": {"in": ["a"]}}'),
    ({"created_at": {"gte": "2026-01-01"}}, '{"created": {"gte": "2026-01-01"}}'),
    ({"timestamp": {"gte": "2026-01-01"}}, '{"created": {"gte": "2026-01-01"}}'),
    ({"tag": "ops"}, 'did you mean \'tags\'? Use {"tags": "ops"}'),
    ({"user_id": "anna"}, 'did you mean \'user\'? Use {"user": "anna"}'),
    ({"userId": "anna"}, 'did you mean \'user\'? Use {"user": "anna"}'),
    ({"agent_id": "bot"}, 'did you mean \'agent\'? Use {"agent": "bot"}'),
    ({"session_id": "s"}, 'did you mean \'session\'? Use {"session": "s"}'),
    (
        {"project": "apollo"},
        'there is no attribute \'project\'; in the metadata it is {"metadata.project": "apollo"}',
    ),
    (
        {"meta": {"tool": "http"}},
        'there is no attribute \'meta\': use {"metadata": {"tool": "http"}}',
    ),
    ({"meta.tool": "http"}, 'use {"metadata.tool": "http"}'),
    ({"source": "anna"}, 'did you mean \'source.who\'? Use {"source.who": "anna"}'),
    ({"source": {}}, "did you mean 'source.who'? Use {\"source.who\""),
    ({"source": {"whom": "a"}}, 'did you mean \'source.who\'? Use {"source.who": "a"}'),
    (
        {"metadata": "x"},
        'where.metadata: name a key of the metadata, for example {"metadata.tool": "http"}',
    ),
    ({"metadata": {}}, "name a key of the metadata"),
    ({"metadata": {"exists": True}}, "name a key of the metadata"),
    ({"not": {"any": [{"tags": {"eq": "x"}}]}}, "where.not.any[0].tags: tags holds several values"),
]


@pytest.mark.parametrize(
    ("data", "says"), RIGHT_FORMS, ids=[str(n) for n in range(len(RIGHT_FORMS))]
)
def test_a_mistake_is_answered_with_a_form_that_works(data: object, says: str) -> None:
    with pytest.raises(BadFilter) as caught:
        parse_where(data)
    message = caught.value.message
    assert says in message
    form, _ = json.JSONDecoder().raw_decode(message[message.index("{") :])
    parse_where(form)
    assert "docs/where.md" in caught.value.hint


def test_what_no_memory_has_is_told_where_it_belongs() -> None:
    with pytest.raises(BadFilter) as caught:
        parse_where({"score": {"gt": 0.5}})
    assert caught.value.hint.startswith("a score belongs to an answer")
    assert "known: id, text" in caught.value.hint


def test_the_hint_of_an_unknown_name_has_the_metadata_and_all_known_names() -> None:
    with pytest.raises(BadFilter) as caught:
        parse_where({"type": "note"})
    assert caught.value.hint.startswith(
        'a key of your metadata is written {"metadata.type": "note"}; known: '
    )
    assert all(name in caught.value.hint for name in ATTRIBUTES)


def test_an_operator_that_is_misspelled_is_named_and_all_others_after_it() -> None:
    with pytest.raises(BadFilter) as caught:
        parse_where({"kind": {"perfix": "a"}})
    assert caught.value.hint.startswith("did you mean prefix? kind (text) takes eq, in, prefix,")


def test_a_key_of_the_metadata_that_is_called_like_an_operator_is_written_as_a_path() -> None:
    with pytest.raises(BadFilter) as caught:
        parse_where({"metadata": {"exists": True}})
    assert '{"metadata.exists": …}' in caught.value.hint
    assert parse_where({"metadata.exists": True}) == One("metadata.exists", "any", (True,))
    assert parse_where({"metadata.n.like": 1}) == One("metadata.n.like", "any", (1,))


def test_every_operator_on_every_attribute_works_or_leads_to_one_that_does() -> None:
    words = sorted({op for words in OPERATORS.values() for op in words})
    foreign = ["$gt", ">=", "ne", "nin", "contains", "like", "between", "is_null", "regex", "not"]
    for attribute in [*ATTRIBUTES, "metadata.a"]:
        for op in [*words, *foreign, *(f"${word}" for word in words)]:
            for value in ("a", 0.5, ["a"], [0.5], True, None, "2026-01-01", {"a": 1}, []):
                try:
                    parse_where({attribute: {op: value}})
                except BadFilter as error:
                    if op in OPERATORS[ATTRIBUTES.get(attribute, "json")]:
                        continue  # then the value is wrong, and its place is named
                    message = error.message
                    form, _ = json.JSONDecoder().raw_decode(message[message.index("{") :])
                    parse_where(form)


def test_a_filter_may_be_deep_but_not_endless() -> None:
    data: dict[str, Any] = {"kind": "a"}
    for _ in range(DEPTH_LIMIT - 1):
        data = {"not": data}
    parse_where(data)
    with pytest.raises(BadFilter, match="nested more than 32"):
        parse_where({"not": data})
    endless: dict[str, Any] = {}
    endless["not"] = endless
    with pytest.raises(BadFilter, match="nested more than"):
        parse_where(endless)
    for word in ("and", "or", "metadata", "metadata.a"):
        below: dict[str, Any] = {}
        below["a"] = below
        rings: list[Any] = []
        rings.append({word: rings})
        with pytest.raises(BadFilter, match="nested more than"):
            parse_where({word: below if word.startswith("metadata") else rings})


def test_mistakes_inside_mistakes_are_told_at_once() -> None:
    data: Any = {"no_such": 1}
    for _ in range(DEPTH_LIMIT - 1):
        data = {"$and": [data]}
    with pytest.raises(BadFilter, match=r"'\$and' is written 'all'"):
        parse_where(data)


def test_what_filters_mean() -> None:
    assert parse_where(None) == parse_where({}) == EVERYTHING
    assert parse_where({"kind": "a"}) == One("kind", "eq", "a")
    assert parse_where({"kind": "a", "user": "u"}) == AllOf(
        (One("kind", "eq", "a"), One("user", "eq", "u"))
    )
    assert parse_where({"any": [{"not": {"pinned": True}}]}) == AnyOf(
        (Not(One("pinned", "eq", value=True)),)
    )
    assert parse_where({"kind": {"in_fold": ["ÄB"]}}) == One("kind", "in", ("äb",), folded=True)
    moment = 1790812800000000
    for spelled in ("2026-10-01", date(2026, 10, 1), datetime(2026, 10, 1, tzinfo=UTC), moment):
        assert parse_where({"created": {"gte": spelled}}) == One(
            "created", "range", Range(gte=moment)
        )
    assert parse_where({"metadata.a\\.b.c": {"eq": 1}}) == One("metadata.a\\.b.c", "eq", 1)
    assert One("metadata.a\\.b.c", "eq", 1).path == ("a.b", "c")
    assert parse_where({"tags": {"any": {"b", "a"}}}) == One("tags", "any", ("a", "b"))


SAME: list[tuple[object, dict[str, object]]] = [
    ({"tags": "ops"}, {"tags": {"any": ["ops"]}}),
    ({"tags": ["ops", "dev"]}, {"tags": {"any": ["ops", "dev"]}}),
    ({"tags": ("ops",)}, {"tags": {"any": ["ops"]}}),
    ({"tags": []}, {"tags": {"any": []}}),
    ({"refs": 3}, {"refs": {"any": [3]}}),
    ({"kind": ["note", "fact"]}, {"kind": {"in": ["note", "fact"]}}),
    ({"kind": {"note"}}, {"kind": {"in": ["note"]}}),
    ({"importance": [0, 1]}, {"importance": {"in": [0, 1]}}),
    ({"created": ["1970-01-01"]}, {"created": {"in": [0]}}),
    ({"pinned": True}, {"pinned": {"eq": True}}),
    ({"and": [{"kind": "a"}]}, {"all": [{"kind": {"eq": "a"}}]}),
    ({"or": [{"kind": "a"}]}, {"any": [{"kind": {"eq": "a"}}]}),
    ({"and": []}, {"all": []}),
    ({"or": []}, {"any": []}),
    ({"metadata": {"tool": "http"}}, {"metadata.tool": {"any": ["http"]}}),
    ({"metadata.tool": ["http", None]}, {"metadata.tool": {"any": ["http", None]}}),
    ({"metadata": {"n": {"gte": 3}}}, {"metadata.n": {"gte": 3}}),
    ({"metadata": {"n": {"gte": 3, "exists": True}}},
     {"all": [{"metadata.n": {"exists": True}}, {"metadata.n": {"gte": 3}}]}),
    ({"metadata": {"a": {"b": 1, "c.d": 2}}},
     {"all": [{"metadata.a.b": {"any": [1]}}, {"metadata.a.c\\.d": {"any": [2]}}]}),
    ({"metadata.a": {"b": {"c": 1}}}, {"metadata.a.b.c": {"any": [1]}}),
    ({"metadata": {"range": {"from": 1}}}, {"metadata.range.from": {"any": [1]}}),
    ({"metadata": {"a\\": 1}}, {"metadata.a\\": {"any": [1]}}),
    ({"source": {"who": "anna"}}, {"source.who": {"eq": "anna"}}),
]  # fmt: skip


@pytest.mark.parametrize(("short", "whole"), SAME, ids=[str(n) for n in range(len(SAME))])
def test_short_forms_are_written_out_in_one_way(short: object, whole: dict[str, object]) -> None:
    assert to_data(parse_where(short)) == whole
    assert parse_where(whole) == parse_where(short)


def test_an_operator_that_orders_is_an_operator_of_a_type_that_has_an_order() -> None:
    ordered = {kind for kind, words in OPERATORS.items() if set(BOUNDS) <= set(words)}
    assert ordered == {"string", "number", "time", "json"}
    for kind, words in OPERATORS.items():
        assert kind in ordered or not set(BOUNDS) & set(words)


def test_refs_can_be_filtered(tmp_path: Path) -> None:
    with memoriter.open(tmp_path / "m.db", embedder=None) as memory:
        memory.remember("first")
        second = memory.remember("second", refs=[0])
        for test in ({"any": [0]}, {"all": [0]}, {"exists": True}):
            page = memory.browse(where={"refs": test})
            assert [record.id for record in page.records] == [second.id]
        assert memory.browse(where={"refs": {"any": [7]}}).total == 0


def test_many_tests_on_one_column_read_few_of_its_values(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[int] = []
    raw = Dictionary.raw
    with memoriter.open(":memory:", embedder=None) as memory:
        memory.remember_many([{"text": "one", "tags": [f"T{n}"]} for n in range(300)])
        memory.count()
        monkeypatch.setattr(Dictionary, "raw", lambda self, n: read.append(n) or raw(self, n))
        for op, prefix in (("prefix", "T29"), ("prefix_fold", "t29")):
            read.clear()
            others = [{"tags": {op: f"z{n}"}} for n in range(50)]
            page = memory.browse(where={"any": [*others, {"tags": {op: prefix}}]})
            assert page.total == 11
            assert len(read) < 3_000, "not 51 times 300"


def test_a_filter_of_too_much_work_is_refused_and_so_are_the_searches_of_why_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with memoriter.open(":memory:", embedder=None) as memory:
        memory.remember_many(
            [{"id": f"r{n}", "text": f"port {n}", "metadata": {"n": n}} for n in range(50)]
        )
        tests = [{"metadata.n": {"prefix": f"z{n}"}} for n in range(20)]
        where = {"any": [*tests, {"metadata.n": {"lt": 40}}]}
        monkeypatch.setattr(receipts, "RUNS", 1)
        monkeypatch.setattr(filter, "STEPS", 50 * (10 + 21))  # a read is ten steps
        answer = memory.recall("port", where=where, limit=3)
        assert len(answer) == 3
        assert memory.replay(answer).same, "a replay takes what the search took"
        with pytest.raises(TooCostly, match="where: needs more than the limit"):
            memory.why_not(answer, "r45")
        with pytest.raises(TooCostly, match="where: needs more than the limit"):
            memory.browse(where={"any": [*where["any"], {"metadata.n": {"gt": 40}}]})


def test_a_caller_of_the_library_may_give_a_filter_more_work(tmp_path: Path) -> None:
    place, where = tmp_path / "m.db", {"metadata.n": {"gte": 40}}
    with memoriter.open(place, embedder=None, filter_steps=549) as memory:
        memory.remember_many([{"text": f"port {n}", "metadata": {"n": n}} for n in range(50)])
        for call in (memory.recall, memory.keywords):
            with pytest.raises(TooCostly, match=r"549 steps"):
                call("port", where=where)
        for call in (memory.browse, memory.forget, partial(memory.export, tmp_path / "out")):
            with pytest.raises(TooCostly, match=r"549 steps"):
                call(where=where)
    with memoriter.open(place, embedder=None, filter_steps=550) as memory:
        assert memory.browse(where=where).total == 10
        assert memory.recall("port", where={**where, "created": {"lt": "2000-01-01"}}).total == 0


def test_long_lists_and_texts_are_more_work(monkeypatch: pytest.MonkeyPatch) -> None:
    with memoriter.open(":memory:", embedder=None) as memory:
        memory.remember("a", id="long", metadata={"list": ["Z"] * 1000})
        memory.remember("b" * 100_000, id="text")
        monkeypatch.setattr(filter, "STEPS", 800)
        for where in (
            {"metadata.list": {"any": ["x"]}},
            {"metadata.list": {"prefix": "x"}},
            {"text": {"prefix_fold": "x"}},
        ):
            with pytest.raises(TooCostly):
                memory.browse(where=where)
        assert memory.browse(where={"text": {"prefix": "b"}}).total == 1


@pytest.mark.parametrize("store", ["m.db", ":memory:"])
def test_metadata_is_counted_and_large_records_are_read_a_few_at_a_time(
    store: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = store if store == ":memory:" else tmp_path / store
    with memoriter.open(place, embedder=None) as memory:
        nested = {"n": 1, "list": [[[]] * 100] * 10}  # 1,012 entries
        memory.remember_many([{"text": f"port {n}", "metadata": nested} for n in range(20)])
        log, read = log_of(memory), list[int]()
        records = log.records

        def reading(tenant: str, rows: Sequence[int]) -> Sequence[Record | None]:
            read.append(len(rows))
            return records(tenant, rows)

        monkeypatch.setattr(log, "records", reading)
        monkeypatch.setattr(read_once, "HELD_BYTES", 4 * 3_500)
        where = {"metadata.n": 1, "metadata.list": {"exists": True}}
        assert memory.browse(where=where, limit=1).total == 20
        assert sum(read) == 20 + 1, "no record is read twice, but for the page"
        assert max(read) <= 4
        taken = 20 * (10 + 6 + 506 + 2 + 10)  # reads, bytes, entries, two tests, a list's entries
        monkeypatch.setattr(filter, "STEPS", taken + 100)  # blocks are halved
        assert memory.browse(where=where).total == 20
        monkeypatch.setattr(filter, "STEPS", taken - 1)
        with pytest.raises(TooCostly):
            memory.browse(where=where)
