"""A store on a PostgreSQL server, shared by threads, processes and machines.

`Postgres.commit` queues a batch with the others of its tenant; the first waiting thread writes all
that gathered in one transaction, which locks the tenant's head until COMMIT. So each tenant's log
is dense, and the order of its numbers is the order of its commits; tenants do not wait for one
another.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Generator, Sequence
from typing import Final

from memoriter.core.batch import Batch, Commit
from memoriter.core.errors import Corrupt, Forbidden, MemoriterError, SpacesChanged, Unavailable
from memoriter.store.checks import require_empty
from memoriter.store.group_commit import GroupCommit, PendingBatch
from memoriter.store.port import Dump, Head, Manifest, TenantRows
from memoriter.store.postgres.address import Address
from memoriter.store.postgres.in_doubt import Trace, was_written
from memoriter.store.postgres.ledger import (
    PostgresLedger,
    mend_rows,
    open_space,
    record_erased,
    replace_debts,
    replace_manifest,
)
from memoriter.store.postgres.migrations import prepare_tables
from memoriter.store.postgres.reader import PostgresReader
from memoriter.store.postgres.sessions import (
    CommitLost,
    Contradiction,
    NotReplicated,
    PgSessions,
)
from memoriter.store.postgres.wire import Wire
from memoriter.store.rows import DebtRow, VectorRow, WordsRow
from memoriter.store.sequence import SequencedBatch, sequence_batch
from memoriter.store.stretches import require_end

WAITING: Final = 1024
"""How many writes of one tenant may wait in a process; more are refused."""


class Postgres(PostgresReader):
    """A `Log` on a PostgreSQL server; the public methods are documented there."""

    def __init__(self, url: str, *, read_only: bool = False) -> None:
        address = Address.of(url)
        super().__init__(PgSessions(address, read_only=read_only))
        self.sessions = self._sessions
        self.shown = address.shown
        self.read_only = read_only
        self._queues: dict[str, GroupCommit] = {}
        self._mutex = threading.Lock()
        prepare_tables(self._sessions, read_only=read_only)

    def check(self) -> None:
        """Raise Unsupported if the store is closed, or belongs to the parent of a fork."""
        self._sessions.check()

    def close(self) -> None:
        """Close every connection. Idempotent; a forked child leaves them to its parent."""
        self._sessions.close()

    def _must_write(self) -> None:
        self.check()
        if self.read_only:
            raise Forbidden(
                f"{self.shown} was opened for reading only", hint="open it without read_only"
            )

    # -- writing -------------------------------------------------------------------------------

    def commit(self, batch: Batch) -> Commit:
        """Write a batch, durable when it returns; concurrent batches of a tenant share a COMMIT.

        Raises Forbidden if the store is read-only, Unknown if the server was lost during COMMIT and
        did not come back, otherwise what `GroupCommit.commit` raises.
        """
        self._must_write()
        return self._queue(batch.tenant).commit(batch)

    def _queue(self, tenant: str) -> GroupCommit:
        with self._mutex:
            queue = self._queues.get(tenant)
            if queue is None:
                queue = self._queues[tenant] = GroupCommit(self._commit_all, WAITING)
            return queue

    def _commit_all(self, pending: Sequence[PendingBatch]) -> None:
        """Write batches of one tenant in one transaction and set the outcome of each."""
        try:
            self._sessions.rewritten(lambda: self._commit_group(pending))
        except Contradiction as damage:
            if len(pending) > 1:  # find the one: the others must not fail with it
                for each in pending:
                    self._commit_all([each])
            else:
                pending[0].done, pending[0].refused = (
                    None,
                    self._damaged(pending[0].batch.tenant, damage),
                )

    def _commit_group(self, pending: Sequence[PendingBatch]) -> None:
        tenant, written = pending[0].batch.tenant, list[SequencedBatch]()
        for each in pending:
            each.done = each.refused = None  # of a transaction that failed
        with self._changing(tenant, written) as db:
            ledger = self._locked(db, tenant, [each.batch for each in pending])
            spaces = tuple(sorted(ledger.spaces))
            for each in pending:
                if each.batch.spaces not in (None, spaces):
                    each.refused = SpacesChanged(
                        "the spaces of the store changed", hint="try again"
                    )
                    continue
                try:
                    new = sequence_batch(each.batch, ledger.head, ledger)
                except MemoriterError as refused:
                    each.refused = refused
                    continue
                if not new.is_empty:
                    ledger.write(new)
                    written.append(new)
                each.done = new.commit
            ledger.flush()
        self._known_spaces = tuple(sorted(ledger.spaces))
        self._saw(tenant, ledger.head)

    def _locked(self, db: Wire, tenant: str, batches: Sequence[Batch] = ()) -> PostgresLedger:
        """The ledger behind the lock on the head; Corrupt if the log is not the one known here."""
        before = self._seen.get(tenant, Head())
        ledger = PostgresLedger(db, tenant, batches, since=before.seq)
        self._require_continued(tenant, before, ledger.head, ledger.link_since)
        return ledger

    def _damaged(self, tenant: str, damage: Exception) -> Corrupt:
        return Corrupt(
            f"{self.shown} is damaged at tenant {tenant!r}: {damage}",
            hint="verify tells what is wrong; restore a backup",
        )

    @contextlib.contextmanager
    def _changing(self, tenant: str, written: Sequence[SequencedBatch]) -> Generator[Wire]:
        """A write transaction; if its answer was lost, the truth is found out."""
        try:
            with self._sessions.write(tenant) as db:
                yield db
        except (CommitLost, NotReplicated) as lost:
            if not was_written(self._sessions, tenant, Trace.of(tenant, written)):
                raise Unavailable(
                    f"the connection to {self.shown} was lost during a commit; nothing was written",
                    hint="try again",
                ) from lost

    @contextlib.contextmanager
    def _alone(self, tenant: str, written: Sequence[SequencedBatch] = ()) -> Generator[Wire]:
        """A write transaction that is not a batch; Corrupt if stored rows contradict it."""
        try:
            with self._changing(tenant, written) as db:
                yield db
        except Contradiction as damage:
            raise self._damaged(tenant, damage) from damage

    def _in_own_transaction(self, tenant: str, change: Callable[[Wire], object]) -> None:
        """A change that may be repeated without harm, behind the lock on the head."""
        self._must_write()

        def work() -> None:
            with self._alone(tenant) as db:
                self._locked(db, tenant)
                change(db)

        self._sessions.rewritten(work)

    def open_space(self, generation: str) -> None:
        """Register a generation."""
        self._must_write()
        with self._alone("") as db:
            open_space(db, generation)

    def close_space(self, generation: str) -> None:
        """Delete the words of a generation."""
        self._must_write()
        tenants = self.tenants()
        with self._alone("") as db:
            # No commit may run beside it: it could bring words of the generation back.
            db.execute("LOCK TABLE memoriter.heads IN EXCLUSIVE MODE")
            used = False
            for tenant in tenants:
                db.execute("SELECT set_config('memoriter.tenant', %s, true)", (tenant,))
                db.execute(
                    "DELETE FROM memoriter.words WHERE tenant=%s AND generation=%s",
                    (tenant, generation),
                )
                rows = db.execute(
                    "SELECT EXISTS (SELECT 1 FROM memoriter.vectors WHERE tenant=%(t)s "
                    "AND generation=%(g)s) OR EXISTS (SELECT 1 FROM memoriter.debts "
                    "WHERE tenant=%(t)s AND generation=%(g)s)",
                    {"t": tenant, "g": generation},
                ).fetchall()
                used = used or rows[0][0]
            if not used:
                db.execute("DELETE FROM memoriter.spaces WHERE fingerprint=%s", (generation,))

    def mend(self, tenant: str, words: Sequence[WordsRow], lost: Sequence[VectorRow]) -> None:
        """Replace words, and turn lost vectors into debts."""
        self._in_own_transaction(tenant, lambda db: mend_rows(db, tenant, words, lost))

    def publish(self, tenant: str, index: str, old: Manifest, new: Manifest) -> bool:
        """Replace the manifest if it still is `old`; returns whether it was."""
        self._must_write()

        def work() -> bool:
            with self._sessions.write(tenant) as db:
                self._locked(db, tenant)
                return replace_manifest(db, tenant, index, old, new)

        try:
            return self._sessions.rewritten(work)
        except (CommitLost, NotReplicated):
            return was_written(self._sessions, tenant, None) or self.manifest(tenant, index) == new

    def scrub(self, tenant: str, upto: int) -> bool:
        """Mark as erased: the rows are deleted, and the server reuses their space (vacuum)."""
        self._in_own_transaction(tenant, lambda db: record_erased(db, tenant, upto))
        return True

    # -- whole tenants -------------------------------------------------------------------------

    def append(self, tenant: str, part: Dump, before: Head) -> None:
        """Write a stretch after `before`."""
        self._must_write()

        def work() -> Head:
            written: list[SequencedBatch] = []
            with self._alone(tenant, written) as db:
                ledger = self._locked(db, tenant)
                require_end(tenant, ledger.head, before)
                written.append(ledger.append(part))
            return written[0].head

        self._saw(tenant, self._sessions.rewritten(work))

    def owe(self, tenant: str, after: int, upto: int, debts: Sequence[DebtRow]) -> None:
        """Replace the debts of the rows in (after, upto]."""
        self._in_own_transaction(tenant, lambda db: replace_debts(db, tenant, (after, upto), debts))

    def restore(self, tenant: str, rows: TenantRows) -> None:
        """Write all rows of a tenant into an empty one; Conflict if it has been written to."""
        self._must_write()
        written: list[SequencedBatch] = []
        with self._alone(tenant, written) as db:
            ledger = self._locked(db, tenant)
            require_empty(tenant, ledger.head)
            written.append(ledger.restore(rows))
        self._saw(tenant, written[0].head)
