"""Every verb that writes, from what was asked to what was committed."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final, cast

from memoriter.core.batch import Act, Batch, Commit, Embed, Forget, Key, Link, RegisterAgent, Vector
from memoriter.core.canonical import canonical, digest
from memoriter.core.draft import Draft, changed, durations, spelled_tie, tie_of
from memoriter.core.errors import BadRecord, Conflict, MemoriterError, NotFound
from memoriter.core.names import name, names, text
from memoriter.core.record import Content, Record
from memoriter.core.scope import Scope
from memoriter.core.shown import counted, shown
from memoriter.core.times import to_datetime
from memoriter.embed.call import EmbedderTimeout
from memoriter.store.port import Log
from memoriter.write.annotate import annotated_anew
from memoriter.write.prepare import (
    SALT_BYTES,
    WriteContext,
    embed_all,
    prepare,
    prepare_version,
)

BATCH: Final = 1000
"""How many drafts share a transaction."""
PORTION: Final = 256
"""How many records are embedded at a time when a debt is paid or a generation filled."""
_TRIES: Final = 5
_NOBODY: Final = "\x1f"
"""An id that no record can have: names hold no control characters."""
Progress = Callable[[int], None]
"""Told how many drafts were written so far."""


@dataclass(frozen=True, slots=True)
class Erasure:
    """What a forget did. `hidden`: gone from every answer, and from the file's live pages."""

    ids: tuple[str, ...]
    seq: int
    state: str = "hidden"

    def __repr__(self) -> str:
        return shown("Erasure", f"{counted(len(self.ids), 'record')} forgotten, {self.state}")

    def to_dict(self) -> dict[str, object]:
        """The erasure as plain data."""
        return {"ids": list(self.ids), "seq": self.seq, "state": self.state}


@dataclass(frozen=True, slots=True)
class Portion:
    """Some records that were to be embedded."""

    done: set[int]
    """The rows that need no further try: embedded, empty or forgotten."""
    failed: Exception | None
    """Why the others have no vector."""


