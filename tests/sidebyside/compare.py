"""When two answers are the same: scores to a tolerance, equal scores in any order."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

Rows = Sequence[Sequence[Any]]
WITHIN: Final = 1e-6
"""How far scores may lie apart."""


def difference(ours: Rows, theirs: Rows, within: float) -> str | None:
    """The first thing that differs; None where nothing does.

    Rows whose scores are nearly equal may come in any order, and a limit may cut through them.
    """
    if len(ours) != len(theirs):
        return f"{len(ours)} and {len(theirs)} rows"
    for at, (own, other) in enumerate(zip(ours, theirs, strict=True), start=1):
        if abs(own[1] - other[1]) > within:
            return f"place {at}: {own[0]} {own[1]:.9f} and {other[0]} {other[1]:.9f}"
    scores = {row[0]: row[1] for row in ours}
    last = min(scores.values(), default=0.0)
    for at, (own, other) in enumerate(zip(ours, theirs, strict=True), start=1):
        known = scores.get(other[0], last)
        if own[0] != other[0] and abs(known - own[1]) > 2 * within:
            return f"place {at}: {own[0]} and {other[0]}"
    return None


@dataclass
class Report:
    """What was compared, what differed, and the first case that did.

    Two empty answers compare nothing: they are counted apart, and so is a corpus of such alone.
    """

    name: str
    corpora: int = 0
    idle: int = 0
    questions: int = 0
    empty: int = 0
    rows: int = 0
    worst: float = 0.0
    beyond: int = 0
    mismatches: int = 0
    first: str = ""

    def add(
        self, seed: int, case: Any, ours: Sequence[tuple[Rows, float]], theirs: Sequence[Rows]
    ) -> None:
        """The answers to one case."""
        before = self.questions
        for asked, (own, within), other in zip(case["questions"], ours, theirs, strict=True):
            if not own and not other:
                self.empty += 1
                continue
            self.questions += 1
            self.rows += len(other)
            reason = difference(own, other, within)
            if reason is None:
                apart = max(abs(one[1] - two[1]) for one, two in zip(own, other, strict=True))
                self.worst = max(self.worst, apart)
                self.beyond += apart > WITHIN
                continue
            self.mismatches += 1
            self.first = self.first or (
                f"seed {seed}, {reason}\nquestion {json.dumps(asked)}\n"
                f"ours   {json.dumps(own)}\ntheirs {json.dumps(other)}"
            )
        self.corpora += self.questions > before
        self.idle += self.questions == before

    def __str__(self) -> str:
        lines = [
            f"{self.name}: {self.corpora} corpora, {self.questions} answers with {self.rows} hits, "
            f"{self.mismatches} mismatches",
            f"  not counted: {self.idle} corpora and {self.empty} answers, empty on both sides",
            f"  scores at most {self.worst:.1e} apart; {self.beyond} answers beyond {WITHIN:.0e}, "
            "whose words are weaker than the grid is fine",
        ]
        return "\n".join([*lines, *filter(None, [self.first])])
