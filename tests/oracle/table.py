"""The oracle's table: candidates in order, columns by row, and how equals are put in order."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from tests.oracle.graph import Link
from tests.oracle.numbers import Column, Knots, Vector, middle

from memoriter.core.record import Record
from memoriter.core.times import to_micros

Judge = Callable[[str, list[str]], Sequence[float]]
Key = tuple[Any, ...]
ATTRIBUTES: Final = (
    "path", "id", "kind", "role", "memory_type", "entity_type", "source_episode", "priority",
    "trust", "source.who", "source.channel", "source.path", "agent", "user", "session",
    "importance", "confidence", "cycle", "position", "created", "committed", "occurred",
    "valid_from", "valid_until", "expires", "row",
)  # fmt: skip
"""What equals may go by, beside columns."""
_LAST: Final = 1
"""What is absent comes after all that is there."""


@dataclass(frozen=True)
class Scene:
    """What passes and orderings may look at."""

    recipe: Mapping[str, Any]
    records: Mapping[int, Record]
    """Every record of the view, by row."""
    vectors: Mapping[int, Sequence[Vector]]
    links: Sequence[Link]
    """Those that hold at the time asked about."""
    readable: Collection[int]
    """Positions."""
    chosen: Collection[int]
    """The rows of the selection."""
    candidates: Mapping[str, Column]
    """What each lane found, best first."""
    text: str
    now: int
    cycle: int | None = None
    judge: Judge | None = None
    parts: Mapping[str, Column] = field(default_factory=dict[str, Column])
    """What the scores of lanes are sums of, by the name of the column."""
    whole: Mapping[str, Column] = field(default_factory=dict[str, Column])
    """What each lane says of every row of the selection, best first, pools aside."""
    has_model: bool = False
    """Whether vectors come from another embedder than the packaged table."""
    coverage: Mapping[str, Knots | None] = field(default_factory=dict[str, Knots | None])
    """What share of the question a score of each lane covers."""
    owed: Mapping[str, Collection[int]] = field(default_factory=dict[str, Collection[int]])
    """The rows of which each lane lacks what is computed later."""


@dataclass
class Table:
    """Candidates, best first, with every column."""

    rows: list[int]
    columns: dict[str, Column]
    score: Column = field(default_factory=dict[int, float])
    first: Column = field(default_factory=dict[int, float])
    """The scores of the first pass."""

    def sort(self, scene: Scene, ties: Sequence[str]) -> None:
        """Every row by its score, equals by columns and attributes."""
        self.rows = self.by(self.rows, self.score, scene, ties)

    def by(
        self, rows: Sequence[int], scores: Column, scene: Scene, ties: Sequence[str]
    ) -> list[int]:
        """These rows by these scores."""

        def key(row: int) -> Key:
            record = scene.records[row]
            return (-scores[row], *(self._tied(name, row, record) for name in ties), row)

        return sorted(rows, key=key)

    def _tied(self, name: str, row: int, record: Record) -> Key:
        bare = name.removeprefix("-")
        if bare in ATTRIBUTES:
            return tied(name, record)
        return _placed(self.columns.get(bare, {}).get(row), down=name.startswith("-"))


def tied(name: str, record: Record) -> Key:
    """Where an attribute puts a record among its equals."""
    return _placed(attribute(name.removeprefix("-"), record), down=name.startswith("-"))


def _placed(value: Any, *, down: bool) -> Key:
    if value is None:
        return (_LAST,)
    if isinstance(value, str):
        return (0, _Turned(value) if down else value)
    return (0, -value if down else value)


def attribute(name: str, record: Record) -> Any:
    """An attribute of a record, times in microseconds; a path is the id where there is none."""
    if name == "path":
        return record.id if record.source.path is None else record.source.path
    value: Any = record
    for part in name.split("."):
        value = getattr(value, part)
    return to_micros(value) if isinstance(value, datetime) else value


def unit_of(scene: Scene, row: int) -> Vector | None:
    """One vector for all parts of a record; None where it has none."""
    parts = scene.vectors.get(row)
    return middle(parts) if parts else None


@dataclass(frozen=True, order=False)
class _Turned:
    """A string that sorts the other way round."""

    value: str

    def __lt__(self, other: _Turned) -> bool:
        return self.value > other.value
