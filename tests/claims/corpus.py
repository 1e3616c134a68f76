"""Corpus A: twenty memories with vectors, priorities, cycles and edges, for all five systems."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple, cast

import pytest

import memoriter
from memoriter.core.explanation import Explanation
from memoriter.memory.facade import Memory
from memoriter.pipeline.plan import Plan
from memoriter.testing.fakes import CountedEntropy, HandClock
from memoriter.why.result import Result


class Note(NamedTuple):
    """One memory of the corpus; the vector says food, work, travel, health."""

    id: str
    text: str
    vector: tuple[float, float, float, float]
    priority: str
    cycle: int


_TABLE: Final = """
m01 | The pricing decision for the pro plan is 20 euros per month | .1 .9 0 0 | P1 | 10
m02 | Pricing was reviewed again with the sales team in Berlin | 0 .8 .3 0 | P3 | 20
m03 | My sister's dog is called Biscuit | .2 0 .1 .3 | P2 | 5
m04 | My sister lives in Lisbon and works as a nurse | 0 .2 .4 .6 | P3 | 6
m05 | I prefer oat milk in my morning coffee | .9 0 0 .2 | P2 | 30
m06 | Coffee after lunch keeps me awake at night | .8 0 0 .5 | P3 | 31
m07 | The deployment runbook lives in the wiki under operations | 0 .9 0 .1 | P3 | 12
m08 | The kubernetes cluster was upgraded to version 1.29 in March | 0 .9 .1 0 | P2 | 14
m09 | Booked a flight to Berlin for the conference on 12 May | 0 .3 .9 0 | P2 | 25
m10 | The hotel in Berlin is close to the station | .1 .1 .9 0 | P4 | 26
m11 | Dentist appointment with Dr Arslan at 12:30 on Friday | 0 0 .1 .9 | P1 | 40
m12 | The doctor said to avoid peanuts because of an allergy | .5 0 0 .9 | P1 | 8
m13 | Docs are hosted at http://example.com/docs behind the VPN | 0 .7 .1 0 | P3 | 15
m14 | Ran five kilometres along the river on Sunday | .1 0 .3 .8 | P4 | 33
m15 | Learning to bake sourdough bread at weekends | .9 0 .1 .1 | P4 | 18
m16 | The book club meets every second Tuesday | .1 .2 .2 .1 | P4 | 19
m17 | Pricing pricing pricing: notes from the pricing workshop | 0 .9 .1 .1 | P4 | 21
m18 | The machine learning course starts in September | 0 .6 .1 0 | P3 | 22
m19 | A learning machine was mentioned in the old notes | 0 .5 0 .1 | P4 | 2
m20 | Passport expires in 2027 and must be renewed | 0 .1 .8 .1 | P2 | 3
"""


def _note(line: str) -> Note:
    id, text, vector, priority, cycle = line.split(" | ")
    food, work, travel, health = map(float, vector.split())
    return Note(id, text, (food, work, travel, health), priority, int(cycle))


CORPUS: Final = tuple(map(_note, _TABLE.strip().splitlines()))

EDGES: Final = (
    ("m01", "m02", 0.9), ("m02", "m09", 0.6), ("m09", "m10", 0.8), ("m09", "m20", 0.5),
    ("m05", "m06", 0.7), ("m11", "m12", 0.4), ("m03", "m04", 1.0), ("m17", "m01", 0.3),
)  # fmt: skip
"""From, to, weight."""

VECTOR: Final = (0.0, 0.9, 0.2, 0.0)
"""The vector of the questions that have one."""

GLOBAL: Final = frozenset({"m03", "m04", "m05", "m06", "m11", "m12"})
SLUGS: Final = {
    "m01": "pro-plan-price",
    "m05": "user-preference-coffee",
    "m08": "kubernetes-upgrade",
    "m11": "user-fact-dentist",
}


def path_of(id: str) -> str:
    """Where a memory lies as a file."""
    folder = "memory/global" if id in GLOBAL else "wiki"
    return f"{folder}/{SLUGS.get(id, id)}.md"


def open_empty(embedder: Any = None) -> Memory:
    """A memory without a machine's clock, randomness or model."""
    return memoriter.open(
        ":memory:",
        clock=HandClock(),
        entropy=CountedEntropy(),
        embedder=embedder,
        maintenance="manual",
        flush_rows=8,
    )


def open_corpus(*, vectors: bool = False, paths: bool = False) -> Memory:
    """Corpus A with its edges; with vectors of its own, or as files, where a claim needs them."""
    memory = open_empty("given:4" if vectors else None)
    for note in CORPUS:
        more: dict[str, Any] = {"vector": note.vector} if vectors else {}
        if paths:
            more["source"] = {"path": path_of(note.id)}
        memory.remember(note.text, id=note.id, priority=note.priority, cycle=note.cycle, **more)
    for source, target, weight in EDGES:
        memory.link(source, target, weight=weight)
    return memory


def open_texts(*texts: str, **fields: Any) -> Memory:
    """A memory of these texts, in this order; their ids are r0, r1, …"""
    memory = open_empty()
    for nth, text in enumerate(texts):
        memory.remember(text, id=f"r{nth}", **fields)
    return memory


def ids(result: Result) -> list[str]:
    """The hits, best first."""
    return [hit.id for hit in result]


def scores(result: Result, lane: str = "words") -> list[tuple[str, float]]:
    """What a lane said of each hit that it brought, in the order of the answer."""
    return [(hit.id, hit.lanes[lane].score) for hit in result if lane in hit.lanes]


def close(expected: Sequence[tuple[str, float]], within: float = 1e-6) -> list[tuple[str, Any]]:
    """Ids and scores to compare with; figures are printed with six digits unless said."""
    return [(id, pytest.approx(score, abs=within)) for id, score in expected]


def leaves(node: Explanation) -> list[Explanation]:
    """The numbers that a score is made of, in its order."""
    return [leaf for part in node.parts for leaf in leaves(part)] if node.parts else [node]


def understood(plan: Plan, lane: str = "words") -> str:
    """The query as the plan shows that it was read."""
    (shows,) = [step.shows for step in plan.steps if step.name == lane]
    terms = cast("list[str] | None", shows.get("terms"))
    return str(shows["query"]) if terms is None else " OR ".join(terms)


def note(plan: Plan, lane: str = "words") -> str:
    """What the plan says about a query that was read otherwise than written."""
    (shows,) = [step.shows for step in plan.steps if step.name == lane]
    return str(shows.get("note", ""))
