"""The spaces that a tenant's records are embedded into: how full each is, and which one serves.

Changing the model starts another space. It is filled while the old one serves, promoted when it is
full, and given up again in no time: the old vectors are still there. Which space serves is an entry
of the log like any other, kept in the registry under a name that no agent can have.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, cast

from memoriter.core.batch import Batch, Commit, RegisterAgent
from memoriter.core.canonical import canonical
from memoriter.core.errors import (
    Conflict,
    InputError,
    MemoriterError,
    NotFound,
    Unavailable,
    message_of,
)
from memoriter.core.scope import Scope
from memoriter.core.shown import counted, named, plain, shown
from memoriter.embed.absent import Absent
from memoriter.index.view import SETTING, View
from memoriter.memory.background_fill import BackgroundFill
from memoriter.memory.embedders import embedder_of
from memoriter.memory.engine import Engine
from memoriter.store.port import Log
from memoriter.write.prepare import SALT_BYTES, WriteContext
from memoriter.write.progress import Told
from memoriter.write.progress import progress as showing
from memoriter.write.template import parts_of, space_of
from memoriter.write.writer import PORTION, Writer

if TYPE_CHECKING:
    from memoriter.embed.port import Embedder

_log: Final = logging.getLogger(__name__)
DEFAULT: Final = "static"
"""The embedder of a tenant that never chose one."""
Gate = Callable[[], bool]
"""Whether a space may serve: an evaluation, for example."""


@dataclass(frozen=True, slots=True)
class Space:
    """One space of a tenant."""

    space: str
    embedder: str | None
    """The name it was filled under; None where nobody told it."""
    rows: int
    """Records that have a vector in it, or nothing to embed."""
    of: int
    serves: bool

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
        }


def chosen(log: Log, tenant: str) -> dict[str, Any]:
    """What a tenant chose: the embedder that serves, its space, those before it, known names."""
    for row in log.agents(tenant, 2**62):
        if row.agent == SETTING:
            return cast("dict[str, Any]", json.loads(row.body))
    return {"embedder": DEFAULT, "space": space_of(embedder_of(DEFAULT)), "before": []}


def serving(log: Log, tenant: str) -> Embedder | None:
    """The embedder that a tenant chose; one that cannot be had now says why whenever asked."""
    told = chosen(log, tenant)
    try:
        return embedder_of(told["embedder"])
    except MemoriterError as gone:
        _log.warning("the embedder that serves cannot be had: %s", gone.message)
        fingerprint, template, window = parts_of(told["space"])
        return Absent(told["embedder"], fingerprint, (template, window), gone)


class Embedding:
    """Status, migrate, promote, rollback."""

    def __init__(self, engine: Engine, scope: Scope) -> None:
        self._engine = engine
        self._tenant = scope.tenant

    def __repr__(self) -> str:
        return shown(f"Embedding of tenant {named(self._tenant)}")

    def status(self) -> list[Space]:
        """Every space with a vector in it, and the one that this memory uses."""
        log, own = self._engine.log, self._engine.write_context
        told = chosen(log, self._tenant)
        names, alive = _names(told), self._alive()
        rows = {space: len(rows & alive) for space, rows in log.embedded(self._tenant).items()}
        if own.embedder is not None:
            names.setdefault(own.space, own.embedder.name)
            rows.setdefault(own.space, 0)
        return [
            Space(space, names.get(space), count, len(alive), space == told["space"])
            for space, count in sorted(rows.items())
            if count or space in (own.space, told["space"])
        ]

    def _alive(self) -> set[int]:
        """The rows of all records as they are now."""
        view = self._engine.view(self._tenant, None)
        seen = zip(view.segments, view.visible, strict=True)
        return {row for segment, mask in seen for row in segment.rows[mask].tolist()}

    def migrate(self, embedder: str | Embedder, *, progress: bool | Told = False) -> Space:
        """Fill the space of another embedder; the one that serves goes on serving.

        Can be stopped and begun again. What is written meanwhile is filled in too.
        """
        write_context, name = self._shop(embedder), _name(embedder)
        state = chosen(self._engine.log, self._tenant)
        if _names(state).get(write_context.space) != name:
            self._choose({**state, "names": {**_names(state), write_context.space: name}})
        lacking = self._lacking(write_context)
        with showing(progress, f"embedding with {name}", len(lacking)) as told:
            done = 0
            while lacking:
                writer = Writer(self._engine.log, write_context, Scope.of(self._tenant))
                for portion in writer.embed_rows(lacking):
                    if not portion.done:
                        why = message_of(portion.failed) if portion.failed else "no answer"
                        raise Unavailable(
                            f"embedder {name} fails: {why}; {done} rows are done",
                            hint="try again when it is back; what is done is kept",
                        )
                    done += len(portion.done)
                    told(done)
                lacking = self._lacking(write_context)
        alive = self._alive()
        rows = len(self._engine.log.embedded(self._tenant).get(write_context.space, set()) & alive)
        return Space(
            write_context.space, name, rows, len(alive), write_context.space == state["space"]
        )

    def begin(self, embedder: str | Embedder) -> BackgroundFill[Space]:
        """Migrate in the background; `rows` says how far it is, `wait` how it ended."""
        self._shop(embedder)
        return BackgroundFill(lambda told: self.migrate(embedder, progress=told))

    def promote(self, embedder: str, *, gate: Gate | None = None, partly: bool = False) -> Commit:
        """Let a space serve from now on: memories opened later without an embedder use it.

        Refused while records lack a vector in it, unless `partly`, and when the gate says no. A few
        that lack one are embedded now.
        """
        if not isinstance(embedder, str):  # pyright: ignore[reportUnnecessaryIsInstance]  # from outside
            raise InputError(
                "embedder: a model of yours has no name to open it by",
                hint="it serves every memory that is opened with it: open(…, embedder=…)",
                field="embedder",
            )
        if gate is not None and not callable(gate):
            raise InputError("gate: expected a function that says yes or no", field="gate")
        write_context = self._shop(embedder)
        rows = self._lacking(write_context)
        writer = Writer(self._engine.log, write_context, Scope.of(self._tenant))
        few = writer.embed_rows(rows if len(rows) <= PORTION else [])
        lacking = len(rows) - sum(len(portion.done) for portion in few)
        if lacking and not partly:
            raise Conflict(
                f"{lacking} records have no vector of {embedder} yet",
                hint="migrate first, or promote partly",
                field="embedder",
            )
        if gate is not None and not gate():
            raise Conflict(f"the gate keeps {embedder} out", hint="the old space goes on serving")
        told = chosen(self._engine.log, self._tenant)
        before = told["before"]
        if told["space"] != write_context.space:
            last = {"embedder": told["embedder"], "space": told["space"]}
            before = [last, *before][:_KEPT]
        chose = {"embedder": embedder, "space": write_context.space, "before": before}
        return self._choose({**chose, "names": _names(told)})

    def rollback(self) -> Commit:
        """Let the space serve that served before; its vectors are still there."""
        told = chosen(self._engine.log, self._tenant)
        if not told["before"]:
            raise NotFound("no other space served before", hint="status lists the spaces")
        last, *rest = told["before"]
        return self._choose({**last, "before": rest, "names": _names(told)})

    def _choose(self, state: dict[str, Any]) -> Commit:
        log, write_context = self._engine.log, self._engine.write_context
        body = canonical({"agent": SETTING, "aliases": [], **state})
        act = RegisterAgent(SETTING, body, write_context.entropy.draw(SALT_BYTES), None)
        return log.commit(Batch(self._tenant, (act,), write_context.clock.now()))

    def _shop(self, embedder: str | Embedder) -> WriteContext:
        model = embedder_of(embedder)
        if model is None or model.fingerprint.startswith("given:"):
            raise InputError(
                "embedder: needs one that can embed",
                hint="vectors of your own come with each record",
                field="embedder",
            )
        return replace(self._engine.write_context, embedder=model)

    def _lacking(self, write_context: WriteContext) -> list[int]:
        """Records that have no vector in a space, and are not known to have nothing to embed."""
        have = self._engine.log.embedded(self._tenant).get(write_context.space, set[int]())
        return sorted(self._alive() - have)


_KEPT: Final = 8
"""So many spaces that served before are remembered."""


def _names(told: dict[str, Any]) -> dict[str, str]:
    """The names that are known of spaces."""
    return {
        **told.get("names", {}),
        **{old["space"]: old["embedder"] for old in told["before"]},
        told["space"]: told["embedder"],
    }


def _name(embedder: str | Embedder) -> str:
    return embedder if isinstance(embedder, str) else embedder.name


def fill(engine: Engine, tenant: str, limit: int) -> tuple[int, int]:
    """Embed records that lack a vector in a space that is read; (done, still behind)."""
    spaces = [(engine.write_context, engine.view(tenant, None))]
    spaces += [(each.write_context, each.index_cache.view(tenant)) for each in engine.beside]
    told = [_filled(engine, tenant, write_context, view, limit) for write_context, view in spaces]
    return sum(done for done, _ in told), sum(left for _, left in told)


def _filled(
    engine: Engine, tenant: str, write_context: WriteContext, view: View, limit: int
) -> tuple[int, int]:
    if write_context.embedder is None or write_context.embedder.fingerprint.startswith("given:"):
        return 0, 0
    rows = _bare(view)
    writer = Writer(engine.log, write_context, Scope.of(tenant))
    done: set[int] = set()
    for portion in writer.embed_rows(rows[:limit]):
        done |= portion.done
        if not portion.done:
            break
    left = [row for row in rows if row not in done]
    return len(done), len(left)


def _bare(view: View) -> Sequence[int]:
    return [
        row
        for segment, lacking in zip(view.segments, view.unembedded, strict=True)
        for row in segment.rows[lacking].tolist()
    ]
