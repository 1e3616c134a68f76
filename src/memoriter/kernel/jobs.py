"""Work in two steps, so that the kernel's part of several searches is one call.

A lane prepares its search, the native kernel runs the jobs of all lanes in one call, without the
interpreter's lock, and each lane makes a ranking of its result. Behind the searches come jobs about
all rows that they found. Without the kernel there are no jobs, and the second step does all.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from typing import Generic, TypeAlias, TypeVar

from memoriter.core.lazy_dataclass import dataclass
from memoriter.kernel.found_rows import FoundRows
from memoriter.kernel.library import Job, Search, native_library

T = TypeVar("T")
U = TypeVar("U")
AboutFound: TypeAlias = Callable[[FoundRows], Sequence[Job]]
"""Makes jobs about the rows that several searches find; whoever made it keeps their results."""


@dataclass(frozen=True, slots=True)
class Started(Generic[T]):
    """A result that is known once its jobs have run."""

    finish: Callable[[], T]
    """Makes the result, after the jobs."""
    jobs: tuple[Job, ...] = ()
    about_found: tuple[AboutFound, ...] = ()
    """What else is computed if several searches run in one call."""

    @property
    def search(self) -> Search | None:
        """Its job, if it is one search."""
        only = self.jobs[0] if len(self.jobs) == 1 else None
        return only if isinstance(only, Search) else None

    def then(self, more: Callable[[T], U]) -> Started[U]:
        """What follows from the result."""
        finish = self.finish
        return Started(lambda: more(finish()), self.jobs, self.about_found)

    def asking(self, *about_found: AboutFound) -> Started[T]:
        """The same with more jobs about what all searches find."""
        return replace(self, about_found=(*self.about_found, *about_found))

    def run(self) -> bool:
        """Run the jobs in one call; whether there are any: only where the native kernel works."""
        fast = native_library() if self.jobs else None
        if fast is None:
            return False
        searches = [job for job in self.jobs if isinstance(job, Search)]
        if len(searches) == 1 or not self.about_found:
            fast.run(self.jobs)
            return True
        found_rows = FoundRows(searches)
        about = [job for each in self.about_found for job in each(found_rows)]
        fast.run((*self.jobs, found_rows.job, *about))
        found_rows.trim()
        return True

    def now(self) -> T:
        """Run the jobs and make the result."""
        self.run()
        return self.finish()


def all_started(started: Collection[Started[T]]) -> Started[list[T]]:
    """All results."""
    jobs = tuple(job for each in started for job in each.jobs)
    about_found = tuple(about for each in started for about in each.about_found)
    return Started(lambda: [each.finish() for each in started], jobs, about_found)
