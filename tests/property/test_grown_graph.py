"""A graph that grew with the log is the graph that is built at once."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from tests.inside import view_of

import memoriter
from memoriter.index.graph import Graph
from memoriter.memory.facade import Memory
from memoriter.testing.fakes import CountedEntropy, HandClock

ids = st.sampled_from("abcdef")
acts = st.lists(
    st.one_of(
        st.tuples(st.just("link"), ids, ids, st.sampled_from(["x", "y", "z"]), st.integers(0, 1)),
        st.tuples(st.just("remember"), ids),
        st.tuples(st.just("update"), ids),
        st.tuples(st.just("forget"), ids),
        st.tuples(st.just("many"), ids, ids),
    ),
    max_size=14,
)


def done(memory: Memory, act: tuple[Any, ...], n: int) -> None:
    known = {record.id for record in memory.browse(limit=100).records}
    match act:
        case ("link", source, target, kind, weight) if {source, target} <= known:
            memory.link(source, target, kind, weight=float(weight))
        case ("remember", id_) if id_ not in known:
            memory.remember(f"note {n}", id=id_)
        case ("update", id_) if id_ in known:
            memory.update(id_, text=f"other {n}")
        case ("forget", id_) if id_ in known:
            memory.forget(id_)
        case ("many", source, target) if {source, target} <= known:
            links = [{"target": target, "kind": "x"}, {"target": source, "kind": "new"}]
            memory.remember(f"linked {n}", links=links)
        case _:
            pass


def same(graph: Graph, whole: Graph) -> None:
    """Equal edges under equal names, and the same steps between them."""
    for key in ("seqs", "sources", "targets", "weights", "since", "until"):
        assert np.array_equal(getattr(graph.edges, key), getattr(whole.edges, key)), key
    kinds = [[each.edges.names[kind] for kind in each.edges.kinds] for each in (graph, whole)]
    assert kinds[0] == kinds[1]
    assert np.array_equal(graph.rows, whole.rows)
    for key in ("starts", "to", "edge", "forward", "until"):
        assert np.array_equal(getattr(graph.adjacency, key), getattr(whole.adjacency, key)), key


@given(acts, st.sets(st.integers(0, 13)))
def test_a_graph_that_grew_is_the_graph_built_at_once(
    history: list[tuple[Any, ...]], walked: set[int]
) -> None:
    with memoriter.open(
        ":memory:", embedder=None, clock=HandClock(), entropy=CountedEntropy()
    ) as memory:
        for letter in "abc":
            memory.remember(letter, id=letter)
        for n, act in enumerate(history):
            done(memory, act, n)
            if n in walked:
                view = view_of(memory)
                fresh = Graph(view.seq, view.segments, view.visible, view.tombs)
                same(view.graph, fresh)


def test_a_write_without_links_sorts_nothing_anew() -> None:
    with memoriter.open(":memory:", embedder=None) as memory:
        for letter in "abc":
            memory.remember(letter, id=letter)
        memory.link("a", "b")
        before = view_of(memory).graph
        assert before.adjacency.to.tolist() == [1, 0]
        memory.remember("d", id="d")
        after = view_of(memory).graph
        assert after.edges is before.edges
        assert (after.adjacency.to is before.adjacency.to, after.rows.size) == (True, 4)
        memory.link("d", "a")
        grown = view_of(memory).graph
        assert grown.adjacency.to.tolist() == [1, 3, 0, 0]
