"""Random stores, questions and recipes that use every part of the pipeline: all from one seed."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

from tests.inside import reranker_of
from tests.property.pipelines import unlisted
from tests.property.refusals import REFUSALS
from tests.property.strategies import DAY
from tests.property.worlds import open_toy

from memoriter.memory.facade import Memory
from memoriter.pipeline.load import library, recipe_of
from memoriter.testing.fakes import START, ToyReranker
from memoriter.why.result import Result

Data = dict[str, Any]
WORDS = (
    "port", "ports", "ssh", "prod", "cache", "memory", "memories", "wedding", "married", "run",
    "running", "v1.2.3", "user_id", "café", "prefer", "favourite", "total", "summary", "last",
    "week", "49222", "sea", "ship", "harbour", "harbor",
)  # fmt: skip
QUESTIONS = (
    "which port for ssh?", "what do I prefer, the sea or the harbour?", "prod AND cache",
    '"ssh port" OR memor*', "prts of the harbr", "what happened last week", "how many total runs",
    "what was the port before?", "when was the wedding?",
)  # fmt: skip
KINDS = ("note", "fact", "reflection")
LINKS = ("related_to", "supports", "consolidated_from", "corrects", "mine")
_FIELDS = {"text": 1.0, "title": 2.5, "tags": 1.6}


def store(random: Random) -> Memory:
    """Some records with some of everything, linked at random."""
    memory = open_toy(reranker=ToyReranker())
    count = random.randint(1, 24)
    records: list[Any] = [_record(random, n) for n in range(count)]
    memory.remember_many(records)
    for _ in range(random.randint(0, 2 * count)):
        one, two = random.randrange(count), random.randrange(count)
        if one != two:
            weight = random.choice([0.0, 0.25, 0.7, 1.0])
            memory.link(f"r{one}", f"r{two}", random.choice(LINKS), weight=weight)
    return memory


def _record(random: Random, n: int) -> Data:
    text = " ".join(random.choices(WORDS, k=random.randint(1, 9)))
    out: Data = {"id": f"r{n}", "text": text if random.random() > 0.2 else "49222 on Monday?"}
    maybe: dict[str, Callable[[], object]] = {
        "title": lambda: random.choice(WORDS),
        "tags": lambda: random.sample(WORDS, 2),
        "kind": lambda: random.choice(KINDS),
        "session": lambda: random.choice("ab"),
        "importance": lambda: random.choice([0.0, 0.3, 0.5, 1.0]),
        "confidence": lambda: random.choice([0.1, 0.55, 1.0]),
        "priority": lambda: random.choice(["P1", "P2", "P4"]),
        "trust": lambda: random.choice(["system", "learned", "external"]),
        "cycle": lambda: random.randint(0, 40),
        "created": lambda: START + random.randint(-400, 1) * DAY // 7,
        "occurred": lambda: START - random.randint(0, 30) * DAY,
        "entities": lambda: random.sample(["Ana", "Nazaré", "Ben"], 2),
        "source": lambda: {"path": f"memory/{random.choice(WORDS)}.md"},
        "metadata": lambda: {"topic": random.choice("xy")},
    }
    for name, make in maybe.items():
        if random.random() < 0.4:
            out[name] = make()
    return out


def asked(memory: Memory, random: Random) -> Result | None:
    """One answer: a question of any kind to a recipe of any kind; none where nothing could run."""
    ask = _library(random) if random.random() < 0.2 else any_recipe(random)
    if recipe_of(ask["recipe"]).takes("cycle") and random.random() < 0.7:
        ask["cycle"] = random.randint(0, 50)
    if random.random() < 0.2:
        ask["vector"] = [random.uniform(-1.0, 1.0) for _ in range(8)]
    if random.random() < 0.2:
        ask["where"] = {"kind": {"in": random.sample(KINDS, 2)}}
    if random.random() < 0.2:
        ask[random.choice(["budget_chars", "budget_tokens"])] = random.randint(60, 600)
    reranker = reranker_of(memory)  # the one that `store` gave
    assert isinstance(reranker, ToyReranker)
    reranker.failing = random.random() < 0.2
    words = " ".join(random.choices(WORDS, k=random.randint(1, 5)))
    text = random.choice(QUESTIONS) if random.random() < 0.4 else words
    try:
        return memory.recall(text, random.choice([1, 3, 10, 100]), **ask)
    except REFUSALS:
        return None


def _library(random: Random) -> Data:
    """The options of a call with a recipe of ours, some of its numbers changed."""
    name = random.choice(library())
    if name != "memoriter":
        return {"recipe": name}
    numbers = {
        "fusion.weights.words": random.choice([0.0, 0.3, 2.0]),
        "fusion.lists": random.choice([0.0, 1.0]),
        "lanes.moment.enabled": random.random() < 0.5,
        "boosts.around.shares": random.choice([(0.3,), (0.3, 0.1)]),
        "boosts.past.share": random.choice([0.0, 0.5]),
    }
    some = {path: value for path, value in numbers.items() if random.random() < 0.4}
    mode = random.choice([None, "bm25", "semantic", "hybrid", "auto"])
    return {"recipe": name, "overrides": some, "mode": mode}


def any_recipe(random: Random) -> Data:
    """The options of a call with a recipe of its own."""
    lanes = _lanes(random)
    boosts = {n: b for n, b in _boosts(random).items() if random.random() < 0.3}
    plain = [label for label in lanes if label != "brought"]
    weighed = random.sample(sorted(boosts), random.randint(0, len(boosts)))
    fuse = _fuse(random, plain, weighed)
    if fuse["kind"] != "weighted":
        weighed = []
    first: Data = {"fuse": fuse, "boosts": _some(random, boosts, plain, weighed)}
    if random.random() < 0.3:
        first["complete"] = True
    passes = [first]
    if random.random() < 0.5:
        passes.append(_second(random, plain, _some(random, boosts, plain, weighed)))
    recipe: Data = {
        "name": "mine", "version": 1, "analyzer": "memoriter", "lanes": lanes, "boosts": boosts,
        "pass": passes, "order": _orders(random), "window": random.choice([1, 5, 10]),
        "ties": random.choice([["row"], ["-row"], ["id"], ["-created", "kind"], ["-importance"]]),
        "select": {"superseded": random.choice(["hide", "past", "show"])},
    }  # fmt: skip
    if random.random() < 0.2:
        recipe["final"] = {"min_score": random.choice([-1.0, 0.0, 0.2, 0.5])}
    ask: Data = {"recipe": recipe}
    if "mine" in lanes:
        ask["lists"] = {"mine": [(f"r{n}", random.choice([1, 0.5, -2.25])) for n in (0, 0)]}
    return ask


def _lanes(random: Random) -> Data:
    seeded = {"seeds": ["words"], "seed_count": 3}
    every: Data = {
        "kin": {
            "kind": "kin", "pool": 50, "min_cosine": random.choice([0.0, 0.4]),
            "ignore": random.choice([0.0, 0.1]),
        },
        "meaning": {
            "kind": "vector", "pool": 20, "min_cosine": random.choice([-1.0, 0.0, 0.3]),
            "fresh": random.choice([1.0, 0.9]), "stale": random.choice([1.0, 0.6]),
        },
        "links": {"kind": "walk", **seeded, "support": 0.3},
        "near": {"kind": "hops", **seeded, "direction": "both"},
        "cheap": {"kind": "cheapest", **seeded, "max_nodes": 9, "direction": "both"},
        "shared": {"kind": "entity", **seeded, "within": "tenant"},
        "moment": {"kind": "moment", "pool": 9, "min_score": 0.01},
        "mine": {"kind": "list"},
        "by_age": {"kind": "by", "by": "-created", "flat": True},
        "by_importance": {"kind": "by", "by": random.choice(["importance", "-cycle"])},
        "brought": {"kind": "sources", "seeds": ["words"]},
    }  # fmt: skip
    words: Data = {
        "kind": "bm25", "pool": random.choice([3, 1000]), "k1": random.choice([0.0, 1.2]),
        "b": 0.75, "fields": _FIELDS, "form": random.choice(["fields", "row"]),
        "idf": random.choice(["positive", "floored"]), "ladder": True,
        "score": random.choice(["bm25", "bm25", "tf_idf", "tf"]),
        "gate": random.choice([{}, {"text": 0.3, "tags": 0.6}]), "gate_from": 5,
        "least_mean": random.choice([0.0, 1.0, 20.0]),
    }  # fmt: skip
    return {"words": words, **{n: lane for n, lane in every.items() if random.random() < 0.35}}


def _boosts(random: Random) -> Data:
    alpha = random.choice([None, 0.3])
    unit = random.choice(["position", "cycle", "seconds", "days"])
    listed: Data = {
        "recency": {
            "kind": "recency", "unit": unit, "alpha": alpha, "half_life": 7e5, "weight": 0.7,
            "of": random.choice(["created", "occurred"]),
            "beside": random.choice([None, "words"]),
        },
        "importance": {"kind": "importance"},
        "confidence": {"kind": "confidence"},
        "priority": {"kind": "priority", "alpha": alpha},
        "trust": {"kind": "trust"},
        "reflected": {"kind": "reflection", "factor": random.choice([0.0, 0.4, 1.7])},
        "cohesion": {
            "kind": "cohesion", "strong": 0.4, "weak": 1.0, "same_session": random.random() < 0.3,
        },
        "session": {"kind": "session"},
        "turns": {
            "kind": "around", "words": random.choice([2, 80]),
            "less_trusted": random.choice([True, False]),
        },
        "speaker": {"kind": "who"},
        "around": {"kind": "neighbours", "of": ["words.score", "words.scaled"]},
        "lifted": {"kind": "sources", "factor": 0.9},
        "intent": {"kind": "intent", "head": random.choice([2, 1000])},
        "when": {"kind": "moment"},
        "once": {"kind": "past", "share": random.choice([0.0, 0.5])},
    }  # fmt: skip
    rest = unlisted("boosts", {spec["kind"] for spec in listed.values()})
    return {**listed, **{kind: {"kind": kind} for kind in rest}}


def _some(random: Random, boosts: Data, lanes: list[str], weighed: list[str]) -> list[str]:
    """Boosts that a pass applies, and now and then a lane; none that a fusion weighs."""
    free = [*(set(boosts) - set(weighed)), *lanes[1:2]]
    return random.sample(sorted(free), random.randint(0, len(free)))


def _fuse(random: Random, lanes: list[str], weighed: list[str]) -> Data:
    absent = random.choice(["redistribute", "keep", "fixed"])
    weights = {label: random.choice([0.0, 0.3, 1.0, 1.5]) for label in lanes}
    kind = random.choice(["weighted", "weighted", "rrf", "smooth"])
    if kind == "weighted":
        scales = ["max", "min_max", "none", "coverage"]
        by_lane = {label: random.choice(scales) for label in lanes[1:]}
        scale = random.choice([*scales, by_lane])
        every = {**weights, **dict.fromkeys(weighed, 0.3)}
        return {"kind": kind, "scale": scale, "weights": every, "absent": absent}
    if kind == "rrf":
        scale = random.choice(["none", "unit"])
        more = {"k": random.choice([1.0, 60.0]), "base": random.choice([0, 1]), "scale": scale}
        return {"kind": kind, "weights": dict(list(weights.items())[:1]), "absent": absent, **more}
    lifted = random.choice(lanes)
    return {"kind": kind, "base": "words", "lifted": lifted, "lift": 3.5, "fade": 2.0}


def _second(random: Random, lanes: list[str], boosts: list[str]) -> Data:
    by = [f"{label}.score" for label in random.sample(lanes, min(2, len(lanes)))]
    head: Data = {"count": random.choice([1, 3, 50]), "by": random.choice([[], by])}
    if random.random() < 0.4:
        labels = [name.removesuffix(".score") for name in head["by"]] or ["order"]
        fuse = _fuse(random, lanes, [])
        if fuse["kind"] == "smooth":
            fuse["lifted"] = labels[0]
        return {"head": head, "fuse": fuse, "boosts": boosts}
    unless = random.choice([None, {"lanes": ["words", lanes[-1]], "depth": 2, "agree": 1}])
    rerank: Data = {"score": random.choice(["keep", "replace"]), "unless": unless}
    return {
        "head": head,
        "rerank": rerank,
        "boosts": boosts if rerank["score"] == "replace" else [],
    }


def _orders(random: Random) -> list[Data]:
    every: list[Data] = [
        {
            "kind": "mmr", "trade": random.choice([0.0, 0.5, 0.8, 1.0]), "head": 8,
            "relevance": random.choice(["score", "unit"]), "take": random.choice([0, 3]),
            "drop": random.random() < 0.3,
        },
        {"kind": "cap", "share": random.choice([0.0, 0.3])},
        {"kind": "collapse", "keep": random.choice(["best", "newest"]), "most": 2},
        {"kind": "collapse", "by": "key", "keys": ["metadata.topic"], "head": 5},
        {"kind": "collapse", "by": "near", "cosine": 0.9},
        {"kind": "copies", "alike": random.choice([0.5, 0.9]), "head": random.choice([4, 50])},
    ]  # fmt: skip
    return random.sample(every, random.choice([0, 0, 1, 2, 3]))
