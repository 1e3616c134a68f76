"""Opens a memory: validates the options, opens the store, loads the models.

`memoriter.open` is `open_memory`; `memory.tenants` opens one store for many tenants.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Unpack, cast

from memoriter.core.clock import STAMPS, Clock, Stamps, SystemClock, SystemEntropy
from memoriter.core.errors import InputError
from memoriter.core.lazy_dataclass import dataclass
from memoriter.core.names import choice, flag, integer, number
from memoriter.core.options import check_known, takes
from memoriter.core.scope import Scope
from memoriter.embed.call import Patience
from memoriter.embed.callable import EmbedFunction
from memoriter.embed.port import Embedder
from memoriter.embed.vector_space import AgentRegistry, VectorSpace
from memoriter.index.cache import IndexCache, UpkeepOptions
from memoriter.index.following import Follower
from memoriter.index.spaces import IndexSpaces
from memoriter.index.upkeep import FLUSH_ROWS
from memoriter.kernel.library import kernel_choice
from memoriter.memory.analyzers import added_analyzers
from memoriter.memory.chosen_embedder import Founding, embedding_settings
from memoriter.memory.embedders import deriver_of, kin_of, vector_space
from memoriter.memory.embedding import serving_embedder
from memoriter.memory.engine import AnswerHome, Engine
from memoriter.memory.facade import Memory
from memoriter.memory.options import PLACE, OpenOptions
from memoriter.memory.places import open_place
from memoriter.memory.rerankers import reranker_of
from memoriter.memory.spaces import OtherSpace, Wordless, embedders_of, patience_of
from memoriter.rerank.port import Reranker
from memoriter.store.port import Log
from memoriter.text.default import DefaultAnalyzer
from memoriter.text.entities import Extractor, names_in
from memoriter.write.prepare import WriteContext
from memoriter.write.writer import Writer

EmbedderLike = str | Embedder | EmbedFunction | Sequence[str | Embedder | EmbedFunction] | None
"""The option `embedder`: a name, an object, a function, or several of them."""


@takes(OpenOptions, PLACE)
def open_memory(
    place: str | Path = ":memory:", tenant: str = "default", **options: Unpack[OpenOptions]
) -> Memory:
    """Open a memory, or create it if the file does not exist; a context manager."""
    return opened(place, tenant, options)


def opened(place: str | Path, tenant: str, options: OpenOptions, *, stays: bool = True) -> Memory:
    """Open a memory; a process that `stays` computes in the background the vectors it owes."""
    scope = Scope.of(tenant)
    store = open_store(place, options)
    try:
        engine = open_engine(store, store.embedder(tenant))
        engine.index_cache.resume(tenant)
        context = write_context_for(store, engine, tenant)
        if stays:
            begin_filling(store, engine, context, scope)
        return Memory(engine, context, scope)
    except BaseException:
        store.log.close()
        raise


def begin_filling(store: OpenedStore, engine: Engine, context: WriteContext, scope: Scope) -> None:
    """Have the vectors that a tenant owes computed in the background, if the store has upkeep."""
    vectors = context.vectors
    if store.upkeep.automatic and vectors.embeds and not vectors.is_derived:
        writer = Writer(store.log, context, scope)
        filled = partial(engine.index_cache.tidy_soon, scope.tenant)
        engine.filling.begin(
            scope.tenant, writer.pay, filled, owes=bool(store.log.debts(scope.tenant, 1))
        )


# Inside the package `open` would hide the builtin; `help()` shows the name that callers know.
open_memory.__name__ = open_memory.__qualname__ = "open"
open_memory.__module__ = "memoriter"


@dataclass(frozen=True, slots=True)
class OpenedStore:
    """An opened store, and the options that are the same for all its tenants."""

    log: Log
    options: OpenOptions
    reranker: Reranker | None
    patience: Patience
    upkeep: UpkeepOptions
    stamps: Stamps
    answers: AnswerHome | None = None

    def embedder(self, tenant: str) -> EmbedderLike:
        """The embedder of a tenant: the option of `open`, else the one that was promoted."""
        if "embedder" in self.options:
            return self.options["embedder"]
        return serving_embedder(self.log, tenant)

    def space(self, tenant: str) -> str:
        """The tenant's vector space; empty if `open` named the embedder of all tenants."""
        return (
            "" if "embedder" in self.options else str(embedding_settings(self.log, tenant)["space"])
        )


