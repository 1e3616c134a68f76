"""From a question to everything its lanes may look at."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from recollect.core.query import Query
from recollect.embed.port import Kindred
from recollect.index.filter import Fetch
from recollect.index.reading import Reading
from recollect.index.selection import Criteria, select
from recollect.lanes.port import Context, Skipped
from recollect.pipeline.recipe import Recipe
from recollect.text.port import Analyzer


def criteria_of(query: Query, recipe: Recipe) -> Criteria:
    """What narrows the search: the query's own words and the recipe's defaults."""
    return Criteria(
        query.scope,
        query.where,
        query.now,
        query.as_of,
        recipe.select.trust,
        recipe.select.archived,
        recipe.select.expired,
        recipe.select.superseded,
    )


def bind(
    query: Query,
    recipe: Recipe,
    reading: Reading,
    fetch: Fetch,
    outcome: tuple[Analyzer, NDArray[np.float32] | Skipped | None, str | None, Kindred | None],
) -> Context:
    """The context of a search: view, selection, analyzer, what the embedder answered, kin."""
    selection = select(reading, criteria_of(query, recipe), fetch)
    return Context(query, reading, selection, *outcome)
