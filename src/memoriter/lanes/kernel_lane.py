"""A lane whose search the native kernel runs: words, similar words and vectors."""

from __future__ import annotations

from abc import abstractmethod

from memoriter.core.ranking import Ranking
from memoriter.kernel.jobs import Started
from memoriter.lanes.port import Context, Lane


class KernelLane(Lane):
    """A lane whose search is a job of the native kernel, which runs with those of other lanes."""

    @abstractmethod
    def start(self, ctx: Context) -> Started[Ranking]:
        """Prepare the search; the ranking is made once its jobs have run."""

    def rank(self, ctx: Context) -> Ranking:
        """Its rows, best first, at most `pool`."""
        return self.start(ctx).now()
