"""What mnestic promises of its two primitives, alone: MN-35 to MN-43."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from tests.claims.corpus import CORPUS, VECTOR, close

from memoriter import rank
from memoriter.core.errors import BadQuery
from memoriter.rank.grid import snap_one, unit

LISTS = {"vec": [("a", 0.91), ("b", 0.74)], "fts": [("b", 7.2), ("c", 5.1)]}
ROWS = [[label, item, score] for label, pairs in LISTS.items() for item, score in pairs]
FUSED = [("b", 0.0325225), ("a", 0.0163934), ("c", 0.0161290)]
TEXT = [
    ("m02", 3.427714), ("m17", 3.091663), ("m10", 1.791759), ("m09", 1.642446), ("m01", 1.576748),
]  # fmt: skip
VECTORS = {note.id: note.vector for note in CORPUS}


def cosine(one: tuple[float, ...], other: tuple[float, ...]) -> float:
    return float(np.dot(one, other) / np.linalg.norm(one) / np.linalg.norm(other))


def hybrid() -> dict[str, list[tuple[str, float]]]:
    """The two lists of corpus A: ten by meaning, five by words."""
    near = sorted(((note.id, cosine(note.vector, VECTOR)) for note in CORPUS), key=lambda p: -p[1])
    return {"semantic": near[:10], "text": TEXT}


def diverse(trade: float, k: int) -> list[Any]:
    items, relevance = zip(*rank.rrf(hybrid()), strict=True)
    rows = zip(items, relevance, map(VECTORS.get, items), strict=True)
    return list(rank.mmr(rows, trade=trade, k=k))


# -- rank fusion -----------------------------------------------------------------------------------


def test_mn_35_rrf_sums_reciprocal_ranks() -> None:
    assert rank.rrf(LISTS) == close(FUSED, 1e-7)
    assert rank.rrf(ROWS) == rank.rrf(LISTS)
    assert rank.rrf(list(LISTS.values())) == rank.rrf(LISTS)
    assert rank.rrf(iter(map(tuple, ROWS))) == rank.rrf(LISTS)


def test_mn_35_rrf_has_its_other_names() -> None:
    assert rank.RRF is rank.ReciprocalRankFusion is rank.rrf
    assert rank.MMR is rank.MaximalMarginalRelevance is rank.mmr
    with pytest.raises(AttributeError):
        _ = rank.nothing  # type: ignore[attr-defined]


def test_mn_35_the_output_feeds_further_steps() -> None:
    again = rank.rrf({"fused": rank.rrf(LISTS), "more": [("c", 1)]})
    assert again == close([("c", 1 / 63 + 1 / 61), ("b", 1 / 61), ("a", 1 / 62)], 1e-9)


def test_mn_35_corpus_a() -> None:
    assert rank.rrf(hybrid())[:9] == close(
        [
            ("m02", 0.0320184), ("m17", 0.0315136), ("m01", 0.0305361), ("m09", 0.0299107),
            ("m18", 0.0163934), ("m13", 0.0161290), ("m08", 0.0158730), ("m10", 0.0158730),
            ("m07", 0.0149254),
        ],
        1e-7,
    )  # fmt: skip
    assert rank.rrf(hybrid(), k=0)[:4] == close(
        [("m02", 1.25), ("m18", 1.0), ("m17", 0.7), ("m13", 0.5)]
    )


def test_mn_35_three_pairs_are_a_list_and_three_values_a_row() -> None:
    three = [("a", 3.0), ("b", 2.0), ("c", 1.0)]
    assert [item for item, _ in rank.rrf([three])] == ["a", "b", "c"]
    assert rank.rrf([tuple(three)]) == rank.rrf([[0, item, score] for item, score in three])
    assert rank.rrf({}) == rank.rrf([]) == rank.rrf([[]]) == rank.rrf({"none": []}) == []


def test_mn_36_the_smallest_may_come_first_and_a_negative_k_counts_as_zero() -> None:
    pairs = [("a", 0.1), ("b", 0.9)]
    assert rank.rrf([pairs], descending=False) == close([("a", 1 / 61), ("b", 1 / 62)], 1e-9)
    assert rank.rrf([pairs], k=-5) == [("b", 1.0), ("a", 0.5)]
    assert rank.rrf([[("a", 0.1), ("a", 0.9), ("b", 0.5)]], descending=False)[0].item == "a"


def test_mn_36_detailed_rows_tell_every_leg() -> None:
    rows = rank.rrf(LISTS, detailed=True)
    assert [tuple(row)[2:] for row in rows] == [
        ("fts", 1, 7.2), ("vec", 2, 0.74), ("vec", 1, 0.91), ("fts", 2, 5.1),
    ]  # fmt: skip
    for item, score in rank.rrf(LISTS):
        own = [row for row in rows if row.item == item]
        assert {row.score for row in own} == {score}
        assert score == pytest.approx(sum(1 / (60 + row.leg_rank) for row in own), abs=1e-9)


def test_mn_36_integers_stay_integers() -> None:
    cycles = [(note.id, note.cycle) for note in CORPUS]
    rows = rank.rrf({**hybrid(), "recency": cycles}, detailed=True)
    assert [(row.item, row.score) for row in rows if row.list_id == "recency"][:4] == close(
        [("m02", 0.0465112), ("m17", 0.0462195), ("m09", 0.0450622), ("m01", 0.0438695)], 1e-7
    )
    first = rows[0]
    assert first[2:] == ("recency", 9, 20)
    assert type(first.leg_score) is int


def test_mn_37_equal_scores_get_consecutive_ranks_in_item_order() -> None:
    rows = rank.rrf([["vec", item, 0.5] for item in "bac"], detailed=True)
    assert [(row.item, row.leg_rank) for row in rows] == [("a", 1), ("b", 2), ("c", 3)]
    mixed = rank.rrf([[(item, 1) for item in ("b", 10, 9, "a")]])
    assert [item for item, _ in mixed] == [9, 10, "a", "b"]


def test_mn_37_a_duplicate_keeps_its_best_score() -> None:
    rows = rank.rrf([["vec", "a", 0.2], ["vec", "b", 0.5], ["vec", "a", 0.9]], detailed=True)
    assert [(row.item, row.leg_rank, row.leg_score) for row in rows] == [
        ("a", 1, 0.9),
        ("b", 2, 0.5),
    ]


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf, np.float32("nan")])
def test_mn_38_what_is_not_finite_is_refused_by_its_column(bad: float) -> None:
    with pytest.raises(BadQuery, match=r"score \(column 3\) of 'a': must be finite"):
        rank.rrf([["vec", "a", bad]])
    with pytest.raises(BadQuery, match=r"score \(column 2\) of 'a': must be finite") as caught:
        rank.rrf({"vec": [("a", bad)]})
    assert caught.value.field == "score"
    assert caught.value.hint
    with pytest.raises(BadQuery, match=r"relevance \(column 2\): must be finite"):
        rank.mmr([["a", bad, [1.0]]])
    with pytest.raises(BadQuery, match=r"vector \(column 3\) of 'a': must be finite"):
        rank.mmr([["a", 1.0, [1.0, bad]]])


# -- diversity -------------------------------------------------------------------------------------


def test_mn_39_mmr_takes_the_best_that_does_not_repeat() -> None:
    rows = [["a", 0.5, [1, 0]], ["b", 0.5, [1, 0]], ["z", 0.5, [0, 1]]]
    assert rank.MMR(rows) == [("a", 1), ("z", 2), ("b", 3)]
    assert rank.MMR(rows[::-1]) == rank.MMR(iter(map(tuple, rows))) == rank.MMR(rows)
    assert rank.MMR([]) == []


def test_mn_39_k_takes_the_first_and_0_takes_all() -> None:
    rows = [["a", 0.5, [1, 0]], ["b", 0.5, [1, 0]], ["z", 0.5, [0, 1]]]
    assert [rank.MMR(rows, k=k) for k in (1, 2, 3, 4)] == [rank.MMR(rows)[:k] for k in (1, 2, 3, 4)]
    assert rank.MMR(rows, k=0) == rank.MMR(rows)


TRADES = [["a", 0.2, [1, 0]], ["b", 0.9, [0, 1]], ["c", 0.8, [0, 1]]]


def test_mn_39_with_lambda_1_relevance_decides_alone_and_7_acts_as_1() -> None:
    assert rank.mmr(TRADES, trade=1) == [("b", 1), ("c", 2), ("a", 3)]
    assert rank.mmr(TRADES, trade=7) == rank.mmr(TRADES, trade=1)


def test_mn_39_with_lambda_0_the_first_item_is_taken_first_and_negatives_act_as_0() -> None:
    assert rank.mmr(TRADES, trade=0) == [("a", 1), ("b", 2), ("c", 3)]
    assert rank.mmr(TRADES, trade=-3) == rank.mmr(TRADES, trade=0)
    alike = [["d", 0.1, [1, 1]], ["b", 0.2, [1, 0]], ["c", 0.9, [1, 0]], ["a", 0.0, [0, 1]]]
    assert rank.mmr(alike, trade=0) == [("a", 1), ("b", 2), ("d", 3), ("c", 4)]


def _with_itself(vector: np.ndarray) -> float:
    """The cosine of a vector with its copy, on the grid."""
    made = unit(vector)
    assert made is not None
    return snap_one(float(made.astype(np.float64) @ made.astype(np.float64)))


def test_mn_39_of_copies_of_different_items_the_rounding_of_their_vectors_decides() -> None:
    """Both have cosine 1 but for rounding: in the program to 32 bits, here to the grid."""
    rng = np.random.default_rng(7)
    for one, two in rng.normal(size=(50, 2, 6)):
        rows = [["a", 1.0, one], ["b", 0.9, two], ["c", 0.1, two], ["d", 0.1, one]]
        first, second = (_with_itself(vector) for vector in (one, two))
        last = ["d", "c"] if first < second else ["c", "d"]
        picked = [[item for item, _ in rank.mmr(given, trade=0)] for given in (rows, rows[::-1])]
        assert picked == [["a", "b", *last]] * 2


def test_mn_39_lambda_is_one_half_unless_given() -> None:
    rows = [["a", 1.0, [1, 0]], ["b", 0.9, [0.8, 0.6]], ["c", 0.05, [0, 1]]]
    orders = {trade: [item for item, _ in rank.mmr(rows, trade=trade)] for trade in (0.4, 0.6)}
    assert orders == {0.4: ["a", "c", "b"], 0.6: ["a", "b", "c"]}
    assert [item for item, _ in rank.mmr(rows)] == ["a", "b", "c"]  # 0.45 - 0.4 and 0.025 - 0


def test_mn_40_the_true_maximum_has_no_floor() -> None:
    rows = [["a", 1, [1, 0]], ["b", 0.5, [0, 1]], ["c", 0.5, [-1, 0]]]
    assert [item for item, _ in rank.mmr(rows)] == ["a", "c", "b"]


def test_mn_40_a_zero_vector_has_cosine_zero() -> None:
    vectors = [[1, 0], [0, 0], [1, 1], [-1, 0]]
    picked = rank.mmr(zip("abcd", [1, 0.5, 0.5, 0.5], vectors, strict=True))
    assert [item for item, _ in picked] == ["a", "d", "b", "c"]


def test_mn_41_unequal_dimensions_are_named() -> None:
    with pytest.raises(BadQuery, match="of 'a' has 3 numbers, that of 'b' has 2") as caught:
        rank.mmr([["a", 1, [1, 2, 3]], ["b", 1, [1, 2]]])
    assert caught.value.hint


def test_mn_42_the_relevance_is_the_raw_rank_fusion() -> None:
    assert [item for item, _ in diverse(0.5, 5)] == ["m02", "m10", "m16", "m01", "m09"]
    for trade in (1.0, 7.0):
        assert [item for item, _ in diverse(trade, 5)] == ["m02", "m17", "m01", "m09", "m18"]
    assert [item for item, _ in diverse(0.5, 0)] == [
        "m02", "m10", "m16", "m01", "m09", "m17", "m19", "m18", "m07", "m08", "m13",
    ]  # fmt: skip


def test_mn_43_who_has_no_vector_follows_after_the_others() -> None:
    rows = [["a", 0.1, [1, 0]], ["b", 0.9, None], ["c", 1.0, [0, 1]], ["d", 0.9, None]]
    assert rank.mmr(rows) == [("c", 1), ("a", 2), ("b", 3), ("d", 4)]
    assert rank.mmr(rows, k=3) == rank.mmr(rows)[:3]
    assert rank.mmr([["b", 1, None], ["a", 2, None]]) == [("a", 1), ("b", 2)]


# -- what cannot be read ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "call",
    [
        lambda given: given.rrf("abc"),
        lambda given: given.rrf(7),
        lambda given: given.rrf([1, 2]),
        lambda given: given.rrf([["a", "b"]]),
        lambda given: given.rrf([["vec", "a", 0.5], ["vec", "b"]]),
        lambda given: given.rrf([["vec", "a", "high"]]),
        lambda given: given.rrf([["vec", "a", True]]),
        lambda given: given.rrf([["vec", 1.5, 0.5]]),
        lambda given: given.rrf([["vec", ("a",), 0.5]]),
        lambda given: given.rrf([["vec", "a", 10**400]]),
        lambda given: given.rrf({"vec": "ab"}),
        lambda given: given.rrf({None: [("a", 1)]}),
        lambda given: given.rrf(LISTS, k=math.nan),
        lambda given: given.rrf(LISTS, k="60"),
        lambda given: given.weighted(LISTS, [1.0]),
        lambda given: given.weighted(LISTS, {"vec": 1.0}),
        lambda given: given.weighted(LISTS, {"vec": 1.0, "fts": 1.0, "more": 1.0}),
        lambda given: given.weighted(LISTS, [1.0, -1.0]),
        lambda given: given.weighted(LISTS, scale="best"),
        lambda given: given.weighted(LISTS, scale=[["max"], "max"]),
        lambda given: given.weighted(LISTS, absent="drop"),
        lambda given: given.weighted([[("a", 1e300)]], scale="none"),
        lambda given: given.smooth([("a", 1)], [("a", 1)], fade=0),
        lambda given: given.smooth([("a", 1)], [("a", 1)], lift=-1),
        lambda given: given.smooth([("a", 1e9)], [("a", 1)]),
        lambda given: given.mmr(["a"]),
        lambda given: given.mmr("abc"),
        lambda given: given.mmr([["a", 1.0]]),
        lambda given: given.mmr([["a", 1.0, [1.0], 2]]),
        lambda given: given.mmr([["a", 1.0, [1.0]], ["a", 2.0, [1.0]]]),
        lambda given: given.mmr([["a", "high", [1.0]]]),
        lambda given: given.mmr([[1.5, 1.0, [1.0]]]),
        lambda given: given.mmr([["a", 1.0, "word"]]),
        lambda given: given.mmr([["a", 1.0, [[1.0]]]]),
        lambda given: given.mmr([["a", 1.0, object()]]),
        lambda given: given.mmr([["a", 1.0, [1.0]]], k=-1),
        lambda given: given.mmr([["a", 1.0, [1.0]]], trade=math.nan),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_a_bad_query(call: Any) -> None:
    with pytest.raises(BadQuery) as caught:
        call(rank)
    assert caught.value.field
