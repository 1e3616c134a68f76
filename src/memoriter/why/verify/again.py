"""The second pass: a head is scored again, the rest stay below."""

from __future__ import annotations

import math
from collections.abc import Sequence

from .boosting import applies, boosted
from .fusing import ClaimedSignals, added, scaled_by
from .numbers import Column, Data, either, snap
from .ranking import ranked
from .search import Search


def check_second(s: Search) -> None:
    """A head is scored again; the rest stay below."""
    step: Data = s.recipe["pass"][1] if len(s.recipe["pass"]) > 1 else {}
    stage = "rerank" if step.get("rerank") is not None else "again"
    before = s.standing
    if not step or not s.runs(stage):
        if step and stage == "rerank":
            _unasked(s, step)
    else:
        lists = _heads(s, step["head"])
        inside = [any(each[at] is not None for each in lists.values()) for at in range(len(s.rows))]
        head = [at for at in before if inside[at]]
        again = _reranked(s, step, head) if stage == "rerank" else _again(s, step, lists, head)
        s.derived("tier", [1.0 if one else 2.0 for one in inside])
        s.derived(f"{stage}.from", ranked(len(before), before))
        s.standing = [*again, *(at for at in before if not inside[at])]
    s.same("slate/steps", s.body["slate"]["steps"], s.steps)
    s.same("slate/rows", s.rows, [s.rows[at] for at in s.standing])
    s.standing = list(range(len(s.rows)))


def _heads(s: Search, head: Data | None) -> dict[str, Column]:
    """By each column of a head the ranks of its first rows, or the order so far."""
    size = len(s.rows)
    if head is None:
        return {"order": ranked(size, s.standing)}
    count = head["count"]
    if not head["by"]:
        return {"order": ranked(size, s.standing[:count])}
    out: dict[str, Column] = {}
    for name in head["by"]:
        order = s.ordered(_listed(s, name), s.recipe["ties"], range(size))[:count]
        out[name.removesuffix(".score")] = ranked(size, order)
    return out


def _columns(head: Data | None) -> list[str | None]:
    """The columns that the lists of a head go by; None for the order so far."""
    return (head["by"] if head else []) or [None]


def _listed(s: Search, name: str) -> Column:
    """The values that a list goes by; what is absent counts as 0."""
    return [either(value, 0.0) for value in s.known.get(name, [None] * len(s.rows))]


def _again(s: Search, step: Data, lists: dict[str, Column], head: Sequence[int]) -> list[int]:
    """A second fusion, over the lists of the head."""
    scores: list[Column] = []
    for (name, ranks), by in zip(lists.items(), _columns(step["head"]), strict=True):
        s.derived(f"again.{name}.rank", ranks)
        raw = s.score if by is None else _listed(s, by)
        signals = [v if r is not None else None for v, r in zip(raw, ranks, strict=True)]
        scores.append(scaled_by(step["fuse"], name, signals))
    signals = ClaimedSignals(list(lists), scores, list(lists.values()), [True] * len(lists))
    added(s, "again", step["fuse"], signals)
    boosted(s, "again", [n for n in step["boosts"] if applies(s, n)])
    return s.ordered(s.score, step["ties"] or s.recipe["ties"], head)


def _reranked(s: Search, step: Data, head: Sequence[int]) -> list[int]:
    """The head by what the reranker answered; equals stay as they stood."""
    answer = s.body["outcomes"]["rerank"]
    s.same("outcomes/rerank/rows", answer["rows"], [s.rows[at] for at in head])
    scores: Column = [None] * len(s.rows)
    for at, score in zip(head, answer["scores"], strict=True):
        scores[at] = snap(score)
    _asked(s, step, asked=True)
    s.derived("rerank.score", scores)
    if step["rerank"]["score"] == "replace":
        s.step("rerank", "sum", ["rerank.score"], "rerank")
        boosted(s, "rerank", [n for n in step["boosts"] if applies(s, n)])
        scores = s.score
    return sorted(head, key=lambda at: -either(scores[at], math.nan))


def _unasked(s: Search, step: Data) -> None:
    """Why nobody was asked, or why no answer came, is the outcome."""
    outcome = s.body["outcomes"].get("rerank")
    if outcome is not None:
        s.same("outcomes/rerank", list(outcome.values()), [s.skipped["rerank"]])
        if "skipped" in outcome and s.rows:
            _asked(s, step, asked=False)


def _asked(s: Search, step: Data, *, asked: bool) -> None:
    """A reranker is asked unless two lanes agree on the best rows."""
    rule = step["rerank"]["unless"]
    if rule is None:
        s.same("outcomes/rerank/asked", asked, expected=True)
        return
    heads = [_best(s, label, rule["depth"]) for label in rule["lanes"]]
    agreed = 0
    if min(map(len, heads)) >= rule["depth"]:
        pairs = zip(*heads, strict=True)
        both = set(heads[0]) & set(heads[1])
        agreed = len(both) if rule["by"] == "overlap" else sum(a == b for a, b in pairs)
    s.same("outcomes/rerank/asked", asked, agreed < rule["agree"])


def _best(s: Search, label: str, depth: int) -> list[int]:
    ranks = s.known.get(f"{label}.rank", [])
    some = [(rank, at) for at, rank in enumerate(ranks) if rank is not None and rank <= depth]
    return [at for _, at in sorted(some)]
