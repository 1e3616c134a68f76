"""How much of a prompt an answer may take."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Self

from memoriter.core.errors import BadQuery
from memoriter.core.names import integer

LARGEST: Final = 2**31 - 1


@dataclass(frozen=True, slots=True)
class Budget:
    """Tokens and characters of a rendered block; None where there is no bound."""

    tokens: int | None = None
    chars: int | None = None

    @classmethod
    def of(cls, tokens: object, chars: object) -> Self:
        """A budget as a caller gives it, checked."""
        given = {"budget_tokens": tokens, "budget_chars": chars}
        told = {
            key: None if value is None else integer(value, key, 1, LARGEST, BadQuery)
            for key, value in given.items()
        }
        return cls(told["budget_tokens"], told["budget_chars"])

    def __bool__(self) -> bool:
        return self.tokens is not None or self.chars is not None

    def holds(self, tokens: int, chars: int) -> bool:
        """Whether so much stays within it."""
        return not (
            (self.tokens is not None and tokens > self.tokens)
            or (self.chars is not None and chars > self.chars)
        )

    def to_dict(self) -> dict[str, int]:
        """The bounds that there are, as a call names them."""
        told = {"budget_tokens": self.tokens, "budget_chars": self.chars}
        return {key: value for key, value in told.items() if value is not None}


FREE: Final = Budget()
"""No bound."""
