"""From a question to everything its lanes may look at."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from recollect.core.errors import BadQuery
from recollect.core.query import Query
from recollect.core.ranking import Rows
from recollect.embed.port import Kindred
from recollect.index.filter import Fetch
from recollect.index.ids import rows_of
from recollect.index.reading import Reading
from recollect.index.selection import Criteria, Selection, select
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
        recipe.select.reflections,
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
    given = {
        label: _starts(ids, f"seeds.{label}", reading, selection)
        for label, ids in query.seeds.items()
    }
    return Context(query, reading, selection, *outcome, given)


def _starts(ids: tuple[str, ...], field: str, reading: Reading, selection: Selection) -> Rows:
    """The rows of these ids, which the caller must be able to read."""
    found = rows_of(reading, ids, selection.readable)
    if missing := [one for one in ids if one not in found]:
        raise BadQuery(
            f"{field}: there is no record {', '.join(map(repr, missing))} in this view",
            hint="seeds are ids of records that the scope holds; browse lists them",
            field=field,
        )
    return np.array([found[one] for one in ids], np.int64)
