"""When two answers are the same: scores to a tolerance, equal scores in any order."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

Rows = Sequence[Sequence[Any]]
"""Pairs of id and score, best first."""
WITHIN: Final = 1e-6
"""How far scores may lie apart."""


_SHOWN: Final = 600
"""How much is printed of an answer that differs."""


class Documented(NamedTuple):
    """What the program answers where it is known to differ: anything else is a mismatch."""

    names: Sequence[str]
    """Keys of DOCUMENTED."""
    rows: Rows
    notes: Sequence[str] = ()
    apart: Collection[str] = ()
    """Ids and notes of which nothing is stated: both answers are compared without them."""
    alike: Mapping[str, str] = {}
    """Ids that may stand for one another, each with the same one of them."""
    above: float = float("-inf")
    """Rows with scores up to this one are not compared."""
    among: Collection[str] | None = None
    """Only the number of rows is stated, and that their ids are among these."""

    def difference(self, rows: Rows, notes: Sequence[str], within: float) -> str | None:
        """The first thing in which the program's answer is not the documented one."""
        if {*notes} - {*self.apart} != {*self.notes} - {*self.apart}:
            return f"notes {', '.join(self.notes)} and {', '.join(notes)}"
        if self.among is not None:
            strange = {row[0] for row in rows} - {*self.among}
            same = len(self.rows) == len(rows) and not strange
            return None if same else f"{len(self.rows)} and {len(rows)} rows, new {strange}"
        ours, theirs = self._stated(self.rows), self._stated(rows)
        if self.apart:  # which of these an answer holds decides how far a limit reaches
            most = min(len(ours), len(theirs))
            either = {row[0] for row in self.rows} ^ {row[0] for row in rows}
            if max(len(ours), len(theirs)) - most > len(either & {*self.apart}):
                return f"{len(ours)} and {len(theirs)} rows"
            ours, theirs = ours[:most], theirs[:most]
        return difference(ours, theirs, within)

    def _stated(self, rows: Rows) -> Rows:
        return [
            (self.alike.get(row[0], row[0]), row[1])
            for row in rows
            if row[0] not in self.apart and row[1] > self.above
        ]


class Answer(NamedTuple):
    """Our answer to a question: rows, how far scores may lie apart, and what must be equal."""

    rows: Rows
    within: float = WITHIN
    notes: Sequence[str] = ()
    documented: Callable[[], Documented | None] = lambda: None
    """What the program may answer instead; asked where the answers differ."""


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
    """What was compared in one class of cases, what differed, and the first case that did.

    Two empty answers have their notes compared and no rows: they are counted apart, and so is a
    corpus of such alone. Where our answer states what the program is known to answer instead, and
    it does, that is counted under `documented`.
    """

    name: str
    usual: float = WITHIN
    """How far scores lie apart at most, but for words that are weaker than the grid is fine."""
    corpora: int = 0
    idle: int = 0
    questions: int = 0
    empty: int = 0
    rows: int = 0
    worst: float = 0.0
    beyond: int = 0
    documented: int = 0
    mismatches: int = 0
    first: str = ""
    skipped: str = ""
    """Why nothing was compared."""

    def add(self, seed: int, case: Any, ours: Sequence[Any], theirs: Sequence[Any]) -> None:
        """The answers to one case: (rows, within, notes); theirs are rows, or named parts."""
        before = self.questions
        for asked, made, answer in zip(case["questions"], ours, theirs, strict=True):
            own = Answer(*made)
            other = Answer(**answer) if isinstance(answer, dict) else Answer(answer)
            nothing = not own.rows and not other.rows
            self.empty += nothing
            self.questions += not nothing
            self.rows += len(other.rows)
            reason = difference(own.rows, other.rows, own.within)
            if reason is None and list(own.notes) != list(other.notes):
                reason = f"{', '.join(own.notes)} and {', '.join(other.notes)}"
            if reason is None:
                pairs = zip(own.rows, other.rows, strict=True)
                apart = max((abs(one[1] - two[1]) for one, two in pairs), default=0.0)
                self.worst = max(self.worst, apart)
                self.beyond += apart > self.usual
                continue
            known = own.documented()
            if known is not None:
                reason = known.difference(other.rows, other.notes, own.within)
                if reason is None:
                    self.documented += 1
                    continue
                reason = f"not as documented ({'; '.join(known.names)}): {reason}"
            self.mismatches += 1
            self.first = self.first or (
                f"seed {seed}, {reason}\nquestion {json.dumps(asked)}\n"
                f"ours   {json.dumps(own.rows)[:_SHOWN]}\ntheirs {json.dumps(other.rows)[:_SHOWN]}"
            )
        self.corpora += self.questions > before
        self.idle += self.questions == before

    @property
    def cells(self) -> tuple[str, ...]:
        """Its row of the table."""
        numbers = (self.corpora, self.questions, self.rows, self.mismatches, self.documented)
        apart = f"{self.worst:.1e}", str(self.beyond), f"{self.idle} and {self.empty}"
        return (self.name, *map(str, numbers), *apart)


_HEAD: Final = (
    "class", "corpora", "answers", "hits", "mismatches", "documented", "largest deviation",
    "beyond the usual", "empty corpora, answers",
)  # fmt: skip


def table(reports: Iterable[Report]) -> str:
    """A row per class, and below it the first mismatch of each class that has one."""
    reports = list(reports)
    rows = [_HEAD, *(report.cells for report in reports if not report.skipped)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [
        "  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]) for row in rows
    ]
    lines += [f"{each.name}  skipped: {each.skipped}" for each in reports if each.skipped]
    lines += [f"\n{report.name}: {report.first}" for report in reports if report.first]
    return "\n".join(lines)
