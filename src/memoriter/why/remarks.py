"""What should be known about an answer besides its strength: sentences, for `Result.remarks`.

Names that no record has, why the strength is unknown, that somebody else said the best hit, and
that a hidden, superseded record matches better. `why.answer` calls `remarks_of`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

import numpy as np

from memoriter.core.fold import fold
from memoriter.core.ranking import Ranking
from memoriter.core.record import Record
from memoriter.core.shown import plain
from memoriter.core.slate import FIRST, Slate
from memoriter.index.ids import ids_of
from memoriter.index.reads import numbers
from memoriter.index.selection import superseded_only
from memoriter.lanes.port import Context
from memoriter.pipeline.asked_speakers import SIDES, asked_speakers
from memoriter.pipeline.bind import criteria_of
from memoriter.pipeline.candidates import Candidates
from memoriter.pipeline.first_pass import first_pass
from memoriter.pipeline.relevance import RELEVANCE
from memoriter.pipeline.run import Ran
from memoriter.pipeline.slate_relevance import slate_relevance
from memoriter.text.speakers import name_words

SUPERSEDED_LIMIT: Final = 2_000
"""How many superseded records are compared with the hits at most, the newest first."""


def remarks_of(ran: Ran, ctx: Context, best: Record | None, unknown: str | None) -> tuple[str, ...]:
    """The remarks of an answer whose recipe has relevance; `best` is the record of the first hit.

    `unknown` says why the relevance cannot be known; None if it can.
    """
    return tuple(_remarks(ran, ctx, best, unknown))


def _remarks(ran: Ran, ctx: Context, best: Record | None, unknown: str | None) -> Iterator[str]:
    unseen = () if ran.question is None else ran.question.unseen_names
    speaker = None if best is None else best.source.who
    # Anybody may write an external record under any name: it says nothing about a trusted one.
    without = () if best is None or best.trust == "external" else ("external",)
    asked = asked_speakers(ctx, without) if unseen or speaker else None
    # "I" and "you" name a side of a chat, and either side may tell about the other.
    speakers = frozenset[str]() if asked is None else asked.values - SIDES
    if unknown is not None:
        yield f"it is unknown how relevant these are: {unknown}"
    else:
        known = {word for each in speakers for word in name_words(each)}
        yield from (f"no memory mentions {plain(n)}" for n in unseen if fold(n) not in known)
    if speakers and speaker is not None and speaker not in speakers | SIDES:
        others = " or ".join(map(plain, sorted(speakers)))
        yield f"the best match was said by {plain(speaker)}, not by {others}"
    better = None if unknown is not None else _better_superseded(ran, ctx)
    if better is not None:
        yield better


def _ranked_by(ran: Ran, ctx: Context) -> dict[str, Ranking]:
    """The rows of another selection, ranked by the lanes of a search."""
    rows = np.sort(ctx.selection.rows(ctx.view))
    out: dict[str, Ranking] = {}
    for label, ranking in ran.proposed.items():
        lane = ran.plan.recipe.lanes[label]
        scores = lane.score_rows(ctx.at(label, {}), ranking, rows)
        order = ctx.best(scores, rows, rows.size)
        order = order[~np.isnan(scores[order])]
        out[label] = Ranking(rows[order], scores[order], coverage=ranking.coverage)
    return out


def _better_superseded(ran: Ran, ctx: Context) -> str | None:
    """The remark on a hidden superseded record that is relevant and matches better than every hit.

    Hits are here those before limit and budget. One whose successor is the first hit does not
    count: what holds now comes first then. It is scored as a candidate is, but without boosts, and
    so are the hits it is compared with. It costs nothing where nothing was superseded. None where
    scores depend on the other candidates.
    """
    recipe = ran.plan.recipe
    fuse = recipe.passes[0].fuse
    if not ctx.view.replacing_edges.sources.size or ran.question is None or fuse is None:
        return None
    if not fuse.by_coverage or fuse.absent != "fixed":
        return None
    if not all(recipe.lanes[label].independent for label in ran.proposed):
        return None
    criteria = criteria_of(ctx.query, recipe, ctx.recorded)
    hidden = superseded_only(ctx.view, criteria, ctx.fetch, SUPERSEDED_LIMIT, ctx.effects.work)
    if hidden is None:
        return None
    beside = replace(ctx, selection=hidden, memo={})
    slate = first_pass(recipe, beside, Candidates(_ranked_by(ran, beside)), ()).slate
    best_hit = max(ran.slate.columns[FIRST].tolist(), default=-math.inf)
    slate = slate.take(np.flatnonzero(slate.columns[FIRST] > best_hit))
    slate = _evident(ran, ctx, slate)
    hits = _evident(ran, ctx, ran.slate).rows
    positions = numbers(ctx.view, hits, "position")
    for row, position in zip(slate.rows, numbers(ctx.view, slate.rows, "position"), strict=True):
        successors = hits[np.isin(positions, _successors(ctx, position))]
        if successors.size and successors[0] == ran.slate.rows[0]:
            continue  # what holds now is the first hit
        (better,) = ids_of(ctx.view, row[None])
        advice = "the override select.superseded=show searches such memories too"
        if successors.size:
            (successor,) = ids_of(ctx.view, successors[:1])
            advice = f"id {successor!r}, a hit below the first, replaced it"
        return f"a superseded memory matches better: id {better!r}; {advice}"
    return None


def _evident(ran: Ran, ctx: Context, slate: Slate) -> Slate:
    """The rows whose strength is not `none`."""
    recipe = ran.plan.recipe
    rule = recipe.relevance
    if rule is None or ran.question is None:
        return slate
    known = slate.columns.get(RELEVANCE)
    if known is None:
        known = slate_relevance(recipe, ctx, ran.question, slate).values
    return slate.take(np.flatnonzero(known >= rule.weak))


def _successors(ctx: Context, position: float) -> list[int]:
    """The positions of the records that superseded one, and of those that superseded them."""
    edges = ctx.replacing_edges
    known: list[int] = []
    new = [int(position)]
    while new:
        above = edges.sources[np.isin(edges.targets, new)].tolist()
        new = [each for each in dict.fromkeys(above) if each not in known]
        known += new
    return known
