"""A value that is made when somebody first looks at it: most explanations are never read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar, cast

T = TypeVar("T")


class Later(Generic[T]):
    """A value that a function makes on first use; equal to another one with an equal value."""

    __slots__ = ("_make", "_value")

    def __init__(self, make: Callable[[], T]) -> None:
        self._make: Callable[[], T] | None = make
        self._value: T | None = None

    @property
    def value(self) -> T:
        """The value. Two threads may both make it; the function must be pure."""
        make = self._make
        if make is not None:
            self._value = make()
            self._make = None  # what the function holds on to may go
        return cast("T", self._value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Later) and self.value == cast("Later[object]", other).value

    __hash__ = None  # type: ignore[assignment]  # values may be mappings

    def __repr__(self) -> str:
        return repr(self.value)
