"""A score as a bar: one stretch per contribution, as long as what it adds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from rich.text import Text

from recollect.core.explanation import Explanation
from recollect.doors.render.ink import DIM, Ink

BAR: Final = 24
_REST: Final = "·"


def contributions(root: Explanation) -> list[tuple[str, float]]:
    """What the lanes add to a score, in shares of it: the first sum below the root is split."""
    node = root
    while node.op != "sum" and node.parts:
        node = max(node.parts, key=lambda part: len(part.parts))
    if node.op != "sum" or not node.value:
        return [(root.label, root.value)]
    scale = root.value / node.value
    return [(part.label, part.value * scale) for part in node.parts]


def bar(root: Explanation, best: float, inks: Mapping[str, Ink], width: int = BAR) -> Text:
    """The bar of a score, full when it equals the best one."""
    out = Text()
    reached, drawn = 0.0, 0
    for label, value in contributions(root):
        reached += max(value, 0.0)
        upto = min(width, round(width * reached / best)) if best > 0 else 0
        ink = inks.get(label, Ink("▒", "green"))
        out.append(ink.glyph * (upto - drawn), ink.style)
        drawn = max(drawn, upto)
    out.append(_REST * (width - drawn), DIM)
    return out
