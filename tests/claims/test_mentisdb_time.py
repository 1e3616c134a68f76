"""What MentisDB claims of time, as-of, recency and cohesion, by number, fused totals apart."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.claims.corpus import ids, scores
from tests.inside import clock_of, view_of

import memoriter
from memoriter.index.reads import chain_length, numbers
from memoriter.memory.facade import Memory
from memoriter.rank.decay import Reach, by_position, confidence, importance, near_strong
from memoriter.testing.fakes import START, CountedEntropy, HandClock
from memoriter.why.result import Result

DAY = 86_400 * 1_000_000
PLAIN: dict[str, Any] = {"lanes.meaning.enabled": False}
GRAPH: dict[str, Any] = {**PLAIN, "graph": True}
BY_VALIDITY: dict[str, Any] = {**PLAIN, "select.as_of": "validity"}


def ask(memory: Memory, text: str, **more: Any) -> Result:
    more.setdefault("overrides", PLAIN)
    return memory.recall(text, recipe="mentisdb", **more)


def ids_found(memory: Memory, text: str, **more: Any) -> set[str]:
    return set(ids(ask(memory, text, **more)))


def wait(memory: Memory, days: float = 1.0) -> int:
    """Let time pass; the time before."""
    before = clock_of(memory).now()
    clock_of(memory).move(days * 86_400)
    return before


def replaced(memory: Memory, kind: str = "supersedes") -> tuple[int, int]:
    """An old port and, two days later, a new one; when each was written."""
    old = wait(memory, 2)
    memory.remember("the port is 22", id="old", created=old)
    between = clock_of(memory).now()
    wait(memory, 2)
    memory.remember("the port is 49222", id="new", links=[{"target": "old", "kind": kind}])
    return between, clock_of(memory).now()


def test_md_11_without_as_of_a_superseded_record_is_still_found(memory: Memory) -> None:
    replaced(memory)
    result = ask(memory, "port")
    assert set(ids(result)) == {"old", "new"}
    assert {hit.id: hit.superseded_by for hit in result} == {"old": ("new",), "new": ()}
    ours = memory.recall("port", recipe="lexical")
    assert ids(ours) == ["new"]


def test_md_12_what_was_appended_later_goes_whatever_validity_it_claims(memory: Memory) -> None:
    memory.remember("port one", id="early", valid_from=START + 900 * DAY)
    first = wait(memory)
    memory.remember("port two", id="late", valid_from=START - 900 * DAY)
    second = wait(memory)
    assert ids_found(memory, "port", as_of=first - 1) == set()
    assert ids_found(memory, "port", as_of=first) == {"early"}  # exactly then stays
    assert ids_found(memory, "port", as_of=second - 1) == {"early"}
    assert ids_found(memory, "port", as_of=second) == {"early", "late"}
    validity = ids_found(memory, "port", as_of=first, overrides=BY_VALIDITY)
    assert validity == {"late"}


def test_md_12_an_update_does_not_move_when_a_record_was_appended(memory: Memory) -> None:
    memory.remember("port one", id="a")
    first = wait(memory)
    memory.update("a", text="port one, edited")
    wait(memory)
    result = ask(memory, "port", as_of=first)
    assert [(hit.id, hit.record.text) for hit in result] == [("a", "port one, edited")]


def test_md_12_the_append_time_outlives_merges_and_the_horizon(tmp_path: Path) -> None:
    clock = HandClock()
    options: dict[str, Any] = {"maintenance": "manual", "flush_rows": 2, "embedder": None}
    place = tmp_path / "m.db"
    with memoriter.open(place, clock=clock, entropy=CountedEntropy(), **options) as memory:
        memory.remember("port one", id="a")
        memory.remember("port two", id="b")
        first = wait(memory)
        memory.update("b", text="port two, edited")
        memory.remember("port three", id="c")
        wait(memory, 90)
        memory.maintain()
        memory.update("a", importance=0.9)
        wait(memory, 90)
        memory.maintain()
        assert ids_found(memory, "port", as_of=first) == {"a", "b"}
        assert ids_found(memory, "port", as_of=first - 1) == set()
    with memoriter.open(place, clock=clock, **options) as again:
        assert ids_found(again, "port", as_of=first) == {"a", "b"}


@pytest.mark.parametrize("kind", ["supersedes", "corrects", "invalidates"])
def test_md_13_what_was_replaced_by_then_goes_and_the_newer_one_stays(
    memory: Memory, kind: str
) -> None:
    between, after = replaced(memory, kind)
    assert ids_found(memory, "port", as_of=after - 1) == {"old"}
    assert ids_found(memory, "port", as_of=after) == {"new"}  # a replacement exactly then removes
    assert ids_found(memory, "port", as_of=between) == {"old"}


def test_md_13_a_replacement_need_be_no_candidate(memory: Memory) -> None:
    _, after = replaced(memory)
    where = {"id": {"in": ["old"]}}
    assert ids_found(memory, "port", as_of=after - 1, where=where) == {"old"}
    assert ids_found(memory, "port", as_of=after, where=where) == set()
    memory.update("new", archived=True)
    hiding = {**PLAIN, "select.archived": "hide"}
    assert ids_found(memory, "port", as_of=after, overrides=hiding) == set()


def test_md_13_append_time_decides_when_a_replacement_begins(memory: Memory) -> None:
    memory.remember("the port is 22", id="old")
    wait(memory)
    memory.remember("the port is 49222", id="new", supersedes="old", valid_from=START - 99 * DAY)
    written = wait(memory)
    assert ids_found(memory, "port", as_of=written - 1) == {"old"}
    assert ids_found(memory, "port", as_of=written) == {"new"}
    memory.remember(
        "the port will be 443", id="next", supersedes="new", valid_from=START + 99 * DAY
    )
    assert ids_found(memory, "port", as_of=clock_of(memory).now()) == {"next"}


def test_md_13_a_replacement_that_was_taken_back_by_then_replaces_nothing(memory: Memory) -> None:
    _, after = replaced(memory)
    wait(memory)
    (edge,) = memory.links("new")
    closed = clock_of(memory).now()
    memory.link("new", "old", "supersedes", valid_from=edge.valid_from, valid_until=closed)
    wait(memory)
    assert ids_found(memory, "port", as_of=closed - 1) == {"new"}
    assert ids_found(memory, "port", as_of=closed) == {"old", "new"}
    assert ids_found(memory, "port", as_of=after) == {"new"}


def test_md_14_before_between_and_after(memory: Memory) -> None:
    """X29."""
    between, after = replaced(memory)
    assert ids_found(memory, "port", as_of=between - 1) == set()
    assert ids_found(memory, "port", as_of=between) == {"old"}
    assert (
        ids_found(memory, "port", as_of=after)
        == {"new"}
        == ids_found(memory, "port", as_of=after + DAY)
    )


def test_md_14_word_statistics_and_the_denominator_are_not_rewound(memory: Memory) -> None:
    memory.remember("port one", id="a")
    then = wait(memory)
    for n in range(4):
        memory.remember(f"port number {n}", id=f"later{n}")
    whole, past = ask(memory, "port"), ask(memory, "port", as_of=then)
    assert scores(past) == [pair for pair in scores(whole) if pair[0] == "a"]
    rewound = ask(memory, "port", known_at=then)
    assert scores(rewound) != scores(past)
    assert chain_length(view_of(memory)) == 5
    shown = next(step.shows for step in past.plan.steps if step.name == "select")
    assert (shown["after scope"], shown["after as_of"]) == (5, 1)
    assert "recorded" in shown
    assert "recorded" in past.receipt.body["outcomes"]  # type: ignore[operator]  # data


def test_md_15_a_walk_uses_only_edges_recorded_by_then_and_valid_then(memory: Memory) -> None:
    for name, text in (("a", "lru seed"), ("b", "far one"), ("c", "far two"), ("d", "far three")):
        memory.remember(text, id=name)
    bare = wait(memory)
    memory.link("a", "b", "related_to")
    memory.link("a", "c", "related_to", valid_from=START + 30 * DAY, valid_until=START + 40 * DAY)
    tied = wait(memory)
    memory.link("a", "d", "related_to", valid_from=START - 99 * DAY)  # says that it is old
    late = wait(memory)

    def reached(as_of: int) -> set[str]:
        walked = ask(memory, "lru", overrides=GRAPH, as_of=as_of)
        assert [hit.id for hit in walked if "words" in hit.lanes] == ["a"]
        page = memory.bundles("lru", recipe="mentisdb", overrides=GRAPH, as_of=as_of)
        support = {each.record.id for bundle in page for each in bundle.support}
        assert support == {hit.id for hit in walked} - {"a"}
        return support

    assert reached(bare) == set()
    assert reached(tied) == {"b"} == reached(late - 1)
    assert reached(late) == {"b", "d"}
    assert reached(START + 30 * DAY) == {"b", "c", "d"}
    assert reached(START + 40 * DAY) == {"b", "d"}


def test_md_15_an_edge_that_was_closed_later_still_led_there_then(memory: Memory) -> None:
    memory.remember("lru seed", id="a")
    memory.remember("far", id="b")
    memory.link("a", "b", "related_to", valid_from=START)
    wait(memory)
    memory.link("a", "b", "related_to", valid_from=START, valid_until=START + 1)
    noon = START + DAY // 2
    assert ids_found(memory, "lru", overrides=GRAPH, as_of=noon) == {"a", "b"}
    assert ids_found(memory, "lru", overrides=GRAPH, as_of=START + DAY) == {"a"}
    assert ids_found(memory, "lru", overrides={**GRAPH, **BY_VALIDITY}, as_of=noon) == {"a"}


def test_md_15_a_walk_passes_what_was_replaced_and_not_what_came_later(memory: Memory) -> None:
    memory.remember("lru seed", id="a")
    memory.remember("between", id="m", links=[{"target": "a", "kind": "related_to"}])
    memory.remember("far", id="f", links=[{"target": "m", "kind": "related_to"}])
    memory.remember("instead", id="n", supersedes="m")
    then = wait(memory)
    assert ids_found(memory, "lru", overrides=GRAPH, as_of=then) == {"a", "f", "n"}
    (hit,) = [hit for hit in ask(memory, "lru", overrides=GRAPH, as_of=then) if hit.id == "f"]
    path: Any = hit.lanes["links"].why.facts["path"]
    assert ["hidden" in hop for hop in path] == [False, True, False]


def test_md_15_a_boost_by_links_uses_only_those_recorded_by_then(memory: Memory) -> None:
    for name in "ab":
        memory.remember("lru seed", id=name)
    bare = wait(memory)
    memory.link("a", "b", "related_to", valid_from=START - DAY)
    tied = wait(memory)
    lifting = {"near": {"kind": "neighbours", "of": ["words.score"]}}
    overrides = {
        **PLAIN,
        "boosts": lifting,
        "pass.0.boosts": ["near"],
        "pass.1.boosts": [],
        "scores": {},
    }

    def lifted(as_of: int) -> list[bool]:
        result = ask(memory, "lru", overrides=overrides, as_of=as_of)
        return [hit.score > hit.explanation.parts[0].value for hit in result]

    assert lifted(bare) == [False, False]
    assert lifted(tied) == [True, True]


def test_md_15_bundles_leave_out_what_was_not_there_or_was_replaced(memory: Memory) -> None:
    between, after = replaced(memory)
    for as_of, seeds in ((between - 1, []), (between, ["old"]), (after, ["new"])):
        page = memory.bundles("port", recipe="mentisdb", overrides=GRAPH, as_of=as_of)
        assert [bundle.seed.id for bundle in page] == seeds
        assert [each.record.id for bundle in page for each in bundle.support] == []
    shown = memory.bundles("port", recipe="mentisdb", overrides=GRAPH)
    assert {bundle.seed.id: bundle.seed.superseded_by for bundle in shown} == {
        "old": ("new",), "new": (),
    }  # fmt: skip


def test_md_43_the_heuristic_of_g3_and_what_is_absent() -> None:
    none = np.full(2, np.nan)
    values = (
        importance(np.array([1.0, 0.1]), none, 0.3, 0.1)
        + confidence(np.array([1.0, 0.1]), 0.1)
        + by_position(np.array([0.0, 1.0]), 2, 0.05)
    )
    assert values.tolist() == pytest.approx([0.15, 0.02], abs=1e-9)
    assert confidence(none, 0.1).tolist() == [0.0, 0.0]
    assert importance(none, np.ones(2), 0.3, 0.1).tolist() == [0.0, 0.0]  # default .5
    assert by_position(np.array([0.0]), 1, 0.05).tolist() == pytest.approx([0.05], abs=1e-9)


def test_md_43_edges_vectors_and_edits_do_not_move_a_position(memory: Memory) -> None:
    memory.remember("one", id="a")
    memory.remember("two", id="b")
    memory.link("a", "b")
    memory.update("a", text="one, edited")
    memory.remember("three", id="c")
    view = view_of(memory)
    rows = np.array([memory.get(name).row for name in "abc"])
    positions = numbers(view, rows, "position")
    assert positions.tolist() == [0.0, 1.0, 2.0]
    values = by_position(positions, chain_length(view), 0.05)
    assert values.tolist() == pytest.approx([0.0, 0.025, 0.05], abs=1e-9)


def test_md_44_what_a_distance_is_worth() -> None:
    away = [1, 2, 3, 6, 11, 12, 13]
    positions = np.array([0.0, *map(float, away)])
    lexical = np.array([3.0, *(0.0 for _ in away)])
    values = near_strong(positions, lexical, Reach(12, 1.2, 3.0, 5.0))
    assert values.tolist() == pytest.approx([0.0, 1.1, 1.0, 0.9, 0.6, 0.1, 0.0, 0.0], abs=1e-9)


def test_md_44_a_session_plays_no_part_unless_asked_for() -> None:
    positions, lexical = np.array([0.0, 1.0, 2.0]), np.array([4.0, 0.0, 0.0])
    free = near_strong(positions, lexical, Reach(12, 1.2, 3.0, 5.0))
    confined = near_strong(positions, lexical, Reach(12, 1.2, 3.0, 5.0), np.array([0, 1, 0]))
    assert free.tolist() == pytest.approx([0.0, 1.1, 1.0], abs=1e-9)
    assert confined.tolist() == pytest.approx([0.0, 0.0, 1.0], abs=1e-9)


def test_md_50_bundles_honour_the_filter_the_limit_and_the_page(memory: Memory) -> None:
    """M33, with the support of each seed cut by the filter as well."""
    for n, word in enumerate(["cap cap cap", "cap cap", "cap"]):
        memory.remember(f"{word} seed {n}", id=f"s{n}", tags=["x"])
        memory.remember("hangs", id=f"h{n}", tags=["x"] if n else [], links=[tie(f"s{n}")])
        memory.remember("farther", id=f"f{n}", tags=["x"], links=[tie(f"h{n}")])
    page = memory.bundles("cap", 1, offset=1, recipe="mentisdb", overrides=GRAPH)
    assert (page.total, [bundle.seed.id for bundle in page]) == (3, ["s1"])
    assert [(each.record.id, each.depth) for each in page[0].support] == [("h1", 1), ("f1", 2)]
    some = memory.bundles("cap", recipe="mentisdb", overrides=GRAPH, where={"tags": {"any": ["x"]}})
    assert [[each.record.id for each in bundle.support] for bundle in some] == [
        ["f0"], ["h1", "f1"], ["h2", "f2"],
    ]  # fmt: skip
    nothing = memory.bundles(
        "cap", recipe="mentisdb", overrides=GRAPH, where={"kind": "no such kind"}
    )
    assert (nothing.total, list(nothing)) == (0, [])


def tie(target: str) -> dict[str, str]:
    return {"target": target, "kind": "related_to"}
