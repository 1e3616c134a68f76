"""Any graph lane, on any history, answers as the oracle does, and its paths are real."""

from __future__ import annotations

import tempfile
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.inside import clock_of, engine_of, log_of
from tests.night import NIGHT
from tests.oracle.graph import Land, Link
from tests.oracle.lanes.walk import reach
from tests.property.strategies import EXAMPLES, MOMENTS, fields, wheres
from tests.property.worlds import LIMIT, foreseen, open_toy, world_of

from memoriter.core.errors import MemoriterError, NothingToRun
from memoriter.memory.facade import Memory
from memoriter.testing.fakes import SECOND, START, CountedEntropy, HandClock
from memoriter.why.hit import Hit
from memoriter.why.result import Result

IDS = ("a", "b", "c", "d", "e", "f")
KINDS = ("derived_from", "related_to", "continues_from", "supersedes", "mine")
WEIGHTS = (0.0, 0.1, 0.3, 0.5, 0.9, 1.0, 1.5, -1.0)
OWNERS = ("default", "default", "bot")
TEXTS = ("port", "port ssh", "cache", "ssh", "memory port", "run")
ids = st.sampled_from(IDS)

links = st.tuples(
    ids, ids, st.sampled_from(KINDS),
    st.fixed_dictionaries(
        {"weight": st.sampled_from(WEIGHTS)},
        optional={
            "valid_from": st.sampled_from(MOMENTS[:4]), "valid_until": st.sampled_from(MOMENTS[4:])
        },
    ),
)  # fmt: skip
acts = st.builds(
    lambda tied, done: [*(("link", link) for link in tied), *done],
    st.lists(links, min_size=6, max_size=20),
    st.lists(
        st.one_of(
            st.tuples(st.just("link"), links),
            st.tuples(st.just("forget"), ids),
            st.tuples(st.just("update"), st.tuples(ids, fields(2))),
            st.tuples(st.just("upkeep"), st.none()),
        ),
        max_size=6,
    ),
)
"""Many links, then a few changes of any sort."""
corpora = st.lists(
    st.fixed_dictionaries(
        {"text": st.sampled_from(TEXTS), "agent": st.sampled_from(OWNERS)},
        optional={"tags": st.just(["x"]), "valid_from": st.sampled_from(MOMENTS[2:5])},
    ),
    min_size=len(IDS),
    max_size=len(IDS),
)
filters = st.sampled_from([None, None, {"tags": {"any": ["x"]}}, {"id": {"in": ["a", "b", "d"]}}])
times = st.sampled_from([None, None, None, *MOMENTS, *(START + n * SECOND for n in range(1, 20))])
scopes = st.sampled_from([None, "default", "default", "bot"])
seeds = st.lists(ids, max_size=3, unique=True)

_COMMON: dict[str, st.SearchStrategy[Any]] = {
    "pool": st.sampled_from([1, 3, 1000, 1000, 1000]),
    "kinds": st.none() | st.none() | st.lists(st.sampled_from(KINDS), unique=True),
    "direction": st.sampled_from(["out", "in", "both", "both", "both"]),
    "through": st.sampled_from(["selection", "scope"]),
    "seed_count": st.sampled_from([1, 2, 3, 20]),
}
_KINDS: dict[str, dict[str, st.SearchStrategy[Any]]] = {
    "walk": {
        "max_depth": st.sampled_from([0, 1, 2, 2, 3]),
        "max_visited": st.sampled_from([1, 2, 3, 4, 99, 99]),
        "include_seeds": st.booleans(),
        "support": st.sampled_from([0.0, 0.2, 0.7]),
        "support_most": st.integers(0, 2),
    },
    "hops": {"max_hops": st.integers(1, 4)},
    "cheapest": {
        "max_hops": st.integers(1, 4),
        "max_nodes": st.sampled_from([1, 3, 4, 99, 99]),
        "max_cost": st.none() | st.sampled_from([0.0, 0.4, 0.9, 1.0, 1.2, 2.4]),
        "cost": st.sampled_from(["weight", "weight", "hop"]),
    },
}


