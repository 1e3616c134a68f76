"""What was found as text for a prompt."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Self

from memoriter.core.budget import Budget
from memoriter.core.record import Record
from memoriter.core.shown import counted, shown
from memoriter.text.prompt import pack_entries, prompt_block
from memoriter.text.tokens import estimate_tokens


class Block(str):
    """The text, and what its numbers stand for."""

    __slots__ = ("citations", "left_out")

    citations: Mapping[int, str]
    """The id that each number stands for."""
    left_out: tuple[str, ...]
    """The ids for which there was no room, best first."""

    @classmethod
    def of(cls, text: str, citations: Mapping[int, str], left_out: Sequence[str]) -> Self:
        """A text with its citations."""
        made = cls(text)
        made.citations = citations
        made.left_out = tuple(left_out)
        return made

    def __repr__(self) -> str:
        told = counted(len(getattr(self, "citations", ())), "memory", "memories")
        out = len(getattr(self, "left_out", ()))
        rest = f", {out:,} left out" if out else ""
        return shown("Block", f"{told}, {counted(len(self), 'character')}{rest}")

    @property
    def tokens(self) -> int:
        """How many tokens it takes at most, as far as that can be told without a model."""
        return estimate_tokens(self)

    def to_dict(self) -> dict[str, object]:
        """The block as plain data."""
        return {
            "text": str(self),
            "citations": {str(number): one for number, one in self.citations.items()},
            "left_out": list(self.left_out),
            "tokens": self.tokens,
            "chars": len(self),
        }


def block_of(said: Sequence[tuple[Record, bool]], budget: Budget) -> Block:
    """The records, best first, whole and within a budget; each with whether it was superseded."""
    pieces = pack_entries(said, budget)
    kept = [record.id for (record, _), piece in zip(said, pieces, strict=True) if piece.kept]
    out = [record.id for (record, _), piece in zip(said, pieces, strict=True) if not piece.kept]
    return Block.of(prompt_block(pieces), dict(enumerate(kept, start=1)), out)
