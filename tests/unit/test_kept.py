"""What a process keeps between searches and between the steps of one: always what it would read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import memoriter
from memoriter.index.registry import Registry
from memoriter.index.row_places import RowPlaces
from memoriter.kernel import library as kernel
from memoriter.pipeline.load import recipe_of
from memoriter.store.port import Delta
from memoriter.store.rows import AgentRow, TombRow


def located(places: RowPlaces, rows: np.ndarray) -> tuple[list[int], list[bool]]:
    at, here = places.of(rows)
    return at.tolist(), here.tolist()


@pytest.mark.parametrize("own", [[], [4], [2, 3, 5, 8, 13]])
def test_places_of_a_part_are_those_that_a_search_finds(own: list[int]) -> None:
    random = np.random.default_rng(len(own))
    kept = RowPlaces(np.array(own, np.int64))
    for _ in range(60):
        rows = random.permutation(16)[: random.integers(0, 9)].astype(np.int64)
        first = located(kept, rows)
        assert first == located(kept, rows) == located(RowPlaces(np.array(own)), rows)
        chosen = (
            random.random(rows.size) < 0.5
            if random.random() < 0.5
            else random.permutation(rows.size)
        )
        part = rows[chosen]
        kept.note_part(rows, chosen, part)
        assert located(kept, part) == located(RowPlaces(np.array(own)), part.copy())


@pytest.mark.parametrize("apart", [1, 3, 20])
def test_many_rows_are_found_by_a_table_as_by_a_search(apart: int) -> None:
    random = np.random.default_rng(apart)
    own = 100 + np.sort(random.choice(apart * 5_000, 5_000, replace=False))
    rows = random.integers(0, 200 + apart * 5_000, 3_000)
    at, here = RowPlaces(own).of(rows)
    assert np.array_equal(here, np.isin(rows, own))
    assert np.array_equal(own[at], rows[here])


def test_the_registry_is_read_again_only_after_an_entry_that_may_be_its_own() -> None:
    asked: list[int] = []

    def read(seq: int) -> Sequence[AgentRow]:
        asked.append(seq)
        return [AgentRow(seq, "ana", b"", b"{}")]

    registry = Registry(read)
    tomb = [TombRow(6, b"", b"{}")]
    registry.read_on(0, Delta(5))  # five entries that the index does not read
    assert [registry.at(5), registry.at(5)] == [read(5)] * 2
    registry.read_on(5, Delta(6, tombs=tomb))
    assert registry.at(6) == registry.at(5)
    assert asked == [5, 5]
    registry.read_on(6, Delta(7))  # a change of the registry
    assert registry.at(7) != registry.at(6)
    assert registry.at(7)[0].seq == 7
    registry.read_on(9, Delta(10, tombs=[TombRow(10, b"", b"{}")]))  # 8 and 9 came another way
    assert registry.at(10)[0].seq == 10


def test_an_agent_that_is_described_between_two_searches_is_found() -> None:
    memory = memoriter.open(":memory:")
    memory.remember("The pump is red", id="pump", agent="scout")
    assert not memory.recall("hydraulics", recipe="lexical")
    memory.agents.describe("scout", "hydraulics of the plant")
    assert [hit.id for hit in memory.recall("hydraulics", recipe="lexical")] == ["pump"]
    memory.remember("The door is blue", id="door", agent="scout")
    assert {hit.id for hit in memory.recall("hydraulics", recipe="lexical")} == {"pump", "door"}


def test_copies_are_found_again_after_every_write() -> None:
    memory = memoriter.open(":memory:")
    memory.remember("The pump of the old plant is red and loud.", id="one")
    assert [hit.copies for hit in memory.recall("red pump")] == [()]
    memory.remember("the pump of the old plant is red and loud", id="two")
    assert [(hit.id, hit.copies) for hit in memory.recall("red pump")] == [("two", ("one",))]
    memory.remember("A pump that nobody needs is blue.", id="three")
    assert {hit.id: hit.copies for hit in memory.recall("red pump")} == {
        "two": ("one",),
        "three": (),
    }
    memory.forget("two")
    assert {hit.id: hit.copies for hit in memory.recall("red pump")} == {"one": (), "three": ()}


def test_a_changed_recipe_keeps_nothing_of_the_old_one() -> None:
    recipe = recipe_of("memoriter")
    assert recipe.mode(None).lanes == tuple(recipe.lanes)
    few = {"words": recipe.lanes["words"]}
    changed = recipe.with_options(lanes=few)
    assert changed.mode(None).lanes == ("words",)
    assert changed.waves == [("words",)]
    words = recipe.lanes["words"]
    assert words.shows()["pool"] == 200
    assert words.with_options(pool=7).shows()["pool"] == 7


def test_short_and_long_calls_of_the_kernel_are_the_same_functions() -> None:
    fast = kernel.native_library()
    if fast is None:
        pytest.skip(kernel.kernel_choice().why)
    matrix, query = np.array([[0.5, 0.25], [0.0, 1.0]], np.float32), np.array([0.5, 0.5])
    at, out = np.array([1, 0]), np.empty(2)
    table = np.array([[kernel.address(matrix), 0, kernel.address(at), 2]])
    given: Any = (kernel.address(table), 1, 2, *map(kernel.address, (query, out)))
    for work in (0, 10**9):
        out[:] = 0.0
        fast.call("dots", given, work)
        assert out.tolist() == [0.5, 0.375]
