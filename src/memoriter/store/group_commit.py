"""Group commit: batches that arrive while one commit is on its way to the disk share the next.

The durable stores call `GroupCommit.commit`. There is no writer thread and no delay to gather more:
the thread that gets the leader lock commits everything that has gathered in one transaction and
sets everybody's result. A thread that waited for the lock then finds its result there, or becomes
the leader itself.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Generator, Sequence

from memoriter.core.batch import Batch, Commit
from memoriter.core.errors import MemoriterError, Unavailable
from memoriter.core.lazy_dataclass import dataclass


@dataclass(slots=True, eq=False)
class PendingBatch:
    """A batch that waits for the leader, then its outcome.

    After `answered`: `done` if it was committed, `refused` if it was rejected or the transaction
    failed, neither if the leader was interrupted.
    """

    batch: Batch
    done: Commit | None = None
    refused: MemoriterError | None = None
    answered: bool = False


class GroupCommit:
    """A commit queue, shared by the threads of a process."""

    def __init__(
        self, write: Callable[[Sequence[PendingBatch]], None], limit: int | None = None
    ) -> None:
        self._write = write
        """Commits pending batches in one transaction, and sets the outcome of each."""
        self._limit = limit
        """How many batches may wait; None for any number."""
        self._waiting: list[PendingBatch] = []
        self._gate = threading.Lock()
        """Guards `_waiting`; held only for an append or a swap, never during a commit."""
        self._leading = threading.Lock()
        """Held by the leader for the whole commit, fsync included."""

    def commit(self, batch: Batch) -> Commit:
        """Commit a batch, alone or with others; durable when it returns.

        Raises what `sequence_batch` refused the batch with, or what the transaction failed with;
        Unavailable if the leading thread was interrupted, or too many wait already.
        """
        pending = PendingBatch(batch)
        with self._gate:
            if self._limit is not None and len(self._waiting) >= self._limit:
                raise Unavailable(
                    f"{self._limit} writes of tenant {batch.tenant!r} are already waiting, which"
                    " is the limit",
                    hint="try again in a moment, or write several memories in one call",
                )
            self._waiting.append(pending)
        with self._leading:
            # While this thread waited for the lock, another leader may have taken its batch along.
            if not pending.answered:
                self._lead()
        if pending.refused is not None:
            raise pending.refused
        if pending.done is None:
            raise Unavailable(
                "the write was interrupted, so it is unknown whether it was stored",
                hint="write it again; with the same `key` as before, it is stored only once",
            )
        return pending.done

    def _lead(self) -> None:
        """Commit everything that is waiting; the caller holds `_leading`."""
        with self._gate:
            batches, self._waiting = self._waiting, []
        try:
            self._write(batches)
        except MemoriterError as failure:
            # A failed transaction makes every `done` that was set inside it void.
            for pending in batches:
                pending.done, pending.refused = None, failure
        except BaseException:
            for pending in batches:
                pending.done = None
            raise
        finally:
            for pending in batches:
                pending.answered = True

    @contextlib.contextmanager
    def exclusive(self) -> Generator[None]:
        """Hold the leader lock, for a transaction that is not a batch."""
        with self._leading:
            yield