def open_store(place: str | Path, options: OpenOptions) -> OpenedStore:
    """Validate all options, then open the store."""
    _check(options)
    kernel_choice()  # where it cannot be met, nothing is opened
    reranker = reranker_of(options.get("reranker"))
    _extractor(options.get("entities", "given"))
    if options.get("embedder") == "auto":  # as if it were not said
        options = cast("OpenOptions", {k: v for k, v in options.items() if k != "embedder"})
    if "embedder" in options:  # before the store is opened: a refused open leaves no file
        options = cast("OpenOptions", {**options, "embedder": embedders_of(options["embedder"])})
    patience = patience_of(options.get("embed_timeout"))
    read_only = options.get("read_only", False)
    opened = open_place(place, read_only=read_only, durability=options.get("durability", "full"))
    writable, automatic = opened.writable, options.get("maintenance", "auto") == "auto"
    upkeep = UpkeepOptions(
        segments=opened.segments,
        path=opened.path,
        place=opened.shown,
        automatic=automatic and writable,
        flush_rows=options.get("flush_rows", FLUSH_ROWS),
        horizon_days=options.get("horizon_days", 30.0),
        memory_limit=options.get("memory_limit", 2 * 1024**3),
        writable=writable,
        follower=Follower(opened.ends) if automatic and opened.ends is not None else None,
    )
    # A clock of the caller's may run in another century: its ids must not follow the process's.
    stamps = Stamps() if options.get("clock") else STAMPS
    return OpenedStore(
        opened.log,
        options,
        reranker=reranker,
        patience=patience,
        upkeep=upkeep,
        stamps=stamps,
        answers=opened.answers,
    )


def open_engine(store: OpenedStore, embedder: EmbedderLike) -> Engine:
    """The engine of all tenants of a store that have this embedder."""
    log, upkeep = store.log, store.upkeep
    clock = store.options.get("clock") or SystemClock()
    analyzer = DefaultAnalyzer()
    serving, *others = embedders_of(embedder)
    vectors = vector_space(serving, store.patience)
    kin = kin_of(serving)
    spaces = IndexSpaces(analyzer, vectors.name, kin, deriver_of(vectors.name))
    index_cache = IndexCache(log, spaces, upkeep, clock)
    other_spaces = tuple(
        _other_space(store, vector_space(each, store.patience), clock) for each in others
    )
    return Engine(
        log=log,
        index_cache=index_cache,
        analyzer=analyzer,
        vectors=vectors,
        clock=clock,
        kin=kin,
        reranker=store.reranker,
        other_spaces=other_spaces,
        answers=store.answers,
        filter_steps=store.options.get("filter_steps"),
    )


def write_context_for(store: OpenedStore, engine: Engine, tenant: str) -> WriteContext:
    """What writing into one tenant needs."""
    return WriteContext(
        analyzer=engine.analyzer,
        vectors=engine.vectors,
        clock=engine.clock,
        entropy=store.options.get("entropy") or SystemEntropy(),
        added_analyzers=partial(added_analyzers, store.log),
        stamps=store.stamps,
        extractor=_extractor(store.options.get("entities", "given")),
        registry=partial(_agent_registry, store.log, tenant),
        founding=Founding(store.log, tenant, engine.vectors),
        owed=partial(engine.filling.ask, tenant),
    )


def _other_space(store: OpenedStore, vectors: VectorSpace, clock: Clock) -> OtherSpace:
    """A further space: its index has vectors only, and is kept in memory."""
    spaces = IndexSpaces(Wordless(), vectors.name, None, deriver_of(vectors.name))
    return OtherSpace(
        vectors, IndexCache(store.log, spaces, replace(store.upkeep, segments=None), clock)
    )


def _agent_registry(log: Log, tenant: str) -> AgentRegistry:
    rows = log.agents(tenant, 2**62)
    return {row.agent: cast("dict[str, Any]", json.loads(row.body)) for row in rows}


def _extractor(what: object) -> Extractor | None:
    if what == "given":
        return None
    if what == "rules":
        return names_in
    if callable(what):
        return cast("Extractor", what)
    raise InputError(
        f"entities: {what!r} is neither the name of an extractor nor a function",
        hint='give "given" (find no entities), "rules" (find capitalised words and the like), or a'
        " function that takes a text and returns a list of names",
        field="entities",
    )


def _check(options: OpenOptions) -> None:
    """Raise InputError for options that are unknown or not valid."""
    check_known(options, OpenOptions, InputError, "place", "tenant")
    flag(options.get("read_only", False), "read_only", InputError)
    choice(options.get("maintenance", "auto"), "maintenance", ("auto", "manual"), InputError)
    integer(options.get("flush_rows", FLUSH_ROWS), "flush_rows", 1, 2**31, InputError)
    number(options.get("horizon_days", 30.0), "horizon_days", 0.0, 1e6, InputError)
    for name, verb in (("clock", "now"), ("entropy", "draw")):
        source = options.get(name)
        if source is not None and not callable(getattr(source, verb, None)):
            raise InputError(
                f"{name}: expected an object with a method {verb}(), got {type(source).__name__}",
                field=name,
            )
    integer(options.get("memory_limit", 2**31), "memory_limit", 0, 2**60, InputError)
    integer(options.get("filter_steps", 1), "filter_steps", 1, 2**60, InputError)
