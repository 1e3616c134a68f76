"""The same writes on PostgreSQL, in a file and in memory are the same bytes everywhere."""

from __future__ import annotations

import itertools
import json
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.inside import context_of, engine_of, log_of
from tests.night import NIGHT
from tests.postgres.forked import Child
from tests.postgres.server import server
from tests.postgres.turns import one_write, written
from tests.property.changes import Change, Corpus, change, changes, corpora
from tests.property.pipelines import any_recipes
from tests.property.strategies import queries, wheres
from tests.property.worlds import asked, drop_index, dump_of, open_toy

from memoriter.core.errors import MemoriterError
from memoriter.memory.facade import Memory
from memoriter.store.verify import verify_log
from memoriter.testing.fakes import CountedEntropy, HandClock
from memoriter.testing.whole import whole

_TENANTS = itertools.count()


@pytest.fixture(scope="module")
def shared() -> Iterator[str]:
    """One store for all histories; each has a tenant of its own."""
    with tempfile.TemporaryDirectory() as cache, pytest.MonkeyPatch.context() as patch:
        patch.setenv("MEMORITER_CACHE", cache)
        yield server().database()


def told_by(memory: Memory, text: str, recipe: Any, where: Any) -> tuple[Any, ...]:
    """Everything that a memory answers: hits, explanations, receipt, rows, digests."""
    try:
        result = memory.recall(text, recipe=recipe, where=where)
        receipt = result.receipt.to_bytes()
        whole = json.dumps(result.to_dict(), default=str, sort_keys=True)
    except MemoriterError as error:
        receipt, whole = str(error).encode(), ""
    return asked(memory, text, recipe, where=where), receipt, whole, dump_of(memory)


@settings(max_examples=300 if NIGHT else 6)
@given(corpora, changes, queries, any_recipes, st.none() | wheres())
def test_a_history_is_the_same_bytes_in_every_store(
    shared: str, corpus: Corpus, done: list[Change], text: str, recipe: Any, where: Any
) -> None:
    folder, tenant = Path(tempfile.mkdtemp()), f"t{next(_TENANTS)}"
    try:
        answers: list[Any] = []
        for place in (":memory:", folder / "m.db", shared):
            clock = HandClock()
            with open_toy(place, clock, tenant=tenant) as memory:
                ids = list(memory.remember_many(corpus).ids)
                memory.maintain()
                change(memory, clock, done, ids)
                before = told_by(memory, text, recipe, where)
                memory.maintain()
                after = told_by(memory, text, recipe, where)
            answers.append((before, after))
        with open_toy(shared, clock, tenant=tenant) as later:
            assert told_by(later, text, recipe, where) == after, "another process says the same"
            drop_index(later)
        with open_toy(shared, clock, tenant=tenant) as rebuilt:
            assert told_by(rebuilt, text, recipe, where) == after, "so does one without segments"
        assert answers[0] == answers[1] == answers[2]
    finally:
        shutil.rmtree(folder)


def test_what_two_processes_write_at_once_is_their_order_replayed(shared: str) -> None:
    count = 100 if NIGHT else 15
    with open_toy(shared, tenant="first") as memory:  # registers the space, so that no write of
        memory.remember("port")  # theirs is made twice, with other salts
    runs = [Child(partial(written, shared, name, count)) for name in ("ann", "bob")]
    assert [run.join() for run in runs] == [0, 0]
    with open_toy(shared, tenant="both") as memory:
        dump = dump_of(memory)
        verify_log("both", dump)
        order = [record.id for record in dump.records]
        assert sorted(order) == sorted(f"{who}-{n}" for who in ("ann", "bob") for n in range(count))
        answer = asked(memory, "port of ann", "memoriter")
    with open_toy(tenant="both") as base:
        scope, writers = base.scope, dict[str, Memory]()
        for name in ("ann", "bob"):
            context = replace(context_of(base), entropy=CountedEntropy(name), clock=HandClock())
            engine = replace(engine_of(base), clock=context.clock)
            writers[name] = Memory(engine, context, scope)
        for record_id in order:
            name, n = record_id.split("-")
            one_write(writers[name], name, int(n))
        assert whole(log_of(base), "both") == replace(dump, head=log_of(base).head("both"))
        assert dump_of(base) == dump
        assert asked(base, "port of ann", "memoriter") == answer
