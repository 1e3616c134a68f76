"""A limit on work that is counted, not timed: the same request always gets as far."""

from __future__ import annotations

from memoriter.core.errors import TooCostly


class WorkLimit:
    """How much work is left; what one step is, is up to the work."""

    __slots__ = ("_hint", "_left", "_most", "_work")

    def __init__(self, most: int, work: str, hint: str) -> None:
        self._most = self._left = most
        self._work = work
        self._hint = hint

    def spend(self, steps: int) -> None:
        """Count work that is about to be done; raises TooCostly if the budget is too small.

        >>> WorkLimit(10, "sort", "send fewer").spend(11)
        Traceback (most recent call last):
        ...
        memoriter.core.errors.TooCostly: sort: needs more than the limit of 10 steps
        hint: send fewer
        """
        self._left -= steps
        if self._left < 0:
            raise TooCostly(
                f"{self._work}: needs more than the limit of {self._most:,} steps", hint=self._hint
            )
