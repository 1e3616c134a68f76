"""What reflections lift, by hand: parent score · 0.7 · edge weight (EN-28)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
import pytest
from tests.claims.corpus import open_empty
from tests.inside import log_of, view_of

from memoriter.core.query import Query
from memoriter.core.scope import Scope
from memoriter.core.where import parse_where
from memoriter.lanes.effects import Effects
from memoriter.lanes.port import Context, Wording
from memoriter.lanes.reflection_sources import Sources, sources_of
from memoriter.memory.facade import Memory
from memoriter.pipeline.bind import bind
from memoriter.pipeline.boosts.sources import Lift, lifted
from memoriter.pipeline.load import recipe_of
from memoriter.text.default import DefaultAnalyzer


def sources_from(*edges: tuple[int, int, float], unwanted: Sequence[int] = ()) -> Sources:
    owners, targets, weights = zip(*edges, strict=True)
    wanted = [target not in unwanted for target in targets]
    return Sources(
        np.array(owners), np.array(targets), np.array(weights, np.float64), np.array(wanted)
    )


ROWS = np.array([9, 7, 8, 6])
SCORES = np.array([1.0, 0.9, 0.8, 0.5])


def shown(sources: Sources, lift: Lift | None = None) -> dict[int, float]:
    gained = lifted(ROWS, SCORES, sources, lift or Lift())
    return dict(zip(gained.rows.tolist(), gained.scores.tolist(), strict=True))


def test_a_source_gets_a_share_of_its_best_parent() -> None:
    sources = sources_from((7, 1, 1.0), (7, 2, 0.5), (8, 1, 1.0), (8, 3, 1.0))
    assert shown(sources) == pytest.approx({1: 0.63, 2: 0.315, 3: 0.56}, abs=1e-9)
    gained = lifted(ROWS, SCORES, sources, Lift())
    assert gained.parents.tolist() == [7, 7, 8]
    assert gained.weights.tolist() == [1.0, 0.5, 1.0]


def test_a_reflection_with_too_many_sources_lends_nothing() -> None:
    sources = sources_from((7, 1, 1.0), (7, 2, 1.0), (7, 4, 1.0), (8, 3, 1.0))
    assert set(shown(sources)) == {1, 2, 3, 4}
    assert set(shown(sources, Lift(ceiling=2))) == {3}
    assert set(shown(sources, Lift(sources=2))) == {1, 2, 3}


def test_what_is_not_wanted_counts_against_the_ceiling_and_is_not_lifted() -> None:
    sources = sources_from((7, 1, 1.0), (7, 2, 1.0), unwanted=[1])
    assert set(shown(sources)) == {2}
    assert shown(sources, Lift(ceiling=1)) == {}
    assert shown(sources_from((7, 1, -1.0), (7, 2, 0.0))) == {}


def context(memory: Memory, where: object = None) -> Context:
    query = Query(text="", scope=Scope(), now=2**60, limit=10, where=parse_where(where))
    fetch = partial(log_of(memory).records, "default")
    return bind(
        query, recipe_of("lexical"), view_of(memory), Effects(fetch), Wording(DefaultAnalyzer())
    )


def test_sources_are_read_from_the_edges_of_a_view() -> None:
    memory = open_empty()
    memory.remember_many(
        {"text": id, "id": id, "kind": kind}
        for id, kind in [
            ("a", "observation"),
            ("b", "note"),
            ("c", "observation"),
            ("r", "reflection"),
        ]
    )
    for target, weight in (("a", 0.5), ("b", 1.0), ("c", 0.5)):
        memory.link("r", target, "consolidated_from", weight=weight)
    memory.link("r", "a", "related_to", weight=9.0)
    row = {id: memory.get(id).row for id in "abcr"}
    rows = np.array([row["a"], row["r"]])
    sources = sources_of(context(memory), rows)
    assert sources.owners.tolist() == [row["r"]] * 3
    assert sources.targets.tolist() == [row["b"], row["a"], row["c"]]
    assert sources.weights.tolist() == [1.0, 0.5, 0.5]
    assert sources.wanted.tolist() == [True] * 3
    assert sources_of(context(memory), rows, ["observation"]).wanted.tolist() == [False, True, True]
    narrow = context(memory, {"id": {"in": ["a", "r"]}})
    assert sources_of(narrow, rows).wanted.tolist() == [False, True, False]
    memory.forget("b")
    assert sources_of(context(memory), rows).targets.tolist() == [row["a"], row["c"]]
    assert sources_of(context(memory), rows[:1]).targets.size == 0
