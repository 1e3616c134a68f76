"""What a search lacked of its candidates because it is computed later, and what stood for it.

`pipeline.stand_ins` has the rule; hits and receipts say here which records it touched.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from memoriter.core.ranking import Mask
from memoriter.core.slate import Slate
from memoriter.lanes.port import Context
from memoriter.pipeline.run import Ran
from memoriter.pipeline.stand_ins import OWED, stand_ins


class Owing(NamedTuple):
    """A lane that lacked something of candidates."""

    by: tuple[str, ...]
    """The lanes that stood for it."""
    words: str
    """What it lacked, in words."""


def owing_lanes(ran: Ran, ctx: Context) -> dict[str, Owing]:
    """The lanes that lacked something of candidates; in most answers there are none."""
    owing = [label for label in ran.proposed if owed_places(ran.scored, label).any()]
    if not owing:
        return {}
    recipe, rows = ran.plan.recipe, ran.scored.rows
    fuse, answered = recipe.fusion(has_model=ctx.has_model), ran.candidates.answered
    stand = stand_ins(recipe, ctx, fuse, ran.proposed, answered=answered, rows=rows)
    by = () if stand is None else stand.by
    return {label: Owing(by, recipe.lanes[label].owing) for label in owing}


def owed_places(slate: Slate, label: str) -> Mask:
    """The rows of a slate of which a lane lacked something."""
    column = slate.columns.get(f"{label}.{OWED}")
    return np.zeros(slate.rows.size, np.bool_) if column is None else column == 1.0


def owed_sentence(owing: Owing, found_by: Collection[str]) -> str:
    """What a lane lacks of a record and what stands for it, by the lanes that found the record.

    >>> owed_sentence(Owing(("words", "kin"), "its vector is not computed yet"), {"words", "kin"})
    'its vector is not computed yet; words and kin stand for it'
    """
    standing = [label for label in owing.by if label in found_by]
    verb = "stands" if len(standing) == 1 else "stand"
    rest = f"; {_listed(standing)} {verb} for it" if standing else ""
    return f"{owing.words}{rest}"


def _listed(names: Sequence[str]) -> str:
    *before, last = names
    return f"{', '.join(before)} and {last}" if before else last


def owed_data(ran: Ran, ctx: Context) -> Mapping[str, object]:
    """What a receipt says of it: by lane the rows, and the lanes that stood for it."""
    return {
        label: {
            "lanes": sorted(owing.by),
            "rows": sorted(ran.scored.rows[owed_places(ran.scored, label)].tolist()),
        }
        for label, owing in owing_lanes(ran, ctx).items()
    }
