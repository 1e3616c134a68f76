"""The relevance of the rows of a slate: reads from it what the formula (`relevance`) takes."""

from __future__ import annotations

import math

import numpy as np

from memoriter.core.errors import InvariantError
from memoriter.core.ranking import Scores, zero_where_absent
from memoriter.core.slate import FIRST, Slate
from memoriter.index.reads import text_lengths
from memoriter.lanes.port import Context
from memoriter.pipeline.recipe import Recipe
from memoriter.pipeline.relevance import Covered, Judged, QuestionFacts, rows_with_words
from memoriter.rank.grid import snap


def slate_relevance(recipe: Recipe, ctx: Context, question: QuestionFacts, slate: Slate) -> Judged:
    """The relevance of each row of a slate."""
    if recipe.relevance is None:
        raise InvariantError(
            "internal error: the recipe has no relevance to compute; please report it"
        )
    rule = recipe.relevance.with_model(has_model=ctx.has_model)
    fuse = recipe.fusion(has_model=ctx.has_model)
    # Lists of the caller and walks are no measure of how much of the question is covered.
    own = [label for label, lane in recipe.lanes.items() if lane.independent]
    ran = [label for label in own if f"{label}.score" in slate.columns]
    together = [label for label in ran if label not in recipe.apart]
    whole = math.fsum(fuse.weighed[label] for label in together) or 1.0
    # Contributions of the lanes alone: boosts read other records, and relevance must not.
    parts = tuple(f"{FIRST}.{label}" for label in together)
    share = np.zeros(slate.rows.size)
    for name in (FIRST,) if parts == slate.steps[0].inputs else parts:  # nothing else was fused
        share += zero_where_absent(slate.columns[name])
    beside = [slate.columns[f"{label}.scaled"] for label in recipe.apart if label in ran]
    apart = None
    if beside:
        named = named_in_text(recipe, ctx, slate)
        apart = np.maximum.reduce([named, *map(zero_where_absent, beside)])
    words = text_lengths(ctx.view, slate.rows)
    column = slate.columns.get(f"{rule.stands_out}.score")
    scores = None if column is None else zero_where_absent(column)
    return rule.of(question, Covered(snap(share / whole), apart, words, scores))


def named_in_text(recipe: Recipe, ctx: Context, slate: Slate) -> Scores:
    """1 for each row whose text has the words that a lane of `apart` reads, such as a date."""
    out = np.zeros(slate.rows.size)
    for label in recipe.apart:
        if f"{label}.score" in slate.columns:
            words = recipe.lanes[label].words_in_text(ctx.query)
            out = np.maximum(out, rows_with_words(ctx, words, slate.rows))
    return out
