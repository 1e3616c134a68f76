"""What the strength of an answer means, in the words that every door prints.

`Result`, the HTML page, the terminal and the MCP text take their sentences from here, so that all
of them say the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from memoriter.pipeline.relevance import Strength

ONLY_ORDERS: Final = "a score only orders the hits of one question"
COMPARABLE: Final = f"Relevance can be compared between questions; {ONLY_ORDERS}."
NOTHING: Final = "Nothing relevant"
WEAK: Final = "weak matches: each shares something with the question and may not answer it"
NO_EVIDENCE: Final = "without evidence that they answer the question"
_UNKNOWN: Final = "relevance unknown"


def strength_text(strength: Strength) -> str:
    """A strength beside the number of hits.

    >>> strength_text("strong"), strength_text("none")
    ('strong', 'none relevant')
    """
    return {"none": "none relevant", "unknown": _UNKNOWN}.get(strength, strength)


def comparable_text(strength: Strength | None) -> str:
    """What may be compared between questions; `strength` is None if there is no relevance.

    >>> comparable_text(None)
    'a score only orders the hits of one question'
    """
    return ONLY_ORDERS if strength is None else COMPARABLE


def relevance_text(relevance: float | None, strength: Strength | None) -> str:
    """The relevance and strength of one hit; empty if the recipe has no relevance.

    >>> relevance_text(0.7071, "strong"), relevance_text(0.3, "unknown")
    ('relevance 0.71, strong', 'relevance unknown')
    """
    if relevance is None or strength is None:
        return ""
    return _UNKNOWN if strength == "unknown" else f"relevance {relevance:.2f}, {strength}"


def judgement(
    relevance: float | None, strength: Strength | None, remarks: Sequence[str] = ()
) -> dict[str, object]:
    """Relevance, strength and remarks as plain data; empty if the recipe has no relevance."""
    if strength is None:
        return {}
    out: dict[str, object] = {"relevance": relevance, "strength": strength}
    return {**out, "remarks": list(remarks)} if remarks else out
