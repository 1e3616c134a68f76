"""The calibration of a vector space: its values, the packaged one, and what a view has."""

from __future__ import annotations

import asyncio
import json
import shutil
from importlib import resources
from itertools import pairwise
from math import inf, nan
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.inside import clock_of, embedder_of, log_of, view_of
from tools.calibrate import EMBEDDERS, made

import memoriter
from memoriter.core.calibration import LEVELS, Calibration
from memoriter.core.errors import Corrupt, InputError, NotFound, Unavailable
from memoriter.core.times import iso, to_datetime
from memoriter.embed.calibrate import (
    PACKAGED_FILES,
    calibration_of,
    packaged_calibration,
    probes,
    quantiles,
)
from memoriter.embed.hash import Hash
from memoriter.embed.port import Embedder
from memoriter.embed.static import Static
from memoriter.embed.vector_space import space_of
from memoriter.index.calibrations import committed_calibration
from memoriter.memory import calibrating
from memoriter.memory.facade import Memory
from memoriter.rank.grid import STEP, unit
from memoriter.testing.fakes import START, CountedEntropy, HandClock, ToyEmbedder

EXAMPLE = Calibration((0.0, 0.125, 0.25, 0.375, 0.5))


# --- values ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("level", "nth"), list(zip(LEVELS, (5000, 9000, 9900, 9990, 9999), strict=True))
)
def test_a_quantile_of_ten_thousand_values_is_the_value_at_its_place(
    level: float, nth: int
) -> None:
    values = np.arange(1, 10_001, dtype=np.float64)[::-1]
    assert quantiles(values, [level]) == (float(nth),)


def test_a_quantile_is_a_value_that_occurs_rounded_to_the_grid() -> None:
    third = quantiles(np.array([1 / 3, 2 / 3]), [0.5])[0]
    assert third == round(2**32 / 3) * STEP
    assert quantiles(np.array([0.25]), LEVELS) == (0.25,) * len(LEVELS)


@pytest.mark.parametrize("values", [[], [0.5, nan], [inf]])
def test_quantiles_of_nothing_or_of_what_is_not_finite_are_refused(values: list[float]) -> None:
    with pytest.raises(ValueError, match="finite"):
        quantiles(np.array(values), LEVELS)


def test_a_calibration_survives_being_written_as_plain_data() -> None:
    assert EXAMPLE.to_dict() == {
        "0.5": 0,
        "0.9": 0.125,
        "0.99": 0.25,
        "0.999": 0.375,
        "0.9999": 0.5,
    }
    assert Calibration.of_dict(EXAMPLE.to_dict()) == EXAMPLE


@pytest.mark.parametrize(
    "cosines",
    [(), (0.1, 0.2, 0.3, 0.4), (0.1, 0.3, 0.2, 0.4, 0.5), (0.1, 0.2, 0.3, 0.4, 1.5), (nan,) * 5],
)
def test_cosines_that_descend_leave_the_range_or_are_too_few_are_refused(
    cosines: tuple[float, ...],
) -> None:
    with pytest.raises(InputError, match="ascending cosines"):
        Calibration(cosines)


@pytest.mark.parametrize(
    "data",
    [None, [0.1], {}, {**EXAMPLE.to_dict(), "0.7": 0.2}, {**EXAMPLE.to_dict(), "0.9": "0.125"}],
)
def test_plain_data_of_another_shape_is_refused(data: object) -> None:
    with pytest.raises(InputError, match="calibration"):
        Calibration.of_dict(data)


def test_all_pairs_of_questions_and_records_count() -> None:
    one, other = unit(np.array([1.0, 0.0])), unit(np.array([0.0, 1.0]))
    assert one is not None
    assert other is not None
    # Cosines 1, 0, 0, 1: half of them are 0.
    both = calibration_of([one, other], np.array([one, other]))
    assert both.cosines == (0.0, 1.0, 1.0, 1.0, 1.0)


