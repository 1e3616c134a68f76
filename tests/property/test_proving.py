"""Replays, why-nots and read-back queries, for whatever was written and asked."""

from __future__ import annotations

import dataclasses
import json
import shutil
import tempfile
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.property.refusals import REFUSALS
from tests.property.strategies import (
    AGENTS,
    EXAMPLES,
    MOMENTS,
    drafts,
    fields,
    names,
    plain_text,
    queries,
    recipes,
    texts,
    wheres,
)
from tests.property.worlds import open_toy

from memoriter.core.budget import Budget
from memoriter.core.canonical import canonical
from memoriter.core.errors import MemoriterError
from memoriter.core.query import Query
from memoriter.core.scope import Scope
from memoriter.core.where import parse_where
from memoriter.memory.facade import Memory
from memoriter.testing.fakes import START, HandClock, ToyReranker
from memoriter.why.result import Result

corpora = st.lists(drafts(), min_size=1, max_size=8)
Corpus = list[Any]
ORDERS = (
    [],
    [{"kind": "collapse"}],
    [{"kind": "copies", "alike": 0.5}],
    [{"kind": "cap", "share": 0.2}],
    [{"kind": "mmr", "take": 2, "drop": True}],
    [{"kind": "collapse", "by": "near", "keep": "newest"}, {"kind": "mmr", "trade": 0.7}],
)
OVERRIDES: tuple[dict[str, Any], ...] = (
    {},
    {"final.min_score": 0.5},
    {"select.superseded": "show", "select.archived": "show"},
    {"select.as_of": "append", "select.trust": ["system"]},
    {"select.superseded": "past"},
)


@st.composite
def asks(draw: st.DrawFn) -> dict[str, Any]:
    """What a search takes beside its text."""
    shorthands = st.fixed_dictionaries(
        {},
        optional={
            "tags": st.lists(names, min_size=1, max_size=2),
            "agent": st.sampled_from(AGENTS),
            "user": names,
            "session": names,
        },
    )
    return {
        **draw(shorthands),
        "recipe": draw(recipes),
        "limit": draw(st.sampled_from([1, 2, 10])),
        "where": draw(st.none() | wheres()),
        "as_of": draw(st.none() | st.sampled_from(MOMENTS)),
        "overrides": {**draw(st.sampled_from(OVERRIDES)), "order": draw(st.sampled_from(ORDERS))},
        "now": START,
        "budget_tokens": draw(st.none() | st.integers(40, 300)),
        "budget_chars": draw(st.none() | st.integers(150, 900)),
    }


def linked(memory: Memory, corpus: Corpus) -> list[str]:
    """The corpus written, with some links that replace."""
    ids = list(memory.remember_many(corpus).ids)
    for n in range(0, len(ids) - 2, 3):
        memory.link(ids[n], ids[n + 2], "supersedes")
    return ids


def answered(memory: Memory, text: str, ask: dict[str, Any]) -> Result | None:
    try:
        return memory.recall(text, **ask)
    except REFUSALS:
        return None


# --- replay ---------------------------------------------------------------------------------------

verbs = st.sampled_from(["update", "link", "remember", "maintain"])
later = st.lists(st.tuples(verbs, st.integers(0, 7), fields(3)), max_size=8)


def write(memory: Memory, clock: HandClock, ids: list[str], done: list[Any]) -> None:
    for verb, at, change in done:
        clock.move(1)
        one, other = ids[at % len(ids)], ids[(at + 1) % len(ids)]
        try:
            match verb:
                case "update":
                    memory.update(one, **change)
                case "link":
                    memory.link(one, other, "supersedes")
                case "maintain":
                    memory.maintain()
                case _:
                    more: list[Any] = [{"text": "port ssh cache", **change}] * 3
                    memory.remember_many(more)
        except MemoriterError:
            continue


@settings(max_examples=EXAMPLES)
@given(corpora, queries, asks(), later, st.sampled_from(["kept open", "opened again"]))
def test_a_replay_has_the_same_bytes_whatever_was_written_since(
    corpus: Corpus, text: str, ask: dict[str, Any], done: list[Any], store: str
) -> None:
    folder = Path(tempfile.mkdtemp())
    try:
        clock = HandClock()
        memory = open_toy(folder / "m.db", clock)
        ids = linked(memory, corpus)
        result = answered(memory, text, ask)
        if result is None:
            return
        receipt = json.loads(result.receipt.to_bytes())
        write(memory, clock, ids, done)
        if store == "opened again":
            memory.close()
            memory = open_toy(folder / "m.db", clock)
        report = memory.replay(receipt)
        assert report.same, report.differences
        assert canonical(report.result.receipt.body) == canonical(receipt)
        memory.close()
    finally:
        shutil.rmtree(folder)


