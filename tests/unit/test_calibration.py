"""The calibration of a vector space: its values, the packaged one, and what a view has."""

from __future__ import annotations

from importlib import resources
from itertools import pairwise
from math import inf, nan

import numpy as np
import pytest
from tests.inside import view_of
from tools.calibrate import made

import memoriter
from memoriter.core.calibration import LEVELS, Calibration
from memoriter.core.errors import InputError
from memoriter.embed.calibrate import (
    PACKAGED_FILE,
    calibration_of,
    packaged_calibration,
    probes,
)
from memoriter.embed.static import Static
from memoriter.embed.vector_space import space_of
from memoriter.rank.grid import STEP, unit
from memoriter.rank.quantiles import quantiles

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


def test_the_packaged_calibration_is_what_the_tool_makes_bit_for_bit() -> None:
    file = resources.files("memoriter.embed").joinpath(PACKAGED_FILE)
    assert file.read_text("utf-8") == made()


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
