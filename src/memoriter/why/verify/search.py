"""A receipt while it is read: what was derived of it so far, and its problems."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
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
"""What a tie may go by beside columns: attributes of records."""


class Search:
    """A receipt, what was derived of it so far, and its problems."""

    def __init__(self, body: Data) -> None:
        self.body = body
        self.checked: dict[str, None] = {}
        self.attested: dict[str, None] = {}
        self.problems: dict[str, None] = {}
        self.recipe: Data = {}
        self.skipped: Data = {}
        self.rows: list[int] = []
        self.ids: list[str] = []
        self.columns: dict[str, Column] = {}
        """The columns as the receipt has them."""
        self.known: dict[str, Column] = {}
        """The columns as they follow, with those that the receipt leaves out."""
        self.valued: set[str] = set()
        """Columns of boosts that were derived or attested."""
        self.score: Column = []
        """The score of every row so far."""
        self.first: Column = []
        """The score that the first pass gave."""
        self.common: dict[str, object] = {}
        """What must be the same at every hit, as it came first."""
        self.steps: list[Data] = []
        self.standing: list[int] = []
        """The places of the slate, in the order so far."""

    def wrong(self, path: str, what: str) -> None:
        """Note a problem."""
        self.problems[f"{path}: {what}"] = None

    def same(self, path: str, value: object, expected: object) -> None:
        """A value must be what follows."""
        self.checked[path] = None
        if value != expected:
            self.wrong(path, f"is {_brief(value)}, and follows as {_brief(expected)}")

    def derived(self, name: str, expected: Column) -> None:
        """A column must be what follows."""
        path = f"slate/columns/{name}"
        self.checked[path] = None
        self.known[name] = expected
        column = self.columns.get(name)
        if column is None:
            self.wrong(path, "is missing")
            return
        for at, (is_, made) in enumerate(zip(column, expected, strict=True)):
            if is_ != made:
                self.wrong(path, f"at row {self.rows[at]} is {is_!r}, and follows as {made!r}")
                return

    def step(self, stage: str, op: str, inputs: Sequence[str], out: str) -> None:
        """A score must be what its parts make."""
        columns = [self.known[name] for name in inputs]
        made: Column = []
        for at in range(len(self.rows)):
            parts = [value for column in columns if (value := column[at]) is not None]
            made.append(OPS[op](parts) if parts else None)
        self.derived(out, made)
        spelled = sorted(inputs) if op == "sum" else list(inputs)
        self.steps.append({"stage": stage, "op": op, "inputs": spelled, "out": out})
        self.score = [b if a is None else a for a, b in zip(made, self.score, strict=True)]

    def runs(self, name: str) -> bool:
        """Whether a step took part."""
        return name not in self.skipped

    def ordered(self, scores: Column, ties: Sequence[str], among: Iterable[int]) -> list[int]:
        """These places by score, equals by attributes and columns, in the end by row."""
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
            column = self.known[f"tie.{bare}"] if bare in ATTRIBUTES else self.known.get(bare)
        if column is None:
            return None
        sign = -1.0 if tie != bare else 1.0
        return [math.inf if value is None else sign * value for value in column]


def _brief(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:79]}…"  # noqa: PLR2004  # a line
