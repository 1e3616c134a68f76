"""Checks relevance (from scores, lengths of records and the question) and what it means."""

from __future__ import annotations

import math

from .fusing import first_fusion, interpolated
from .kinds import lane_rules
from .numbers import Column, Data, either, snap
from .ranking import lanes_run
from .search import Search


def check_relevance(s: Search) -> None:
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
    if None in rules.values():  # a lane of an unknown kind may count or not
        return
    own = [label for label, lane in rules.items() if lane is not None and lane.independent]
    together = [label for label in own if label not in s.recipe["apart"]]
    apart = [label for label in own if label in s.recipe["apart"]]
    whole = math.fsum(weights[label] for label in together) or 1.0
    has_model = s.body["outcomes"].get("has_model", False)
    knots = rule["model_knots"] if has_model and rule["model_knots"] else rule["knots"]
    out: Column = []
    s.spend(len(s.rows) * (len(own) + len(knots) + 1))
    for at, words in enumerate(s.columns["of.words"]):
        score = math.fsum(either(s.known[f"fuse.{label}"][at], 0.0) for label in together)
        content = snap(snap(score / whole) * (1.0 - rule["seen"]) + rule["seen"] * seen)
        length = snap(math.sqrt(math.sqrt(min(1.0, rule["words"] / either(words, 1.0)))))
        named = either(s.columns["of.named"][at], 0.0)
        beside = max((either(s.known[f"{label}.scaled"][at], 0.0) for label in apart), default=0.0)
        beside = max(beside, named if apart else 0.0)
        evidence = snap(content * damp * factor * length)
        evidence += snap(beside * rule["apart"] * (1.0 - damp))
        out.append(interpolated(evidence, knots))
    s.derived("relevance", out)


def check_strength(s: Search) -> None:
    """Derive the strength of the answer and of each hit from relevance and thresholds.

    Why a strength is unknown is an input; for a blank question it must be.
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
    relevance = [either(each, 0.0) for each in s.known["relevance"]]

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


def _cannot_be_known(s: Search) -> str | None:
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
