"""The state of a verification: what was derived from a receipt so far, and its problems."""

from __future__ import annotations

import math
import re
import reprlib
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Final

from .numbers import OPS, Column, Data, either

ATTRIBUTES: Final = frozenset(
    {
        "path",
        "id",
        "kind",
        "role",
        "memory_type",
        "entity_type",
        "source_episode",
        "priority",
        "trust",
        "source.who",
        "source.channel",
        "source.path",
        "agent",
        "user",
        "session",
        "importance",
        "confidence",
        "cycle",
        "position",
        "created",
        "committed",
        "occurred",
        "valid_from",
        "valid_until",
        "expires",
        "row",
    }
)
"""The attributes of records that may break ties; other tie names are columns."""


STEPS: Final = 50_000_000
"""How many steps a verification may take by default; a step reads or computes about one number."""
MOST_PROBLEMS: Final = 100
"""How many problems are kept; further ones change nothing about the verdict."""
WORDS: Final = re.compile(r"\w+")
_SHOWN: Final = 80
"""How many characters of a value a problem shows."""


class OverBudget(Exception):
    """The receipt needs more steps than the caller allows; nothing is known about it."""

    def __init__(self, steps: int) -> None:
        super().__init__(f"it takes more than {steps:,} steps to verify this receipt")


class Verification:
    """A receipt, what was derived from it so far, and its problems.

    A place is an index into the rows of the slate. `checked`, `attested` and `problems` are
    dictionaries used as ordered sets.
    """

    def __init__(self, body: Data, steps: int = STEPS) -> None:
        self.body = body
        self._steps = steps
        self._left = steps
        self.checked: dict[str, None] = {}
        self.attested: dict[str, None] = {}
        self.problems: dict[str, None] = {}
        self.recipe: Data = {}
        self.skipped: Data = {}
        self.rows: list[int] = []
        self.ids: list[str] = []
        self.claimed: dict[str, Column] = {}
        """The columns as the receipt claims them."""
        self.derived: dict[str, Column] = {}
        """The columns as derived here, with those that the receipt leaves out."""
        self.valued: set[str] = set()
        """Columns of boosts that were already derived or attested."""
        self.score: Column = []
        """The current score of every row."""
        self.first: Column = []
        """The score after the first pass."""
        self.common: dict[str, object] = {}
        """Facts that must be equal at every hit, with the value at the first hit."""
        self.steps: list[Data] = []
        """The steps as derived here."""
        self.standing: list[int] = []
        """The places of the remaining rows, in their current order."""

    @cached_property
    def question(self) -> frozenset[str]:
        """The words of the query, in lower case."""
        text: str = self.body["query"]["text"].casefold()
        self.spend(len(text))
        return frozenset(WORDS.findall(text))

    def spend(self, steps: int) -> None:
        """Count work, before it is done where its amount is known; raises OverBudget.

        A receipt may come from anybody: what is not a fixed amount of work per byte of it counts.
        """
        self._left -= steps
        if self._left < 0:
            raise OverBudget(self._steps)

    def wrong(self, path: str, what: str) -> None:
        """Report a problem; only the first ones are kept."""
        if len(self.problems) < MOST_PROBLEMS:
            self.problems[f"{path}: {what}"] = None

    def same(self, path: str, value: object, expected: object) -> None:
        """Check a value against the one that was derived."""
        self.checked[path] = None
        if value != expected:
            self.wrong(path, f"is {brief(value)}, expected {brief(expected)}")

    def derive(self, name: str, expected: Column) -> None:
        """Check a column against the one that was derived; later stages use the derived one."""
        self.spend(len(expected))
        path = f"slate/columns/{name}"
        self.checked[path] = None
        self.derived[name] = expected
        column = self.claimed.get(name)
        if column is None:
            self.wrong(path, "is missing")
            return
        for at, (claimed, value) in enumerate(zip(column, expected, strict=True)):
            if claimed != value:
                self.wrong(path, f"at row {self.rows[at]} is {claimed!r}, expected {value!r}")
                return

    def step(self, stage: str, op: str, inputs: Sequence[str], out: str) -> None:
        """Derive a score from its input columns and check it; a row without inputs has none."""
        columns = [self.derived[name] for name in inputs]
        self.spend((len(columns) + 1) * len(self.rows))
        result: Column = []
        for at in range(len(self.rows)):
            parts = [value for column in columns if (value := column[at]) is not None]
            result.append(OPS[op](parts) if parts else None)
        self.derive(out, result)
        # A receipt stores the inputs of a sum sorted, as their order does not matter.
        names = sorted(inputs) if op == "sum" else list(inputs)
        self.steps.append({"stage": stage, "op": op, "inputs": names, "out": out})
        self.score = [b if a is None else a for a, b in zip(result, self.score, strict=True)]

    def runs(self, name: str) -> bool:
        """Whether a lane, a boost or an ordering was not skipped."""
        return name not in self.skipped

    def ordered(self, scores: Column, ties: Sequence[str], among: Iterable[int]) -> list[int]:
        """These places by descending score; ties by attributes and columns, finally by row."""
        self.spend((len(ties) + 1) * len(self.rows))
        keys = [key for tie in ties if (key := self._key(tie)) is not None]

        def place(at: int) -> tuple[float, ...]:
            return (-either(scores[at], math.nan), *(key[at] for key in keys), self.rows[at])

        return sorted(among, key=place)

    def _key(self, tie: str) -> list[float] | None:
        bare = tie.removeprefix("-")
        column: Column | None
        if bare == "row":
            column = [float(row) for row in self.rows]
        else:
            column = self.derived[f"tie.{bare}"] if bare in ATTRIBUTES else self.derived.get(bare)
        if column is None:
            return None
        sign = -1.0 if tie != bare else 1.0
        return [math.inf if value is None else sign * value for value in column]


def brief(value: object) -> str:
    """The value in at most a line; only its beginning is read."""
    text = _LINE.repr(value)
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"


_LINE: Final = reprlib.Repr()
_LINE.maxlist = _LINE.maxdict = _LINE.maxtuple = 20
_LINE.maxstring = _LINE.maxother = _LINE.maxlong = _SHOWN
_LINE.maxlevel = 3
