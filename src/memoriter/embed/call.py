"""Asking an embedder: an answer in time, or an error that says that none came.

A call of somebody else's model runs in a thread of its own. Nobody can end a thread, so one that
hangs is left behind; while several of the same embedder are, it is not asked again. Embedders that
cannot hang, or keep a deadline themselves, say so (`timely`) and are called directly.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeVar

from memoriter.embed.port import Embedder, Side
from memoriter.models.abandoned import Abandoned
from memoriter.models.worker_thread import apart

MOST_LEFT: Final = 4
"""So many calls of one embedder may be left behind; then it has to finish one first."""
_Any = TypeVar("_Any")
_left: Final = Abandoned()


class Late(TimeoutError):
    """The embedder did not answer in time."""


@dataclass(frozen=True, slots=True)
class Patience:
    """How many seconds a write, and a question, wait for an embedder."""

    record: float = 30.0
    """And one second more for each text: a batch of many takes a local model its time."""
    query: float = 5.0

    def seconds(self, side: Side, texts: int) -> float:
        """How long a call may take."""
        return self.query if side == "query" else self.record + texts


PATIENCE: Final = Patience()


def in_time(act: Callable[[], _Any], embedder: Embedder, seconds: float) -> _Any:
    """What a call of an embedder gives; it raises what the call raises, or `Late`."""
    if getattr(embedder, "timely", False):
        return act()
    if _left.behind(embedder) >= MOST_LEFT:
        raise Late(f"is still busy with {MOST_LEFT} earlier calls")
    asked = apart(act, "memoriter-embed")
    try:
        error = asked.exception(timeout=seconds)
    except TimeoutError:
        _left.leave(asked, embedder)
        raise Late(f"did not answer within {seconds:g} s") from None
    if error is not None:
        raise error
    return asked.result()
