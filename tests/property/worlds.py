"""A memory and its oracle side by side: the same question to both, the same answer from both."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, cast

from tests.inside import context_of, engine_of, log_of
from tests.oracle.answer import Answer, answer
from tests.oracle.world import Ask, World

import memoriter
from memoriter.core.errors import BadQuery, NothingToRun, Unavailable
from memoriter.core.query import Query, parse_lists
from memoriter.memory.facade import Memory
from memoriter.memory.options import SearchKwargs
from memoriter.memory.search import run_recipe
from memoriter.pipeline.load import overridden, recipe_of, with_lists
from memoriter.pipeline.recipe import Recipe
from memoriter.store.port import Dump
from memoriter.testing.fakes import CountedEntropy, HandClock, ToyEmbedder, ToyReranker
from memoriter.testing.whole import whole
from memoriter.text.analyzers import analyzer
from memoriter.text.default import DefaultAnalyzer
from memoriter.text.port import Analyzer
from memoriter.why.result import Result

OWN = DefaultAnalyzer()
SPACE = "toy/1+title-text/1"
LIMIT = 1000
_WORLDS: dict[object, World] = {}
"""Worlds made lately: a view has one as long as nothing is written."""
Shown = tuple[list[tuple[str, float]], list[str]]
REFUSED = "refused"
"""Stands for the lanes of a question that was refused."""


def home(place: str | Path) -> str | Path:
    """Where a memory is kept that a test wants at a place; `tests/postgres` has another home."""
    return place


class Lenient(Memory):
    """A memory that asks by any recipe, whether or not it reads the reranker, a cycle, aliases."""

    def _query(self, query: str, limit: int | None, options: SearchKwargs) -> tuple[Query, Recipe]:
        recipe = recipe_of(options.get("recipe") or "memoriter")
        unread = {name for name in ("aliases", "cycle") if not recipe.takes(name)}
        ask = {name: value for name, value in options.items() if name not in unread}
        return super()._query(query, limit, cast("SearchKwargs", ask))

    def recall(self, query: str, limit: int | None = None, **ask: Any) -> Result:
        return run_recipe(self._engine, *self._query(query, limit, cast("Any", ask)))

    def scoped(
        self, agent: str | None = None, user: str | None = None, session: str | None = None
    ) -> Memory:
        return Lenient(
            self._engine, self._writer.context, super().scoped(agent, user, session).scope
        )


def open_toy(
    place: str | Path = ":memory:",
    clock: HandClock | None = None,
    entropy: CountedEntropy | None = None,
    **more: Any,
) -> Memory:
    """A memory without a machine's clock, randomness or model."""
    options: dict[str, Any] = {
        "clock": clock or HandClock(),
        "entropy": entropy or CountedEntropy(),
        "embedder": ToyEmbedder(),
        "reranker": ToyReranker(),
        "maintenance": "manual",
        "flush_rows": 3,
        **more,
    }
    memory = memoriter.open(home(place), **options)
    return Lenient(
        engine_of(memory), context_of(memory), memory.scope
    )  # random recipes need not rerank


def drop_index(memory: Memory) -> None:
    """Delete the published index of a memory: the next one that opens it has the log alone."""
    segments, tenant = engine_of(memory).index_cache.segments, memory.scope.tenant
    assert segments is not None
    segments.drop(tenant, segments.list(tenant))
    assert not segments.list(tenant)


def dump_of(memory: Memory) -> Dump:
    """The tenant as rows, without the index's own counter."""
    dump = whole(log_of(memory), memory.scope.tenant)
    return replace(dump, head=replace(dump.head, published=0))


def asked(memory: Memory, text: str, recipe: Any, **ask: Any) -> Shown:
    """(id, score) of every hit, and the lanes that took part; none when nothing could run."""
    try:
        result = memory.recall(text, LIMIT, recipe=recipe, **ask)
    except NothingToRun:
        return [], []
    except (BadQuery, Unavailable):  # a recipe that wants all or nothing lacks a lane
        return [], [REFUSED]
    return [(hit.id, hit.score) for hit in result], list(result.used)


def world_of(
    memory: Memory, seq: int | None = None, space: str = SPACE, reader: Analyzer = OWN
) -> World:
    """The oracle's world at a view of a memory."""
    log = log_of(memory)
    head = log.head(memory.scope.tenant)
    key = (id(log), head.link, head.seq, seq, reader.fingerprint)
    if key not in _WORLDS:
        if len(_WORLDS) > 20:
            _WORLDS.clear()
        dump = dump_of(memory)
        _WORLDS[key] = World.at(dump, head.seq if seq is None else seq, reader, space)
    return _WORLDS[key]


def query_vector(memory: Memory, text: str) -> Any:
    """What the embedder answers, if it does."""
    embedder = engine_of(memory).vectors.embedder  # the outcome of the one effect
    if embedder is None or not text.strip() or getattr(embedder, "failing", False):
        return None
    (vector,) = embedder.embed([text], "query")
    return None if vector is None else vector.tolist()


def expected(memory: Memory, text: str, recipe: Any, **ask: Any) -> Shown:
    """What the oracle answers to the same question."""
    oracle = foreseen(memory, text, recipe, **ask)
    return oracle.ranked, oracle.used


def foreseen(memory: Memory, text: str, recipe: Any, **ask: Any) -> Answer:
    """The oracle's whole answer."""
    known_at = ask.get("known_at")
    seq = None if known_at is None else log_of(memory).seq_at(memory.scope.tenant, known_at)
    now = ask.get("now")
    lists = parse_lists(ask.get("lists"))
    changed = with_lists(overridden(recipe_of(recipe), ask.get("overrides", {})), lists).to_data()
    reranker = engine_of(memory).reranker  # the outcome of the other effect
    question = Ask(
        text,
        changed,
        engine_of(memory).clock.now() if now is None else now,  # as above
        query_vector(memory, text),
        ask.get("where"),
        ask.get("as_of"),
        memory.scope.filters(),
        ask.get("aliases") or {},
        ask.get("seeds") or {},
        {label: pairs for label, pairs in lists.items() if not isinstance(pairs, str)},
        ask.get("mode"),
        ask.get("cycle"),
        None if reranker is None or getattr(reranker, "failing", False) else reranker.score,
    )
    reader = analyzer(recipe_of(recipe).analyzer)
    return answer(world_of(memory, seq, reader=reader), question)
