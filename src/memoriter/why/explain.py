"""Why a hit stands where it stands, read from the slate: there is no formula in this file."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import cached_property

from memoriter.core.explanation import Explanation
from memoriter.core.slate import Slate, pass_of, signal_of

FROM = ".from"
"""The end of the columns that say where a row stood before a stage."""
_WHOLE = ("rank", "row", "group", "tokens", "chars")
Name = Callable[[int], str]
"""The id of a row."""


class Reasons:
    """The columns of a slate by who wrote them, for as many rows as are asked about."""

    def __init__(self, slate: Slate, name: Name) -> None:
        self._steps = slate.steps
        self._name = name
        self._columns = {key: column.tolist() for key, column in slate.columns.items()}
        self._inside = {key for step in slate.steps for key in (*step.inputs, step.out)}
        self._beside: dict[str, dict[str, list[float]]] = {}
        """What each owner noted beside its score."""
        self._stages: dict[str, list[float]] = {}
        """Where rows stood before each stage that moved them."""
        for key, column in self._columns.items():
            owner, _, note = key.partition(".")
            if key.endswith(FROM):
                self._stages[key.removesuffix(FROM)] = column
            elif key not in self._inside:
                self._beside.setdefault(owner, {})[note] = column

    def score(self, at: int) -> Explanation:
        """The score of one row as the tree of columns that made it; absent parts are left out.

        The root is the last step that knows the row: a row below a head has the score of the pass
        before.
        """
        known: dict[str, Explanation] = {}
        root = Explanation("nothing", 0.0)
        for step in self._steps:
            value = self._columns[step.out][at]
            if math.isnan(value):
                continue
            parts = tuple(
                known.get(key) or self._leaf(key, at)
                for key in step.inputs
                if not math.isnan(self._columns[key][at])
            )
            root = known[step.out] = Explanation(step.stage, value, step.op, parts)
        return root

    def _leaf(self, key: str, at: int) -> Explanation:
        """A column's value, with what its owner noted beside it."""
        owner = signal_of(key)
        facts = self._noted(self._beside.get(owner, {}), at)
        return Explanation(owner, self._columns[key][at], facts=facts)

    def _noted(self, columns: Mapping[str, list[float]], at: int) -> dict[str, object]:
        values = ((note, column[at]) for note, column in columns.items())
        return {note: self._plain(note, value) for note, value in values if not math.isnan(value)}

    def _plain(self, note: str, value: float) -> object:
        if note in ("row", "cause"):
            return self._name(int(value))
        return int(value) if note.rpartition(".")[2] in _WHOLE else value

    def moves(self, at: int) -> dict[str, dict[str, object]]:
        """What each pass and ordering that moved rows noted of a row, and where it stood before.

        Of a pass that gave it a new score: the score before, and the new one.
        """
        out: dict[str, dict[str, object]] = {}
        for stage, stood in self._stages.items():
            noted = self._noted(self._notes[stage], at)
            out[stage] = {"from": int(stood[at]), **noted, **self._rescored(stage, at)}
        return out

    def _rescored(self, stage: str, at: int) -> dict[str, float]:
        """The score before a pass and after it; nothing where it gave the row none."""
        before, after = math.nan, math.nan
        for step in self._steps:
            value = self._columns[step.out][at]
            if pass_of(step.out) == stage:
                after = after if math.isnan(value) else value
            elif not math.isnan(value):
                before = value
        return {} if math.isnan(after) else {"before": before, "score": after}

    @cached_property
    def _notes(self) -> dict[str, dict[str, list[float]]]:
        """What each stage noted; of mmr and mmr.2 each its own."""
        out: dict[str, dict[str, list[float]]] = {stage: {} for stage in self._stages}
        for key, column in self._columns.items():
            stages = [stage for stage in self._stages if key.startswith(f"{stage}.")]
            if stages and not key.endswith(FROM) and key not in self._inside:
                owner = max(stages, key=len)
                out[owner][key.removeprefix(f"{owner}.")] = column
        return out
