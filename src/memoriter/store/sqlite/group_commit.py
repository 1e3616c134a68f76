"""Group commit: whoever comes while a commit is on its way to the disk shares the next one.

There is no writer thread and no lingering. The first caller leads: it takes what has gathered,
commits it in one transaction and answers everybody; those who waited find their answer, or lead.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass

from memoriter.core.batch import Batch, Commit
from memoriter.core.errors import MemoriterError, Unavailable


@dataclass(slots=True, eq=False)
class PendingBatch:
    """A batch that waits, then what became of it."""

    batch: Batch
    done: Commit | None = None
    refused: MemoriterError | None = None
    answered: bool = False


class GroupCommit:
    """Batches of all threads of one store."""

    def __init__(self, write: Callable[[Sequence[PendingBatch]], None]) -> None:
        self._write = write
        self._waiting: list[PendingBatch] = []
        self._gate = threading.Lock()
        self._leading = threading.Lock()

    def commit(self, batch: Batch) -> Commit:
        """Write a batch, alone or with what gathered; durable when it returns."""
        job = PendingBatch(batch)
        with self._gate:
            self._waiting.append(job)
        with self._leading:
            if not job.answered:
                self._lead()
        if job.refused is not None:
            raise job.refused
        if job.done is None:
            raise Unavailable("the write was interrupted", hint="try again with the same key")
        return job.done

    def _lead(self) -> None:
        with self._gate:
            jobs, self._waiting = self._waiting, []
        try:
            self._write(jobs)
        except MemoriterError as trouble:
            for job in jobs:
                job.done, job.refused = None, trouble
        except BaseException:
            for job in jobs:
                job.done = None
            raise
        finally:
            for job in jobs:
                job.answered = True

    @contextlib.contextmanager
    def alone(self) -> Generator[None]:
        """Hold the writers off for something else that writes."""
        with self._leading:
            yield
