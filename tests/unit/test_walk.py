"""Walks over small graphs, by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from memoriter.rank.walk import (
    Adjacency,
    Nodes,
    StepFilter,
    Tree,
    WalkBudget,
    bfs,
    cheapest,
    hops,
    hops_of,
)
from memoriter.rank.walks import EdgeWorth, Forest, gather, walks


def graph_of(*pairs: tuple[int, int], count: int = 8) -> tuple[Adjacency, StepFilter]:
    sources, targets = (np.array([pair[n] for pair in pairs], np.int64) for n in (0, 1))
    open_ = StepFilter(np.ones(len(pairs), np.bool_), np.ones(count, np.bool_))
    return Adjacency.of(sources, targets, count), open_


def depths_of(tree: Tree) -> list[tuple[int, int]]:
    return list(zip(tree.nodes.tolist(), tree.depths.tolist(), strict=True))


def test_the_first_visit_is_the_shortest_path() -> None:
    graph, allowed = graph_of((0, 1), (1, 2), (2, 3), (0, 3))
    assert depths_of(bfs(graph, allowed, 0, 9, 9)) == [(0, 0), (1, 1), (3, 1), (2, 2)]


def test_at_a_node_edges_are_followed_before_they_are_followed_backwards() -> None:
    graph, allowed = graph_of((1, 0), (0, 3), (0, 2))
    assert depths_of(bfs(graph, allowed, 0, 1, 9)) == [(0, 0), (2, 1), (3, 1), (1, 1)]


def test_directions_are_kept() -> None:
    graph, allowed = graph_of((0, 1), (2, 0))
    along = StepFilter(allowed.edges, allowed.nodes, against=False)
    against = StepFilter(allowed.edges, allowed.nodes, along=False)
    assert depths_of(bfs(graph, along, 0, 2, 9)) == [(0, 0), (1, 1)]
    assert depths_of(bfs(graph, against, 0, 2, 9)) == [(0, 0), (2, 1)]
    assert depths_of(hops(graph, against, [0], 2)) == [(0, 0), (2, 1)]


def test_a_visit_budget_cuts_and_says_so() -> None:
    graph, allowed = graph_of((1, 0), (2, 0), (3, 0))
    cut = bfs(graph, allowed, 0, 2, 2)
    assert (depths_of(cut), cut.truncated) == ([(0, 0), (1, 1)], True)
    assert not bfs(graph, allowed, 0, 2, 4).truncated
    assert depths_of(bfs(graph, allowed, 0, 0, 9)) == [(0, 0)]


def test_a_hub_costs_no_more_than_the_budget() -> None:
    graph, allowed = graph_of(*((0, n) for n in range(1, 5000) for _ in range(2)), count=5000)
    cut = bfs(graph, allowed, 0, 2, 4)
    assert (depths_of(cut), cut.truncated) == ([(0, 0), (1, 1), (2, 1), (3, 1)], True)
    fares = np.ones(9998)
    tree = cheapest(graph, allowed, [0], fares, WalkBudget(3, 2))
    assert (depths_of(tree), tree.truncated) == ([(0, 0), (1, 1), (2, 1)], True)


def test_a_closed_edge_or_node_is_not_passed() -> None:
    graph, allowed = graph_of((0, 1), (1, 2), (0, 3), (3, 2))
    allowed.nodes[1] = False
    assert depths_of(bfs(graph, allowed, 0, 3, 9)) == [(0, 0), (3, 1), (2, 2)]
    allowed.edges[2] = False
    assert depths_of(bfs(graph, allowed, 0, 3, 9)) == [(0, 0)]


def test_hops_are_counted_from_the_nearest_seed() -> None:
    graph, allowed = graph_of((0, 1), (1, 2), (5, 2))
    assert depths_of(hops(graph, allowed, [5, 0], 1)) == [(0, 0), (5, 0), (1, 1), (2, 1)]
    assert depths_of(hops(graph, allowed, [], 2)) == []


def test_the_cheapest_way_wins_over_the_shortest() -> None:
    graph, allowed = graph_of((0, 1), (1, 2), (0, 2))
    tree = cheapest(graph, allowed, [0], np.array([0.25, 0.25, 1.0]), WalkBudget(9, 3))
    assert tree.costs.tolist()[:3] == [0.0, 0.25, 0.5]
    assert hops_of(tree, 2) == [(0, 1, 0), (1, 2, int(tree.steps[2]))]


def test_a_highest_cost_is_included_and_a_negative_one_never_walked() -> None:
    graph, allowed = graph_of((0, 1), (0, 2), (0, 3))
    tree = cheapest(graph, allowed, [0], np.array([0.5, 0.75, -1.0]), WalkBudget(9, 3, 0.5))
    assert depths_of(tree) == [(0, 0), (1, 1)]


def latest_first(nodes: Nodes) -> NDArray[np.intp]:
    return np.argsort(-nodes)


def test_of_equal_costs_the_first_in_order_is_settled_first() -> None:
    graph, allowed = graph_of((0, 4), (0, 1), (1, 3))
    fares = np.array([1.0, 0.5, 0.5])
    tree = cheapest(graph, allowed, [0], fares, WalkBudget(9, 3))
    assert depths_of(tree) == [(0, 0), (1, 1), (3, 2), (4, 1)]
    tree = cheapest(graph, allowed, [0], fares, WalkBudget(9, 3), latest_first)
    assert depths_of(tree) == [(0, 0), (1, 1), (4, 1), (3, 2)]
    tree = cheapest(graph, allowed, [0], fares, WalkBudget(3, 3), latest_first)
    assert (depths_of(tree), tree.truncated) == ([(0, 0), (1, 1), (4, 1)], True)


def test_equal_ways_to_a_node_go_to_fewer_hops_then_to_the_parent_that_comes_first() -> None:
    graph, allowed = graph_of((0, 1), (0, 2), (1, 3), (2, 3), (0, 3))
    fares = np.array([0.5, 0.25, 0.5, 0.75, 2.0])
    parents: list[int] = []
    for order in (np.argsort, latest_first):
        tree = cheapest(graph, allowed, [0], fares, WalkBudget(9, 3), order)
        parents.append(hops_of(tree, tree.nodes.tolist().index(3))[-1][0])
    assert parents == [1, 2]
    fares[-1] = 1.0
    tree = cheapest(graph, allowed, [0], fares, WalkBudget(9, 3))
    assert hops_of(tree, tree.nodes.tolist().index(3)) == [(0, 3, int(tree.steps[-1]))]


def test_what_a_step_of_cost_0_leads_to_takes_its_turn_among_equals() -> None:
    graph, allowed = graph_of((0, 5), (0, 2), (2, 1), (2, 9), count=10)
    tree = cheapest(graph, allowed, [0], np.array([1.0, 1.0, 0.0, 0.0]), WalkBudget(9, 3))
    assert depths_of(tree) == [(0, 0), (2, 1), (1, 2), (5, 1), (9, 2)]


def test_a_hub_with_equal_costs_keeps_those_that_come_first() -> None:
    graph, allowed = graph_of(*((0, n) for n in range(1, 50)), count=50)
    tree = cheapest(graph, allowed, [0], np.ones(49), WalkBudget(3, 2), latest_first)
    assert depths_of(tree) == [(0, 0), (49, 1), (48, 1)]


def test_a_node_at_the_last_hop_goes_no_further_but_by_a_dearer_way_with_fewer_hops() -> None:
    graph, allowed = graph_of((0, 1), (1, 2), (0, 2), (2, 3))
    fares = np.array([0.1, 0.1, 1.0, 0.1])
    tree = cheapest(graph, allowed, [0], fares, WalkBudget(9, 2))
    assert depths_of(tree) == [(0, 0), (1, 1), (2, 2), (2, 1), (3, 2)]
    assert [node for _, node, _ in hops_of(tree, 4)] == [2, 3]
    assert depths_of(cheapest(graph, allowed, [0], fares, WalkBudget(9, 2, 1.0))) == [
        (0, 0), (1, 1), (2, 2), (2, 1),
    ]  # fmt: skip
    assert depths_of(cheapest(graph, allowed, [0], fares, WalkBudget(3, 2)))[:3] == [
        (0, 0),
        (1, 1),
        (2, 2),
    ]


def test_parallel_edges_make_one_hop_worth_the_best_of_them() -> None:
    graph, allowed = graph_of((0, 1), (0, 1), (0, 1))
    worth = EdgeWorth(np.array([0.1, 0.4, 0.2]), np.arange(3))
    trees = [bfs(graph, allowed, 0, 2, 9)]
    assert depths_of(trees[0]) == [(0, 0), (1, 1)]
    assert [path.worth for path in gather(Forest.of(trees), graph, allowed, worth)] == [0.0, 0.4]
    allowed.edges[1] = False
    assert [path.worth for path in gather(Forest.of(trees), graph, allowed, worth)] == [0.0, 0.2]


@pytest.mark.parametrize("order", [(0, 3), (3, 0)])
def test_the_best_path_is_the_shortest_then_the_most_valuable(order: tuple[int, int]) -> None:
    graph, allowed = graph_of((0, 1), (3, 1), (0, 4), (4, 5), (3, 5))
    worth = EdgeWorth(np.array([0.1, 0.5, 0.6, 0.6, 0.1]), np.arange(5))
    trees = [bfs(graph, allowed, seed, 2, 9) for seed in order]
    paths = {each.node: each for each in gather(Forest.of(trees), graph, allowed, worth)}
    assert (paths[1].depth, paths[1].seeds, paths[1].worth) == (1, 2, 0.5)
    assert order[paths[1].tree] == 3
    assert (paths[5].depth, paths[5].worth) == (1, 0.1)
    assert paths[0].seeds == paths[3].seeds == 1


@given(
    st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7)), max_size=25),
    st.lists(st.integers(0, 7), max_size=4, unique=True),
    st.integers(0, 4),
    st.integers(1, 9),
    st.tuples(st.booleans(), st.booleans(), st.integers(0, 255)),
)
def test_walks_together_are_walks_one_by_one(
    pairs: list[tuple[int, int]],
    seeds: list[int],
    max_depth: int,
    max_visited: int,
    shut: tuple[bool, bool, int],
) -> None:
    graph, allowed = graph_of(*pairs)
    nodes = np.array([shut[2] >> n & 1 == 0 for n in range(8)])
    allowed = StepFilter(allowed.edges, nodes, along=not shut[0], against=not shut[1])
    together = walks(graph, allowed, seeds, max_depth, max_visited)
    assert len(together) == len(seeds)
    for n, seed in enumerate(seeds):
        tree = together.tree(n)
        alone = bfs(graph, allowed, seed, max_depth, max_visited)
        for field in ("nodes", "depths", "parents", "steps", "costs"):
            assert getattr(tree, field).tolist() == getattr(alone, field).tolist()
        assert (tree.read, tree.truncated) == (alone.read, alone.truncated)
