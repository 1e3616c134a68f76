"""Calls an embedder within a deadline.

The call runs in a thread of its own. A thread cannot be killed, so a call that hangs is abandoned;
while several abandoned calls of one embedder still run, it is not called again. Embedders that
cannot hang or keep a deadline themselves have `timely = True` and are called directly.
`write.prepare` calls this for records and queries.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeVar

from memoriter.core.lazy_dataclass import dataclass
from memoriter.embed.port import Embedder, Side
from memoriter.kernel.turns import TURNS
from memoriter.models.worker_thread import AbandonedCalls, run_in_thread

MAX_ABANDONED: Final = 4
"""How many abandoned calls of one embedder may still run before it is not called any more."""
_Any = TypeVar("_Any")
_abandoned: Final = AbandonedCalls()


class EmbedderTimeout(TimeoutError):
    """The embedder did not answer in time."""


@dataclass(frozen=True, slots=True)
class Patience:
    """How many seconds a write and a search wait for an embedder."""

    record: float = 30.0
    """Seconds for a write. Each text adds one second: a local model needs time for a batch."""
    query: float = 5.0
    """Seconds for a search."""

    def seconds(self, side: Side, texts: int) -> float:
        """The time limit of a call with so many texts."""
        return self.query if side == "query" else self.record + texts


PATIENCE: Final = Patience()
"""The default time limits."""


def call_with_deadline(act: Callable[[], _Any], embedder: Embedder, seconds: float) -> _Any:
    """The result of `act`, which calls an embedder.

    Raises what `act` raises, or EmbedderTimeout if it takes too long or too many earlier calls of
    the embedder still run.
    """
    if getattr(embedder, "timely", False):
        return act()
    if _abandoned.count(embedder) >= MAX_ABANDONED:
        raise EmbedderTimeout(f"the embedder is still busy with {MAX_ABANDONED} earlier calls")
    call = run_in_thread(act, "memoriter-embed")
    # `exception`, not `result`: a TimeoutError that the embedder itself raises must not be taken
    # for our own deadline.
    try:
        error = TURNS.beside(lambda: call.exception(timeout=seconds))
    except TimeoutError:
        _abandoned.add(call, embedder)
        raise EmbedderTimeout(f"the embedder did not answer within {seconds:g} s") from None
    if error is not None:
        raise error
    return call.result()
