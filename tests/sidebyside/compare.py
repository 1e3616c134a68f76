"""When two answers are the same: scores to a tolerance, equal scores in any order."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

Rows = Sequence[Sequence[Any]]


def difference(ours: Rows, theirs: Rows, within: float) -> str | None:
    """The first thing that differs; None where nothing does.

    Rows whose scores are nearly equal may come in any order, and a limit may cut through them.
    """
    if len(ours) != len(theirs):
        return f"{len(ours)} and {len(theirs)} rows"
    for at, (mine, other) in enumerate(zip(ours, theirs, strict=True), start=1):
        if abs(mine[1] - other[1]) > within:
            return f"place {at}: {mine[0]} {mine[1]:.9f} and {other[0]} {other[1]:.9f}"
    scores = {row[0]: row[1] for row in ours}
    last = min(scores.values(), default=0.0)
    for at, (mine, other) in enumerate(zip(ours, theirs, strict=True), start=1):
        known = scores.get(other[0], last)
        if mine[0] != other[0] and abs(known - mine[1]) > 2 * within:
            return f"place {at}: {mine[0]} and {other[0]}"
    return None


@dataclass
class Report:
    """How many corpora and questions were compared, how many differed, and the first that did."""

    name: str
    corpora: int = 0
    questions: int = 0
    mismatches: int = 0
    first: str = ""
    rows: int = field(default=0)

    def add(self, case: Any, ours: Sequence[tuple[Rows, float]], theirs: Sequence[Rows]) -> None:
        """The answers to one case."""
        self.corpora += 1
        for asked, (mine, within), other in zip(case["questions"], ours, theirs, strict=True):
            self.questions += 1
            self.rows += len(other)
            told = difference(mine, other, within)
            if told is not None:
                self.mismatches += 1
                self.first = self.first or (
                    f"corpus {self.corpora}, {told}\nquestion {json.dumps(asked)}\n"
                    f"ours   {json.dumps(mine)}\ntheirs {json.dumps(other)}"
                )

    def __str__(self) -> str:
        told = f"{self.name}: {self.corpora} corpora, {self.questions} questions, {self.rows} rows"
        return f"{told}, {self.mismatches} mismatches" + (f"\n{self.first}" if self.first else "")
