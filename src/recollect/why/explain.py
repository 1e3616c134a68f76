"""Why a hit stands where it stands, read from the slate: there is no formula in this file."""

from __future__ import annotations

import math
from collections.abc import Callable

from recollect.core.explanation import Explanation
from recollect.core.slate import Slate

FROM = ".from"
"""The end of the columns that say where a row stood before a stage."""
_WHOLE = ("rank", "row", "group", "tokens", "chars")
Name = Callable[[int], str]
"""The id of a row."""


def explain(slate: Slate, at: int, name: Name) -> Explanation:
    """The score of one row as the tree of columns that made it; absent parts are left out.

    The root is the last step that knows the row: a row below a head has the score of the pass
    before.
    """
    inside = {*(key for step in slate.steps for key in (*step.inputs, step.out))}
    known: dict[str, Explanation] = {}
    root = Explanation("nothing", 0.0)
    for step in slate.steps:
        value = float(slate.columns[step.out][at])
        if math.isnan(value):
            continue
        parts = tuple(
            known.get(key) or _leaf(slate, key, at, (inside, name))
            for key in step.inputs
            if not math.isnan(slate.columns[key][at])
        )
        root = known[step.out] = Explanation(step.stage, value, step.op, parts)
    return root


def _leaf(slate: Slate, key: str, at: int, told: tuple[set[str], Name]) -> Explanation:
    """A column's value, with what its owner noted beside it."""
    inside, name = told
    owner = key.removesuffix(".score").rpartition(".")[2]
    noted = {
        other.removeprefix(f"{owner}."): float(column[at])
        for other, column in slate.columns.items()
        if other.startswith(f"{owner}.") and other not in inside and not other.endswith(FROM)
    }
    facts = {
        note: _plain(note, value, name) for note, value in noted.items() if not math.isnan(value)
    }
    return Explanation(owner, float(slate.columns[key][at]), facts=facts)


def _plain(note: str, value: float, name: Name) -> object:
    if note in ("row", "cause"):
        return name(int(value))
    return int(value) if note.rpartition(".")[2] in _WHOLE else value


def moves(slate: Slate, at: int, name: Name) -> dict[str, dict[str, object]]:
    """What each pass and ordering that moved rows noted of a row, and where it stood before.

    Of a pass that gave it a new score: the score before, and the new one.
    """
    stages = [key.removesuffix(FROM) for key in slate.columns if key.endswith(FROM)]
    inside = {*(key for step in slate.steps for key in (*step.inputs, step.out))}
    out: dict[str, dict[str, object]] = {}
    for stage in stages:
        told: dict[str, object] = {"from": int(slate.columns[f"{stage}{FROM}"][at])}
        for key, column in slate.columns.items():
            if key.startswith(f"{stage}.") and not key.endswith(FROM) and key not in inside:
                note, value = key.removeprefix(f"{stage}."), float(column[at])
                if not math.isnan(value):
                    told[note] = _plain(note, value, name)
        out[stage] = {**told, **_rescored(slate, at, stage)}
    return out


def _rescored(slate: Slate, at: int, stage: str) -> dict[str, float]:
    """The score before a pass and after it; nothing where it gave the row none."""
    before, after = math.nan, math.nan
    for step in slate.steps:
        value = float(slate.columns[step.out][at])
        if step.out.partition(".")[0] == stage:
            after = after if math.isnan(value) else value
        elif not math.isnan(value):
            before = value
    return {} if math.isnan(after) else {"before": before, "score": after}