# --- what is packaged ------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "embedder"), list(zip(PACKAGED_FILES, EMBEDDERS, strict=True)))
def test_a_packaged_calibration_is_what_the_tool_makes_bit_for_bit(
    name: str, embedder: type[Embedder]
) -> None:
    file = resources.files("memoriter.embed").joinpath(name)
    assert file.read_text("utf-8") == made(embedder())


def test_the_packaged_calibration_belongs_to_the_packaged_embedder_under_any_template() -> None:
    packaged = packaged_calibration(space_of(Static()))
    assert packaged is not None
    assert all(low < high for low, high in pairwise(packaged.cosines))
    assert packaged_calibration(f"{Static().fingerprint}+labelled/1") == packaged
    assert packaged_calibration("static-en/2:0000+title-text/1") is None


def test_probes_are_distinct_texts_and_as_many_questions_as_notes() -> None:
    questions, notes = probes()
    assert len(questions) == len(notes) == 150
    assert len({*questions, *notes}) == 300
    assert all(each.endswith("?") and each == each.strip() for each in questions)
    assert not any(each.endswith("?") or each != each.strip() for each in notes)


# --- what a view has -------------------------------------------------------------------------


def test_a_view_has_the_packaged_calibration_of_its_embedder_or_none() -> None:
    with memoriter.open() as memory:
        view = view_of(memory)
        assert view.calibration == packaged_calibration(space_of(Static()))
    with memoriter.open(embedder="hash") as memory:
        assert view_of(memory).calibration is None
    with memoriter.open(embedder=None) as memory:
        assert view_of(memory).calibration is None


# --- what is committed -----------------------------------------------------------------------

PLACES = pytest.mark.parametrize("kind", ["ram", "sqlite"])
LETTERS = "abdeghjkmnpq"  # those that the toy embedder counts as positive, so none cancel out


def toy(place: str | Path = ":memory:", **more: Any) -> Memory:
    options = {"embedder": ToyEmbedder(), "clock": HandClock(), "entropy": CountedEntropy(), **more}
    return memoriter.open(place, **options)


def place_of(kind: str, folder: Path) -> str | Path:
    return ":memory:" if kind == "ram" else folder / "m.db"


