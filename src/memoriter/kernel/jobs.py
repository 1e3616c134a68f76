"""Work in two steps, so that the kernel's part of several searches is one call.

A lane prepares its search, the native kernel runs the jobs of all lanes in one call, without the
interpreter's lock, and each lane makes a ranking of its result. Without the kernel there are no
jobs, and the second step does all.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Generic, TypeVar

from memoriter.core.lazy_dataclass import dataclass
from memoriter.kernel.library import Job, native_library

T = TypeVar("T")
U = TypeVar("U")


@dataclass(frozen=True, slots=True)
class Started(Generic[T]):
    """A result that is known once its jobs have run."""

    finish: Callable[[], T]
    """Makes the result, after the jobs."""
    jobs: tuple[Job, ...] = ()

    def then(self, more: Callable[[T], U]) -> Started[U]:
        """What follows from the result."""
        finish = self.finish
        return Started(lambda: more(finish()), self.jobs)

    def run(self) -> bool:
        """Run the jobs in one call; whether there are any: only where the native kernel works."""
        fast = native_library() if self.jobs else None
        if fast is not None:
            fast.run(self.jobs)
        return fast is not None

    def now(self) -> T:
        """Run the jobs and make the result."""
        self.run()
        return self.finish()


def all_started(started: Collection[Started[T]]) -> Started[list[T]]:
    """All results."""
    jobs = tuple(job for each in started for job in each.jobs)
    return Started(lambda: [each.finish() for each in started], jobs)
