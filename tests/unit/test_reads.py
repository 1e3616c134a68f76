"""Attributes read from columns equal those of the records, however the index is cut and merged."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from random import Random
from typing import Any, cast

import numpy as np
import pytest
from tests.inside import clock_of, log_of, view_of
from tests.property.worlds import open_toy

from memoriter.core.record import Record
from memoriter.core.times import to_micros
from memoriter.index.columns import NUMBER_COLUMNS, STRING_COLUMNS, TIME_COLUMNS
from memoriter.index.reads import chain_length, codes, numbers, strings
from memoriter.index.view import View
from memoriter.memory.facade import Memory
from memoriter.testing.fakes import START
from memoriter.testing.whole import whole

_SOME: dict[str, list[Any]] = {
    "importance": [0.0, 0.25, 1.0],
    "confidence": [0.0, 0.5],
    "cycle": [-3, 0, 7, 2**53],
    "created": [START - 5, START],
    "occurred": [START - 99, START + 99],
    "valid_from": [START - 10**15],
    "valid_until": [START + 10**15],
    "expires": [START + 10**15],
    "priority": ["P1", "P4"],
    "trust": ["system", "external"],
    "session": ["s1", "s2", "東京"],
    "kind": ["fact", "plan"],
    "agent": ["Ann", "bob"],
    "user": ["kim"],
    "pinned": [True, False],
}


def fields(dice: Random) -> dict[str, Any]:
    chosen = dice.sample(sorted(_SOME), dice.randrange(6))
    return {name: dice.choice(_SOME[name]) for name in chosen}


def lived(place: Path, dice: Random, step: int = 1) -> Memory:
    """A memory with updates, holes and upkeep at any moment."""
    memory = open_toy(place)
    names: list[str] = []
    for n in range(dice.randrange(1, 40)):
        clock_of(memory).move(step)
        match dice.randrange(6):
            case 0 if names:
                memory.update(dice.choice(names), **cast("Any", fields(dice) or {"kind": "other"}))
            case 1 if names:
                memory.forget(names.pop(dice.randrange(len(names))))
            case 2:
                memory.maintain()
            case _:
                names.append(memory.remember(f"text {n}", **fields(dice)).id)
    return memory


def seen(memory: Memory, known_at: int | None = None) -> tuple[View, list[Record]]:
    view = view_of(memory, known_at)
    rows = np.concatenate(
        [np.zeros(0, np.int64), *(s.rows[m] for s, m in zip(view.segments, view.visible))]  # noqa: B905  # as many
    )
    records = log_of(memory).records("default", rows.tolist())
    return view, [record for record in records if record is not None]


@pytest.mark.parametrize("seed", range(12))
def test_reads_equal_the_records(tmp_path: Path, seed: int) -> None:
    dice = Random(seed)
    with lived(tmp_path / "m.db", dice) as memory:
        middle = clock_of(memory).now() - 5_000_000
        for known_at in (None, middle):
            view, records = seen(memory, known_at)
            dice.shuffle(records)
            rows = np.array([record.row for record in records], np.int64)
            for name in (*NUMBER_COLUMNS, *TIME_COLUMNS, "pinned", "archived"):
                values = numbers(view, rows, name).tolist()
                known = [_number(getattr(record, name)) for record in records]
                assert [None if v != v else v for v in values] == known  # noqa: PLR0124  # NaN
            for name in STRING_COLUMNS:
                known = [_attribute(record, name) for record in records]
                assert strings(view, rows, name) == known
                at, names = codes(view, rows, name)
                assert list(names) == sorted({one for one in known if one is not None})
                assert [None if n < 0 else names[n] for n in at.tolist()] == known
            assert chain_length(view) == max((r.position for r in records), default=-1) + 1


def _number(value: Any) -> Any:
    return to_micros(value) if isinstance(value, datetime) else value


def _attribute(record: Record, name: str) -> Any:
    out: Any = record
    for part in name.split("."):
        out = getattr(out, part)
    return out


def test_reads_of_rows_that_are_nowhere_and_of_an_empty_memory(tmp_path: Path) -> None:
    with open_toy(tmp_path / "m.db") as memory:
        view, _ = seen(memory)
        rows = np.array([1, 5], np.int64)
        assert np.isnan(numbers(view, rows, "importance")).all()
        assert strings(view, rows, "kind") == [None, None]
        assert codes(view, np.zeros(0, np.int64), "kind")[0].tolist() == []
        assert chain_length(view) == 0
        row = memory.get(memory.remember("one").id).row
        view, _ = seen(memory)
        assert strings(view, np.array([row + 99, row, row]), "kind") == [None, "note", "note"]


@pytest.mark.parametrize("seed", range(12))
def test_a_record_keeps_the_row_it_was_born_as(tmp_path: Path, seed: int) -> None:
    place = tmp_path / "m.db"
    dice = Random(1000 + seed)
    with lived(place, dice, 40 * 86_400) as memory:  # upkeep drops what ended before the horizon
        _check_births(memory)
    with open_toy(place) as again:
        _check_births(again)


def _check_births(memory: Memory) -> None:
    first: dict[int, int] = {}
    for row in whole(log_of(memory), "default").records:
        first.setdefault(row.position, row.row)
    view, records = seen(memory)
    born = {
        int(row): int(born)
        for segment in view.segments
        for row, born in zip(segment.rows, segment.born, strict=True)
    }
    assert {r.row: first[r.position] for r in records} == {r.row: born[r.row] for r in records}


def test_the_end_of_a_chain_is_the_newest_record_that_is_left(tmp_path: Path) -> None:
    with open_toy(tmp_path / "m.db") as memory:
        names = [memory.remember(f"text {n}").id for n in range(5)]
        memory.forget(names[1])
        assert chain_length(seen(memory)[0]) == 5
        memory.forget(names[4])
        assert chain_length(seen(memory)[0]) == 4
        memory.remember("one more")
        assert chain_length(seen(memory)[0]) == 6
