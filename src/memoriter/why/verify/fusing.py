"""Checks the first pass: the fusion of the lanes (weighted, reciprocal rank or smooth)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from .boosting import applies, boosted, valued
from .numbers import STEP, Column, Data, either, mapped, snap, total_of
from .owed import stood_in
from .ranking import lanes_run
from .verification import Verification


def scaled_by(fuse: Data, label: str, scores: Column, knots: list[list[float]] | None) -> Column:
    """The scores of a signal, scaled as a weighted fusion does; unchanged for other fusions.

    `knots` are those of the lane's coverage, if it has some.
    """
    if fuse["kind"] != "weighted":
        return scores
    how = fuse["scale"] if isinstance(fuse["scale"], str) else fuse["scale"].get(label, "none")
    known = [value for value in scores if value is not None]
    if how == "none" or not known:
        return list(scores)
    if how == "coverage" and knots is not None:
        return mapped(lambda v: interpolated(v, knots), scores)
    low, high = min(known), max(known)
    if how == "min_max":
        return mapped(lambda v: (v - low) / (high - low) if high > low else 0.5, scores)
    return mapped(lambda v: max(v, 0.0) / (high if high > 0.0 else 1.0), scores)


def interpolated(value: float, knots: list[list[float]]) -> float:
    """A piecewise linear function; level before the first knot and after the last."""
    out = knots[0][1]
    for (x0, y0), (x1, y1) in pairwise(knots):
        if value >= x0:
            out = y0 + (value - x0) * ((y1 - y0) / (x1 - x0))
    return snap(knots[-1][1] if value >= knots[-1][0] else out)


def _shares(fuse: Data, labels: Sequence[str], answered: Sequence[bool]) -> list[float]:
    """Each signal's share of the total weight; the shares never add up to more than 1."""
    kept = fuse["absent"] == "keep"
    weights = [
        float(fuse["weights"].get(label, 1.0)) if kept or signals else 0.0
        for label, signals in zip(labels, answered, strict=True)
    ]
    if fuse["absent"] == "fixed":
        return [snap(float(fuse["weights"].get(label, 1.0))) for label in labels]
    whole = math.fsum(weights)
    if whole <= 0.0:
        return [0.0] * len(weights)
    near = [snap(weight / whole) for weight in weights]
    if total_of(near) <= 1.0:
        return near
    # Rounding to the nearest grid step brought the sum above 1: round all of them down.
    return [math.floor(weight / whole / STEP) * STEP for weight in weights]


@dataclass(frozen=True)
class ClaimedSignals:
    """The signals (lanes, and boosts with a weight) that a fusion combines, as parallel lists."""

    labels: list[str]
    scores: list[Column]
    ranks: list[Column]
    answered: list[bool]
    """Whether the signal has a score for any row."""


def _fused(s: Verification, fuse: Data, signals: ClaimedSignals) -> list[Column]:
    """The contribution of each signal."""
    if fuse["kind"] == "smooth":
        return _smooth(s, fuse, signals)
    if fuse["kind"] == "weighted":
        shares = _shares(fuse, signals.labels, signals.answered)
        _weighed(s, signals.labels, shares, signals.scores)
        pairs = zip(shares, signals.scores, strict=True)
        return [mapped(lambda v, w=w: snap(w * v), column) for w, column in pairs]
    unit, best = fuse["scale"] == "unit", fuse["k"] + fuse["base"]
    weights = [float(fuse["weights"].get(label, 1.0)) for label in signals.labels]
    if unit:
        weights = _shares(fuse, signals.labels, signals.answered)
    _weighed(s, signals.labels, weights, signals.ranks)
    top = best if unit else 1.0
    pairs = zip(weights, signals.ranks, strict=True)
    return [
        mapped(lambda r, w=w: snap(w * (top / (best + (r - 1.0)))), ranks) for w, ranks in pairs
    ]


def _weighed(
    s: Verification, labels: Sequence[str], weights: Sequence[float], columns: Sequence[Column]
) -> None:
    """Add the weights as columns, because ties and heads may refer to them."""
    for label, weight, column in zip(labels, weights, columns, strict=True):
        values = mapped(lambda _, w=weight: w, column)
        if any(value is not None for value in values):
            s.derived.setdefault(f"{label}.weight", values)


