"""The spaces that a tenant's records are embedded into: how full each is, and which one serves.

Changing the model starts another space. It is filled while the old one serves, promoted when it is
full, and given up again in no time: the old vectors are still there. Which space serves is an entry
of the log like any other, kept in the registry under a name that no agent can have.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, cast

from recollect.core.batch import Batch, Commit, Enrol
from recollect.core.canonical import canonical
from recollect.core.errors import Conflict, InputError, NotFound, Unavailable
from recollect.core.scope import Scope
from recollect.index.reading import SETTING, Reading
from recollect.memory.embedders import embedder_of
from recollect.memory.parts import Parts
from recollect.store.port import Log
from recollect.write.prepare import SALT_BYTES, Workshop
from recollect.write.progress import Told
from recollect.write.progress import progress as showing
from recollect.write.template import space_of
from recollect.write.writer import PORTION, Writer

if TYPE_CHECKING:
    from recollect.embed.port import Embedder

DEFAULT: Final = "static"
"""The embedder of a tenant that never chose one."""
Gate = Callable[[], bool]
"""Whether a space may serve: an evaluation, for example."""


@dataclass(frozen=True, slots=True)
class Space:
    """One space of a tenant."""

    space: str
    embedder: str | None
    """The name it can be opened by; None where nobody told it."""
    rows: int
    of: int
    serves: bool

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
    """What a tenant chose: the embedder that serves, its space, and those before it."""
    for row in log.agents(tenant, 2**62):
        if row.agent == SETTING:
            return cast("dict[str, Any]", json.loads(row.body))
    return {"embedder": DEFAULT, "space": space_of(embedder_of(DEFAULT)), "before": []}


class Embedding:
    """Status, migrate, promote, rollback."""

    def __init__(self, parts: Parts, scope: Scope) -> None:
        self._parts = parts
        self._tenant = scope.tenant

    def status(self) -> list[Space]:
        """Every space with a vector in it, and the one that this memory uses."""
        log, own = self._parts.log, self._parts.shop
        told = chosen(log, self._tenant)
        serving = told["space"]
        names = {serving: told["embedder"]}
        names |= {old["space"]: old["embedder"] for old in told["before"]}
        rows, total = self._counts()
        if own.embedder is not None:
            names.setdefault(own.space, own.embedder.name)
            rows.setdefault(own.space, 0)
        return [
            Space(space, names.get(space), count, total, space == serving)
            for space, count in sorted(rows.items())
        ]

    def _counts(self) -> tuple[dict[str, int], int]:
        """(how many records have a vector in each space, how many there are)."""
        reading = self._parts.reading(self._tenant, None)
        alive: set[int] = set()
        for segment, mask in zip(reading.segments, reading.visible, strict=True):
            alive.update(segment.rows[mask].tolist())
        found: dict[str, set[int]] = {}
        for row in self._parts.log.dump(self._tenant).vectors:
            if row.row in alive:
                found.setdefault(row.generation, set()).add(row.row)
        return {space: len(rows) for space, rows in found.items()}, len(alive)

    def migrate(self, embedder: str | Embedder, *, progress: bool | Told = False) -> Space:
        """Fill the space of another embedder; the one that serves goes on serving.

        Can be stopped and begun again. What is written meanwhile is filled in too.
        """
        shop = self._shop(embedder)
        lacking = self._lacking(shop)
        with showing(progress, f"embedding with {_name(embedder)}", len(lacking)) as told:
            done = 0
            tried: set[int] = set()
            while fresh := [row for row in lacking if row not in tried]:
                writer = Writer(self._parts.log, shop, Scope.of(self._tenant))
                for finished in writer.embed_rows(fresh):
                    if not finished:
                        raise Unavailable(
                            f"embedder {_name(embedder)} answers nothing: {done} rows are done",
                            hint="try again when it is back; what is done is kept",
                        )
                    tried |= finished
                    done += len(finished)
                    told(done)
                lacking = self._lacking(shop)
        return Space(shop.space, _name(embedder), done, done + len(lacking), serves=False)

    def promote(self, embedder: str, *, gate: Gate | None = None, partly: bool = False) -> Commit:
        """Let a space serve from now on: memories opened later without an embedder use it.

        Refused while records lack a vector in it, unless `partly`, and when the gate says no. A few
        that lack one are embedded now.
        """
        shop = self._shop(embedder)
        rows = self._lacking(shop)
        writer = Writer(self._parts.log, shop, Scope.of(self._tenant))
        lacking = len(rows) - sum(map(len, writer.embed_rows(rows if len(rows) <= PORTION else [])))
        if lacking and not partly:
            raise Conflict(
                f"{lacking} records have no vector of {embedder} yet",
                hint="migrate first, or promote partly",
                field="embedder",
            )
        if gate is not None and not gate():
            raise Conflict(f"the gate keeps {embedder} out", hint="the old space goes on serving")
        told = chosen(self._parts.log, self._tenant)
        before = [{"embedder": told["embedder"], "space": told["space"]}, *told["before"]][:_KEPT]
        return self._choose({"embedder": embedder, "space": shop.space, "before": before})

    def rollback(self) -> Commit:
        """Let the space serve that served before; its vectors are still there."""
        told = chosen(self._parts.log, self._tenant)
        if not told["before"]:
            raise NotFound("no other space served before", hint="status lists the spaces")
        last, *rest = told["before"]
        return self._choose({**last, "before": rest})

    def _choose(self, state: dict[str, Any]) -> Commit:
        log, shop = self._parts.log, self._parts.shop
        body = canonical({"agent": SETTING, "aliases": [], **state})
        act = Enrol(SETTING, body, shop.entropy.draw(SALT_BYTES), None)
        return log.commit(Batch(self._tenant, (act,), shop.clock.now()))

    def _shop(self, embedder: str | Embedder) -> Workshop:
        model = embedder_of(embedder)
        if model is None or model.fingerprint.startswith("given:"):
            raise InputError("embedder: needs one that can embed", field="embedder")
        return replace(self._parts.shop, embedder=model)

    def _lacking(self, shop: Workshop) -> list[int]:
        """Records that have no vector in a space, and are not known to be empty for it."""
        have = {
            row.row
            for row in self._parts.log.dump(self._tenant).vectors
            if row.generation == shop.space
        }
        reading = self._parts.reading(self._tenant, None)
        rows: list[int] = []
        for segment, mask in zip(reading.segments, reading.visible, strict=True):
            rows += [row for row in segment.rows[mask].tolist() if row not in have]
        return rows


_KEPT: Final = 8
"""So many spaces that served before are remembered."""


def _name(embedder: str | Embedder) -> str:
    return embedder if isinstance(embedder, str) else embedder.name


def fill(parts: Parts, tenant: str, limit: int) -> tuple[int, int]:
    """Embed records that lack a vector in a space that is read; (done, still behind)."""
    spaces = [(parts.shop, parts.reading(tenant, None))]
    spaces += [(each.shop, each.shelf.reading(tenant)) for each in parts.beside]
    told = [_filled(parts, tenant, shop, view, limit) for shop, view in spaces]
    return sum(done for done, _ in told), sum(left for _, left in told)


def _filled(
    parts: Parts, tenant: str, shop: Workshop, reading: Reading, limit: int
) -> tuple[int, int]:
    if shop.embedder is None or shop.embedder.fingerprint.startswith("given:"):
        return 0, 0
    rows = _bare(reading)
    writer = Writer(parts.log, shop, Scope.of(tenant))
    done: set[int] = set()
    for finished in writer.embed_rows(rows[:limit]):
        done |= finished
        if not finished:
            break
    left = [row for row in rows if row not in done]
    return len(done), len(left)


def _bare(reading: Reading) -> Sequence[int]:
    return [
        row
        for segment, lacking in zip(reading.segments, reading.bare, strict=True)
        for row in segment.rows[lacking].tolist()
    ]
