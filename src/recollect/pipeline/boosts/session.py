"""Does a record stand beside a good hit in its conversation?

The record before or after in the same session often answers what the other one asks. The better of
the two lends a share of its score.
"""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from recollect.core.ranking import Rows
from recollect.core.slate import Slate
from recollect.index.columns import dictionary_of
from recollect.index.reading import Reading
from recollect.index.reads import codes
from recollect.lanes.port import Context
from recollect.pipeline.boosts.port import Boost, Boosted
from recollect.rank.grid import snap


class Session(Boost):
    """A share of the score of the better neighbour in the same session."""

    kind: Literal["session"]
    weight: float = Field(default=0.3, ge=0.0, le=1000.0)
    reads_score: ClassVar[bool] = True

    def boost(self, ctx: Context, slate: Slate) -> Boosted:
        """What the better neighbour lends; none where neither is a candidate."""
        score = dict(zip(slate.rows.tolist(), slate.score.tolist(), strict=True))
        before, after = beside(ctx.reading, slate.rows)
        best, who = np.full(slate.rows.size, np.nan), np.full(slate.rows.size, np.nan)
        for at, pair in enumerate(zip(before.tolist(), after.tolist(), strict=True)):
            known = [(score[row], row) for row in pair if not np.isnan(score.get(row, np.nan))]
            if known:
                best[at], who[at] = max(known, key=lambda one: (one[0], -one[1]))
        lent = snap(self.weight * best)
        return Boosted(np.where(lent > 0.0, lent, np.nan), {"row": who})


def beside(reading: Reading, rows: Rows) -> tuple[Rows, Rows]:
    """The rows before and after each of these in its session; -1 where there is none.

    Only rows that the view sees stand in a session, in the order in which they were first written.
    """
    mine, names = codes(reading, rows, "session")
    every, positions, sessions = _members(reading, set(names))
    order = np.lexsort((positions, sessions))
    every, sessions = every[order], sessions[order]
    same = np.diff(sessions) == 0
    before = np.where(np.append(False, same), np.roll(every, 1), -1)
    after = np.where(np.append(same, False), np.roll(every, -1), -1)
    place = {int(row): at for at, row in enumerate(every)}
    at = np.array([place.get(int(row), -1) for row in rows], np.intp)
    found = (at >= 0) & (mine >= 0)
    none = np.full(rows.size, -1)
    if not every.size:
        return none, none
    return np.where(found, before[at], -1), np.where(found, after[at], -1)


def _members(
    reading: Reading, names: set[str]
) -> tuple[Rows, NDArray[np.float64], NDArray[np.int64]]:
    """(rows, positions, sessions) of all records in these sessions."""
    numbered = {name: n for n, name in enumerate(sorted(names))}
    rows: list[Rows] = [np.zeros(0, np.int64)]
    positions: list[NDArray[np.float64]] = [np.zeros(0)]
    sessions: list[NDArray[np.int64]] = [np.zeros(0, np.int64)]
    for segment, mask in zip(reading.segments, reading.visible, strict=True):
        known = dictionary_of(segment.arrays, "session")
        table = np.full(len(known) + 1, -1)
        for name, n in numbered.items():
            if (code := known.find(name)) >= 0:
                table[code] = n
        mine = table[segment.arrays["session.codes"]]
        at = np.flatnonzero(mask & (mine >= 0))
        rows.append(segment.rows[at])
        positions.append(segment.arrays["position"][at])
        sessions.append(mine[at])
    return np.concatenate(rows), np.concatenate(positions), np.concatenate(sessions)
