"""The vector spaces of a tenant (`memory.embedding`): their state, migration, promotion, rollback.

Another embedder means another space. It is filled (migrated) while the old one serves, promoted
when it is full, and can be rolled back at once, because the old vectors are kept. The settings are
an entry of the log, in the registry of agents, under a reserved name.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from memoriter.core.batch import Commit
from memoriter.core.errors import (
    Conflict,
    InputError,
    MemoriterError,
    NotFound,
    Unavailable,
    message_of,
)
from memoriter.core.lazy_dataclass import dataclass
from memoriter.core.options import explained
from memoriter.core.other_words import Hinting
from memoriter.core.scope import Scope
from memoriter.core.shown import counted, named, plain, shown
from memoriter.embed.vector_space import VectorSpace, parse_space
from memoriter.embed.without_model import UnavailableEmbedder
from memoriter.index.view import View
from memoriter.memory.chosen_embedder import embedding_settings, save_settings
from memoriter.memory.embedders import embedder_of, vector_space
from memoriter.memory.engine import Engine
from memoriter.memory.options import SPACE_ARGUMENTS
from memoriter.memory.spaces import SpaceCalibration, space_calibration
from memoriter.store.port import Log
from memoriter.write.progress import ProgressCallback, show_progress
from memoriter.write.writer import PORTION, Writer

if TYPE_CHECKING:
    from memoriter.embed.port import Embedder

_log: Final = logging.getLogger(__name__)
_MOST: Final = 2**31
Done = TypeVar("Done")
Gate = Callable[[], bool]
"""Decides whether a space may serve: an evaluation, for example."""


@dataclass(frozen=True, slots=True)
class Space:
    """One space of a tenant."""

    space: str
    embedder: str | None
    """The name of its embedder; None if unknown."""
    rows: int
    """Records that have a vector in it, or nothing to embed."""
    of: int
    serves: bool
    calibration: SpaceCalibration

    def __repr__(self) -> str:
        serves = ", serves" if self.serves else ""
        name = plain(self.embedder or self.space, 40)
        return shown(f"Space {name}", f"{self.rows:,} of {counted(self.of, 'row')}{serves}")

    def to_dict(self) -> dict[str, object]:
        """The space as plain data."""
        return {
            "space": self.space,
            "embedder": self.embedder,
            "rows": self.rows,
            "of": self.of,
            "serves": self.serves,
            "calibration": self.calibration.to_dict(),
        }


def serving_embedder(log: Log, tenant: str) -> Embedder | None:
    """The serving embedder of a tenant.

    If its model is not available, a stand-in is returned that fails on each call with the reason:
    the memory opens, writes become debts, and the vector lane is skipped.
    """
    settings = embedding_settings(log, tenant)
    try:
        return embedder_of(settings["embedder"])
    except MemoriterError as missing:
        _log.warning("the embedder that serves is not available: %s", missing.message)
        name = parse_space(settings["space"])
        reads = (name.template, name.window)
        return UnavailableEmbedder(settings["embedder"], name.fingerprint, reads, missing)


@explained(SPACE_ARGUMENTS)
class Embedding(Hinting):
    """The vector spaces of one tenant."""

    def __init__(self, engine: Engine, writer: Writer) -> None:
        self._engine = engine
        self._context = writer.context
        self._tenant = writer.tenant

    def __repr__(self) -> str:
        return shown(f"Embedding of tenant {named(self._tenant)}")

    def status(self) -> list[Space]:
        """Every space that has vectors, and the one that this memory uses."""
        log, own = self._engine.log, self._engine.vectors
        settings = embedding_settings(log, self._tenant)
        names, alive = embedder_names(settings), self._alive()
        rows = {space: int(mask.sum()) for space, mask in self._embedded(alive).items()}
        if own.embedder is not None:
            names.setdefault(own.name, own.embedder.name)
            rows.setdefault(own.name, 0)
        registry = log.agents(self._tenant, 2**62)
        return [
            Space(
                space,
                names.get(space),
                rows=count,
                of=len(alive),
                serves=space == settings["space"],
                calibration=space_calibration(registry, space, names.get(space)),
            )
            for space, count in sorted(rows.items())
            if count or space in (own.name, settings["space"])
        ]

    def _alive(self) -> NDArray[np.int64]:
        """The rows of the current versions of all records, in their order."""
        view = self._engine.view(self._tenant, None)
        seen = zip(view.segments, view.visible, strict=True)
        rows = [segment.rows[mask].astype(np.int64) for segment, mask in seen]
        return np.sort(np.concatenate([np.zeros(0, np.int64), *rows]))

    def _embedded(self, alive: NDArray[np.int64]) -> dict[str, NDArray[np.bool_]]:
        """By space which of these rows, which are sorted, have a vector in it."""
        masks: dict[str, NDArray[np.bool_]] = {}
        for part in self._engine.log.embedded(self._tenant):
            for space, rows in part.items():
                mask = masks.setdefault(space, np.zeros(alive.size, np.bool_))
                at = np.searchsorted(alive, rows)
                known = at < alive.size
                known[known] = alive[at[known]] == np.asarray(rows)[known]
                mask[at[known]] = True
        return masks

    def fill(self, *, progress: bool | ProgressCallback = False) -> int:
        """Compute now the vectors that large writes left owed; returns how many."""
        owed = len(self._engine.log.debts(self._tenant, _MOST))
        with show_progress(progress, "embedding", owed) as report:
            writer = self._writer_into(self._engine.vectors)
            return writer.pay(owed, report)[0] if owed else 0

    def migrate(
        self, embedder: str | Embedder, *, progress: bool | ProgressCallback = False
    ) -> Space:
        """Embed all records with another embedder; the serving one stays in use.

        Can be interrupted and called again; records written meanwhile are embedded too. Raises
        Unavailable if the embedder fails.
        """
        vectors, name = self._space_for(embedder), _name(embedder)
        state = embedding_settings(self._engine.log, self._tenant)
        if embedder_names(state).get(vectors.name) != name:
            self._save({**state, "names": {**embedder_names(state), vectors.name: name}})
        lacking = self._lacking(vectors)
        with show_progress(progress, f"embedding with {name}", len(lacking)) as report:
            done = 0
            while lacking:  # again, until no record was written in the meantime
                writer = self._writer_into(vectors)
                for portion in writer.embed_rows(lacking):
                    if not portion.done:
                        why = message_of(portion.failed) if portion.failed else "no answer"
                        raise Unavailable(
                            f"embedder {name} fails: {why}; {done} records are embedded so far",
                            hint="try again when the embedder works; the vectors so far are kept",
                        )
                    done += len(portion.done)
                    report(done)
                lacking = self._lacking(vectors)
        alive, log = self._alive(), self._engine.log
        rows = len(alive) - len(self._lacking(vectors))
        calibration = space_calibration(log.agents(self._tenant, 2**62), vectors.name, name)
        serves = vectors.name == state["space"]
        return Space(vectors.name, name, rows, len(alive), serves=serves, calibration=calibration)

    def begin(self, embedder: str | Embedder) -> BackgroundFill[Space]:
        """Migrate in a background thread; `rows` has its progress, `wait` returns the result."""
        self._space_for(embedder)  # raises here, not in the thread
        return BackgroundFill(lambda report: self.migrate(embedder, progress=report))

    def promote(self, embedder: str, *, gate: Gate | None = None, partly: bool = False) -> Commit:
        """Make an embedder the serving one: memories opened later without an embedder use it.

        A few records that lack a vector are embedded now. Raises Conflict if more lack one, unless
        `partly`, and if the gate returns False.
        """
        if not isinstance(embedder, str):  # pyright: ignore[reportUnnecessaryIsInstance]  # from outside
            raise InputError(
                "embedder: expected the name of an embedder, because a store can keep only a name",
                hint="to use an embedder of your own, pass it whenever you open the memory:"
                " open(…, embedder=…)",
                field="embedder",
            )
        if gate is not None and not callable(gate):
            raise InputError("gate: expected a function that returns True or False", field="gate")
        vectors = self._space_for(embedder)
        rows = self._lacking(vectors)
        writer = self._writer_into(vectors)
        few = writer.embed_rows(rows if len(rows) <= PORTION else [])
        lacking = len(rows) - sum(len(portion.done) for portion in few)
        if lacking and not partly:
            raise Conflict(
                f"embedder {embedder} was not promoted: {lacking} records have no vector of it yet",
                hint="run `migrate` to compute these vectors first, or give `partly` to"
                " promote without them",
                field="embedder",
            )
        if gate is not None and not gate():
            raise Conflict(
                f"promote: your gate returned False for {embedder}, so nothing was switched",
                hint="the embedder in use stays; promote again when your gate allows it",
                field="gate",
            )
        settings = embedding_settings(self._engine.log, self._tenant)
        before = settings["before"]
        if settings["space"] != vectors.name:
            last = {"embedder": settings["embedder"], "space": settings["space"]}
            before = [last, *before][:_KEPT]
        promoted = {"embedder": embedder, "space": vectors.name, "before": before}
        return self._save({**promoted, "names": embedder_names(settings)})

    def rollback(self) -> Commit:
        """Make the previous space the serving one again; raises NotFound if there is none."""
        settings = embedding_settings(self._engine.log, self._tenant)
        if not settings["before"]:
            raise NotFound(
                "rollback: there is no earlier embedder to go back to",
                hint="to switch to another embedder, promote it",
            )
        last, *rest = settings["before"]
        return self._save({**last, "before": rest, "names": embedder_names(settings)})

    def _save(self, settings: dict[str, Any]) -> Commit:
        context = self._context
        return save_settings(
            self._engine.log, self._tenant, settings, context.clock, context.entropy
        )

    def _space_for(self, embedder: str | Embedder) -> VectorSpace:
        """The space of an embedder; raises InputError if it cannot embed texts."""
        vectors = vector_space(embedder_of(embedder), self._engine.vectors.patience)
        if not vectors.embeds:
            raise InputError(
                f"embedder: {vectors.embedder_name} does not compute vectors from texts",
                hint="name an embedding model, for example table or http:MODEL@URL",
                field="embedder",
            )
        return vectors

    def _writer_into(self, vectors: VectorSpace) -> Writer:
        """A writer that embeds into another space, for the whole tenant."""
        context = replace(self._context, vectors=vectors)
        return Writer(self._engine.log, context, Scope.of(self._tenant))

    def _lacking(self, vectors: VectorSpace) -> list[int]:
        """The rows without a vector in a space; an empty vector (nothing to embed) counts."""
        alive = self._alive()
        have = self._embedded(alive).get(vectors.name)
        return (alive if have is None else alive[~have]).tolist()


_KEPT: Final = 8
"""How many earlier spaces a rollback can return to."""


def embedder_names(settings: dict[str, Any]) -> dict[str, str]:
    """The embedder names of all spaces for which one is known."""
    return {
        **settings.get("names", {}),
        **{old["space"]: old["embedder"] for old in settings["before"]},
        settings["space"]: settings["embedder"],
    }


def _name(embedder: str | Embedder) -> str:
    return embedder if isinstance(embedder, str) else embedder.name


def fill_vectors(engine: Engine, writer: Writer, limit: int) -> tuple[int, int]:
    """Embed records without a vector in any space that is searched; returns (done, left)."""
    spaces = [(engine.vectors, engine.view(writer.tenant, None))]
    spaces += [(each.vectors, each.index_cache.view(writer.tenant)) for each in engine.other_spaces]
    scope = Scope.of(writer.tenant)  # upkeep is for the whole tenant, whatever the caller's scope
    counts = [
        _filled(Writer(engine.log, replace(writer.context, vectors=vectors), scope), view, limit)
        for vectors, view in spaces
    ]
    return sum(done for done, _ in counts), sum(left for _, left in counts)


def _filled(writer: Writer, view: View, limit: int) -> tuple[int, int]:
    """Embed the bare rows of a view into the writer's space; returns (done, left)."""
    if not writer.context.vectors.embeds:
        return 0, 0
    rows = _bare(view)
    done: set[int] = set()
    for portion in writer.embed_rows(rows[:limit]):
        done |= portion.done
        if not portion.done:  # the embedder fails: more portions would fail too
            break
    left = [row for row in rows if row not in done]
    return len(done), len(left)


