"""The prompt budget of a query: how many tokens and characters its hits may take."""

from __future__ import annotations

from typing import Final, Self

from memoriter.core.errors import BadQuery
from memoriter.core.lazy_dataclass import dataclass
from memoriter.core.names import integer

LARGEST: Final = 2**31 - 1


@dataclass(frozen=True, slots=True)
class Budget:
    """Limits on the tokens and characters of the rendered hits; None means unlimited."""

    tokens: int | None = None
    chars: int | None = None

    @classmethod
    def of(cls, tokens: object, chars: object) -> Self:
        """Validate the options of a call; raises BadQuery if a limit is not a positive integer."""
        if tokens is None and chars is None:
            return cls()
        options = {"budget_tokens": tokens, "budget_chars": chars}
        bounds = {
            key: None if value is None else integer(value, key, 1, LARGEST, BadQuery)
            for key, value in options.items()
        }
        return cls(bounds["budget_tokens"], bounds["budget_chars"])

    def __bool__(self) -> bool:
        return self.tokens is not None or self.chars is not None

    def holds(self, tokens: int, chars: int) -> bool:
        """Whether this many tokens and characters fit."""
        return not (
            (self.tokens is not None and tokens > self.tokens)
            or (self.chars is not None and chars > self.chars)
        )

    def to_dict(self) -> dict[str, int]:
        """The limits that are set, by the names of the options."""
        bounds = {"budget_tokens": self.tokens, "budget_chars": self.chars}
        return {key: value for key, value in bounds.items() if value is not None}


FREE: Final = Budget()
"""No limits."""
