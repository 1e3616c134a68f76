"""The explanation of a relevance: what it is made from, and the knots that turn it into a share."""

from __future__ import annotations

import numpy as np

from memoriter.core.explanation import Explanation
from memoriter.pipeline.relevance import RELEVANCE
from memoriter.pipeline.run import Ran

KNOTS = "knots"
"""The fact that holds the two knots around the evidence."""


def explain_relevance(ran: Ran, row: int) -> Explanation | None:
    """The relevance of a candidate with its parts as facts; None if the recipe has none."""
    if ran.judged is None:
        return None
    rows, judged = ran.judged
    at = int(np.flatnonzero(rows == row)[0])
    parts = {
        name: float(values[at]) if isinstance(values, np.ndarray) else float(values)
        for name, values in judged.parts.items()
    }
    knots = [list(knot) for knot in judged.rule.knots_around(parts["evidence"])]
    return Explanation(RELEVANCE, float(judged.values[at]), facts={**parts, KNOTS: knots})
