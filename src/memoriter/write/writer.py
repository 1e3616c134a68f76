"""Every operation that writes records, edges and agents: validate, prepare, commit.

`memory.facade` holds one `Writer` per scope and calls it for each writing method.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import Final, cast

from memoriter.core.batch import Act, Batch, Commit, Embed, Forget, Key, Link, RegisterAgent, Vector
from memoriter.core.draft import (
    Draft,
    durations,
    normalised_changes,
    normalised_edge,
    parse_edge,
    with_changes,
)
from memoriter.core.errors import BadRecord, Conflict, MemoriterError, NotFound, SpacesChanged
from memoriter.core.lazy_dataclass import dataclass
from memoriter.core.names import name
from memoriter.core.record import Content, Record
from memoriter.core.scope import Scope
from memoriter.core.times import TimeLike, duration, micros, to_datetime
from memoriter.embed.call import EmbedderTimeout
from memoriter.store.port import Log
from memoriter.write.agents import agent_body
from memoriter.write.annotate import annotated_anew
from memoriter.write.ceiling import check_batch, check_link, check_new_version, limited_draft
from memoriter.write.erasure import Erasure
from memoriter.write.keys import idempotency_key, nth_key
from memoriter.write.owing import still_owing
from memoriter.write.prepare import (
    SALT_BYTES,
    WriteContext,
    embed_all,
    prepare,
    prepare_version,
)
from memoriter.write.progress import ProgressCallback

BATCH: Final = 1000
"""How many records are written in one transaction."""
PORTION: Final = 256
"""How many records are embedded in one call when a debt is paid or a space filled."""
_TRIES: Final = 5
_NO_RECORD: Final = "\x1f"
"""An id that no record can have: ids hold no control characters."""


@dataclass(frozen=True, slots=True)
class Portion:
    """The result of embedding some records."""

    done: set[int]
    """The rows that are finished: embedded, without text to embed, or forgotten."""
    failed: Exception | None
    """The embedder's error, if some have no vector."""


