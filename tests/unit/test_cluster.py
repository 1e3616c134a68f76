"""Clusters by hand: near pairs, single link, label propagation, cohesion, the middle."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from memoriter.rank import cluster
from memoriter.rank.cluster import (
    clusters,
    cohesion,
    middle,
    near,
    propagated,
    propagated_along,
    single_link,
)
from memoriter.rank.grid import unit


def units(*vectors: tuple[float, ...]) -> NDArray[np.float32]:
    made = [unit(np.array(vector)) for vector in vectors]
    return np.stack([one for one in made if one is not None])


def pairs(size: int, *edges: tuple[int, int]) -> NDArray[np.bool_]:
    out = np.zeros((size, size), np.bool_)
    for one, other in edges:
        out[one, other] = out[other, one] = True
    return out


def test_a_pair_at_the_threshold_is_near() -> None:
    vectors = units((1.0, 0.0), (0.6, 0.8), (0.0, 1.0))
    exact = float(np.rint(vectors[0].astype(float) @ vectors[1].astype(float) * 2**32) / 2**32)
    assert near(vectors, exact)[0, 1]
    assert not near(vectors, exact + 2.0**-32)[0, 1]
    assert near(vectors, 0.79).tolist() == [[False] * 3, [False, False, True], [False, True, False]]


@given(
    st.lists(st.tuples(*[st.integers(-3, 3)] * 3).filter(any), min_size=1, max_size=12),
    st.sampled_from([0.0, 0.5, 0.9, 1.0]),
)
def test_near_is_what_exact_cosines_say_whatever_the_block(
    given_: list[tuple[int, ...]], least: float
) -> None:
    vectors = units(*(tuple(map(float, one)) for one in given_))
    wide = vectors.astype(np.float64)
    exact = np.rint(wide @ wide.T * 2**32) / 2**32 >= least
    np.fill_diagonal(exact, val=False)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cluster, "BLOCK", 2)
        assert np.array_equal(near(vectors, least), exact)


def test_single_link_follows_chains() -> None:
    chain = pairs(5, (0, 2), (2, 4))
    assert single_link(chain).tolist() == [0, 1, 0, 3, 0]
    assert [each.tolist() for each in clusters(single_link(chain))] == [[0, 2, 4], [1], [3]]


def test_labels_spread_within_dense_parts_and_not_over_a_bridge() -> None:
    one = [(a, b) for a in range(4) for b in range(a)]
    other = [(a + 4, b + 4) for a, b in one]
    close = pairs(8, *one, *other, (0, 7))
    assert single_link(close).tolist() == [0] * 8
    # 0 takes 1 of {1, 2, 3, 7}, so do 1, 2 and 3; 4 takes 5 of {5, 6, 7}, so do 5 and 6; then 7
    # has three neighbours with 5 and one with 1.
    assert propagated(close).tolist() == [1, 1, 1, 1, 5, 5, 5, 5]


def test_of_equally_many_labels_the_smallest_is_taken() -> None:
    # A path 2-0-1: 0 takes 1 of {1, 2}; 1 takes 1; 2 takes 1.
    assert propagated(pairs(3, (0, 1), (0, 2)), rounds=1).tolist() == [1, 1, 1]


def test_propagation_ends_when_nothing_changes() -> None:
    assert propagated(pairs(3)).tolist() == [0, 1, 2]
    assert propagated(pairs(2, (0, 1))).tolist() == [1, 1]
    assert propagated(np.zeros((0, 0), np.bool_)).tolist() == []
    assert clusters(np.zeros(0, np.int64)) == []


def test_nodes_are_visited_in_the_same_shuffled_order_on_every_machine() -> None:
    # Pairs that share no node: whoever of a pair is visited first takes the label of the other.
    # Of 0 … 9, as the pairs name them, round 1 visits 7, 3, 2, 8, 5, 6, 9, 4, 0, 1.
    pairs = [(0, 1), (2, 3), (4, 5), (6, 7), (8, 9)]
    assert propagated_along(pairs, 10, rounds=1).tolist() == [1, 1, 2, 2, 4, 4, 6, 6, 9, 9]


def test_labels_spread_along_links_and_of_equals_the_smallest_is_taken() -> None:
    assert propagated_along([], 3).tolist() == [0, 1, 2]
    # Visited in the order 1, 0, 2: 1 takes 0; 0 takes 0 of {0, 2}; 2 takes 0.
    assert propagated_along([(0, 1), (2, 0)], 3, rounds=1).tolist() == [0, 0, 0]


def test_cohesion_is_the_mean_over_pairs() -> None:
    # Cosines .6, 0 and .8.
    assert cohesion(units((1, 0), (0.6, 0.8), (0, 1))) == pytest.approx(1.4 / 3, abs=1e-6)


def test_the_middle_weighs_vectors_by_their_length() -> None:
    # (2, 0) and (0, 1): mean (1, .5), length sqrt(1.25).
    assert middle(np.array([[2.0, 0.0], [0.0, 1.0]])) == pytest.approx(
        [0.894427, 0.447214], abs=1e-6
    )
    assert middle(np.array([[1.0, 0.0], [-1.0, 0.0]])) is None