def _smooth(s: Verification, fuse: Data, signals: ClaimedSignals) -> list[Column]:
    """Sum of scores; one signal is lifted where another, the base, is weak."""
    out = [mapped(snap, column) for column in signals.scores]
    if fuse["lifted"] in signals.labels:
        at = signals.labels.index(fuse["lifted"])
        base: Column = [None] * len(s.rows)
        if fuse["base"] in signals.labels:
            base = signals.scores[signals.labels.index(fuse["base"])]
        fading = [math.exp(-max(either(value, 0.0), 0.0) / fuse["fade"]) for value in base]
        factor = [1.0 + fuse["lift"] * value for value in fading]
        pairs = list(zip(signals.scores[at], factor, strict=True))
        out[at] = [None if value is None else snap(value * f) for value, f in pairs]
        lift: Column = [None if value is None else snap(f) for value, f in pairs]
        if any(value is not None for value in lift):
            s.derived.setdefault(f"{fuse['lifted']}.lift", lift)
    return out


def add_contributions(s: Verification, stage: str, fuse: Data, signals: ClaimedSignals) -> None:
    """Check the contributions of the signals and their sum."""
    for label, values in zip(signals.labels, _fused(s, fuse, signals), strict=True):
        s.derive(f"{stage}.{label}", values)
    s.step(stage, "sum", [f"{stage}.{label}" for label in signals.labels], stage)


def first_fusion(s: Verification) -> Data:
    """The fusion of the first pass, with the weights for the embedder."""
    fuse: Data = s.recipe["pass"][0]["fuse"]
    if not fuse.get("model_weights") or not s.body["outcomes"]["has_model"]:
        return fuse
    return {**fuse, "weights": {**fuse["weights"], **fuse["model_weights"]}}


def _coverage(s: Verification, fuse: Data) -> dict[str, list[list[float]]]:
    """The knots of each lane's coverage: ascending in both, from 0 up to at most 1."""
    scales = fuse.get("scale")
    used = "coverage" in ([scales] if isinstance(scales, str) else (scales or {}).values())
    if not used:
        return {}
    knots: dict[str, list[list[float]]] = s.body["coverage"]
    s.attested["coverage"] = None
    for label, own in knots.items():
        xs, ys = [x for x, _ in own], [y for _, y in own]
        if xs != sorted(set(xs)) or ys != sorted(ys) or ys[0] < 0.0 or ys[-1] > 1.0:
            s.wrong(f"coverage/{label}", "is not an ascending function from 0 to 1")
    return knots


def check_first(s: Verification) -> None:
    """Check the first pass: the score of every candidate, and their order by score."""
    step, lanes = s.recipe["pass"][0], lanes_run(s)
    fuse = first_fusion(s)
    knots = _coverage(s, fuse)
    none: Column = [None] * len(s.rows)
    own, answered = dict[str, Column](), list[bool]()
    for label in lanes:
        raw = s.derived[f"{label}.score"]
        answered.append(any(value is not None for value in raw))
        own[label] = scaled_by(fuse, label, raw, knots.get(label))
    spoke = [label for label, each in zip(lanes, answered, strict=True) if each]
    own = stood_in(s, fuse, own, spoke)
    scores = list(own.values())
    if fuse["kind"] == "weighted":
        s.derived |= {f"{label}.scaled": column for label, column in own.items()}
    s.spend(len(s.rows) * (len(scores) + sum(map(len, knots.values()))))
    among = [any(column[at] is not None for column in scores) for at in range(len(s.rows))]
    weighed = [n for n in s.recipe["boosts"] if n in fuse.get("weights", {}) and s.runs(n)]
    for label in weighed:
        valued(s, label, f"{label}.score", among)
        scores.append(s.derived[f"{label}.score"])
    labels = [*lanes, *weighed]
    ranks = [s.derived.get(f"{label}.rank", none) for label in labels]
    signals = ClaimedSignals(labels, scores, ranks, [*answered, *(True for _ in weighed)])
    add_contributions(s, "fuse", fuse, signals)
    boosted(s, "fuse", [n for n in step["boosts"] if applies(s, n)])
    s.first = s.score
    if None in s.score:
        s.wrong("slate/rows", "has a row without a score")
    s.standing = s.ordered(s.score, step["ties"] or s.recipe["ties"], range(len(s.rows)))
