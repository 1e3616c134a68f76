"""Shared entities: keys, likeness, the one-hop join, and the extractor that needs no model."""

from __future__ import annotations

import math
import random
from typing import Any

import pytest

import memoriter
from memoriter.memory.facade import Memory
from memoriter.pipeline.load import recipe_of
from memoriter.text.entities import dice, entity_key, names_in


def recipe(**changes: Any) -> dict[str, Any]:
    """Words, then the entity lane."""
    data = recipe_of("lexical").to_data()
    lane = {"kind": "entity", "seeds": ["words"], "seed_count": 5, **changes}
    data["lanes"]["entity"] = lane
    data["pass"][0]["fuse"]["weights"] = {"words": 1.0, "entity": 1.0}
    return data


def filled() -> Memory:
    memory = memoriter.open(":memory:", embedder=None)
    memory.remember("a needle", id="seed", entities=["Ada", "İSTANBUL", "Kubernetes"])
    memory.remember("one", id="one", entities=["ada"])
    memory.remember("two", id="two", entities=["ADA", "istanbul"])
    memory.remember("three", id="three", entities=["Ada", "Istanbul", "kubernets"])
    memory.remember("none", id="none", entities=["Bert"])
    return memory


def shares(memory: Memory, data: dict[str, Any], **ask: Any) -> dict[str, float]:
    result = memory.recall("needle", 50, recipe=data, **ask)
    return {hit.id: hit.lanes["entity"].score for hit in result if "entity" in hit.lanes}


def test_records_that_share_entities_with_the_seeds_come_in() -> None:
    scores = shares(filled(), recipe())
    assert list(scores) == ["three", "two", "one"]
    assert [round(score, 4) for score in scores.values()] == [0.9051, 0.7616, 0.4621]
    assert scores["two"] == pytest.approx(math.tanh(1.0))


def test_the_caps_hold() -> None:
    memory = filled()
    assert list(shares(memory, recipe(pool=1))) == ["three"]
    memory.remember("needle needle needle", id="first", entities=["Bert"])
    assert list(shares(memory, recipe(seed_count=1))) == ["none"]


@pytest.mark.parametrize("entities", [[], ["!!!"]])
def test_without_entities_the_answer_is_the_one_without_the_lane(entities: list[str]) -> None:
    memory = memoriter.open(":memory:", embedder=None)
    for n in range(4):
        memory.remember(f"needle {n}", id=f"n{n}", entities=entities)
    alone = [(h.id, h.score) for h in memory.recall("needle", recipe="lexical")]
    assert [(h.id, h.score) for h in memory.recall("needle", recipe=recipe())] == alone
    nothing = memory.recall("zzz", recipe=recipe())
    assert (len(nothing), nothing.status) == (0, "complete")


def test_it_crosses_neither_tenant_nor_agent_nor_filter() -> None:
    memory = filled()
    memory.remember("other", id="other", agent="bot", entities=["Ada"])
    assert "other" not in shares(memory, recipe())
    assert "other" in shares(memory, recipe(within="tenant"))
    kept = {"any": [{"id": {"in": ["seed", "one"]}}]}
    assert list(shares(memory, recipe(), where=kept)) == ["one"]


def test_names_fold_and_merge_when_they_are_alike() -> None:
    assert entity_key("İSTANBUL") == entity_key("istanbul") == "istanbul"
    assert entity_key("CAFÉ") == entity_key("café")
    assert entity_key("  ") == entity_key("!!!") == ""
    assert dice("kubernetes", "kubernets") >= 0.6 > dice("ada", "bert")


def test_the_join_equals_a_naive_one_on_random_records() -> None:
    draw = random.Random("entities")
    pool = ["Ada", "ada ", "Bert", "Berta", "Kubernetes", "kubernets", "Rome", "Roma", "X", ""]
    for _ in range(30):
        memory = memoriter.open(":memory:", embedder=None)
        records: list[tuple[str, list[str], str]] = []
        for n in range(20):
            names = [name for name in draw.sample(pool, draw.randint(0, 3)) if name.strip()]
            agent = draw.choice(["a", "b"])
            text = "needle" if draw.random() < 0.2 else "hay"
            memory.remember(text, id=f"r{n}", entities=[n.strip() for n in names], agent=agent)
            records.append((f"r{n}", names, agent))
        seeds = [hit.id for hit in memory.recall("needle", 5, recipe="lexical")]
        assert shares(memory, recipe()) == _naive(records, seeds)


def _naive(records: list[tuple[str, list[str], str]], seeds: list[str]) -> dict[str, float]:
    clusters: list[str] = []
    owned: set[tuple[str, int]] = set()
    known = {record_id: (names, agent) for record_id, names, agent in records}

    def nearest(name: str) -> int:
        best, at = 0.0, -1
        for n, other in enumerate(clusters):
            near = 1.0 if entity_key(name) == other else dice(entity_key(name), other)
            if near >= 0.6 and near > best:
                best, at = near, n
        return at

    for seed in seeds:
        names, agent = known[seed]
        for name in names:
            at = nearest(name)
            if at < 0:
                clusters.append(entity_key(name))
                at = len(clusters) - 1
            owned.add((agent, at))
    scores: dict[str, float] = {}
    for record_id, names, agent in records:
        own = {nearest(name) for name in names} - {-1}
        shared = len([at for at in own if (agent, at) in owned])
        if shared and record_id not in seeds:
            scores[record_id] = round(math.tanh(0.5 * shared) * 2**32) / 2**32
    return dict(sorted(scores.items(), key=lambda pair: (-pair[1], int(pair[0][1:]))))


def test_an_explanation_names_the_shared_entities() -> None:
    (hit,) = [h for h in filled().recall("needle", recipe=recipe()) if h.id == "two"]
    why = hit.lanes["entity"].why
    assert why.facts == {"shared": 2, "entities": ["ada", "istanbul"]}


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Yesterday Ada Lovelace met Bob in Paris.", ("Ada Lovelace", "Bob", "Paris")),
        ("The Tower of London is old. I like it.", ("Tower of London",)),
        ("ask @ana about REQ-12 or mail ana@example.com", ("@ana", "REQ-12", "ana@example.com")),
        ("nothing here", ()),
        ("", ()),
        ("\u0301" * 50, ()),
    ],
)
def test_rules_find_names(text: str, names: tuple[str, ...]) -> None:
    assert names_in(text) == names


def test_an_extractor_names_the_entities_of_records_without_any() -> None:
    with memoriter.open(":memory:", embedder=None, entities="rules") as memory:
        memory.remember("We met Ada Lovelace", id="a")
        memory.remember("We met Ada Lovelace", id="b", entities=["Bob"])
        assert memory.get("a").entities == ("Ada Lovelace",)
        assert memory.get("b").entities == ("Bob",)
    with memoriter.open(":memory:", embedder=None, entities=lambda text: ("it",)) as memory:
        memory.remember("x", id="a")
        assert memory.get("a").entities == ("it",)
    with pytest.raises(memoriter.InputError, match="entities"):
        memoriter.open(":memory:", entities="llm")  # type: ignore[arg-type]  # on purpose
