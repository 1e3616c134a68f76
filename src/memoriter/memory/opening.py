"""Opening a memory: which store, which models, which clock."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Unpack, cast

from memoriter.core.clock import STAMPS, Stamps, SystemClock, SystemEntropy
from memoriter.core.errors import InputError, NotFound, Unsupported
from memoriter.core.names import choice, flag, integer, number, text
from memoriter.core.options import check_known, takes
from memoriter.core.scope import Scope
from memoriter.embed.call import Patience
from memoriter.embed.callable import Embed
from memoriter.embed.port import Embedder
from memoriter.index.cache import IndexCache, UpkeepOptions
from memoriter.index.tenant import IndexSpaces
from memoriter.index.upkeep import FLUSH_ROWS
from memoriter.memory.analyzers import added
from memoriter.memory.embedders import kin_of
from memoriter.memory.embedding import chosen, serving
from memoriter.memory.engine import Engine
from memoriter.memory.facade import Memory
from memoriter.memory.options import OpenOptions
from memoriter.memory.rerankers import reranker_of
from memoriter.memory.spaces import OtherSpaces, Wordless, embedders_of, patience_of
from memoriter.rerank.port import Reranker
from memoriter.store.io_errors import os_errors
from memoriter.store.port import Log
from memoriter.store.ram import Ram
from memoriter.store.sqlite.connect import Durability
from memoriter.store.sqlite.store import Sqlite
from memoriter.text.entities import Extractor, names_in
from memoriter.text.own import Own
from memoriter.write.prepare import WriteContext
from memoriter.write.template import Said, said_of

Asked = str | Embedder | Embed | Sequence[str | Embedder] | None
"""An embedder as a caller names it."""


@takes(OpenOptions)
def open_memory(
    place: str | Path = ":memory:", tenant: str = "default", **options: Unpack[OpenOptions]
) -> Memory:
    """Open a memory, making it if it is not there; a context manager.

    Args:
        place: A file, or `:memory:` for one that ends with the process.
        tenant: Whose memories: a hard partition with its own statistics, graph and chain.
        **options: As below.

    """
    scope = Scope.of(tenant)
    ground = ground_of(place, options)
    return Memory(parts_of(ground, tenant, ground.embedder(tenant)), scope)


@dataclass(frozen=True, slots=True)
class OpenedStore:
    """An opened store and how memories stand on it, whoever their tenant is."""

    log: Log
    options: OpenOptions
    reranker: Reranker | None
    patience: Patience
    upkeep: UpkeepOptions

    def embedder(self, tenant: str) -> Asked:
        """What a tenant is embedded by: what the opener said, or what the tenant chose."""
        if "embedder" in self.options:
            return self.options["embedder"]
        return serving(self.log, tenant)

    def space(self, tenant: str) -> str:
        """Whose like a tenant is embedded: what the opener said is the same for all."""
        return "" if "embedder" in self.options else str(chosen(self.log, tenant)["space"])


def ground_of(place: str | Path, options: OpenOptions) -> OpenedStore:
    """Open a store; everything that is asked for is checked first."""
    _check(options)
    reranker = reranker_of(options.get("reranker"))
    _extractor(options.get("entities", "given"))
    if "embedder" in options:  # before the store: a refused open leaves no file behind
        options = cast("OpenOptions", {**options, "embedder": embedders_of(options["embedder"])})
    patience = patience_of(options.get("embed_timeout"))
    log, folder, writable = _store(
        place,
        read_only=options.get("read_only", False),
        durability=options.get("durability", "full"),
    )
    upkeep = UpkeepOptions(
        folder,
        options.get("maintenance", "auto") == "auto" and writable,
        options.get("flush_rows", FLUSH_ROWS),
        options.get("horizon_days", 30.0),
        options.get("memory_limit", 2 * 1024**3),
        writable,
    )
    return OpenedStore(log, options, reranker, patience, upkeep)


def parts_of(ground: OpenedStore, tenant: str, asked: Asked) -> Engine:
    """What a memory is made of that embeds as asked."""
    log, options, upkeep = ground.log, ground.options, ground.upkeep
    clock = options.get("clock") or SystemClock()
    entropy = options.get("entropy") or SystemEntropy()
    stamps = Stamps() if options.get("clock") else STAMPS
    registry = partial(_said, log, tenant)
    others = partial(added, log)
    extractor = _extractor(options.get("entities", "given"))
    model, *more = embedders_of(asked)
    write_context = WriteContext(
        Own(), model, clock, entropy, others, stamps, extractor, registry, ground.patience
    )
    kin = kin_of(write_context.embedder)
    index_cache = IndexCache(
        log, IndexSpaces(write_context.analyzer, write_context.space, kin), upkeep, clock
    )
    beside = tuple(_beside(replace(write_context, embedder=each), log, upkeep) for each in more)
    return Engine(log, index_cache, write_context, kin, ground.reranker, beside)


def parts_for(engine: Engine, tenant: str) -> Engine:
    """The same parts for another tenant that is embedded alike: the indexes are shared."""
    registry = partial(_said, engine.log, tenant)
    beside = tuple(
        replace(each, write_context=replace(each.write_context, registry=registry))
        for each in engine.beside
    )
    return replace(
        engine, write_context=replace(engine.write_context, registry=registry), beside=beside
    )


def _beside(write_context: WriteContext, log: Log, upkeep: UpkeepOptions) -> OtherSpaces:
    """A space beside the one that serves: its index holds vectors alone, and lives in memory."""
    spaces = IndexSpaces(Wordless(), write_context.space, None)
    return OtherSpaces(
        write_context, IndexCache(log, spaces, replace(upkeep, folder=None), write_context.clock)
    )


def _said(log: Log, tenant: str) -> Said:
    return said_of(log.agents(tenant, 2**62))


def _extractor(what: object) -> Extractor | None:
    if what == "given":
        return None
    if what == "rules":
        return names_in
    if callable(what):
        return cast("Extractor", what)
    raise InputError(
        f"entities: {what!r} finds none",
        hint='"given", "rules", or a function from a text to names',
        field="entities",
    )


def _check(options: OpenOptions) -> None:
    """Refuse options that are unknown or make no sense."""
    check_known(options, OpenOptions, InputError, "place", "tenant")
    flag(options.get("read_only", False), "read_only", InputError)
    choice(options.get("maintenance", "auto"), "maintenance", ("auto", "manual"), InputError)
    integer(options.get("flush_rows", FLUSH_ROWS), "flush_rows", 1, 2**31, InputError)
    number(options.get("horizon_days", 30.0), "horizon_days", 0.0, 1e6, InputError)
    for name, verb in (("clock", "now"), ("entropy", "draw")):
        given = options.get(name)
        if given is not None and not callable(getattr(given, verb, None)):
            raise InputError(
                f"{name}: expected an object with {verb}(), got {type(given).__name__}", field=name
            )
    integer(options.get("memory_limit", 2**31), "memory_limit", 0, 2**60, InputError)


def _store(
    place: str | Path, *, read_only: bool, durability: Durability
) -> tuple[Log, Path | None, bool]:
    """(the store at a place, the folder of its segments, whether it can be written)."""
    if str(place) == ":memory:":
        return Ram(), None, True
    if "://" in str(place):
        raise Unsupported(
            f"no store understands {str(place).partition('://')[0]}:// addresses",
            hint="give the path of a file, for example agent.db",
        )
    clean = text(str(place), "place", InputError, 4096)
    if not clean or "\0" in clean or not isinstance(place, str | Path):  # pyright: ignore[reportUnnecessaryIsInstance]  # from outside
        raise InputError(
            "place: expected the path of a file",
            hint='for example "agent.db", or ":memory:"',
            field="place",
        )
    # The log, the lock and the index lie beside the file itself, not beside a link to it.
    path = Path(os.path.realpath(Path(clean).expanduser()))
    with os_errors(path):
        path.exists()
    if not path.parent.is_dir():
        raise NotFound(
            f"there is no folder {path.parent}", hint=f"make it first: mkdir -p {path.parent}"
        )
    if path.is_dir():
        raise InputError(f"{path} is a folder", hint="name a file in it, for example agent.db")
    choice(durability, "durability", ("full", "fast"), InputError)
    store = Sqlite(path, read_only=read_only, durability=durability)
    folder = path.with_name(path.name + ".idx")
    writable = not store.read_only
    return store, folder if folder.is_dir() or writable else None, writable
