"""What a search may call outside of its view: the store for texts, a reranker, a limit of work."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from memoriter.core.lazy_dataclass import dataclass
from memoriter.core.ranking import Scores
from memoriter.core.work_limit import WorkLimit
from memoriter.index.read_once import Fetch

AskReranker = Callable[[Sequence[int], Sequence[str], int], "Scores | str"]
"""Calls a reranker with (rows, texts, timeout in ms); returns scores, or the reason for none."""


def no_records(rows: Sequence[int]) -> list[None]:
    """The default `fetch`: no record can be read."""
    return [None] * len(rows)


@dataclass(frozen=True, slots=True)
class Effects:
    """Everything outside the view that a search may call."""

    fetch: Fetch = no_records
    """Reads records, for steps that need texts."""
    reranker: AskReranker | None = None
    """The reranker; None if the memory has none."""
    work: WorkLimit | None = None
    """What is left for the filters of several searches; None if this one has its own limit."""
