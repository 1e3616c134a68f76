"""Checks the second pass: the best rows (the head) are scored again, the others stay below them."""

from __future__ import annotations

import math
from collections.abc import Sequence

from .boosting import applies, boosted
from .fusing import ClaimedSignals, add_contributions, scaled_by
from .numbers import Column, Data, either, snap
from .ranking import rank_column
from .verification import Verification


def check_second(s: Verification) -> None:
    """Check the second fusion or the reranking, then the final steps and order of the slate."""
    step: Data = s.recipe["pass"][1] if len(s.recipe["pass"]) > 1 else {}
    stage = "rerank" if step.get("rerank") is not None else "again"
    before = s.standing
    if not step or not s.runs(stage):
        if step and stage == "rerank":
            _check_skipped_rerank(s, step)
    else:
        lists = _heads(s, step["head"])
        inside = [any(each[at] is not None for each in lists.values()) for at in range(len(s.rows))]
        head = [at for at in before if inside[at]]
        again = _reranked(s, step, head) if stage == "rerank" else _again(s, step, lists, head)
        s.derive("tier", [1.0 if one else 2.0 for one in inside])
        s.derive(f"{stage}.from", rank_column(len(before), before))
        s.standing = [*again, *(at for at in before if not inside[at])]
    # The slate is stored in its final order, so from here on places are counted in that order.
    s.same("slate/steps", s.body["slate"]["steps"], s.steps)
    # Only the order follows from the scores; the row numbers themselves are inputs.
    if s.standing != list(range(len(s.rows))):
        s.wrong("slate/rows", "are not in the order of the scores")
    s.standing = list(range(len(s.rows)))


def _heads(s: Verification, head: Data | None) -> dict[str, Column]:
    """For each column of a head, the ranks of its first rows; without columns, the order so far."""
    size = len(s.rows)
    if head is None:
        return {"order": rank_column(size, s.standing)}
    count = head["count"]
    if not head["by"]:
        return {"order": rank_column(size, s.standing[:count])}
    out: dict[str, Column] = {}
    for name in head["by"]:
        order = s.ordered(_listed(s, name), s.recipe["ties"], range(size))[:count]
        out[name.removesuffix(".score")] = rank_column(size, order)
    return out


def _columns(head: Data | None) -> list[str | None]:
    """The columns that a head is selected by; None for the order so far."""
    return (head["by"] if head else []) or [None]


def _listed(s: Verification, name: str) -> Column:
    """The values of a column; a missing value counts as 0."""
    return [either(value, 0.0) for value in s.derived.get(name, [None] * len(s.rows))]


def _again(s: Verification, step: Data, lists: dict[str, Column], head: Sequence[int]) -> list[int]:
    """The places of the head in the order of a second fusion."""
    scores: list[Column] = []
    for (name, ranks), by in zip(lists.items(), _columns(step["head"]), strict=True):
        s.derive(f"again.{name}.rank", ranks)
        raw = s.score if by is None else _listed(s, by)
        signals = [v if r is not None else None for v, r in zip(raw, ranks, strict=True)]
        scores.append(scaled_by(step["fuse"], name, signals, None))
    signals = ClaimedSignals(list(lists), scores, list(lists.values()), [True] * len(lists))
    add_contributions(s, "again", step["fuse"], signals)
    boosted(s, "again", [n for n in step["boosts"] if applies(s, n)])
    return s.ordered(s.score, step["ties"] or s.recipe["ties"], head)


def _reranked(s: Verification, step: Data, head: Sequence[int]) -> list[int]:
    """The places of the head in the order of the reranker's scores; ties keep their order."""
    answer = s.body["outcomes"]["rerank"]
    s.same("outcomes/rerank/rows", answer["rows"], [s.rows[at] for at in head])
    scores: Column = [None] * len(s.rows)
    for at, score in zip(head, answer["scores"], strict=True):
        scores[at] = snap(score)
    _check_called(s, step, called=True)
    s.derive("rerank.score", scores)
    if step["rerank"]["score"] == "replace":
        s.step("rerank", "sum", ["rerank.score"], "rerank")
        boosted(s, "rerank", [n for n in step["boosts"] if applies(s, n)])
        scores = s.score
    return sorted(head, key=lambda at: -either(scores[at], math.nan))


def _check_skipped_rerank(s: Verification, step: Data) -> None:
    """The outcome of a skipped reranking is the reason why it was skipped."""
    outcome = s.body["outcomes"].get("rerank")
    if outcome is not None:
        s.same("outcomes/rerank", list(outcome.values()), [s.skipped["rerank"]])
        if "skipped" in outcome and s.rows:
            _check_called(s, step, called=False)


def _check_called(s: Verification, step: Data, *, called: bool) -> None:
    """The reranker is called unless two lanes agree on the best rows."""
    rule = step["rerank"]["unless"]
    if rule is None:
        s.same("outcomes/rerank/asked", called, expected=True)
        return
    heads = [_best(s, label, rule["depth"]) for label in rule["lanes"]]
    agreed = 0
    if min(map(len, heads)) >= rule["depth"]:
        pairs = zip(*heads, strict=True)
        both = set(heads[0]) & set(heads[1])
        agreed = len(both) if rule["by"] == "overlap" else sum(a == b for a, b in pairs)
    s.same("outcomes/rerank/asked", called, agreed < rule["agree"])


def _best(s: Verification, label: str, depth: int) -> list[int]:
    ranks = s.derived.get(f"{label}.rank", [])
    first = [(rank, at) for at, rank in enumerate(ranks) if rank is not None and rank <= depth]
    return [at for _, at in sorted(first)]