class Writer:
    """Writes for one scope."""

    def __init__(self, log: Log, write_context: WriteContext, scope: Scope) -> None:
        self._log = log
        self._shop = write_context
        self._scope = scope

    @property
    def tenant(self) -> str:
        """Whose memories are written."""
        return self._scope.tenant

    @property
    def scoped(self) -> bool:
        """Whether writes are bound to an agent, a user or a session."""
        return bool(self._scope.filters())

    def commit(self, acts: Sequence[Act]) -> Commit:
        """Write acts that are ready, all or none."""
        return self._log.commit(Batch(self._scope.tenant, tuple(acts), self._shop.clock.now()))

    def _again(self, asked: Key | None, refusal: MemoriterError) -> Commit:
        """The first Commit of a retry that the present state would refuse; else the refusal.

        What is there now may have changed since the key was used, so the key is asked first, by an
        act that can only be answered from it. A different payload is a Conflict, as ever.
        """
        if asked is None:
            raise refusal
        try:
            return self.commit([Forget(_NOBODY, self._salt(), asked)])
        except NotFound:
            raise refusal from None

    def _salt(self) -> bytes:
        return self._shop.entropy.draw(SALT_BYTES)

    def stamped(self, data: object) -> Draft:
        """A draft that carries the scope it is written in."""
        if isinstance(data, Draft):
            return self._inside(data)
        if isinstance(data, str):
            data = {"text": data}
        if not isinstance(data, Mapping):
            return Draft.of(data, self._shop.clock.now)
        asked = cast("Mapping[str, object]", data)
        for key, value in self._scope.filters().items():
            if asked.get(key, value) != value:
                raise BadRecord(
                    f"{key}: {asked[key]!r} lies outside the scope ({value!r})",
                    hint="write through a memory of that scope",
                    field=key,
                )
        return self._inside(Draft.of({**asked, **self._scope.filters()}, self._shop.clock.now))

    def _inside(self, draft: Draft) -> Draft:
        """The draft, if it stays in scope: its own fields, and the records it ties itself to."""
        for key, value in self._scope.filters().items():
            if draft.given.get(key) != value:
                raise BadRecord(f"{key}: lies outside the scope ({value!r})", field=key)
        if self._scope.filters():
            for tie in draft.ties:
                try:
                    self.current(tie.target)
                except NotFound as gone:
                    self._again(draft.key, gone)
        return draft

    def remember(self, data: object) -> Commit:
        """Write one record."""
        return self.commit(prepare([self.stamped(data)], self._shop))

    def remember_many(self, drafts: Iterable[object], told: Progress) -> Commit:
        """Write many records, a thousand to a transaction; what was told stands.

        A list is checked whole before the first of it is written; a stream as it comes.
        """
        wrong = isinstance(drafts, str | bytes | Mapping)
        if wrong or not isinstance(drafts, Iterable):  # pyright: ignore[reportUnnecessaryIsInstance]  # from outside
            raise BadRecord(
                "drafts: expected a list of texts or objects",
                hint="remember keeps a single one",
                field="drafts",
            )
        stream = iter(self._checked(drafts, 0) if isinstance(drafts, Sequence) else drafts)
        commits: list[Commit] = []
        count = 0
        while batch := self._checked(islice(stream, BATCH), count):
            commits.append(self.commit(prepare(batch, self._shop)))
            count += len(batch)
            told(count)
        if not commits:
            head = self._log.head(self._scope.tenant)
            return Commit(self._scope.tenant, head.seq, to_datetime(head.time), ())
        last = commits[-1]
        ids = tuple(record_id for commit in commits for record_id in commit.ids)
        return Commit(last.tenant, last.seq, last.time, ids, sum(c.debt for c in commits))

    def _checked(self, drafts: Iterable[object], before: int) -> list[Draft]:
        out: list[Draft] = []
        for at, data in enumerate(drafts, before):
            try:
                out.append(self.stamped(data))
            except BadRecord as error:
                raise BadRecord(
                    f"draft {at}: {error.message}", hint=error.hint, field=error.field
                ) from None
        return out

    def current(self, record_id: str) -> Record:
        """The latest version of a record in scope."""
        head = self._log.head(self._scope.tenant).seq
        versions = self._log.versions(self._scope.tenant, name(record_id, "id"), head)
        if not versions or not in_scope(versions[-1], self._scope):
            raise NotFound(
                f"there is no record {record_id!r}", hint="browse lists what exists", field="id"
            )
        return versions[-1]

    def update(
        self, record_id: str, changes: Mapping[str, object], key: Callable[[], Key | None]
    ) -> Commit:
        """Write a new version with some fields changed; the key is made once they are checked."""
        for attempt in range(_TRIES):
            try:
                record = self.current(record_id)
                content = self._kept_inside(changed(record, changes, self._shop.clock.now))
                if "entities" not in changes:
                    content = annotated_anew(record, content, self._shop.extractor)
            except (NotFound, BadRecord) as refusal:
                return self._again(_quietly(key), refusal)
            rows = self._log.vectors(self._scope.tenant, record.row)
            kept = tuple(
                Vector(v.generation, v.part, v.form, v.body)  # pyright: ignore[reportArgumentType]  # the log holds forms only
                for v in rows
            )
            try:
                return self.commit([prepare_version(record, content, kept, self._shop, key())])
            except Conflict as error:
                if error.field == "key" or attempt == _TRIES - 1:
                    raise
        raise AssertionError("unreachable")

    def _kept_inside(self, content: Content) -> Content:
        """The content of a new version, if it does not leave the scope."""
        if not in_scope(content, self._scope):
            raise BadRecord("agent, user, session: cannot leave the scope", field="agent")
        return content

    def link(
        self, source: str, target: str, kind: str, given: Mapping[str, object], key: str | None
    ) -> Commit:
        """Write an edge between two records in scope."""
        act = self.edge(source, target, kind, given, key)
        try:
            self.must_reach(act)
        except NotFound as gone:
            return self._again(act.key, gone)
        return self.commit([act])

    def edge(
        self, source: str, target: str, kind: str, given: Mapping[str, object], key: str | None
    ) -> Link:
        """The act that writes an edge, its fields checked."""
        tie = tie_of(target, kind, given, "link", self._shop.clock.now)
        asked = asked_under("link", key, [source, *spelled_tie(tie, durations(given))])
        return Link(name(source, "source"), tie, self._salt(), asked)

    def must_reach(self, act: Link, besides: Collection[str] = ()) -> None:
        """Refuse an edge with an end that is neither in scope nor one of these."""
        for end in (act.source, act.tie.target):
            if end not in besides:
                self.current(end)

    def forget(self, ids: Sequence[str], key: str | None) -> Erasure:
        """Erase records; all of them or none."""
        clean = [name(record_id, "id") for record_id in ids]
        asked = asked_under("forget", key, clean)
        acts: list[Act] = []
        for at, record_id in enumerate(dict.fromkeys(clean)):
            try:
                self.current(record_id)
            except NotFound as gone:
                self._again(asked, gone)
            mine = asked if at == 0 or asked is None else Key(f"{asked.name}\x1f{at}", asked.asked)
            acts.append(Forget(record_id, self._salt(), mine))
        if not acts:
            return Erasure((), self._log.head(self._scope.tenant).seq)
        commit = self.commit(acts)
        return Erasure(commit.ids, commit.seq)

    def enrol(self, agent: str, changes: Mapping[str, object], key: Key | None) -> Commit:
        """Write a new state of an agent."""
        clean = name(agent, "agent")
        known = {row.agent: row for row in self._log.agents(self._scope.tenant, 2**62)}
        state: dict[str, object] = {"agent": clean, "aliases": []}
        if clean in known:
            state = json.loads(known[clean].body)
        body = canonical({**state, **_agent_fields(changes)})
        return self.commit([RegisterAgent(clean, body, self._salt(), key)])

    def pay(self, limit: int) -> tuple[int, int]:
        """Embed what is owed to the current space; (paid, still owed)."""
        space = self._shop.space
        debts = self._log.debts(self._scope.tenant, limit)
        rows = [debt.row for debt in debts if debt.generation == space]
        paid = sum(len(portion.done) for portion in self.embed_rows(rows))
        return paid, len(debts) - paid

    def embed_rows(self, rows: Sequence[int]) -> Iterator[Portion]:
        """Write the vectors of these record versions, in portions: what was done is kept.

        An embedder that is late is not waited for again.
        """
        space, tenant = self._shop.space, self._scope.tenant
        for first in range(0, len(rows), PORTION):
            some = rows[first : first + PORTION]
            records = [r for r in self._log.records(tenant, some) if r is not None]
            done = set(some) - {record.row for record in records}
            acts: list[Act] = []
            outcomes = embed_all(records, self._shop)
            for record, found in zip(records, outcomes, strict=True):
                if not isinstance(found, Exception):
                    done.add(record.row)
                    acts += [Embed(record.row, space, one) for one in found]
            if acts:
                self.commit(acts)
            failed = next((one for one in outcomes if isinstance(one, Exception)), None)
            yield Portion(done, failed)
            if isinstance(failed, EmbedderTimeout):
                return


def in_scope(content: object, scope: Scope) -> bool:
    """Whether a record belongs to the agent, user and session of a scope."""
    return all(getattr(content, key) == value for key, value in scope.filters().items())


def asked_under(verb: str, key: str | None, what: object) -> Key | None:
    """An idempotency key with a digest of what was asked under it; None without a key."""
    if key is None:
        return None
    return Key(name(key, "key"), digest("memoriter/asked/1", verb.encode(), canonical(what)))


def _quietly(key: Callable[[], Key | None]) -> Key | None:
    """The key of an update, or None where what was asked under it makes no sense anyway."""
    try:
        return key()
    except BadRecord:
        return None


def _agent_fields(changes: Mapping[str, object]) -> dict[str, object]:
    out: dict[str, object] = {}
    for key, value in changes.items():
        if value is None:
            continue
        if key == "aliases":
            out[key] = list(names(value, key))
        elif key in {"display_name", "owner", "description"}:
            out[key] = text(value, key, limit=65_536)
        else:
            raise BadRecord(
                f"{key}: an agent has display_name, owner, description, aliases", field=key
            )
    return out
