"""Calls a reranker within a deadline and checks its answer.

The call runs in a thread of its own. A thread cannot be killed, so a call that hangs is abandoned;
while several abandoned calls of one reranker still run, it is not called again. `memory.search`
calls this for the second pass of a recipe.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import Counter
from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from memoriter.core.errors import MemoriterError, Unavailable
from memoriter.core.lazy_dataclass import dataclass
from memoriter.models.texts import excerpt
from memoriter.models.worker_thread import AbandonedCalls, run_in_thread
from memoriter.rank.grid import snap
from memoriter.rerank.port import DeadlineAware, Reranker

TIMEOUT_MS: Final = 800
"""How long a search waits for a reranker by default."""
MAX_ABANDONED: Final = 4
"""How many abandoned calls of one reranker may still run before it is not called any more."""
LARGEST: Final = 2.0**20
"""Scores lie within ±2^20: there a float64 still holds every multiple of 2^-32, the grid step."""

_log: Final = logging.getLogger(__name__)
_lock: Final = threading.Lock()
_counts: Final[Counter[str]] = Counter()
_abandoned: Final = AbandonedCalls()
"""Calls that missed their deadline."""


@dataclass(frozen=True, slots=True, eq=False)
class RerankScores:
    """A successful answer: one score per text, on the grid."""

    values: NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Failed:
    """No usable answer. The reason begins with `rerank_failed: ` or `rerank_timeout: `."""

    reason: str


def ask_reranker(
    reranker: Reranker, query: str, texts: Sequence[str], timeout_ms: float = TIMEOUT_MS
) -> RerankScores | Failed:
    """Score texts with a reranker, waiting at most `timeout_ms`. Never raises.

    Without texts the reranker is not called and the scores are empty.
    """
    if not texts:
        return RerankScores(np.zeros(0))
    outcome = _outcome(reranker, query, list(texts), timeout_ms)
    kind = "scored" if isinstance(outcome, RerankScores) else outcome.reason.partition(":")[0]
    with _lock:
        _counts[kind] += 1
    return outcome


def counts() -> dict[str, int]:
    """How often rerankers of this process answered (`scored`), failed, or timed out."""
    with _lock:
        return {kind: _counts[kind] for kind in ("scored", "rerank_failed", "rerank_timeout")}


def _outcome(
    reranker: Reranker, query: str, texts: list[str], timeout_ms: float
) -> RerankScores | Failed:
    if _abandoned.count(reranker) >= MAX_ABANDONED:
        return _failed(f"still busy with {MAX_ABANDONED} earlier questions", "busy")
    seconds = timeout_ms / 1000.0
    until = time.monotonic() + seconds
    call = run_in_thread(lambda: _answer(reranker, query, texts, seconds), "memoriter-rerank")
    try:
        error = call.exception(timeout=seconds)
    except TimeoutError:
        _abandoned.add(call, reranker)
        return _late(timeout_ms)
    if error is None:
        return RerankScores(call.result())
    # A reranker that keeps the deadline itself fails just when it is over: that is a timeout too.
    if time.monotonic() >= until:
        return _late(timeout_ms)
    return _failed(_reason(error), type(error).__name__)


def _answer(
    reranker: Reranker, query: str, texts: list[str], seconds: float
) -> NDArray[np.float64]:
    limited = reranker.within(seconds) if isinstance(reranker, DeadlineAware) else reranker
    return checked_scores(limited.score(query, texts), len(texts))


def _late(timeout_ms: float) -> Failed:
    _log.warning("the reranker did not answer within %g ms", timeout_ms)
    return Failed(f"rerank_timeout: no answer within {timeout_ms:g} ms")


def _failed(why: str, short: str) -> Failed:
    # Only the short form is logged: an error message may quote the text of a record.
    _log.warning("the reranker failed: %s", short)
    return Failed(f"rerank_failed: {why}")


def _reason(error: BaseException) -> str:
    """The message of an error on one line, with its type unless it is one of ours."""
    if isinstance(error, MemoriterError):
        return excerpt(error.message)
    kind = type(error).__name__
    return excerpt(f"{kind}: {error}" if str(error) else kind)


# --- checking the answer ---------------------------------------------------------------------


def checked_scores(answer: object, count: int) -> NDArray[np.float64]:
    """The answer as scores on the grid; raises Unavailable if it is not `count` finite numbers.

    >>> checked_scores([0.5, -2], count=2).tolist()
    [0.5, -2.0]
    """
    wanted = f"{count} score{'s' if count > 1 else ''}"
    try:
        table = np.asarray(answer)
    except (TypeError, ValueError, OverflowError):
        raise _other("returned lists of different lengths", wanted) from None
    if table.ndim == 0:
        raise _other(f"returned {'nothing' if answer is None else type(answer).__name__}", wanted)
    if table.ndim != 1 or (table.size and table.dtype.kind not in "fiu"):
        what = "a table" if table.ndim > 1 else "a list with other things than numbers"
        raise _other(f"returned {what}", wanted)
    if table.size != count:
        raise _other(f"returned {table.size or 'no'} score{'' if table.size == 1 else 's'}", wanted)
    values = table.astype(np.float64)
    if not np.isfinite(values).all():
        raise _other("returned NaN or infinity", wanted)
    if float(np.abs(values).max()) > LARGEST:
        raise _other(f"returned a score outside ±{LARGEST:,.0f}", wanted)
    return snap(values) + 0.0  # -0.0 becomes 0.0, so that equal scores have equal bytes


def _other(actual: str, wanted: str) -> Unavailable:
    return Unavailable(f"{actual} instead of {wanted}")
