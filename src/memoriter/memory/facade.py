"""Every verb of a memory: it checks what is asked and hands it on; it computes nothing itself."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self, Unpack

from memoriter.core.batch import Commit, Key
from memoriter.core.draft import spelled_changes
from memoriter.core.edge import Edge, edge_of
from memoriter.core.errors import BadQuery, BadRecord, InputError, NotFound
from memoriter.core.names import integer, name
from memoriter.core.options import check_known, explained, takes
from memoriter.core.other_words import no_such_verb
from memoriter.core.query import OFFSET_LIMIT, Query
from memoriter.core.record import Record, plain
from memoriter.core.scope import Scope
from memoriter.core.shown import named, shown
from memoriter.core.times import TimeLike, duration, micros
from memoriter.core.where import EVERYTHING, dated, parse
from memoriter.index.pages import Sort
from memoriter.memory.browsing import Page, browsed, matching
from memoriter.memory.engine import Engine
from memoriter.memory.options import Ask, Changes, Erase, Fields, How, Look, Tied, WhereLike
from memoriter.memory.status import Report, Status, status_of
from memoriter.store.verify import require_undamaged
from memoriter.write.doctor import Bench, Checkup, checkup
from memoriter.write.progress import Told
from memoriter.write.progress import progress as showing
from memoriter.write.transfer import export_lines, write_lines
from memoriter.write.writer import Erasure, Writer, asked_under, in_scope

if TYPE_CHECKING:
    from memoriter.memory.agents import Agents
    from memoriter.memory.analyzers import Analyzers
    from memoriter.memory.embedding import Embedding
    from memoriter.memory.importing import Imported
    from memoriter.pipeline.plan import Plan
    from memoriter.pipeline.recipe import Recipe
    from memoriter.why.bundles import Bundles
    from memoriter.why.case import Handed
    from memoriter.why.replay import Replay
    from memoriter.why.result import Result
    from memoriter.why.whynot import WhyNot
    from memoriter.write.reflect import Reflected


@explained
class Memory:
    """A memory, seen through one scope. Safe to share between threads."""

    def __init__(self, engine: Engine | None = None, scope: Scope | None = None) -> None:
        if not isinstance(engine, Engine) or scope is None:
            raise InputError(
                "a Memory is opened, not constructed", hint='memory = memoriter.open("agent.db")'
            )
        self._engine = engine
        self._scope = scope
        self._writer = Writer(engine.log, engine.write_context, scope)

    def __repr__(self) -> str:
        told = {"tenant": self._scope.tenant, **self._scope.filters()}
        scope = ", ".join(f"{key} {named(value)}" for key, value in told.items())
        return shown(f"Memory {self._engine.place}", scope)

    if not TYPE_CHECKING:  # type checkers know what is there

        def __getattr__(self, name: str) -> None:
            raise no_such_verb(self, name)

    def __len__(self) -> int:
        return self.count()

    def __bool__(self) -> bool:
        return True  # an empty memory is a memory

    @property
    def scope(self) -> Scope:
        """Who asks."""
        return self._scope

    def scoped(
        self, agent: str | None = None, user: str | None = None, session: str | None = None
    ) -> Memory:
        """The same memory for one agent, user or session: reads filter, writes stamp."""
        whose = {"agent": agent, "user": user, "session": session}
        return Memory(self._engine, self._scope.narrowed(whose))

    # -- writing -------------------------------------------------------------------------------

    def _wrote(self, commit: Commit) -> Commit:
        self._engine.index_cache.wrote(commit.tenant, len(commit.ids))
        return commit

    @takes(Fields)
    def remember(self, text: str, **fields: Unpack[Fields]) -> Commit:
        """Keep one memory: its text, and what else is known of it."""
        return self._wrote(self._writer.remember({"text": text, **fields}))

    def remember_many(self, drafts: Iterable[object], *, progress: bool | Told = False) -> Commit:
        """Keep many memories: texts or mappings of fields. A thousand share one transaction."""
        total = len(drafts) if isinstance(drafts, Sequence) else None
        with showing(progress, "remembering", total) as told:
            return self._wrote(self._writer.remember_many(drafts, told))

    @takes(Changes)
    def update(self, id: str, **changes: Unpack[Changes]) -> Commit:
        """Change fields of a memory: a new version; the old one stays in its history.

        None takes an optional field away.
        """
        fields: dict[str, object] = {k: v for k, v in changes.items() if k != "key"}

        def asked_for() -> Key | None:
            spelled = spelled_changes(fields, self._engine.clock.now)
            return asked_under("update", changes.get("key"), [id, spelled])

        return self._wrote(self._writer.update(id, fields, asked_for))

    def expire(self, id: str, at: TimeLike | None = None, *, key: str | None = None) -> Commit:
        """Let a memory vanish from answers from a moment on, now by default; update undoes it."""
        clock = self._engine.clock.now
        moment = clock() if at is None else micros(at, "at", now=clock, ahead=True)
        asked = moment if (length := duration(at, ahead=True)) is None else f"{length:+d}us"
        asked_for = asked_under("expire", key, [id, None if at is None else asked])
        return self._wrote(self._writer.update(id, {"expires": moment}, lambda: asked_for))

    @takes(Tied)
    def link(
        self, source: str, target: str, kind: str = "related_to", **tied: Unpack[Tied]
    ) -> Commit:
        """Connect two memories."""
        check_known(tied, Tied, BadRecord, "source", "target", "kind")
        fields: dict[str, object] = {k: v for k, v in tied.items() if k != "key"}
        return self._wrote(self._writer.link(source, target, kind, fields, tied.get("key")))

    @takes(Erase)
    def forget(self, id: str | Sequence[str] | None = None, **erase: Unpack[Erase]) -> Erasure:
        """Erase memories, by id or by a Where: at once gone from every answer, past views too."""
        check_known(erase, Erase, InputError, "id")
        where, key = erase.get("where"), erase.get("key")
        if (id is None) == (where is None):
            raise InputError("forget: give an id or a where, and not both", field="id")
        if id is None:
            if key is not None:
                raise InputError("key: goes with ids, not with a where", field="key")
            return self._writer.forget(self._ids(where), None)
        if not isinstance(id, str | list | tuple):
            raise BadQuery("id: expected text, or a list of texts", field="id")
        return self._writer.forget([id] if isinstance(id, str) else id, key)

    @takes(How)
    def reflect(self, *, dry_run: bool = False, **how: Unpack[How]) -> Reflected:
        """Sum up clusters of related memories as reflections, and retire those without members."""
        from memoriter.memory.reflecting import reflect  # noqa: PLC0415  # rarely asked for

        return reflect(self._engine, self._scope, how, dry_run=dry_run)

    def _ids(self, where: object) -> list[str]:
        found = matching(self._engine, self._scope, where)
        if parse(dated(where, self._engine.clock.now)) == EVERYTHING:
            raise BadQuery(
                "where: is empty and would forget everything",
                hint='say which memories, for example where={"session": "s-12"}',
                field="where",
            )
        return [record.id for record in found]

    @property
    def analyzers(self) -> Analyzers:
        """The analyzers whose words the store keeps."""
        from memoriter.memory.analyzers import Analyzers  # noqa: PLC0415  # rarely asked for

        return Analyzers(self._engine)

    @property
    def embedding(self) -> Embedding:
        """The spaces that records are embedded into, and which one serves."""
        from memoriter.memory.embedding import Embedding  # noqa: PLC0415  # rarely asked for

        return Embedding(self._engine, self._scope)

    @property
    def agents(self) -> Agents:
        """The registry of agents."""
        from memoriter.memory.agents import Agents  # noqa: PLC0415  # rarely asked for

        return Agents(self._engine, self._writer, self._scope.tenant)

    # -- finding -------------------------------------------------------------------------------

    @takes(Ask)
    def recall(self, query: str, limit: int | None = None, **ask: Unpack[Ask]) -> Result:
        """The right memories, ranked, each with the exact arithmetic of its score."""
        from memoriter.memory.search import search  # noqa: PLC0415  # loads the recipes

        return search(self._engine, *self._query(query, limit, ask))

    @takes(Ask)
    def plan(self, query: str, limit: int | None = None, **ask: Unpack[Ask]) -> Plan:
        """What `recall` would do, without doing it."""
        from memoriter.memory.search import planned  # noqa: PLC0415  # loads the recipes

        return planned(self._engine, *self._query(query, limit, ask))

    @takes(Ask)
    def keywords(self, query: str, limit: int | None = None, **ask: Unpack[Ask]) -> Result:
        """The word lanes of a recipe alone, by their own scores; no reranker is asked."""
        from memoriter.memory.build_query import words_alone  # noqa: PLC0415  # loads pydantic
        from memoriter.memory.search import by_lanes  # noqa: PLC0415  # loads the recipes

        asked = words_alone(ask, self._engine.clock.now)
        return by_lanes(self._engine, *self._query(query, limit, asked))

    @takes(Ask)
    def bundles(
        self, query: str, limit: int | None = None, *, offset: int = 0, **ask: Unpack[Ask]
    ) -> Bundles:
        """Hits by their words, each with the records linked to it; no reranker is asked.

        The default recipe is `linked`.
        """
        from memoriter.memory.search import bundled  # noqa: PLC0415  # loads the recipes

        integer(offset, "offset", 0, OFFSET_LIMIT, BadQuery)
        asked_for = self._query(query, limit, {"recipe": "linked", **ask})
        return bundled(self._engine, *asked_for, offset)

    @takes(Ask)
    def reflections(self, query: str = "", limit: int | None = None, **ask: Unpack[Ask]) -> Result:
        """Reflections alone, all of them, by meaning; no reranker is asked.

        With a cycle they count by age too.
        """
        from memoriter.memory.search import reflections  # noqa: PLC0415  # loads the recipes

        return reflections(
            self._engine, *self._query(query, limit, {"recipe": "reflections", **ask})
        )

    def replay(self, receipt: Handed) -> Replay:
        """The search of a receipt again, on its view: the same bytes, or what is gone."""
        from memoriter.memory.receipts import replayed  # noqa: PLC0415  # rarely asked for

        return replayed(self._engine, self._scope, receipt)

    def why_not(self, receipt: Handed, id: str) -> WhyNot:
        """Why a search did not answer with a record, and the smallest change that lets it in."""
        from memoriter.memory.receipts import asked_why_not  # noqa: PLC0415  # rarely asked for

        return asked_why_not(self._engine, self._scope, receipt, name(id, "id", BadQuery))

    def _query(self, query: str, limit: int | None, ask: Ask) -> tuple[Query, Recipe]:
        from memoriter.memory.build_query import asked_for  # noqa: PLC0415  # loads pydantic

        return asked_for(query, limit, ask, (self._scope, self._engine.clock.now))

    def _time(self, value: TimeLike | None, field: str) -> int | None:
        return None if value is None else micros(value, field, BadQuery, self._engine.clock.now)

    @takes(Look)
    def browse(
        self,
        sort: Sort = "newest",
        *,
        cursor: str | None = None,
        limit: int = 20,
        **look: Unpack[Look],
    ) -> Page:
        """Records by date, in stable pages over one view, with a true total."""
        return browsed(self._engine, self._scope, look, sort, cursor, limit)

    @takes(Look)
    def count(self, **look: Unpack[Look]) -> int:
        """How many memories `browse` would list with the same options."""
        return self.browse(limit=1, **look).total

    def get(self, id: str, *, known_at: TimeLike | None = None) -> Record:
        """One memory, as it is or as it was known at a moment."""
        return self.history(id, known_at=known_at)[-1]

    def history(self, id: str, *, known_at: TimeLike | None = None) -> tuple[Record, ...]:
        """All versions of a memory, oldest first."""
        tenant = self._scope.tenant
        moment = self._time(known_at, "known_at")
        seq = (
            self._engine.log.head(tenant).seq
            if moment is None
            else self._engine.log.seq_at(tenant, moment)
        )
        versions = self._engine.log.versions(tenant, name(id, "id", BadQuery), seq)
        if not versions or not in_scope(versions[-1], self._scope):
            raise NotFound(
                f"there is no record {id!r}", hint="browse lists what exists", field="id"
            )
        return tuple(versions)

    def links(self, id: str) -> tuple[Edge, ...]:
        """The edges at a memory, either end, the latest of each key."""
        record = self.get(id)
        rows = self._engine.log.edges(self._scope.tenant, record.position, 2**62)
        edges = [edge_of(row.seq, json.loads(row.body)) for row in rows]
        latest = {(e.source, e.target, e.kind, e.valid_from): e for e in edges}
        return tuple(sorted(latest.values(), key=lambda e: e.seq))

    # -- keeping -------------------------------------------------------------------------------

    def export(self, path: str | Path, *, where: WhereLike | None = None) -> int:
        """Write the tenant to a file, whole and digest-equal; with a Where, plain records as lines.

        Returns how many lines were written.
        """
        target = Path(path).absolute()
        folder = self._engine.index_cache.folder
        own = "" if folder is None else folder.name.removesuffix(".idx")
        beside = folder is not None and target.parent.resolve() == folder.parent
        if beside and target.name.startswith(own):
            raise InputError(f"{target.name} belongs to the store", hint="name another file")
        return write_lines(target, self._lines(where))

    def _lines(self, where: object) -> Iterable[bytes]:
        if where is None and not self._scope.filters():
            return export_lines(
                self._scope.tenant, require_undamaged(self._engine.log.dump(self._scope.tenant))
            )
        told = ({"id": r.id, **plain(r)} for r in matching(self._engine, self._scope, where))
        return (json.dumps(data, ensure_ascii=False).encode() + b"\n" for data in told)

    def load(self, path: str | Path) -> int:
        """Restore an export into this tenant, which must be empty; returns how many records."""
        from memoriter.memory.importing import load  # noqa: PLC0415  # rarely asked for

        return load(self._engine, self._writer, Path(path))

    def import_file(
        self,
        path: str | Path,
        format: str = "auto",
        *,
        dry_run: bool = False,
        progress: bool | Told = False,
    ) -> Imported:
        """Keep what a file of another system, or of notes or chats, holds; twice is harmless."""
        from memoriter.memory.importing import imported  # noqa: PLC0415  # rarely asked for

        place = Path(path)
        return imported(self._engine, self._writer, place, format, show=progress, dry_run=dry_run)

    def verify_store(self) -> Checkup:
        """Check every digest, link and checksum of the store, and every segment; change nothing."""
        return self._checkup(repair=False)

    def doctor(self) -> Checkup:
        """Check the store and mend what is derived: words, vectors, segments; never a record."""
        return self._checkup(repair=True)

    def _checkup(self, *, repair: bool) -> Checkup:
        engine, write_context = self._engine, self._engine.write_context
        from memoriter.text.analyzers import every  # noqa: PLC0415  # rarely asked for

        known = {one.fingerprint: one for one in (*every(), write_context.analyzer)}
        bench = Bench(engine.log, engine.index_cache, known, write_context.space)
        return checkup(bench, repair=repair)

    def maintain(self, *, limit: int = 10_000) -> Report:
        """Pay what is owed: embed records that lack a vector, publish and merge the index."""
        from memoriter.memory.embedding import fill  # noqa: PLC0415  # rarely asked for

        paid, owed = self._writer.pay(limit)
        filled, behind = fill(self._engine, self._scope.tenant, limit)
        published = self._engine.index_cache.tidy(self._scope.tenant)
        return Report(paid + filled, owed, behind, published)

    def status(self, by: str | None = None) -> Status:
        """How much there is, and where the log stands; counted by an attribute such as agent."""
        return status_of(self._engine, self._scope.tenant, by)

    def close(self) -> None:
        """Let running upkeep finish and close the store; closing twice is fine."""
        self._engine.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
