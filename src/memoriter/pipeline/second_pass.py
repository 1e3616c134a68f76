"""The second pass: the head of the rows is scored again, by a second fusion or by a reranker.

Rows below the head keep their order in a tier of their own, because their scores are not
comparable. A reranker is the only external call of a pipeline: it is called through the context,
and its scores, or why there are none, are recorded for the receipt. If it fails, the order stays.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from memoriter.core.errors import InvariantError, Unavailable
from memoriter.core.later import Later
from memoriter.core.lazy_dataclass import dataclass
from memoriter.core.ranking import Mask, Ranking, Scores
from memoriter.core.slate import TIER, Slate, Step
from memoriter.lanes.port import Context
from memoriter.pipeline.first_pass import Boosting, Scored, fused, order_of
from memoriter.pipeline.fusing import Signals
from memoriter.pipeline.passes import Pass, PassHead, Rerank, Unanimity
from memoriter.pipeline.recipe import Recipe
from memoriter.rank.grid import snap
from memoriter.rank.top import top
from memoriter.rerank.unanimity import agreement

AGAIN: Final = "again"
"""The column and step of a second fusion."""
RERANK: Final = "rerank"
"""The column and step of a reranker."""


@dataclass(frozen=True, slots=True)
class RerankOutcome:
    """The outcome of a reranker pass."""

    outcome: Mapping[str, object]
    """As the receipt stores it: the scores, or the reason that there are none."""
    skipped: str | None = None
    """Why the reranker was not called, or why it gave no scores."""
    missed: bool = False
    """Whether it was called and failed: the answer is degraded."""


def head_ranks(
    slate: Slate, head: PassHead | None, ctx: Context, ties: Sequence[str]
) -> dict[str, Scores]:
    """By column of a head, the ranks of its first rows; without columns, by the order so far.

    A missing value counts as 0; ties by the recipe. Without a head all rows take part.
    """
    if head is None or not head.by:
        ranks = np.arange(1.0, slate.rows.size + 1)
        return {"order": np.where(ranks <= (head.count if head else np.inf), ranks, np.nan)}
    out: dict[str, Scores] = {}
    for name in head.by:
        order = order_of(slate, _counted(slate, name), ctx, ties)[: head.count]
        ranks = np.full(slate.rows.size, np.nan)
        ranks[order] = np.arange(1.0, order.size + 1)
        out[name.removesuffix(".score")] = ranks
    return out


def _counted(slate: Slate, name: str) -> Scores:
    """The values of a column that rows are ranked by; missing ones as 0."""
    if name == "order":
        return slate.score
    values = slate.columns.get(name, np.full(slate.rows.size, np.nan))
    return np.where(np.isnan(values), 0.0, values)


def fused_again(recipe: Recipe, ctx: Context, scored: Scored, boosts: Sequence[str]) -> Scored:
    """A second fusion, over the ranked columns that the head is made of."""
    pass_ = recipe.passes[1]
    if pass_.fuse is None:
        raise InvariantError("internal error: pass.1 has no `fuse`; please report it")
    slate = scored.slate
    lists = head_ranks(slate, pass_.head, ctx, recipe.ties)
    ranks = np.stack(list(lists.values()))
    inside = np.logical_or.reduce(~np.isnan(ranks), axis=0)
    by = pass_.head.by if pass_.head else ()
    known = np.stack([_counted(slate, name) for name in by or ("order",)])
    scores = np.where(np.isnan(ranks), np.nan, known)
    for at, name in enumerate(lists):
        scaled = pass_.fuse.scaled(name, scores[at], None)
        scores[at] = scores[at] if scaled is None else scaled
    slate = slate.with_details(
        {f"{AGAIN}.{name}.rank": head_slate for name, head_slate in lists.items()}
    )
    signals = Signals(list(lists), scores, Later(lambda: ranks), np.ones(len(lists), np.bool_))
    slate = fused(slate, AGAIN, list(lists), pass_.fuse.fuse(signals))
    work = Boosting(recipe, ctx, dict(scored.shows))
    slate = work.applied(slate, AGAIN, _applicable(recipe, pass_, slate, boosts))
    return Scored(_tiers(slate, AGAIN, inside, _by_score(slate, ctx, recipe, inside)), work.shows)


def _applicable(recipe: Recipe, pass_: Pass, slate: Slate, boosts: Sequence[str]) -> list[str]:
    return [
        label
        for label in pass_.boosts
        if label in boosts or (label in recipe.lanes and f"{label}.score" in slate.columns)
    ]


def _by_score(slate: Slate, ctx: Context, recipe: Recipe, inside: Mask) -> np.ndarray:
    """The places of the head, by its new scores."""
    head = np.flatnonzero(inside)
    head_slate = slate.take(head)
    return head[order_of(head_slate, head_slate.score, ctx, recipe.passes[1].ties or recipe.ties)]


def _tiers(slate: Slate, stage: str, inside: Mask, order: np.ndarray) -> Slate:
    """The head in its new order, then the rest in its old order."""
    tiered = slate.with_details({TIER: np.where(inside, 1.0, 2.0)})
    return tiered.ordered(stage, np.concatenate([order, np.flatnonzero(~inside)]))


# -- a reranker ------------------------------------------------------------------------------------


def reranked(
    recipe: Recipe, ctx: Context, scored: Scored, rankings: Mapping[str, Ranking],
    boosts: Sequence[str],
) -> tuple[Scored, RerankOutcome]:  # fmt: skip
    """The head in the reranker's order, or the order so far and the reason.

    Raises Unavailable if the reranker fails and the recipe says `on_failure = "raise"`.
    """
    pass_ = recipe.passes[1]
    if pass_.rerank is None or pass_.head is None:
        raise InvariantError(
            "internal error: pass.1 has no `rerank` or no `head`; please report it"
        )
    slate = scored.slate
    ranks = np.stack(list(head_ranks(slate, pass_.head, ctx, recipe.ties).values()))
    at = np.flatnonzero(np.logical_or.reduce(~np.isnan(ranks), axis=0))
    rule = pass_.rerank.unless
    agreed = None if rule is None else _agreed(rule, rankings)
    shows = {} if agreed is None else {RERANK: {"agreements": agreed}}
    scored = replace(scored, shows={**scored.shows, **shows})
    if (reason := _skip_reason(rule, agreed or 0, at.size)) is not None:
        return scored, RerankOutcome({"skipped": reason}, reason)
    answer = _reranker_scores(ctx, pass_.rerank, slate, at)
    if isinstance(answer, str):
        if pass_.rerank.on_failure == "raise":
            raise Unavailable(
                f"the reranker returned no usable scores: {answer}",
                hint='try again, or set pass.1.rerank.on_failure to "keep": then the order stays'
                " as it was",
                field="rerank",
            )
        return scored, RerankOutcome({"failed": answer}, answer, missed=True)
    whole = np.full(slate.rows.size, np.nan)
    whole[at] = answer
    column = {f"{RERANK}.score": whole}
    work = Boosting(recipe, ctx, dict(scored.shows))
    if pass_.rerank.score == "keep":
        slate = slate.with_details(column)
        order = at[top(answer, np.arange(at.size), at.size)]
    else:
        slate = slate.scored(Step(RERANK, "sum", (f"{RERANK}.score",), RERANK), column)
        slate = work.applied(slate, RERANK, _applicable(recipe, pass_, slate, boosts))
        # Ties keep the former order: `at` is ascending, so the place decides.
        order = at[top(slate.score[at], np.arange(at.size), at.size)]
    inside = np.zeros(slate.rows.size, np.bool_)
    inside[at] = True
    answers = {"scores": answer.tolist(), "rows": slate.rows[at].tolist()}
    return Scored(_tiers(slate, RERANK, inside, order), work.shows), RerankOutcome(answers)


def _skip_reason(rule: Unanimity | None, agreed: int, count: int) -> str | None:
    """Why the reranker need not be called; None if it must be."""
    if not count:
        return "empty_candidates: there is nothing to rerank"
    if rule is not None and agreed >= rule.agree:
        lanes = " and ".join(rule.lanes)
        return f"unanimity: {lanes} agree on {agreed} of their first {rule.depth}"
    return None


def _agreed(rule: Unanimity, rankings: Mapping[str, Ranking]) -> int:
    """The number of best rows on which two lanes agree."""
    one, two = (rankings.get(label, Ranking.empty()).rows for label in rule.lanes)
    return agreement(one, two, rule.depth, rule.by)


def _reranker_scores(ctx: Context, rerank: Rerank, slate: Slate, at: np.ndarray) -> Scores | str:
    """A score for each row, on the grid, or the reason that there are none."""
    if ctx.effects.reranker is None:
        raise InvariantError(
            "internal error: pass.1 asks a reranker, and there is none; please report it"
        )
    rows = slate.rows[at].tolist()
    texts = ["" if record is None else record.titled for record in ctx.fetch(rows)]
    answer = ctx.effects.reranker(rows, texts, rerank.timeout_ms)
    return answer if isinstance(answer, str) else snap(answer)
