"""Checks the relevance of every candidate: from its score, one lane's coverage and the question."""

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
    whole = math.fsum(weights[label] for label in own) or 1.0
    near = s.known.get(f"{rule['lane']}.scaled")
    weight = rule["score"] + (0.0 if near is None else rule["coverage"])
    out: Column = []
    for at in range(len(s.rows)):
        score = math.fsum(either(s.known[f"fuse.{label}"][at], 0.0) for label in own)
        part = rule["score"] * (score / whole)
        if near is not None:
            part = part + rule["coverage"] * either(near[at], 0.0)
        evidence = snap(part / weight) * (1.0 - rule["seen"]) + rule["seen"] * seen
        out.append(interpolated(snap(snap(max(evidence, 0.0)) * damp * factor), rule["knots"]))
    s.derived("relevance", out)
