"""What engrava claims of its neighbour reads, by number; the boost itself comes elsewhere."""

from __future__ import annotations

import numpy as np
import pytest

from recollect.index.graph import Graph, Neighbours
from recollect.memory.facade import Memory
from recollect.testing.fakes import START


def graph_of(memory: Memory) -> Graph:
    return memory._parts.shelf.reading("default", None).graph


def near(memory: Memory, *ids: str, most: int = 5) -> Neighbours:
    graph = graph_of(memory)
    nodes = np.array([memory.get(one).position for one in ids], np.int64)
    every = np.ones(graph.rows.size, np.bool_)
    return graph.neighbours(nodes, graph.edges.holding(START), every, most)


@pytest.mark.parametrize("recipe", ["recollect", "lexical", "semantic"])
def test_en_23_a_search_without_a_graph_lane_reads_no_edge(memory: Memory, recipe: str) -> None:
    memory.remember("ssh port", id="a")
    memory.remember("cache", id="b", links=[{"target": "a", "kind": "related_to"}])
    memory.recall("ssh port", recipe=recipe)
    assert "graph" not in vars(memory._parts.shelf.reading("default", None))
    memory.recall("ssh port", recipe="linked")
    assert "graph" in vars(memory._parts.shelf.reading("default", None))


def test_en_26_edges_count_in_both_directions_and_of_all_kinds(memory: Memory) -> None:
    for name in "abc":
        memory.remember(name, id=name)
    memory.link("a", "b", "related_to", weight=0.5)
    memory.link("c", "a", "mine", weight=0.7)
    memory.link("a", "a", "mine", weight=9.0)
    found = near(memory, "a")
    assert (found.others.tolist(), found.weights.tolist()) == ([2, 1], [0.7, 0.5])


def test_en_29_neighbours_come_heaviest_first_then_oldest_and_only_five(memory: Memory) -> None:
    memory.remember("c", id="c")
    for n in range(6):
        memory.remember(f"n{n}", id=f"n{n}")
    for n, weight in enumerate((0.5, 0.9, 0.1, 0.9, 0.5, 0.7)):
        memory.link("c", f"n{n}", "related_to", weight=weight)
    assert near(memory, "c").others.tolist() == [2, 4, 6, 1, 5]
    assert near(memory, "c", most=9).others.tolist() == [2, 4, 6, 1, 5, 3]


@pytest.mark.parametrize(("count", "reads"), [(0, 0), (1, 1), (450, 1), (451, 2), (901, 3)])
def test_en_31_one_read_serves_450_candidates(memory: Memory, count: int, reads: int) -> None:
    memory.remember("a", id="a")
    memory.remember("b", id="b", links=[{"target": "a", "kind": "related_to"}])
    found = near(memory, *(["a"] * count))
    assert found.reads == reads
    assert found.owners.tolist() == [0] * count