@st.composite
def lanes(draw: st.DrawFn, seeding: tuple[str, ...]) -> dict[str, Any]:
    """A graph lane of any kind."""
    kind = draw(st.sampled_from(sorted(_KINDS)))
    spec = {key: draw(value) for key, value in {**_COMMON, **_KINDS[kind]}.items()}
    wanted = draw(st.lists(st.sampled_from(seeding), min_size=1, unique=True))
    return {"kind": kind, "seeds": wanted, **spec}


@st.composite
def recipes(draw: st.DrawFn) -> dict[str, Any]:
    """Words, and two graph lanes, the second perhaps seeded by the first."""
    words = {
        "kind": "bm25", "pool": 1000, "k1": 1.2, "b": 0.75, "fields": {"text": 1.0},
    }  # fmt: skip
    made = {
        "far": draw(lanes(("words", "near"))),
        "words": words,
        "near": draw(lanes(("words",))),
    }
    scale = draw(st.sampled_from(["max", "min_max"]))
    fuse = {"kind": "weighted", "scale": scale, "weights": dict.fromkeys(made, 1.0)}
    select = {
        "superseded": draw(st.sampled_from(["hide", "show"])),
        "as_of": draw(st.sampled_from(["validity", "append"])),
    }
    return {
        "name": "mine", "version": 1, "analyzer": "memoriter", "select": select,
        "lanes": made, "pass": [{"fuse": fuse}],
    }  # fmt: skip


def lived(memory: Memory, corpus: Any, done: Any) -> Memory:
    """A memory after some writes."""
    for name, draft in zip(IDS, corpus, strict=True):
        memory.remember(id=name, **draft)
    for verb, change in done:
        clock_of(memory).move(1)
        try:
            match verb:
                case "link":
                    source, target, kind, fields = change
                    memory.link(source, target, kind, **fields)
                case "forget":
                    memory.forget(change)
                case "update":
                    memory.update(change[0], **change[1])
                case _:
                    memory.maintain()
        except MemoriterError:
            continue
    return memory


def check_paths(memory: Memory, result: Result, ask: dict[str, Any]) -> None:
    """Every path of every hit: hops that exist, ends that fit, ids only where they may be told."""
    known_at = ask["known_at"]
    seq = None if known_at is None else log_of(memory).seq_at("default", known_at)
    world = world_of(memory, seq)
    place = {record.id: record.position for record in world.records}
    links = [(link.source, link.target, link.kind, link.weight) for link in world.links]
    for hit in result:
        for label in ("near", "far"):
            for path in paths_of(hit, label):
                assert path[-1]["id"] == hit.id
                for before, hop in pairwise(path):
                    if "hidden" in before or "hidden" in hop:
                        continue
                    ends = (place[before["id"]], place[hop["id"]])
                    ends = ends if hop["direction"] == "out" else ends[::-1]
                    assert (*ends, hop["kind"], hop["weight"]) in links


def paths_of(hit: Hit, label: str) -> list[Any]:
    return [hit.lanes[label].why.facts["path"]] if label in hit.lanes else []


def check_facts(memory: Memory, result: Result, oracle: Any) -> None:
    """What the evidence says of a hit is what the oracle says."""
    names = {record.position: record.id for record in world_of(memory).records}
    for hit in result:
        for label, walk in oracle.walks.items():
            if label not in hit.lanes:
                continue
            facts = hit.lanes[label].why.facts
            for key, value in walk[hit.id].facts.items():
                if key != "parent":
                    assert facts[key] == value
                elif facts[key] is not None:
                    assert facts[key] == names[value]


