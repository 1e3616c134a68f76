"""Renders records as a block of text for a prompt, with numbered citations.

`Result.context` and the doors call it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, Literal, Self

from memoriter.core.budget import Budget
from memoriter.core.record import Record
from memoriter.core.shown import counted, shown
from memoriter.text.prompt import pack_entries, prompt_block
from memoriter.text.tokens import estimate_tokens

Include = Literal["relevant", "all"]
"""Which hits a block shows: without those of strength `none`, or all."""
NOTHING_RECALLED: Final = "No recalled memory is relevant to the question."
"""The whole block if the recipe has relevance and no hit has any."""


class Block(str):
    """The text for a prompt, with the records that it cites."""

    __slots__ = ("citations", "left_out", "not_relevant")

    citations: Mapping[int, str]
    """Number in the text → id of the record."""
    left_out: tuple[str, ...]
    """The ids of the records that did not fit into the budget, best first."""
    not_relevant: tuple[str, ...]
    """The ids of the records that were left out because nothing says they are relevant."""

    @classmethod
    def of(
        cls,
        text: str,
        citations: Mapping[int, str],
        left_out: Sequence[str],
        not_relevant: Sequence[str] = (),
    ) -> Self:
        """A text with its citations."""
        block = cls(text)
        block.citations = citations
        block.left_out = tuple(left_out)
        block.not_relevant = tuple(not_relevant)
        return block

    def __repr__(self) -> str:
        # A copy made by a method of `str` lacks the attributes.
        cited = counted(len(getattr(self, "citations", ())), "memory", "memories")
        out = len(getattr(self, "left_out", ()))
        rest = f", {out:,} left out" if out else ""
        return shown("Block", f"{cited}, {counted(len(self), 'character')}{rest}")

    @property
    def tokens(self) -> int:
        """An upper estimate of its tokens that needs no tokenizer."""
        return estimate_tokens(self)

    def to_dict(self) -> dict[str, object]:
        """The block as plain data."""
        return {
            "text": str(self),
            "citations": {str(number): one for number, one in self.citations.items()},
            "left_out": list(self.left_out),
            **({"not_relevant": list(self.not_relevant)} if self.not_relevant else {}),
            "tokens": self.tokens,
            "chars": len(self),
        }


def block_of(
    records: Sequence[tuple[Record, bool]], budget: Budget, not_relevant: Sequence[str] = ()
) -> Block:
    """The block of those records that fit into a budget whole, best first.

    `records` holds pairs of a record and whether it was superseded; `not_relevant` are the ids of
    those that are left out for another reason than the budget.
    """
    pieces = pack_entries(records, budget)
    kept = [record.id for (record, _), piece in zip(records, pieces, strict=True) if piece.kept]
    out = [record.id for (record, _), piece in zip(records, pieces, strict=True) if not piece.kept]
    return Block.of(prompt_block(pieces), dict(enumerate(kept, start=1)), out, not_relevant)


def nothing_block(budget: Budget, not_relevant: Sequence[str]) -> Block:
    """The block that says that nothing is relevant; empty if not even that fits."""
    fits = budget.holds(estimate_tokens(NOTHING_RECALLED), len(NOTHING_RECALLED))
    return Block.of(NOTHING_RECALLED if fits else "", {}, (), not_relevant)
