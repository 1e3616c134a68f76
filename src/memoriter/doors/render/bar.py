"""A score as a bar: one stretch per contribution, as long as what it adds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from rich.text import Text

from memoriter.core.explanation import Explanation, contributions
from memoriter.doors.render.ink import DIM, Ink

BAR: Final = 24
_REST: Final = "·"


def bar(root: Explanation, best: float, inks: Mapping[str, Ink], width: int = BAR) -> Text:
    """The bar of a score, full when it equals the best one."""
    out = Text()
    reached, drawn = 0.0, 0
    for label, value in contributions(root):
        reached += max(value, 0.0)
        upto = min(width, round(width * min(reached, root.value) / best)) if best > 0 else 0
        ink = inks.get(label, Ink("▒", "green"))
        out.append(ink.glyph * (upto - drawn), ink.style)  # nothing where what is left is less
        drawn = max(drawn, upto)
    out.append(_REST * (width - drawn), DIM)
    return out
