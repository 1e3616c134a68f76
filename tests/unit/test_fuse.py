"""Fusion kernels with the figures that the five systems print, and near copies."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from memoriter import rank
from memoriter.core.errors import BadQuery
from memoriter.pipeline.orderings.collapse import fingerprint
from memoriter.rank.diverse import mmr_picks, near_duplicates
from memoriter.rank.fuse import SCALES, rrf_parts, scaled, shares, smooth_parts
from memoriter.rank.grid import STEP, snap_one

NAN = np.nan
ALL = np.ones(3, np.bool_)


def unit_rrf(ranks: list[list[float]], weights: np.ndarray) -> list[float]:
    fused = rrf_parts(np.array(ranks), weights, scale="unit")
    return np.nansum(fused, axis=0).round(6).tolist()


def test_rank_fusion_by_hand() -> None:
    ranks = np.array([[1.0, 2.0, NAN], [3.0, NAN, 1.0]])
    fused = rrf_parts(ranks, np.array([1.0, 1.5]))
    expected = [[1 / 61, 1 / 62, NAN], [1.5 / 63, NAN, 1.5 / 61]]
    assert_array_equal(fused, np.rint(np.array(expected) / STEP) * STEP)
    assert_array_equal(
        rrf_parts(ranks, np.ones(2), k=0.0), [[1, 0.5, NAN], [snap_one(1 / 3), NAN, 1]]
    )
    assert rrf_parts(np.zeros((0, 0)), np.zeros(0)).shape == (0, 0)


def test_the_best_rank_may_count_as_any_number() -> None:
    ranks = np.array([[1.0, 2.0]])
    assert_array_equal(rrf_parts(ranks, np.ones(1), 60.0, 0), rrf_parts(ranks, np.ones(1), 59.0, 1))
    assert_array_equal(rrf_parts(ranks, np.ones(1), 60.0, 2), rrf_parts(ranks, np.ones(1), 61.0))
    assert rrf_parts(ranks, np.ones(1), 1.0, 0).tolist() == [[1.0, 0.5]]
    assert rrf_parts(ranks, np.ones(1), 60.0, 0, "unit").round(6).tolist() == [[1.0, 0.983607]]


def test_co_10_unit_scores_of_one_two_and_three_lanes() -> None:
    assert unit_rrf([[1, 2, 3]], shares(np.ones(1), ALL[:1])) == [1.0, 0.983871, 0.968254]
    two = shares(np.ones(2), ALL[:2])
    assert unit_rrf([[1, NAN, 1], [NAN, 1, 2]], two) == [0.5, 0.5, 0.991935]
    assert unit_rrf([[1], [1]], two) == [1.0]
    three = shares(np.ones(3), ALL)
    assert unit_rrf([[1, NAN], [NAN, 1], [NAN, 1]], three) == [0.333333, 0.666667]
    silent = shares(np.ones(3), np.array([True, False, True]))
    assert unit_rrf([[1], [NAN], [NAN]], silent) == [0.5]


def test_co_11_weights_that_are_kept() -> None:
    kept = shares(np.array([1.0, 1.5]), np.array([True, False]), "keep")
    ranks = [1.0, 2.0, 3.0, 5.0, 10.0, 20.0]
    words = [0.4, 0.393548, 0.387302, 0.375385, 0.348571, 0.305]
    meaning = [0.6, 0.590323, 0.580952, 0.563077, 0.522857, 0.4575]
    assert unit_rrf([ranks, [NAN] * 6], kept) == words
    assert unit_rrf([[NAN] * 6, ranks], kept) == meaning


def test_shares() -> None:
    weights = np.array([0.3, 0.55, 0.1, 0.05])
    active = np.array([True, True, False, True])
    assert shares(weights, active).round(6).tolist() == [0.333333, 0.611111, 0.0, 0.055556]
    assert shares(weights, active, "keep").round(6).tolist() == weights.tolist()
    assert shares(weights, np.zeros(4, np.bool_)).tolist() == [0.0] * 4
    assert shares(np.zeros(2), ALL[:2]).tolist() == [0.0, 0.0]
    six = shares(np.ones(6), np.ones(6, np.bool_))  # 1/6 is rounded up: six of them exceed 1
    assert six.tolist() == [np.floor(2**32 / 6) * STEP] * 6
    assert shares(np.array([0.3, 0.4, 0.3]), ALL).sum() == 1.0


def test_each_lane_has_its_scale() -> None:
    scores = np.array([[1.0, 3.0, NAN], [0.2, -0.4, 0.8], [2.0, NAN, 4.0]])
    columns = scaled(scores, ["min_max", "none", "max"])
    assert_array_equal(columns, [[0.0, 1.0, NAN], [0.2, -0.4, 0.8], [0.5, NAN, 1.0]])
    assert list(SCALES) == ["max", "min_max", "none"]
    assert scaled(np.zeros((0, 3)), []).shape == (0, 3)


def test_md_42_the_lift_fades_smoothly() -> None:
    base = np.array([NAN, 0.0, 3.0, 6.0, -2.0, 1e6])
    assert smooth_parts(base, np.ones(6), 35.0, 3.0).round(2).tolist() == [
        36,
        36,
        13.88,
        5.74,
        36,
        1,
    ]
    assert_array_equal(smooth_parts(base, np.full(6, NAN), 35.0, 3.0), [NAN] * 6)
    falling = smooth_parts(np.linspace(0.0, 9.0, 1001), np.ones(1001), 35.0, 3.0)
    assert (np.diff(falling) < 0).all()
    assert np.abs(np.diff(falling)).max() < 0.11
    fused = rank.smooth([("a", 3.0), ("b", 0.5)], [("a", 0.1), ("c", 0.2)])
    assert [(item, round(score, 4)) for item, score in fused] == [
        ("c", 7.2),
        ("a", 4.3876),
        ("b", 0.5),
    ]


def test_weighted_lists() -> None:
    lists = {"words": [("a", 3.0), ("b", 1.0)], "meaning": [("b", 0.5), ("c", 0.25)], "none": []}
    weights = {"words": 1.0, "meaning": 1.0, "none": 2.0}
    raw = rank.weighted(
        lists, weights, scale={"words": "min_max", "meaning": "none", "none": "max"}
    )
    assert raw == [("a", 0.5), ("b", 0.25), ("c", 0.125)]
    assert rank.weighted(lists, weights, absent="keep", scale="min_max") == [
        ("a", 0.25),
        ("b", 0.25),
        ("c", 0.0),
    ]
    assert rank.weighted(lists, [0, 0, 1]) == [("a", 0.0), ("b", 0.0), ("c", 0.0)]
    assert rank.weighted({}) == []


def test_a_pick_tells_what_likeness_cost_and_who_caused_it() -> None:
    units = np.array([[1, 0], [0, 1], [0, 1], [1, 0]], np.float32)
    picks = mmr_picks(np.array([1.0, 0.9, 0.8, 0.7]), units, 0.75)
    assert picks.order.tolist() == [0, 1, 2, 3]
    assert picks.penalties.tolist() == [0.0, 0.0, 0.25, 0.25]
    assert picks.causes.tolist() == [-1, 0, 1, 0]
    none = mmr_picks(np.zeros(0), np.zeros((0, 2), np.float32), 0.5)
    assert [part.size for part in none] == [0, 0, 0]


@pytest.mark.parametrize(("threshold", "copied"), [(0.9, [-1, -1, 0, -1]), (0.7, [-1, -1, 0, 1])])
def test_near_copies_belong_to_the_first_that_stays(threshold: float, copied: list[int]) -> None:
    units = np.array([[1, 0], [0, 1], [1, 0], [0.6, 0.8]], np.float32)
    assert near_duplicates(units, threshold).tolist() == copied
    assert near_duplicates(np.zeros((0, 4), np.float32), threshold).tolist() == []


def test_a_copy_has_no_copies() -> None:
    turned = np.array([[1, 0], [0.8, 0.6], [0.28, 0.96]], np.float32)  # each 0.8 from the next
    assert near_duplicates(turned, 0.79).tolist() == [-1, 0, -1]


def test_co_04_a_fingerprint_is_how_a_text_begins() -> None:
    long = "The Plan of the week " * 20
    assert fingerprint(f"  {long}") == fingerprint(long.upper() + "and more") == fingerprint(long)
    assert fingerprint("ab" * 100 + "one") == fingerprint("AB" * 100 + "two")
    assert fingerprint("ab" * 99 + "one") != fingerprint("AB" * 99 + "two")
    assert fingerprint(" \n") == ""


# -- lists of one's own ----------------------------------------------------------------------------

LISTS = {"vec": [("a", 0.91), ("b", 0.74)], "fts": [("b", 7.2), ("c", 5.1)], "none": []}


def test_lists_may_weigh_more_than_others() -> None:
    scores = dict(rank.rrf(LISTS, weights={"vec": 3, "fts": 1, "none": 9}))
    assert scores == {
        "a": snap_one(3 / 61),
        "b": snap_one(3 / 62) + snap_one(1 / 61),
        "c": snap_one(1 / 62),
    }
    assert rank.rrf(LISTS, weights=[3, 1, 9]) == rank.rrf(
        LISTS, weights={"vec": 3, "fts": 1, "none": 9}
    )


def test_who_is_first_in_every_list_that_holds_something_has_one() -> None:
    both = {**LISTS, "fts": [("a", 2), ("b", 1)]}
    assert rank.rrf(both, weights=[3, 1, 9], scale="unit")[0] == ("a", 1.0)
    parts = rank.rrf(both, base=0, scale="unit", detailed=True)
    assert [(leg.list_id, leg.leg_rank) for leg in parts[:2]] == [("fts", 1), ("vec", 1)]


def test_the_best_rank_of_a_list_may_count_as_0() -> None:
    assert rank.rrf(LISTS, base=0) == rank.rrf(LISTS, k=59)


@pytest.mark.parametrize(
    "how",
    [
        {"base": 2}, {"base": True}, {"scale": "max"}, {"scale": 1}, {"weights": [1]}, {"top": 3},
        {"weights": {"vec": -1, "fts": 1, "none": 1}}, {"k": 0, "base": 0}, {"descending": "no"},
    ],
    ids=repr,
)  # fmt: skip
def test_options_of_rank_fusion_that_make_no_sense_are_refused(how: dict[str, object]) -> None:
    with pytest.raises(BadQuery) as caught:
        rank.rrf(LISTS, **how)  # pyright: ignore[reportArgumentType, reportCallIssue]  # that is the point
    assert caught.value.field is not None
