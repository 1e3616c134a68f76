"""Checks relevance (from scores, lengths of records and the question) and what it means."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Final

from .fusing import first_fusion, interpolated
from .kinds import lane_rules
from .numbers import STEP, Column, Data, either, snap
from .ranking import lanes_run
from .verification import Verification

_COULD_NOT_RUN: Final = " could not run: "


def check_relevance(s: Verification) -> None:
    """Derive the relevance of each row; the facts about the question are inputs."""
    rule: Data | None = s.recipe["relevance"]
    if rule is None:
        return
    terms, names = s.body["question"]["terms"], s.body["question"]["names"]
    s.attested["question"] = None
    mass = math.fsum(idf for _, idf, _ in terms)
    seen = snap(math.fsum(idf for _, idf, df in terms if df) / mass) if mass else 0.0
    damp = snap(mass / (mass + rule["mass"])) if mass else 0.0
    factor = rule["unseen_name"] if any(not df for _, df in names) else 1.0
    weights = first_fusion(s)["weights"]
    rules = {label: lane_rules().get(s.recipe["lanes"][label]["kind"]) for label in lanes_run(s)}
    # Whether a lane of an unknown kind counts is attested, with the question.
    other: list[str] = s.body["question"]["lanes"]
    own = [
        label
        for label, lane in rules.items()
        if (label in other if lane is None else lane.independent)
    ]
    together = [label for label in own if label not in s.recipe["apart"]]
    apart = [label for label in own if label in s.recipe["apart"]]
    whole = math.fsum(weights[label] for label in together) or 1.0
    most = max(len(rule["knots"]), len(rule["model_knots"]))
    s.spend(len(s.rows) * (len(own) + most + 1))
    evidence: list[float] = []
    for at, words in enumerate(s.claimed["of.words"]):
        score = math.fsum(either(s.derived[f"fuse.{label}"][at], 0.0) for label in together)
        content = snap(snap(score / whole) * (1.0 - rule["seen"]) + rule["seen"] * seen)
        length = snap(math.sqrt(math.sqrt(min(1.0, rule["words"] / either(words, 1.0)))))
        named = either(s.claimed["of.named"][at], 0.0)
        beside = max(
            (either(s.derived[f"{label}.scaled"][at], 0.0) for label in apart), default=0.0
        )
        beside = max(beside, named if apart else 0.0)
        evidence.append(snap(content * damp * factor * length))
        evidence[-1] += snap(beside * rule["apart"] * (1.0 - damp))
    s.derive("relevance", _relevant(s, rule, evidence))


def _relevant(s: Verification, rule: Data, evidence: list[float]) -> Column:
    """What evidence becomes: by the size of the store, by how far a row stands out, by knots."""
    has_model = s.body["outcomes"].get("has_model", False)
    knots = rule["model_knots"] if has_model and rule["model_knots"] else rule["knots"]
    size, least = _size(rule, s.body["question"]), _weak_evidence(rule, knots)
    out: Column = []
    for each, times in zip(evidence, _times(s, rule), strict=True):
        sized = snap(each * size)
        over = snap(max(sized - least, 0.0) * times)
        out.append(interpolated(min(sized, least) + over, knots))
    return out


def _size(rule: Data, question: Data) -> float:
    """The factor for the number of records."""
    if rule["few"] is None:
        return 1.0
    here, usual = (snap(math.log(max(n, 1))) for n in (question["records"], rule["records"]))
    return snap((rule["few"] + usual) / (rule["few"] + here))


def _times(s: Verification, rule: Data) -> list[float]:
    """How often evidence beyond that of a weak hit counts, by row."""
    spread = s.body["question"]["spread"]
    scores = s.claimed.get(f"{rule['stands_out']}.score")
    if spread is None or scores is None:
        return [1.0] * len(s.rows)
    records, total, squares = spread
    count, mean, deviation = rule["prior"]
    whole = records + count
    middle = (total + count * mean) / whole
    squares += count * (mean * mean + deviation * deviation)
    width = math.sqrt(max(squares / whole - middle * middle, STEP)) * rule["deviations"]
    return [snap(min(max((either(score, 0.0) - middle) / width, 0.25), 2.0)) for score in scores]


def _weak_evidence(rule: Data, knots: list[list[float]]) -> float:
    """The evidence whose relevance is just weak."""
    weak = rule["weak"]
    for (x0, y0), (x1, y1) in pairwise([[0.0, 0.0], *knots]):
        if y1 >= weak:
            rises = y1 not in (weak, y0)
            return snap(x0 + (x1 - x0) * ((weak - y0) / (y1 - y0))) if rises else x1
    return 1.0


def check_strength(s: Verification) -> None:
    """Derive the strength of the answer and of each hit from relevance and thresholds.

    Why a strength is unknown is an input; for a blank question it must be, and a lane that could
    not run must have been skipped for the reason that is given.
    """
    rule: Data | None = s.recipe["relevance"]
    if rule is None:
        if "strength" in s.body:
            s.wrong("strength", "is there, but the recipe has no relevance")
        return
    claimed = s.body["strength"]
    unknown = claimed["unknown"]
    s.attested["strength/unknown"] = None
    if unknown is None and (why := _cannot_be_known(s)):
        s.wrong("strength/unknown", f"is null, but {why}")
    _check_reason(s, unknown)
    relevance = [either(each, 0.0) for each in s.derived["relevance"]]

    def strength(value: float) -> str:
        if unknown is not None:
            return "unknown"
        return "strong" if value >= rule["strong"] else "weak" if value >= rule["weak"] else "none"

    best = max(relevance, default=0.0)
    hits = [strength(relevance[at]) for at in s.standing]
    expected = {"relevance": best, "answer": strength(best), "hits": hits}
    expected |= {"weak": rule["weak"], "strong": rule["strong"]}
    for key, value in expected.items():
        s.same(f"strength/{key}", claimed[key], value)
    if more := sorted(set(claimed) - {*expected, "unknown"}):
        s.wrong(f"strength/{more[0]}", "is no part of a strength")


def _check_reason(s: Verification, unknown: str | None) -> None:
    """Check that a lane which could not run, as the reason says, was skipped for that reason."""
    label, could_not, why = (unknown or "").partition(_COULD_NOT_RUN)
    if could_not and s.skipped.get(label) != why:
        s.wrong("strength/unknown", f"says that {label} could not run, but it was not skipped so")


def _cannot_be_known(s: Verification) -> str | None:
    """Why the strength must be unknown, as far as the receipt shows it."""
    if not s.body["query"]["text"].strip():
        return "the question is blank"
    if not s.body["question"]["terms"] and not s.body["question"]["names"]:
        return None
    for label in lanes_run(s):
        rule = lane_rules().get(s.recipe["lanes"][label]["kind"])
        if rule is not None and rule.independent and label not in s.body["coverage"]:
            return f"lane {label} has no scale"
    return None