# --- why not --------------------------------------------------------------------------------------


@settings(max_examples=2 * EXAMPLES)
@given(corpora, queries, asks())
def test_every_record_that_is_no_hit_has_a_reason_and_a_change_that_lets_it_in(
    corpus: Corpus, text: str, ask: dict[str, Any]
) -> None:
    memory = open_toy(reranker=ToyReranker())
    ids = linked(memory, corpus)
    result = answered(memory, text, ask)
    if result is None:
        return
    hits = {hit.id: hit.rank for hit in result}
    for id in ids:
        report = memory.why_not(result, id)
        assert report.admits, report.to_dict()
        assert report.change is not None
        if id in hits:
            assert (report.stage, report.rank_then) == ("hit", hits[id])
            continue
        assert report.stage not in ("hit", "view", "run")
        assert report.reason
        again = memory.recall(text, **report.changed(ask))
        assert {hit.id: hit.rank for hit in again}[id] == report.rank_then


CALLED: tuple[dict[str, Any], ...] = (
    {"recipe": "mentisdb", "tags_any": ["ops"], "min_importance": 0.5, "agent_ids": ["bot"]},
    {"recipe": "mentisdb", "since": 2, "until": 3, "thought_types": ["x"]},
    {"recipe": "jeffs-brain", "tags": ["ops", "x"], "project": "x", "pathPrefix": "port"},
    {"recipe": "comis", "trustLevel": "learned", "agentId": "bot", "tags": ["x"]},
)
"""Tests of the filter under the names that another system has for them."""


@settings(max_examples=EXAMPLES)
@given(corpora, queries, asks(), st.sampled_from(CALLED))
def test_a_filter_given_by_another_systems_names_is_taken_back_too(
    corpus: Corpus, text: str, ask: dict[str, Any], called: dict[str, Any]
) -> None:
    memory = open_toy()
    ids = linked(memory, corpus)
    overrides = {**ask["overrides"], **{k: v for k, v in called.items() if k != "recipe"}}
    ask = {**ask, "recipe": called["recipe"], "overrides": overrides}
    result = answered(memory, text, ask)
    if result is None:
        return
    for id in ids:
        report = memory.why_not(result, id)
        again = memory.recall(text, **report.changed(ask))
        assert {hit.id: hit.rank for hit in again}[id] == report.rank_then


# --- queries --------------------------------------------------------------------------------------

scopes = st.builds(
    Scope,
    tenant=names,
    agent=st.none() | st.sampled_from(AGENTS),
    user=st.none() | names,
    session=st.none() | names,
)
scores = st.floats(-1e9, 1e9) | st.integers(-1000, 1000)
name_lists = st.lists(names, unique=True, max_size=3).map(tuple)
labels = st.sampled_from(["mine", "links", "other_1"])
QUERY: dict[str, st.SearchStrategy[Any]] = {
    "text": queries,
    "scope": scopes,
    "now": st.integers(-(2**55), 2**55),
    "limit": st.integers(1, 10_000),
    "where": wheres().map(parse_where),
    "as_of": st.none() | st.sampled_from(MOMENTS),
    "known_at": st.none() | st.sampled_from(MOMENTS),
    "overrides": st.sampled_from(OVERRIDES),
    "require": st.frozensets(labels),
    "vector": st.none()
    | st.lists(st.floats(-1e3, 1e3), min_size=1, max_size=4).filter(any).map(tuple),
    "aliases": st.dictionaries(st.just("port"), name_lists),
    "mode": st.none() | st.just("bm25"),
    "seeds": st.dictionaries(labels, name_lists.filter(any)),
    "cycle": st.none() | st.integers(0, 2**53),
    "lists": st.dictionaries(labels, st.lists(st.tuples(names, scores), max_size=3).map(tuple)),
    "budget": st.builds(Budget, st.none() | st.integers(1, 10**6), st.none() | st.integers(1, 99)),
}


@settings(max_examples=5 * EXAMPLES)
@given(st.fixed_dictionaries(QUERY).map(lambda fields: Query(**fields)))
def test_a_query_is_read_back_as_it_was_written(query: Query) -> None:
    again = Query.of(json.loads(canonical(query.to_dict())))
    assert again == query
    assert canonical(again.to_dict()) == canonical(query.to_dict())


def test_every_part_of_a_query_is_read_back() -> None:
    assert set(QUERY) == {field.name for field in dataclasses.fields(Query)}


@given(texts, plain_text)
def test_a_deep_filter_is_read_back(title: str, text: str) -> None:
    nested: dict[str, Any] = {"title": title}
    for _ in range(15):
        nested = {"text": text, "not": nested}
    query = Query(text=text, scope=Scope(), now=0, limit=1, where=parse_where(nested))
    assert Query.of(query.to_dict()) == query
