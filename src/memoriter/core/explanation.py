"""The explanation of a score: a tree in which each value is an operation over its parts.

`why` builds it from the slate; `reconciles` checks that every node holds.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import field
from typing import Final, Literal

from memoriter.core.lazy_dataclass import dataclass
from memoriter.core.other_words import Hinting
from memoriter.core.shown import counted, drawn, plain, shown

Facts = Mapping[str, object]
"""Plain data about a number: terms, counts, a cosine, a path."""
PRODUCT_TOLERANCE: Final = 2.0**-32
"""One grid step: a stored product is rounded to the grid, and sums are exact."""


@dataclass(frozen=True, slots=True)
class Explanation(Hinting):
    """One number, and the numbers it is computed from."""

    label: str
    value: float
    op: Literal["leaf", "sum", "product", "max", "min"] = "leaf"
    parts: tuple[Explanation, ...] = ()
    facts: Facts = field(default_factory=dict[str, object])

    def __repr__(self) -> str:
        made = "" if self.op == "leaf" else f", {self.op} of {counted(len(self.parts), 'part')}"
        return shown(f"Explanation {plain(self.label)}", f"{self.value:.4g}{made}")

    def _repr_html_(self) -> str | None:
        """The tree as notebooks show it."""
        return drawn(self)

    def to_dict(self) -> dict[str, object]:
        """The tree as plain data."""
        out: dict[str, object] = {"label": self.label, "value": self.value, "op": self.op}
        if self.facts:
            out["facts"] = dict(self.facts)
        if self.parts:
            out["parts"] = [part.to_dict() for part in self.parts]
        return out


def contributions(node: Explanation) -> list[tuple[str, float]]:
    """Split a score into labelled addends.

    A product scales the addends of its first part; of a max or min only the winning part counts.
    """
    match node.op:
        case "leaf":
            return [(node.label, node.value)]
        case "sum":
            return [each for part in node.parts for each in contributions(part)]
        case "product":
            base = node.parts[0]
            factor = node.value / base.value if base.value else 0.0
            return [(label, value * factor) for label, value in contributions(base)]
        case "max" | "min":
            won = next((part for part in node.parts if part.value == node.value), node.parts[0])
            return contributions(won)


def reconciles(node: Explanation) -> bool:
    """Whether every node equals its op over its parts: sums exactly, products to a grid step."""
    if node.op == "leaf":
        return True
    values = [part.value for part in node.parts]
    match node.op:
        case "sum":
            fits = math.fsum(values) == node.value
        case "product":
            fits = abs(math.prod(values) - node.value) <= PRODUCT_TOLERANCE
        case "max":
            fits = max(values) == node.value
        case "min":
            fits = min(values) == node.value
    return fits and all(map(reconciles, node.parts))
