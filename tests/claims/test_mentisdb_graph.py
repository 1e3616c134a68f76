"""What MentisDB claims of its graph lane and its bundles, by number, fused totals apart."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.inside import clock_of

import memoriter
from memoriter.core.edge import EDGE_KINDS, REPLACING
from memoriter.core.errors import BadQuery, BadRecipe, BadRecord
from memoriter.memory.facade import Memory
from memoriter.testing.fakes import START
from memoriter.why.hit import Hit
from memoriter.why.result import Result

DAY = 86_400 * 1_000_000


def graph(**walk: Any) -> dict[str, Any]:
    """The recipe with its walk and without vectors, and these settings of the walk."""
    settings = {f"lanes.links.{name}": value for name, value in walk.items()}
    alone = {"lanes.meaning.enabled": False, "graph": True}
    return {"recipe": "mentisdb", "overrides": {**alone, **settings}}


def parts(hit: Hit) -> tuple[float, float, float]:
    """(graph, relation, seed_support) of a hit."""
    by_label = {part.label: part.value for part in hit.lanes["links"].why.parts}
    return tuple(round(by_label[k], 6) for k in ("graph", "relation", "seed_support"))  # type: ignore[return-value]  # three


def link_facts(result: Result) -> dict[str, Any]:
    """What the graph lane says of each hit that it has."""
    return {hit.id: hit.lanes["links"].why.facts for hit in result if "links" in hit.lanes}


def ask(memory: Memory, text: str, **walk: Any) -> dict[str, Hit]:
    result = memory.recall(text, 100, **graph(**walk))
    return {hit.id: hit for hit in result}


def e1(memory: Memory) -> None:
    """The six thoughts of example E1."""
    memory.remember("Cache miss rate measured at forty percent.", id="0")
    memory.remember(
        "We picked LRU eviction for the cache.", id="1", links=[tie("0", "derived_from")]
    )
    memory.remember("Unrelated lunch plans.", id="2")
    memory.remember("Follow up on eviction tuning.", id="3", links=[tie("1", "continues_from")])
    memory.remember("Note pointing back.", id="4", refs=[1])
    memory.remember(
        "Eviction policy review summary.", id="5", tags=["eviction"], links=[tie("3", "summarizes")]
    )


def tie(target: str, kind: str) -> dict[str, Any]:
    return {"target": target, "kind": kind}


def test_md_15_edges_count_by_record_and_by_validity(memory: Memory) -> None:
    memory.remember("lru seed", id="a")
    memory.remember("far one", id="b")
    memory.remember("far two", id="c")
    before = clock_of(memory).now()
    clock_of(memory).move(1)
    memory.link("a", "b", "related_to")
    memory.link("a", "c", "related_to", valid_from=START + DAY, valid_until=START + 2 * DAY)

    def reached(**more: Any) -> set[str]:
        return set(link_facts(memory.recall("lru", **graph(), **more))) - {"a"}

    assert reached() == {"b"}
    assert reached(as_of=START + DAY) == {"b", "c"}
    assert reached(as_of=START + 2 * DAY) == {"b"}
    assert reached(known_at=before) == set()
    page = memory.bundles("lru", **graph(), as_of=START + DAY)
    assert [each.record.id for each in page[0].support] == ["b", "c"]


def test_md_32_without_a_lexical_hit_the_lane_is_skipped_and_changes_nothing(
    memory: Memory,
) -> None:
    e1(memory)
    result = memory.recall("zebra", **graph())
    assert list(result) == []
    assert (result.status, result.used) == ("complete", ("words",))
    assert result.skipped == {"links": "no seeds: nothing was found by words"}
    blank = memory.recall("  ", **graph())
    assert ("links" in blank.used, len(blank)) == (False, 6)
    off = memory.recall("LRU eviction", **graph(enabled=False))
    assert [hit.id for hit in off] == ["5", "1", "3"]
    assert "links" not in memory.recall("LRU eviction", recipe="mentisdb").used


def test_md_33_refs_make_reference_edges_and_a_missing_position_is_refused(
    memory: Memory,
) -> None:
    e1(memory)
    assert [(edge.target, edge.kind) for edge in memory.links("4")] == [("1", "references")]
    with pytest.raises(BadRecord):
        memory.remember("nowhere", refs=[99])


BOOSTS = {
    "continues_from": 0.60, "branches_from": 0.55, "corrects": 0.50, "invalidates": 0.50,
    "supersedes": 0.45, "derived_from": 0.40, "summarizes": 0.20, "caused_by": 0.20,
    "supports": 0.15, "contradicts": 0.15, "related_to": 0.08, "references": 0.06,
}  # fmt: skip


@pytest.mark.parametrize("kind", BOOSTS)
def test_md_33_and_37_each_of_the_twelve_kinds_has_its_worth_and_may_have_its_time(
    memory: Memory, kind: str
) -> None:
    assert set(BOOSTS) == set(EDGE_KINDS)
    memory.remember("seed", id="s")
    memory.remember("far", id="near")
    memory.remember("far", id="far")
    memory.link("near", "s", kind)
    memory.link("far", "near", kind, valid_from=START, valid_until=START + DAY)
    hits = ask(memory, "seed")
    assert parts(hits["near"]) == (1.0, BOOSTS[kind], 0.0)
    assert parts(hits["far"]) == (0.5, BOOSTS[kind] / 2, 0.0)
    later = memory.recall("seed", **graph(), as_of=START + DAY)
    assert set(link_facts(later)) == (
        {"s", "near"} if kind not in REPLACING else set()
    )  # no seed then


def test_md_34_the_21st_hit_starts_no_walk(memory: Memory) -> None:
    for n in range(30):
        memory.remember("beside the point", id=f"x{n:02}")
    for n in range(21):
        memory.remember("seed", id=f"s{n:02}")
        memory.remember("far", id=f"f{n:02}", links=[tie(f"s{n:02}", "related_to")])
    hits = ask(memory, "seed")
    reached = sorted(id for id in hits if id.startswith("f"))
    assert reached == [f"f{n:02}" for n in range(20)]
    assert len([id for id in hits if id.startswith("s")]) == 21


def test_md_35_depth_and_visits_are_bounded_and_the_cut_is_told(memory: Memory) -> None:
    memory.remember("seed", id="s")
    for n in range(3):
        memory.remember("far", id=f"f{n}", links=[tie("s", "related_to")])
    result = memory.recall("seed", **graph(max_visited=2))
    assert set(link_facts(result)) == {"s", "f0"}
    shown = next(step.to_dict() for step in result.plan.steps if step.name == "links")
    assert (shown["visited"], shown["truncated"], shown["edges_read"]) == (2, True, 3)
    assert (shown["max_depth"], shown["direction"]) == (2, "both")
    plain = memory.recall("seed", **graph())
    usual = next(step.to_dict() for step in plain.plan.steps if step.name == "links")
    assert (usual["max_visited"], usual["truncated"]) == (128, False)
    assert set(link_facts(memory.recall("seed", **graph(max_visited=1)))) == {"s"}
    with pytest.raises(BadRecipe, match="max_visited"):
        memory.recall("seed", **graph(max_visited=0))
    assert set(ask(memory, "seed", max_depth=0)) == {"s"}
    assert set(ask(memory, "seed", direction="out")) == {"s"}
    assert set(ask(memory, "seed", direction="in")) == {"s", "f0", "f1", "f2"}


def test_md_36_a_depth_is_the_shortest_distance_and_runs_are_equal(memory: Memory) -> None:
    memory.remember("seed", id="s")
    for name in "abcd":
        memory.remember("far", id=name)
    for ends in (("s", "a"), ("a", "b"), ("b", "c"), ("c", "s"), ("b", "d")):
        memory.link(*ends, "related_to")
    facts = link_facts(memory.recall("seed", **graph(max_depth=9)))
    assert {name: fact["distance"] for name, fact in facts.items()} == {
        "s": 0, "a": 1, "c": 1, "b": 2, "d": 3,
    }  # fmt: skip
    for fact in facts.values():
        names = [hop["id"] for hop in fact["path"]]
        assert len(set(names)) == len(names)
    cut = [link_facts(memory.recall("seed", **graph(max_depth=9, max_visited=3))) for _ in "12"]
    assert cut[0] == cut[1]
    assert set(cut[0]) == {"s", "a", "c"}


def test_md_37_graph_and_relation(memory: Memory) -> None:
    memory.remember("Latency ranking seed for graph-aware retrieval.", id="0")
    memory.remember("First-hop support note.", id="1", links=[tie("0", "derived_from")])
    memory.remember("Second-hop support note.", id="2", links=[tie("1", "continues_from")])
    hits = ask(memory, "latency ranking", direction="in")
    assert parts(hits["0"]) == (0.0, 0.0, 0.0)
    assert parts(hits["1"]) == (1.0, 0.4, 0.0)
    assert parts(hits["2"]) == (0.5, 0.3, 0.0)
    assert [hop["id"] for hop in hits["2"].lanes["links"].why.facts["path"]] == ["0", "1", "2"]  # type: ignore[index, union-attr]  # data


def test_md_37_derived_from_comes_before_related_to(memory: Memory) -> None:
    memory.remember("seed", id="s")
    memory.remember("far", id="r", links=[tie("s", "related_to")])
    memory.remember("far", id="d", links=[tie("s", "derived_from")])
    ranked = [hit for hit in memory.recall("seed", **graph()) if hit.id != "s"]
    assert [hit.id for hit in ranked] == ["d", "r"]


def test_md_38_seed_support(memory: Memory) -> None:
    memory.remember("Memory cap seed alpha.", id="0")
    memory.remember("Memory cap seed beta.", id="1")
    both = [tie("0", "derived_from"), tie("1", "derived_from")]
    memory.remember("Shared support context reached from both seeds.", id="2", links=both)
    hits = ask(memory, "memory cap", direction="in", max_depth=1)
    assert parts(hits["2"]) == (1.0, 0.4, 0.2)
    assert hits["2"].lanes["links"].why.facts["seed_paths"] == 2


def test_md_38_at_most_five_further_seeds_count(memory: Memory) -> None:
    for n in range(8):
        memory.remember("seed", id=f"s{n}")
    memory.remember("far", id="f", links=[tie(f"s{n}", "related_to") for n in range(8)])
    assert parts(ask(memory, "seed")["f"]) == (1.0, 0.08, 1.0)


def test_md_39_a_neighbour_joins_the_ranking_with_no_word_of_its_own(memory: Memory) -> None:
    memory.remember("seed", id="s")
    memory.remember("far", id="f", links=[tie("s", "derived_from")])
    memory.remember("apart", id="a")
    result = memory.recall("seed", **graph())
    assert [hit.id for hit in result] == ["f", "s"]  # 1 + .4 + recency .025 is more than by words
    far = result[0]
    assert (far.matched, set(far.lanes)) == ({}, {"links"})
    assert far.lanes["links"].why.facts["distance"] == 1
    expected = dict.fromkeys(far.scores, 0.0) | {
        "graph": 1.0, "relation": 0.4, "recency": 0.025, "total": 1.425,
    }  # fmt: skip
    assert far.scores == {name: pytest.approx(value, abs=1e-6) for name, value in expected.items()}


def test_md_39_what_the_filter_removed_is_not_returned(memory: Memory) -> None:
    memory.remember("seed", id="s", tags=["x"])
    memory.remember("far", id="f", links=[tie("s", "derived_from")])
    result = memory.recall("seed", **graph(), where={"tags": {"any": ["x"]}})
    assert [hit.id for hit in result] == ["s"]
    assert result.total == 1


def test_md_39_a_walk_never_leaves_the_tenant(tmp_path: Path) -> None:
    """Both tenants have the seed and the far end; only one has the record between them."""
    for tenant, ids in (("whole", "smf"), ("parted", "sf")):
        with memoriter.open(tmp_path / "m.db", tenant=tenant, embedder=None) as memory:
            for id in ids:
                memory.remember({"s": "seed", "m": "between", "f": "far"}[id], id=id)
            if "m" in ids:
                memory.link("m", "s", "derived_from")
                memory.link("f", "m", "related_to")
    reached: dict[str, set[str]] = {}
    for tenant in ("whole", "parted"):
        with memoriter.open(tmp_path / "m.db", tenant=tenant, embedder=None) as memory:
            reached[tenant] = {hit.id for hit in memory.recall("seed", **graph())}
            assert memory.recall("seed", **graph()).receipt.to_bytes().count(b"between") == 0
    assert reached == {"whole": {"s", "m", "f"}, "parted": {"s"}}


def test_md_39_a_filter_removes_a_record_but_not_the_way_through_it(memory: Memory) -> None:
    memory.remember("seed", id="s", tags=["x"])
    memory.remember("between", id="m", links=[tie("s", "derived_from")])
    memory.remember("far", id="f", tags=["x"], links=[tie("m", "related_to")])
    where = {"tags": {"any": ["x"]}}
    result = memory.recall("seed", **graph(), where=where)
    assert {hit.id for hit in result} == {"s", "f"}
    far = next(hit for hit in result if hit.id == "f")
    assert (set(far.lanes), far.matched) == ({"links"}, {})
    assert far.lanes["links"].why.facts["path"] == [
        {"id": "s"},
        {"hidden": True, "kind": "derived_from", "direction": "in", "weight": 1.0},
        {"id": "f", "kind": "related_to", "direction": "in", "weight": 1.0},
    ]
    strict = memory.recall("seed", **graph(through="selection"), where=where)
    assert {hit.id for hit in strict} == {"s"}


def test_md_39_what_the_scope_does_not_hold_is_never_passed(memory: Memory) -> None:
    memory.remember("seed", id="s", agent="ann")
    memory.remember("secret", id="m", agent="bob", links=[tie("s", "related_to")])
    memory.remember("far", id="f", agent="ann", links=[tie("m", "related_to")])
    own = memory.scoped(agent="ann")
    assert {hit.id for hit in own.recall("seed", **graph())} == {"s"}
    assert {hit.id for hit in memory.recall("seed", **graph())} == {"s", "m", "f"}


def test_md_40_seeds_earn_nothing_from_one_another(memory: Memory) -> None:
    e1(memory)
    hits = ask(memory, "LRU eviction")
    assert set(hits) == {"0", "1", "3", "4", "5"}
    assert [parts(hits[name]) for name in "135"] == [(0.0, 0.0, 0.0)] * 3
    assert parts(hits["0"]) == (1.0, 0.4, 0.2)
    assert parts(hits["4"]) == (1.0, 0.06, 0.2)


def test_md_41_a_hit_tells_distance_paths_kinds_and_the_way(memory: Memory) -> None:
    e1(memory)
    facts = ask(memory, "LRU eviction")["0"].lanes["links"].why.facts
    assert facts == {
        "distance": 1,
        "seed_paths": 2,
        "kinds": ["derived_from", "continues_from"],
        "path": [
            {"id": "1"},
            {"id": "0", "kind": "derived_from", "direction": "out", "weight": 1.0},
        ],
    }


def test_md_41_without_seeds_in_the_lane_a_lexical_hit_stays(memory: Memory) -> None:
    e1(memory)
    hits = ask(memory, "LRU eviction", include_seeds=False)
    assert "1" in hits
    assert set(hits["1"].lanes) == {"words"}
    assert "links" in ask(memory, "LRU eviction")["1"].lanes


def test_md_50_bundles_hold_each_seed_with_its_own_neighbours(memory: Memory) -> None:
    memory.remember("cap cap seed alpha", id="a")
    memory.remember("cap seed beta", id="b")
    memory.remember("hangs on alpha", id="x", links=[tie("a", "derived_from")])
    memory.remember("hangs on beta", id="y", links=[tie("b", "related_to")])
    memory.remember("farther", id="z", links=[tie("y", "related_to")])
    memory.link("a", "b", "related_to")
    page = memory.bundles("cap", **graph(direction="in"))
    assert page.total == 2
    shown = {b.seed.id: [(s.record.id, s.depth) for s in b.support] for b in page}
    assert list(shown) == ["a", "b"]
    assert shown == {"a": [("x", 1)], "b": [("y", 1), ("x", 2), ("z", 2)]}
    shared = page[1].support[1]
    assert (shared.seed_paths, [hop["id"] for hop in shared.path]) == (2, ["b", "a", "x"])
    assert page[0].seed.matched == {"cap": ["text"]}
    assert page.to_dict()["total"] == 2


def test_md_50_pages_filters_and_what_has_no_graph(memory: Memory) -> None:
    for n in range(22):
        memory.remember("seed", id=f"s{n:02}")
        memory.remember("hangs", id=f"h{n:02}", links=[tie(f"s{n:02}", "related_to")])
    page = memory.bundles("seed", 1, offset=1)
    assert [bundle.seed.id for bundle in page] == ["s01"]
    assert page.total == 22
    late = memory.bundles("seed", 5, offset=19)
    assert [len(bundle.support) for bundle in late] == [1, 0, 0]
    assert list(memory.bundles("  ")) == []
    bare = memory.bundles("seed", 1, recipe="lexical")
    assert [bundle.support for bundle in bare] == [()]
    some = memory.bundles("seed", 1, where={"id": {"in": ["s00", "s01"]}})
    assert (some.total, some[0].support) == (2, ())
    with pytest.raises(BadQuery, match="seeds"):
        memory.bundles("seed", seeds=["s00"])
