"""Checks what stands for a lane where what it reads of a record is computed later.

It is the weighted mean of what the other lanes cover. Which records were owed is an input.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from .kinds import lane_rules
from .numbers import Column, Data, either, snap, total_of
from .verification import Verification


def stood_in(
    s: Verification, fuse: Data, scaled: Mapping[str, Column], answered: Sequence[str]
) -> dict[str, Column]:
    """The scaled scores of all lanes, with what stands for those that lack something."""
    out = dict(scaled)
    owed: dict[str, Data] = s.body.get("owed", {})
    if "owed" in s.body:
        s.attested["owed"] = None
        if not owed:
            s.wrong("owed", "is there, but names no lane")
    for label, own in owed.items():
        path = f"owed/{label}"
        rule = lane_rules().get(s.recipe["lanes"][label]["kind"])
        if label not in scaled or not _covers(fuse, label) or (rule is not None and not rule.owes):
            s.wrong(path, "is no lane for which others stand")
            continue
        _check_standing(s, fuse, path, set(own["lanes"]), set(answered))
        rows = set(own["rows"])
        if not rows or not rows <= set(s.rows):
            s.wrong(f"{path}/rows", "are not rows of the slate")
        scores = zip(s.rows, s.claimed[f"{label}.score"], strict=True)
        if any(row in rows and score is not None for row, score in scores):
            s.wrong(f"{path}/rows", "has a row that the lane scored")
        mean = _mean(fuse, {name: scaled[name] for name in own["lanes"]}, len(s.rows))
        s.spend(len(s.rows) * (len(own["lanes"]) + 1))
        pairs = zip(s.rows, mean, scaled[label], strict=True)
        out[label] = [stands if row in rows else value for row, stands, value in pairs]
    return out


def _covers(fuse: Data, label: str) -> bool:
    """Whether a fusion scales a lane by the share of the question that it covers."""
    if fuse["kind"] != "weighted":
        return False
    scale = fuse["scale"]
    return (scale if isinstance(scale, str) else scale.get(label, "none")) == "coverage"


def _check_standing(
    s: Verification, fuse: Data, path: str, by: set[str], answered: set[str]
) -> None:
    """Check which lanes stand: those that found something, by themselves, and lack nothing.

    Of a lane of an unknown kind, and of one that may lack something itself, it is an input.
    """
    able: set[str] = set()
    free: set[str] = set()
    for label in answered - set(s.recipe["apart"]):
        rule = lane_rules().get(s.recipe["lanes"][label]["kind"])
        if not _covers(fuse, label) or label in s.body["owed"]:
            continue
        if rule is None or rule.owes:
            free.add(label)
        elif rule.independent:
            able.add(label)
    if not able <= by <= able | free or not by:
        s.wrong(f"{path}/lanes", f"is {sorted(by)}, expected {sorted(able)}")


def _mean(fuse: Data, scaled: Mapping[str, Column], size: int) -> Column:
    """The weighted mean of shares by row; a lane without one counts 0, no row exceeds 1."""
    weights = {label: float(fuse["weights"].get(label, 1.0)) for label in scaled}
    whole = math.fsum(weights.values())
    out: Column = [None] * size
    for at in range(size if whole > 0.0 else 0):
        if any(column[at] is not None for column in scaled.values()):
            parts = [snap(weights[n] * either(c[at], 0.0)) for n, c in scaled.items()]
            out[at] = min(snap(total_of(parts) / whole), 1.0)
    return out
