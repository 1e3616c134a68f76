"""What the file of a kind declares here, and the small rules that several kinds share."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tests.oracle.graph import Link, Reached
from tests.oracle.numbers import Column, Knots, grid
from tests.oracle.table import Scene, Table
from tests.oracle.world import Ask, World

from memoriter.core.record import Record
from memoriter.core.times import to_micros

Spec = Mapping[str, Any]
"""A part of a recipe, as data."""


SHARE: Knots = ((0.0, 0.0), (1.0, 1.0))
"""Scores that are shares already."""


# -- lanes -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class LaneCall:
    """A lane at work on a question."""

    world: World
    ask: Ask
    label: str
    chosen: Sequence[Record]
    """The records that may be found."""
    seeds: Sequence[int]
    """The rows that it starts from."""
    scene: Callable[[], Scene]
    """What passes may look at, before any of them ran."""
    walks: dict[str, dict[int, Reached]]
    """Where graph lanes note what they say of each row."""

    @property
    def spec(self) -> Spec:
        """The lane as the recipe has it."""
        return self.ask.recipe["lanes"][self.label]

    @property
    def rows(self) -> list[int]:
        """The rows that may be found."""
        return [record.row for record in self.chosen]


def always(call: LaneCall) -> bool:
    """It can always run."""
    del call
    return True


@dataclass(frozen=True)
class LaneOracle:
    """A kind of lane."""

    scores: Callable[[LaneCall], Column]
    """The score of every row that it finds."""
    runs: Callable[[LaneCall], bool] = always
    """Whether it can run; one that starts from seeds runs when it has some."""
    ties: Callable[[Spec], list[str] | None] = lambda _: None
    """How it puts equals in order; None: as the recipe says."""
    brings: bool = False
    """Whether it brings rows without scoring them."""
    independent: bool = False
    """Whether the score of a row does not depend on other rows, so that a pass may complete it."""
    coverage: Callable[[LaneCall], Knots | None] = lambda _: None
    """From a score to the share of the question that it covers; None where it knows none."""
    owed: Callable[[LaneCall], set[int]] = lambda _: set()
    """The rows of the view of which it lacks what is computed later."""


# -- boosts ----------------------------------------------------------------------------------------


def adds(spec: Spec) -> str:
    """The value is added."""
    del spec
    return "sum"


def multiplies(spec: Spec) -> str:
    """The score is multiplied."""
    del spec
    return "product"


def adds_or_multiplies(spec: Spec) -> str:
    """Added, or with `alpha` multiplied."""
    return "sum" if spec["alpha"] is None else "product"


def ready(spec: Spec, scene: Scene) -> bool:
    """It always has something to do."""
    del spec, scene
    return True


@dataclass(frozen=True)
class BoostOracle:
    """A kind of boost."""

    values: Callable[[Spec, Scene, Table], Column]
    """What it is worth to each row that it has a word for."""
    op: Callable[[Spec], str] = adds
    """How it changes a score."""
    runs: Callable[[Spec, Scene], bool] = ready
    """Whether it has something to do."""
    reads_score: bool = False
    """Whether it looks at the score so far."""
    beside: Callable[[Spec, Scene, int], set[int]] = lambda *_: set()
    """The rows beside a row whose scores it looks at."""


def worth(spec: Spec, share: float | None) -> float | None:
    """Weight · share, or 1 + alpha · (share − ½); a row without a share keeps its score."""
    if spec["alpha"] is None:
        return None if share is None else grid(spec["weight"] * share)
    return grid(1.0 + spec["alpha"] * ((0.5 if share is None else share) - 0.5))


def each(table: Table, value: Callable[[int], float | None]) -> Column:
    """A value for every row that has one."""
    values = {row: value(row) for row in table.rows}
    return {row: one for row, one in values.items() if one is not None}


def first_rows(table: Table, head: int) -> list[int]:
    """The best rows so far."""
    return sorted(table.rows, key=lambda row: -table.score.get(row, -math.inf))[:head]


def by_table(spec: Spec, scene: Scene, table: Table, attribute: str) -> Column:
    """What a table says of an attribute; nothing for what it does not name."""
    return each(
        table,
        lambda row: worth(
            spec, grid(spec["table"].get(getattr(scene.records[row], attribute), 0.0))
        ),
    )


def nearness(record: Record, span: tuple[int, int], now: int) -> float | None:
    """1 inside a span, 1 / (1 + spans away) outside it; only what occurs is near the future."""
    since, until = span
    if since > now and record.occurred is None:
        return None
    time = to_micros(record.created if record.occurred is None else record.occurred)
    away = max(since - time, 0) + max(time - (until - 1), 0)
    return grid(1.0 / (1.0 + away / (until - since)))


def origins(scene: Scene, row: int) -> list[tuple[Link, int]]:
    """What a record was made from, the heaviest first: the link and the row."""
    rows = {record.position: record.row for record in scene.records.values()}
    me = scene.records[row].position
    links = [link for link in scene.links if link.source == me and link.kind == "consolidated_from"]
    return [(link, rows[link.target]) for link in sorted(links, key=lambda one: -one.weight)]


# -- orderings -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class OrderingOracle:
    """A kind of ordering."""

    rows: Callable[[Spec, Scene, Table], list[int]]
    """The rows that stay, in their new order."""