@given(corpora, acts, recipes(), st.sampled_from(["port", "port", "ssh", "zebra", ""]), st.data())
def test_any_graph_lane_answers_as_the_oracle_does(
    corpus: Any, done: Any, recipe: dict[str, Any], text: str, data: st.DataObject
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        memory = lived(open_toy(Path(folder) / "m.db"), corpus, done)
        scoped = data.draw(scopes)
        own = memory.scoped(agent=scoped) if scoped else memory
        for known_at in (None, clock_of(memory).now() - 4_000_000):
            ask = {
                "where": data.draw(filters | wheres()),
                "as_of": data.draw(times),
                "known_at": known_at,
                "seeds": {
                    label: [one for one in data.draw(seeds) if _may_start(own, one, known_at)]
                    for label in ("near", "far")
                },
            }
            if ask["as_of"] is not None:
                ask["seeds"] = {}
            oracle = foreseen(own, text, recipe, **ask)
            try:
                result = own.recall(text, LIMIT, recipe=recipe, **ask)
            except NothingToRun:
                assert not oracle.used
                continue
            assert [(hit.id, hit.score) for hit in result] == oracle.ranked
            assert list(result.used) == oracle.used
            check_paths(own, result, ask)
            if known_at is None:
                check_facts(own, result, oracle)
        memory.close()


def _may_start(memory: Memory, id: str, known_at: int | None) -> bool:
    try:
        record = memory.get(id) if known_at is None else memory.get(id, known_at=known_at)
    except MemoriterError:
        return False
    return all(getattr(record, key) == value for key, value in memory.scope.filters().items())


@given(corpora, corpora, acts, acts, recipes())
def test_a_walk_never_leaves_the_tenant(
    ours: Any, theirs: Any, done: Any, other: Any, recipe: dict[str, Any]
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        place, clock = Path(folder) / "m.db", HandClock()
        alone = lived(open_toy(), ours, done)
        own = lived(open_toy(place, clock), ours, done)
        stranger = open_toy(place, clock, CountedEntropy("theirs"), tenant="theirs")
        lived(stranger, theirs, other)
        moment = clock.now()
        answers = [
            [(hit.id, hit.to_dict()["lanes"]) for hit in memory.recall("port", 99, **ask)]
            for memory in (alone, own)
            for ask in ({"recipe": recipe, "now": moment},)
        ]
        assert answers[0] == answers[1]
        own.close()
        stranger.close()


@given(corpora, acts)
def test_the_edges_of_every_view_equal_a_naive_list(corpus: Any, done: Any) -> None:
    with tempfile.TemporaryDirectory() as folder:
        memory = lived(open_toy(Path(folder) / "m.db"), corpus, done)
        head = log_of(memory).head("default").seq
        for seq in {head, head - 3, head // 2}:
            edges = engine_of(memory).index_cache.view("default", seq).graph.edges
            indexed = [
                Link(seq_, s, t, edges.names[k], w, None, None)
                for seq_, s, t, k, w in zip(
                    edges.seqs.tolist(), edges.sources.tolist(), edges.targets.tolist(),
                    edges.kinds.tolist(), edges.weights.tolist(), strict=True,
                )
            ]  # fmt: skip
            naive = world_of(memory, seq).links
            assert [(x.seq, x.source, x.target, x.kind, x.weight) for x in indexed] == [
                (x.seq, x.source, x.target, x.kind, x.weight) for x in naive
            ]
        memory.close()


# -- denser graphs than hypothesis likes to draw: many questions to each of a few worlds ----------


def dense(dice: Random) -> Memory:
    """A memory of a dozen records and many links, some parallel, some replaced, some at an end."""
    memory = open_toy()
    for n in range(12):
        tags = ["x"] if dice.random() < 0.6 else None
        memory.remember(dice.choice(TEXTS), id=f"r{n}", agent=dice.choice(OWNERS), tags=tags)
    for _ in range(dice.choice([20, 40, 80])):
        ends = [f"r{min(dice.randrange(12), dice.randrange(12))}" for _ in range(2)]
        spec: dict[str, Any] = {"weight": dice.choice(WEIGHTS)}
        if dice.random() < 0.2:
            spec["valid_from"] = dice.choice(MOMENTS)
        kind = dice.choice(("derived_from", "related_to", "continues_from", "mine"))
        memory.link(ends[0], ends[1], kind, **spec)
    memory.forget(f"r{dice.randrange(12)}")
    return memory


def lane(dice: Random, seeds: list[str]) -> dict[str, Any]:
    """A graph lane of any kind."""
    spec: dict[str, Any] = {
        "seeds": seeds,
        "seed_count": dice.choice([1, 3, 20]),
        "direction": dice.choice(["out", "in", "both"]),
        "through": dice.choice(["selection", "scope"]),
        "kinds": dice.choice([None, None, ["mine", "derived_from"]]),
    }
    match dice.choice(["walk", "hops", "cheapest"]):
        case "walk":
            bounds = {"max_depth": dice.choice([1, 2, 3]), "max_visited": dice.choice([3, 6, 99])}
            return {**spec, **bounds, "kind": "walk", "include_seeds": dice.random() < 0.5}
        case "hops":
            return {**spec, "kind": "hops", "max_hops": dice.choice([1, 2, 3])}
        case kind:
            bounds = {"max_hops": dice.choice([1, 2, 4]), "max_nodes": dice.choice([3, 6, 99])}
            cost = {"cost": dice.choice(["weight", "weight", "hop"])}
            return {**spec, **bounds, **cost, "kind": kind, "max_cost": dice.choice([None, 0.8])}


@pytest.mark.parametrize("seed", range(EXAMPLES // (5 if NIGHT else 4)))
def test_on_dense_graphs_too(seed: int) -> None:
    dice = Random(seed)  # a test
    memory = dense(dice)
    for _ in range(40):
        words = {"kind": "bm25", "pool": 1000, "k1": 1.2, "b": 0.75, "fields": {"text": 1.0}}
        made = {"words": words, "near": lane(dice, ["words"])}
        made["far"] = lane(dice, dice.choice([["near"], ["words"], ["near", "words"]]))
        fuse = {"kind": "weighted", "scale": "min_max", "weights": dict.fromkeys(made, 1.0)}
        recipe = {
            "name": "mine", "version": 1, "analyzer": "memoriter",
            "lanes": made, "pass": [{"fuse": fuse}],
        }  # fmt: skip
        where = {"tags": {"any": ["x"]}} if dice.random() < 0.4 else None
        own = memory.scoped(agent="default") if dice.random() < 0.4 else memory
        ask = {"where": where, "as_of": dice.choice([None, None, *MOMENTS]), "known_at": None}
        oracle = foreseen(own, "port", recipe, **ask)
        result = own.recall("port", LIMIT, recipe=recipe, **ask)
        assert [(hit.id, hit.score) for hit in result] == oracle.ranked
        assert {
            label: {hit.id: hit.lanes[label].score for hit in result if label in hit.lanes}
            for label in oracle.walks
        } == {label: {n: f.score for n, f in walk.items()} for label, walk in oracle.walks.items()}
        check_paths(own, result, ask)
        check_facts(own, result, oracle)


@pytest.mark.parametrize("seed", range(EXAMPLES // (5 if NIGHT else 4)))
def test_bundles_hold_what_a_naive_walk_from_each_hit_reaches(seed: int) -> None:
    dice = Random(100 + seed)  # a test
    memory = dense(dice)
    world = world_of(memory)
    names = {record.position: record.id for record in world.records}
    for _ in range(10):
        walk = lane(dice, ["words"])
        while walk["kind"] != "walk":
            walk = lane(dice, ["words"])
        overrides = {f"lanes.links.{key}": value for key, value in walk.items() if key != "kind"}
        where = {"tags": {"any": ["x"]}} if dice.random() < 0.5 else None
        page = memory.bundles("port", 100, overrides=overrides, where=where)
        hits = [bundle.seed.record.position for bundle in page]
        inside = {r.position for r in world.records if where is None or "x" in r.tags}
        passed = inside if walk["through"] == "selection" else set(names)
        now = clock_of(memory).now()
        links = [link for link in world.links if link.holds(now)]
        land = Land(walk, links, passed, inside, hits)
        for n, bundle in enumerate(page):
            reached = reach(land, hits[n]) if n < walk["seed_count"] else {}
            near = sorted((len(path), node) for node, path in reached.items())
            support = [(names[at], depth) for depth, at in near if at in inside and at not in hits]
            assert [(each.record.id, each.depth) for each in bundle.support] == support