def texts(count: int) -> list[str]:
    """Texts of a few letters each, all different."""
    return [" ".join(LETTERS[n // 12**k % 12] * (k + 1) for k in range(3)) for n in range(count)]


def test_few_records_are_not_read_the_probe_notes_are_compared() -> None:
    with toy() as memory, toy() as other:
        memory.remember_many(texts(199))
        one = memory.calibrate()
        assert (one.state, one.compared, one.texts) == ("committed", "probes", 150)
        assert one.calibration == other.calibrate().calibration


def test_from_two_hundred_records_on_these_are_compared() -> None:
    with toy() as memory:
        memory.remember_many(texts(200))
        one = memory.calibrate()
        assert (one.compared, one.texts) == ("records", 200)
        queries = [v for v in ToyEmbedder().embed(probes().questions, "query") if v is not None]
        records = [v for v in ToyEmbedder().embed(texts(200), "record") if v is not None]
        assert one.calibration == calibration_of(queries, np.array(records))
        assert view_of(memory).calibration == one.calibration


def test_many_records_are_sampled_evenly_over_the_log(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calibrating, "SAMPLED", 250)
    with toy() as memory:
        memory.remember_many(texts(500))
        one = memory.calibrate()
        assert one.texts == 250
        queries = [v for v in ToyEmbedder().embed(probes().questions, "query") if v is not None]
        records = [v for v in ToyEmbedder().embed(texts(500)[::2], "record") if v is not None]
        assert one.calibration == calibration_of(queries, np.array(records))


def test_of_a_long_text_the_best_part_counts() -> None:
    one, other = unit(np.array([1.0, 0.0])), unit(np.array([0.0, 1.0]))
    assert one is not None
    assert other is not None
    parts = np.array([other, one, other])
    # Two records: the first has two parts, of which the second is nearer.
    assert calibration_of([one], parts, np.array([0, 2])).cosines == (0.0, 1.0, 1.0, 1.0, 1.0)


@PLACES
def test_a_second_calibration_writes_nothing_until_something_changed(
    kind: str, tmp_path: Path
) -> None:
    with toy(place_of(kind, tmp_path)) as memory:
        memory.remember_many(texts(200))
        first = memory.calibrate()
        seq = memory.status().seq
        clock_of(memory).move(60)
        assert memory.calibrate() == first
        assert memory.status().seq == seq
        memory.remember_many(texts(230)[200:])
        second = memory.calibrate()
        assert (second.texts, memory.status().seq) == (230, seq + 61)  # a record and a vector each
        assert second.calibration != first.calibration


def test_the_packaged_table_is_not_committed_again_from_the_same_probes() -> None:
    with memoriter.open() as memory:
        memory.remember("port")
        seq = memory.status().seq
        assert memory.calibrate().state == "packaged"
        assert memory.status().seq == seq


@PLACES
def test_a_past_view_is_not_yet_calibrated(kind: str, tmp_path: Path) -> None:
    with toy(place_of(kind, tmp_path)) as memory:
        clock = clock_of(memory)
        memory.remember_many(texts(5))
        before, _ = clock.now(), clock.move(60)
        first = memory.calibrate().calibration
        between, _ = clock.now(), clock.move(60)
        memory.remember_many(texts(205)[5:])
        second = memory.calibrate().calibration
        assert first != second
        assert view_of(memory, before).calibration is None
        assert view_of(memory, between).calibration == first
        assert view_of(memory).calibration == second


def test_a_calibration_survives_reopening_a_rebuild_and_upkeep(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    with toy(path, flush_rows=10) as memory:
        memory.remember_many(texts(200))
        numbers = memory.calibrate().calibration
        memory.maintain()
        assert view_of(memory).calibration == numbers
        assert memory.verify_store().sound
    shutil.rmtree(tmp_path / "m.db.idx")
    with toy(path) as memory:
        assert view_of(memory).calibration == numbers


@PLACES
def test_an_export_carries_the_calibration(kind: str, tmp_path: Path) -> None:
    with toy() as memory, toy(place_of(kind, tmp_path)) as copy:
        memory.remember_many(texts(200))
        memory.scoped(agent="ann").calibrate()
        memory.export(tmp_path / "all.jsonl")
        copy.load(tmp_path / "all.jsonl")
        assert copy.status().calibrations == memory.status().calibrations
        assert view_of(copy).calibration == view_of(memory).calibration


def test_tenants_and_spaces_are_calibrated_apart(tmp_path: Path) -> None:
    place = tmp_path / "m.db"
    with (
        toy(place) as ours,
        toy(place, tenant="theirs") as theirs,
        toy(place, embedder="hash") as hashed,
    ):
        ours.calibrate()
        assert view_of(ours).calibration is not None
        assert view_of(theirs).calibration is None
        assert view_of(hashed).calibration is None
        assert [one.state for one in hashed.status().calibrations] == ["none"]


def test_only_numbers_are_kept_and_no_agent_appears() -> None:
    with toy() as memory:
        memory.remember_many(texts(200))
        memory.calibrate()
        (row,) = log_of(memory).agents("default", 2**62)
        body = json.loads(row.body)
        assert set(body) == {"agent", "aliases", "by", "compared", "cosines", "texts", "time"}
        assert body["agent"] == "\x1fcalibration toy/1+title-text/1"
        assert memory.agents.list() == []
        assert view_of(memory).agents == {}


def test_what_was_calibrated_stays_when_records_are_forgotten() -> None:
    with toy() as memory:
        ids = memory.remember_many(texts(200)).ids
        numbers = memory.calibrate().calibration
        memory.forget(list(ids[:100]))
        assert view_of(memory).calibration == numbers
        assert memory.calibrate().compared == "probes"


def test_any_space_of_the_tenant_can_be_named() -> None:
    with toy(embedder=[ToyEmbedder(), "hash"]) as memory:
        memory.remember("port")
        memory.maintain()
        memory.embedding.migrate("table")
        for name in ("toy", "hash", space_of(Hash())):
            assert memory.calibrate(name).state == "committed"
        assert memory.calibrate("table").state == "packaged"
        assert [one.embedder for one in memory.status().calibrations] == ["toy", "hash"]
        states = {space.space: space.calibration.state for space in memory.embedding.status()}
        assert states == {
            space_of(Static()): "packaged",
            space_of(ToyEmbedder()): "committed",
            space_of(Hash()): "committed",
        }
        with pytest.raises(NotFound, match="no vector space 'other'"):
            memory.calibrate("other")


def test_a_migrated_space_is_measured_by_its_own_vectors() -> None:
    with toy() as memory, toy(embedder="hash") as other:
        memory.remember_many(texts(200))
        other.remember_many(texts(200))
        memory.embedding.migrate("hash")
        assert memory.calibrate("hash").calibration == other.calibrate().calibration


def test_who_calibrated_and_when_is_shown() -> None:
    with toy() as memory:
        assert memory.status().calibrations[0].summary == "not calibrated"
        memory.scoped(agent="ann").calibrate()
        (one,) = memory.status().calibrations
        assert (one.agent, one.time) == ("ann", to_datetime(clock_of(memory).now()))
        assert one.summary == f"{iso(to_datetime(START))} by ann, 150 probe notes"
        assert memory.status().to_dict()["calibrations"] == [one.to_dict()]


@pytest.mark.parametrize("embedder", [None, "given:3"])
def test_a_space_in_which_no_question_can_be_embedded_is_refused(embedder: str | None) -> None:
    with (
        toy(embedder=embedder) as memory,
        pytest.raises(InputError, match="calibration must embed texts"),
    ):
        memory.calibrate()


def test_nothing_is_written_while_the_embedder_fails() -> None:
    with toy() as memory:
        embedder_of(memory).failing = True
        with pytest.raises(Unavailable, match="toy fails"):
            memory.calibrate()
        assert memory.status().seq == 0


def test_an_entry_that_cannot_be_read_is_reported_as_damage() -> None:
    with toy() as memory:
        memory.calibrate()
        (row,) = log_of(memory).agents("default", 2**62)
        wrong = row._replace(body=row.body.replace(b'"0.9":', b'"0.8":'))
        with pytest.raises(Corrupt, match="calibration at entry 1"):
            committed_calibration([wrong], "toy/1+title-text/1")


@pytest.mark.parametrize(
    "change",
    [
        {"texts": "x"}, {"texts": True}, {"texts": -1}, {"texts": None}, {"time": "y"},
        {"time": 1.5}, {"compared": []}, {"compared": "others"}, {"by": 5}, {"cosines": None},
    ],
)  # fmt: skip
def test_an_entry_with_a_value_of_the_wrong_type_is_damage(change: dict[str, object]) -> None:
    with toy() as memory:
        memory.calibrate()
        (row,) = log_of(memory).agents("default", 2**62)
        body = json.dumps({**json.loads(row.body), **change}).encode()
        with pytest.raises(Corrupt, match="calibration at entry 1"):
            committed_calibration([row._replace(body=body)], "toy/1+title-text/1")


@pytest.mark.parametrize("body", [b"[]", b"null", b"5", b'"x"', b"{}", b"", b"\xff"])
def test_an_entry_that_is_no_object_is_damage(body: bytes) -> None:
    with toy() as memory:
        memory.calibrate()
        (row,) = log_of(memory).agents("default", 2**62)
        with pytest.raises(Corrupt, match="calibration at entry 1"):
            committed_calibration([row._replace(body=body)], "toy/1+title-text/1")


def test_async_code_calibrates_too() -> None:
    async def run() -> str:
        async with memoriter.aopen(embedder=ToyEmbedder()) as memory:
            return (await memory.calibrate()).state

    assert asyncio.run(run()) == "committed"
