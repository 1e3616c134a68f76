"""Checks the lanes: their ranks follow from their scores, and some scores from their parts."""

from __future__ import annotations

import math
from collections.abc import Sequence

from .kinds import lane_rules
from .numbers import Column, either
from .verification import ATTRIBUTES, Verification


def lanes_run(s: Verification) -> list[str]:
    """The lanes that scored rows."""
    return [label for label in s.recipe["lanes"] if s.runs(label) and not _brings(s, label)]


def _brings(s: Verification, label: str) -> bool:
    """Whether a lane adds rows without scores; for an unknown kind, if no fusion uses it."""
    rule = lane_rules().get(s.recipe["lanes"][label]["kind"])
    if rule is not None:
        return rule.brings
    first = s.body["slate"]["steps"][0]
    return first["out"] == "fuse" and f"fuse.{label}" not in first["inputs"]


def check_lanes(s: Verification) -> None:
    """Check ranks, pools and, where the kind allows it, scores of all rows."""
    for label in s.recipe["lanes"]:
        if s.runs(label) != (f"{label}.score" in s.claimed):
            s.wrong(f"skipped/{label}", "does not agree with the presence of the lane's scores")
    ties = [tie for tie in s.recipe["ties"] if tie.lstrip("-") in ATTRIBUTES]
    for label in lanes_run(s):
        lane, scores = s.recipe["lanes"][label], s.claimed[f"{label}.score"]
        rule = lane_rules().get(lane["kind"])
        if rule is not None and rule.scores is not None:
            rule.scores(s, label)
        scored = [at for at, value in enumerate(scores) if value is not None]
        # A completed lane has a score for every candidate, and every candidate was in some pool.
        whole = s.recipe["pass"][0]["complete"]
        if len(scored) > lane.get("pool", math.inf) and not whole:
            s.wrong(f"slate/columns/{label}.score", f"exceeds the lane's pool of {lane['pool']}")
        if rule is None:
            _falling(s, label, scored)
        else:
            order = s.ordered(scores, rule.ties(lane, ties), scored)
            s.derive(f"{label}.rank", rank_column(len(scores), order))


def rank_column(size: int, order: Sequence[int]) -> Column:
    """A column with ranks from 1 in the order of these places, None for all others."""
    out: Column = [None] * size
    for nth, at in enumerate(order, start=1):
        out[at] = float(nth)
    return out


def _falling(s: Verification, label: str, scored: Sequence[int]) -> None:
    """Check a lane of an unknown kind: ranks count from 1, and scores never increase with them."""
    ranks, scores = s.claimed[f"{label}.rank"], s.claimed[f"{label}.score"]
    order = sorted(scored, key=lambda at: either(ranks[at], math.inf))
    s.derive(f"{label}.rank", rank_column(len(ranks), order))
    values = [either(scores[at], math.nan) for at in order]
    if values != sorted(values, reverse=True):
        s.wrong(f"slate/columns/{label}.rank", "a better rank has a lower score")
