"""Asking a reranker: an answer within the deadline, or a reason why there is none.

The question runs in a thread of its own. A reranker that can be told the deadline keeps it. Nobody
can end a thread, so one that hangs is left behind; while several of the same reranker are, it is
not asked again.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from memoriter.core.errors import MemoriterError, Unavailable
from memoriter.models.abandoned import Abandoned
from memoriter.models.texts import one_line
from memoriter.models.worker_thread import apart
from memoriter.rank.grid import snap
from memoriter.rerank.port import Hasty, Reranker

TIMEOUT_MS: Final = 800
"""How long a question waits for a reranker."""
MOST_LEFT: Final = 4
"""So many questions of one reranker may be left behind; then it has to finish one first."""
LARGEST: Final = 2.0**20
"""Scores lie within ±2^20, where the grid is exact."""

_log: Final = logging.getLogger(__name__)
_lock: Final = threading.Lock()
_counts: Final[Counter[str]] = Counter()
_left: Final = Abandoned()
"""Questions that nobody waits for any more."""


@dataclass(frozen=True, slots=True, eq=False)
class Judged:
    """The answer: one score per text, on the grid."""

    values: NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Failed:
    """No answer. The reason begins with `rerank_failed: ` or `rerank_timeout: `."""

    reason: str


def scored(
    reranker: Reranker, query: str, texts: Sequence[str], timeout_ms: float = TIMEOUT_MS
) -> Judged | Failed:
    """What a reranker says about texts, within the time; it never raises and never waits longer.

    Without texts there is nothing to ask, and nobody is asked.
    """
    if not texts:
        return Judged(np.zeros(0))
    outcome = _outcome(reranker, query, list(texts), timeout_ms)
    kind = "scored" if isinstance(outcome, Judged) else outcome.reason.partition(":")[0]
    with _lock:
        _counts[kind] += 1
    return outcome


def counts() -> dict[str, int]:
    """How often rerankers of this process answered (`scored`), failed, or came too late."""
    with _lock:
        return {kind: _counts[kind] for kind in ("scored", "rerank_failed", "rerank_timeout")}


def _outcome(
    reranker: Reranker, query: str, texts: list[str], timeout_ms: float
) -> Judged | Failed:
    if _left.behind(reranker) >= MOST_LEFT:
        return _failed(f"still busy with {MOST_LEFT} earlier questions", "busy")
    seconds = timeout_ms / 1000.0
    until = time.monotonic() + seconds
    asked = apart(lambda: _answer(reranker, query, texts, seconds), "memoriter-rerank")
    try:
        error = asked.exception(timeout=seconds)
    except TimeoutError:
        _left.leave(asked, reranker)
        return _late(timeout_ms)
    if error is None:
        return Judged(asked.result())
    if time.monotonic() >= until:  # it gave up when nobody waited any more
        return _late(timeout_ms)
    return _failed(_told(error), type(error).__name__)


def _answer(
    reranker: Reranker, query: str, texts: list[str], seconds: float
) -> NDArray[np.float64]:
    hasty = reranker.within(seconds) if isinstance(reranker, Hasty) else reranker
    return checked(hasty.score(query, texts), len(texts))


def _late(timeout_ms: float) -> Failed:
    _log.warning("the reranker did not answer within %g ms", timeout_ms)
    return Failed(f"rerank_timeout: no answer within {timeout_ms:g} ms")


def _failed(why: str, short: str) -> Failed:
    _log.warning("the reranker failed: %s", short)  # a message may repeat what somebody remembers
    return Failed(f"rerank_failed: {why}")


def _told(error: BaseException) -> str:
    """An error of ours speaks for itself; of another, the kind matters as well."""
    if isinstance(error, MemoriterError):
        return one_line(error.message)
    kind = type(error).__name__
    return one_line(f"{kind}: {error}" if str(error) else kind)


# --- is it an answer? ------------------------------------------------------------------------


def checked(answer: object, count: int) -> NDArray[np.float64]:
    """The scores on the grid; `Unavailable` says what came instead.

    >>> checked([0.5, -2], count=2).tolist()
    [0.5, -2.0]
    """
    wanted = f"{count} score{'s' if count > 1 else ''}"
    try:
        table = np.asarray(answer)
    except (TypeError, ValueError, OverflowError):
        raise _other("lists of several lengths", wanted) from None
    if table.ndim == 0:
        raise _other("nothing" if answer is None else type(answer).__name__, wanted)
    if table.ndim != 1 or (table.size and table.dtype.kind not in "fiu"):
        what = "a table" if table.ndim > 1 else "a list with other things than numbers"
        raise _other(what, wanted)
    if table.size != count:
        raise _other(f"{table.size or 'no'} score{'' if table.size == 1 else 's'}", wanted)
    values = table.astype(np.float64)
    if not np.isfinite(values).all():
        raise _other("NaN or infinity", wanted)
    if float(np.abs(values).max()) > LARGEST:
        raise _other(f"a score beyond ±{LARGEST:,.0f}", wanted)
    return snap(values) + 0.0  # there is one zero


def _other(came: str, wanted: str) -> Unavailable:
    return Unavailable(f"answered {came} instead of {wanted}")