def _bare(view: View) -> Sequence[int]:
    """The rows of a view that have no vector."""
    return [
        row
        for segment, lacking in zip(view.segments, view.unembedded, strict=True)
        for row in segment.rows[lacking].tolist()
    ]


# -- filling in the background ---------------------------------------------------------------------


class _Stopped(Exception):
    """The caller called `stop`."""


class BackgroundFill(Generic[Done]):
    """Runs work in a thread; the work reports how many rows are done."""

    def __init__(self, work: Callable[[ProgressCallback], Done]) -> None:
        self.rows = 0
        """How many rows are done so far."""
        self._stop = threading.Event()
        self._done: Done | None = None
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, args=(work,), name="memoriter-filling")
        # A daemon thread may die at exit: finished portions are committed, the rest is resumable.
        self._thread.daemon = True
        self._thread.start()

    def __repr__(self) -> str:
        state = "running" if self.running else "ended"
        return shown("BackgroundFill", f"{counted(self.rows, 'row')}, {state}")

    def _run(self, work: Callable[[ProgressCallback], Done]) -> None:
        try:
            self._done = work(self._report)
        except BaseException as error:  # raised again in `wait`
            self._error = error

    def _report(self, rows: int) -> None:
        self.rows = rows
        if self._stop.is_set():
            raise _Stopped

    @property
    def running(self) -> bool:
        """Whether the thread is running."""
        return self._thread.is_alive()

    def wait(self, timeout: float | None = None) -> Done:
        """Wait for the result; raises the error of the work.

        Raises Unavailable if it was stopped, or still runs after `timeout` seconds.
        """
        self._thread.join(timeout)
        if self.running or isinstance(self._error, _Stopped):
            why, then = (
                ("still runs", "wait longer") if self.running else ("was stopped", "start it again")
            )
            raise Unavailable(
                f"the embedding of all memories {why}; {self.rows} records have vectors so far",
                hint=f"{then}; the vectors computed so far are kept",
            )
        if self._error is not None:
            raise self._error
        assert self._done is not None  # noqa: S101  # it ended, and not by an error
        return self._done

    def stop(self) -> int:
        """Stop after the current portion; returns how many rows are done."""
        self._stop.set()
        self._thread.join()
        return self.rows