class Writer:
    """Writes into one scope. Stateless but for its arguments, so threads may share it."""

    def __init__(self, log: Log, context: WriteContext, scope: Scope) -> None:
        self._log = log
        self._context = context
        self._scope = scope
        self._filters = scope.filters()

    @property
    def context(self) -> WriteContext:
        """The models, clock and randomness that it writes with."""
        return self._context

    @property
    def scope(self) -> Scope:
        """The scope that it writes into."""
        return self._scope

    @property
    def tenant(self) -> str:
        """The tenant that it writes into."""
        return self._scope.tenant

    @property
    def scoped(self) -> bool:
        """Whether the scope names an agent, a user or a session."""
        return bool(self._filters)

    def commit(self, acts: Sequence[Act], spaces: tuple[str, ...] | None = None) -> Commit:
        """Commit acts in one transaction, all or none; `spaces` as in `Batch`."""
        self._context.founding(self._context.clock, self._context.entropy)
        now = self._context.clock.now()
        done = self._log.commit(Batch(self._scope.tenant, tuple(acts), now, spaces))
        if done.debt:
            self._context.owed()
        return done

    def _again(self, key: Key | None, refusal: MemoriterError, record_id: str) -> Commit:
        """The commit of the first try, if this is a retry; else raise the refusal.

        The store may have changed since the first try, so that the retry is not valid any more (the
        record is forgotten, say), but an idempotent retry must still succeed. So the key is looked
        up with an act that succeeds only if the key is known. A key that was used for another
        request raises Conflict.
        """
        if key is None:
            raise refusal
        try:
            first = self.commit([Forget(_NO_RECORD, self._salt(), key)])
        except NotFound:
            raise refusal from None
        # The log has erased the id of a forgotten record, but the request names it.
        return replace(first, ids=tuple(record_id if i == _NO_RECORD else i for i in first.ids))

    def _salt(self) -> bytes:
        return self._context.entropy.draw(SALT_BYTES)

    def stamped(self, data: object, beside: Container[str] = ()) -> Draft:
        """A draft with the fields of the scope, which may link to ids `beside`; or BadRecord."""
        if isinstance(data, Draft):
            return self._inside(data, beside)
        if isinstance(data, str) and self._filters:
            data = {"text": data}
        if not isinstance(data, Mapping):
            return self._inside(Draft.of(data, self._context.clock.now), beside)
        fields = cast("Mapping[str, object]", data)
        for key, value in self._filters.items():
            if fields.get(key, value) != value:
                raise BadRecord(
                    f"{key}: {fields[key]!r} is not the {key} of this memory ({value!r})",
                    hint=f"leave {key} out, or open the memory for that {key}",
                    field=key,
                )
        return self._inside(Draft.of({**fields, **self._filters}, self._context.clock.now), beside)

    def _inside(self, draft: Draft, beside: Container[str]) -> Draft:
        """Check that a draft stays in scope: its fields, and the records that it links to."""
        for key, value in self._filters.items():
            if draft.fields.get(key) != value:
                raise BadRecord(
                    f"{key}: must be {value!r}, because the scope of this call allows no other"
                    f" {key}",
                    field=key,
                )
        for edge in draft.edges if self._filters else ():
            try:
                _ = edge.target in beside or self.current(edge.target)
            except NotFound as gone:
                self._again(draft.key, gone, draft.id or "")
        return limited_draft(draft, self._context.ceiling, self.current)

    def remember(self, data: object) -> Commit:
        """Write one record."""
        draft, spaces = self.stamped(data), self._log.known_spaces()
        try:
            return self.commit(prepare([draft], self._context, spaces), spaces)
        except SpacesChanged:
            return self.commit(prepare([draft], self._context))

    def remember_many(self, drafts: Iterable[object], report: ProgressCallback) -> Commit:
        """Write many records, a thousand per transaction; returns one commit with all ids.

        A list is validated as a whole before the first record is written, a stream batch by batch.
        On an error, the batches that `report` was called for stay written.
        """
        wrong = isinstance(drafts, str | bytes | Mapping)
        if wrong or not isinstance(drafts, Iterable):  # pyright: ignore[reportUnnecessaryIsInstance]  # from outside
            raise BadRecord(
                "drafts: expected a list of texts or objects",
                hint="to write a single memory, use remember(text)",
                field="drafts",
            )
        # A list is validated as a whole first: an error in its last draft must not leave half.
        checked = iter(self._checked(drafts, 0)) if isinstance(drafts, Sequence) else None
        stream = iter(drafts)
        commits: list[Commit] = []
        count = 0

        def following() -> list[Draft]:
            if checked is not None:
                return list(islice(checked, BATCH))
            return self._checked(islice(stream, BATCH), count)

        while batch := following():
            commits.append(self.commit(prepare(batch, self._context)))
            count += len(batch)
            report(count)
        if not commits:
            head = self._log.head(self._scope.tenant)
            return Commit(self._scope.tenant, head.seq, to_datetime(head.time), ())
        last = commits[-1]
        ids = tuple(record_id for commit in commits for record_id in commit.ids)
        return Commit(last.tenant, last.seq, last.time, ids, sum(c.debt for c in commits))

    def _checked(self, drafts: Iterable[object], before: int) -> list[Draft]:
        out: list[Draft] = []
        ids: set[str] = set()
        for at, data in enumerate(drafts, before):
            try:
                out.append(draft := self.stamped(data, ids))
                ids.add(draft.id or "")
            except BadRecord as error:
                raise BadRecord(
                    f"memories[{at}]: {error.message}", hint=error.hint, field=error.field
                ) from None
        check_batch(out, self._context.ceiling)
        return out

    def current(self, record_id: str) -> Record:
        """The latest version of a record in scope; raises NotFound."""
        head = self._log.head(self._scope.tenant).seq
        record = self._log.latest(self._scope.tenant, name(record_id, "id"), head)
        if record is None or not self._scope.contains(record):
            raise NotFound(
                f"there is no record {record_id!r}",
                hint="use browse to see the records that exist",
                field="id",
            )
        return record

    def update(self, record_id: str, changes: Mapping[str, object], key: str | None) -> Commit:
        """Write a new version with some fields changed; None removes an optional field."""

        def request_key() -> Key | None:
            request = [record_id, normalised_changes(changes, self._context.clock.now)]
            return idempotency_key("update", key, request)

        return self._new_version(record_id, changes, request_key)

    def expire(self, record_id: str, at: TimeLike | None, key: str | None) -> Commit:
        """Write a new version that expires at a moment, now by default."""
        clock = self._context.clock.now
        moment = clock() if at is None else micros(at, "at", now=clock, ahead=True)
        # The digest covers the duration, not the moment: a later retry is the same request.
        when = moment if (length := duration(at, ahead=True)) is None else f"{length:+d}us"
        request_key = idempotency_key("expire", key, [record_id, None if at is None else when])
        return self._new_version(record_id, {"expires": moment}, lambda: request_key)

    def _new_version(
        self, record_id: str, changes: Mapping[str, object], key: Callable[[], Key | None]
    ) -> Commit:
        """Write a new version with some fields changed.

        The version is written by compare-and-set: if another writer was faster, it is tried again
        on the newer version. `key` is called after the changes were validated.
        """
        for attempt in range(_TRIES):
            try:
                record = self.current(record_id)
                content = self.changed(record, still_owing(record, changes))
            except (NotFound, BadRecord) as refusal:
                return self._again(_quietly(key), refusal, record_id)
            try:
                return self.commit([self.version(record, content, key())])
            except Conflict as error:
                # A conflict about the key is final; any other means that a newer version exists.
                if error.field == "key" or attempt == _TRIES - 1:
                    raise
        raise AssertionError("unreachable")

    def changed(self, record: Record, changes: Mapping[str, object]) -> Content:
        """The content of a record with some fields changed; raises BadRecord or Forbidden."""
        content = self._inside_scope(with_changes(record, changes, self._context.clock.now))
        if "entities" not in changes:
            content = annotated_anew(record, content, self._context.extractor)
        edges = partial(self._log.edges, self._scope.tenant, record.position, 2**62)
        check_new_version(record, content, self._context.ceiling, edges, self.current)
        return content

    def version(self, record: Record, content: Content, key: Key | None = None) -> Act:
        """The act that writes a new version; refused with Conflict if there is a newer one."""
        kept = tuple(
            Vector(v.generation, v.part, v.form, v.body)  # pyright: ignore[reportArgumentType]  # the log holds forms only
            for v in self._log.vectors(self._scope.tenant, record.row)
        )
        return prepare_version(record, content, kept, self._context, key)

    def _inside_scope(self, content: Content) -> Content:
        """Check that a new version does not leave the scope."""
        if not self._scope.contains(content):
            raise BadRecord(
                "agent, user, session: an update cannot move a record out of the scope of this"
                " memory",
                hint="leave these fields out, or update through a memory without this scope",
                field="agent",
            )
        return content

    def link(
        self, source: str, target: str, kind: str, options: Mapping[str, object], key: str | None
    ) -> Commit:
        """Write an edge between two records; raises NotFound if one is not in scope."""
        act = self.edge(source, target, kind, options, key)
        try:
            self.must_reach(act)
        except NotFound as gone:
            return self._again(act.key, gone, source)
        return self.commit([act])

    def edge(
        self, source: str, target: str, kind: str, options: Mapping[str, object], key: str | None
    ) -> Link:
        """The act that writes an edge; raises BadRecord if a field is not valid."""
        edge = parse_edge(target, kind, options, "link", self._context.clock.now)
        request = [source, *normalised_edge(edge, durations(options))]
        return Link(
            name(source, "source"), edge, self._salt(), idempotency_key("link", key, request)
        )

    def must_reach(self, act: Link, besides: Collection[str] = ()) -> None:
        """Raise NotFound if an end of an edge is neither in scope nor one of `besides`.

        Raises Forbidden if the writer's ceiling does not allow it (`check_link`).
        """
        ends = (act.source, act.edge.target)
        source, target = (None if end in besides else self.current(end) for end in ends)
        if source is not None:
            about = None if target is None else (target.id, target.trust)
            check_link(act.edge.kind, source.trust, about, self._context.ceiling)

    def forget(
        self, ids: Sequence[str], key: str | None, reflections: Sequence[str] = ()
    ) -> Erasure:
        """Erase records and their reflections, all or none; NotFound if one is not there."""
        clean = [name(record_id, "id") for record_id in ids]
        request_key = idempotency_key("forget", key, clean)
        acts: list[Act] = []
        for at, record_id in enumerate(dict.fromkeys(clean)):
            try:
                self.current(record_id)
            except NotFound as gone:
                self._again(request_key, gone, record_id)
            acts.append(Forget(record_id, self._salt(), nth_key(request_key, at)))
        # A reflection quotes its members, whatever part of the scope it is in.
        acts += [Forget(each, self._salt(), None) for each in reflections]
        if not acts:
            return Erasure((), self._log.head(self._scope.tenant).seq)
        commit = self.commit(acts)
        return Erasure(commit.ids, commit.seq)

    def enrol(self, agent: str, changes: Mapping[str, object], key: Key | None) -> Commit:
        """Write a new state of an agent: its entry in the registry with some fields changed."""
        clean = name(agent, "agent")
        known = {row.agent: row.body for row in self._log.agents(self._scope.tenant, 2**62)}
        body = agent_body(clean, known.get(clean), changes)
        return self.commit([RegisterAgent(clean, body, self._salt(), key)])

    def pay(self, limit: int, report: ProgressCallback = lambda paid: None) -> tuple[int, int]:
        """Embed records that owe a vector to the current space; returns (paid, still owed)."""
        space = self._context.space
        debts = self._log.debts(self._scope.tenant, limit)
        rows = [debt.row for debt in debts if debt.generation == space]
        paid = 0
        for portion in self.embed_rows(rows):
            paid += len(portion.done)
            report(paid)
        return paid, len(debts) - paid

    def embed_rows(self, rows: Sequence[int]) -> Iterator[Portion]:
        """Embed these record versions and commit the vectors, portion by portion.

        It stops after a portion whose embedder missed its deadline: the next would miss it too.
        """
        space, tenant = self._context.space, self._scope.tenant
        for first in range(0, len(rows), PORTION):
            some = rows[first : first + PORTION]
            records = [r for r in self._log.records(tenant, some) if r is not None]
            # Rows that the log no longer has were forgotten: nothing is left to embed.
            done = set(some) - {record.row for record in records}
            acts: list[Act] = []
            outcomes = embed_all(records, self._context, now=True)
            for record, made in zip(records, outcomes, strict=True):
                if not isinstance(made, Exception):
                    done.add(record.row)
                    acts += [Embed(record.row, space, one) for one in made]
            if acts:
                self.commit(acts)
            failed = next((one for one in outcomes if isinstance(one, Exception)), None)
            yield Portion(done, failed)
            if isinstance(failed, EmbedderTimeout):
                return


def _quietly(key: Callable[[], Key | None]) -> Key | None:
    """The key of an update; None if the changes are not valid, so that no digest can be made."""
    try:
        return key()
    except BadRecord:
        return None
