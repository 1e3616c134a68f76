"""The law of receipts: each verifies alone, and no derived number may change by a grid step."""

from __future__ import annotations

import json
from collections.abc import Iterator
from random import Random, SystemRandom
from typing import Any, Final

import pytest
from tests.night import NIGHT
from tests.property.provable import asked, store

from memoriter.core.canonical import canonical
from memoriter.rank.grid import STEP
from memoriter.why.receipt import sealed
from memoriter.why.verify import verify

COUNT: Final = 10_000 if NIGHT else 120
PARTS: Final = 20 if NIGHT else 8
"""The receipts are cut into so many tests, for workers to share."""
A_STORE: Final = 10
"""So many questions are put to each store."""
CHANGES: Final = 12
"""So many numbers of each receipt are changed, one at a time."""
FACTS: Final = {
    "bm25": ("idf", "weight", "similarity", "tf"),
    "kin": ("idf", "weight"),
    "vector": ("distance",),
    "walk": ("distance",),
    "hops": ("distance", "cost"),
    "cheapest": ("distance", "cost"),
    "entity": ("shared",),
}
"""What follows from other facts, by the kind of a lane; `tf` where it is that of several fields."""
Data = dict[str, Any]
Change = tuple[str, int, str]
"""Which part of a receipt, which number of it, and in which way."""


@pytest.mark.parametrize("part", range(PARTS))
def test_receipt(part: int) -> None:
    seed = SystemRandom().randrange(2**32) if NIGHT else part
    random = Random(seed)
    noticed, changed = 0, 0
    while noticed < COUNT // PARTS:
        memory = store(random)
        for _ in range(A_STORE):
            result = asked(memory, random)
            if result is not None:
                body = json.loads(result.receipt.to_bytes())
                report = verify(body)
                assert report.ok, (seed, noticed, report.problems[:5], body["recipe"]["data"])
                changed += _tampered(body, report.checked, random, (seed, noticed))
                noticed += 1
        memory.close()
    assert changed > noticed


def _tampered(body: Data, checked: tuple[str, ...], random: Random, seed: object) -> int:
    """Change numbers that are derived, one at a time, with a new digest: each must be noticed."""
    changes = [each for path in checked for each in _changes(body, path)]
    some = random.sample(changes, min(CHANGES, len(changes)))
    for change in some:
        made = _changed(body, change, random)
        assert not verify(made).ok, (seed, change, body["recipe"]["data"])
    return len(some)


def _changes(body: Data, path: str) -> Iterator[Change]:
    """What can be changed in a part of a receipt."""
    match path.split("/"):
        case ["slate", "columns", name]:
            (values,) = body["slate"]["columns"][name].values()
            yield from ((path, at, "step") for at, v in enumerate(values) if v is not None)
        case ["slate", "rows"]:
            yield from ((path, at, "swap") for at in range(len(body["slate"]["rows"]) - 1))
        case ["moves", n, "kept"]:
            yield from ((path, at, "swap") for at in _sure(body, int(n)))
        case ["budget", "kept"]:
            yield from ((path, at, "swap") for at in range(len(body["budget"]["kept"]) - 1))
        case ["hits"]:
            yield from ((path, at, "swap") for at in range(len(body["hits"]) - 1))
            yield from ((path, at, "drop") for at in range(len(body["hits"])))
        case ["evidence", n, lane]:
            nodes = list(_nodes(body["evidence"][int(n)][lane]))
            yield from ((path, at, "step") for at in range(len(nodes)))
            kind = body["recipe"]["data"]["lanes"][lane]["kind"]
            yield from (
                (path, at, fact)
                for at, node in enumerate(nodes)
                for fact in FACTS.get(kind, ())
                if fact in _facts(node) and (fact != "tf" or "fields" in _facts(node))
            )
        case ["moves", n, "beside", key]:
            hits = set(body["hits"])
            standing = _standing(body, int(n))
            (values,) = body["moves"][int(n)]["beside"][key].values()
            yield from (
                (path, at, "step")
                for at, v in enumerate(values)
                if v is not None and standing[at] in hits
            )
        case _:
            pass


def _nodes(node: Data) -> Iterator[Data]:
    yield node
    for part in node.get("parts", []):
        yield from _nodes(part)


def _facts(node: Data) -> Data:
    return node.get("facts", {})


def _standing(body: Data, n: int) -> list[str]:
    """The ids that an ordering was given, in order."""
    ids = body["slate"]["ids"]
    for move in body["moves"][:n]:
        ids = [ids[at] for at in move["kept"]]
    return ids


def _sure(body: Data, n: int) -> list[int]:
    """Where neighbours must not be swapped: what diversity takes behind the last hit is told."""
    move, hits, standing = body["moves"][n], set(body["hits"]), _standing(body, n)
    every = range(len(move["kept"]) - 1)
    if not move["name"].startswith("mmr"):
        return list(every)
    (penalties,) = move["beside"]["penalty"].values()
    taken = [at for at in move["kept"] if penalties[at] is not None]
    last = max((nth for nth, at in enumerate(taken) if standing[at] in hits), default=-1)
    return [nth for nth in every if nth <= last or nth >= len(taken) - 1]


def _changed(body: Data, change: Change, random: Random) -> Data:
    """The receipt with one number changed, under a digest of its own."""
    path, at, how = change
    made = json.loads(canonical(body))
    del made["digest"]
    step = random.choice([STEP, -STEP])
    match path.split("/"):
        case ["slate", "columns", name]:
            made["slate"]["columns"][name] = _stepped(made["slate"]["columns"][name], at, step)
        case ["slate", "rows"]:
            _swap(made["slate"]["rows"], at)
            _swap(made["slate"]["ids"], at)
            for column in made["slate"]["columns"].values():
                _swap(next(iter(column.values())), at)
        case ["moves", n, "kept"]:
            _swap(made["moves"][int(n)]["kept"], at)
        case ["moves", n, "beside", key]:
            beside = made["moves"][int(n)]["beside"]
            beside[key] = _stepped(beside[key], at, step)
        case ["budget", "kept"]:
            _swap(made["budget"]["kept"], at)
        case ["hits"] if how == "drop":
            del made["hits"][at]
            del made["evidence"][at]
        case ["hits"]:
            _swap(made["hits"], at)
        case ["evidence", n, lane]:
            node = list(_nodes(made["evidence"][int(n)][lane]))[at]
            holder, key = (node, "value") if how == "step" else (node["facts"], how)
            holder[key] += step
    return json.loads(sealed(made).to_bytes())


def _stepped(packed: Data, at: int, step: float) -> Data:
    ((unit, values),) = packed.items()
    if unit == "grid":
        values[at] += round(step / STEP)
        return packed
    values = [None if value is None else float(value) for value in values]
    before = values[at]
    values[at] += step
    if values[at] == before:  # too large for a grid step: the next float
        values[at] = before * (1.0 + 2.0**-52)
    return {"float": values}


def _swap(values: list[Any], at: int) -> None:
    values[at], values[at + 1] = values[at + 1], values[at]
