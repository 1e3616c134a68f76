"""A made-up set like that of the published hybrid-recall figure, and its exact answer.

Chunks of twelve words about one of a few subjects, entities that they are linked to, edges between
entities. Truth: the hundred nearest by cosine, the hundred best by BM25, the chunks linked to what
two hops reach, fused by reciprocal rank, ties by id.
"""

from __future__ import annotations

import math
import random
from collections import Counter
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

import memoriter
from memoriter.memory.facade import Memory

POOL: Final = 100
TOP: Final = 10
_SYLLABLES: Final = [a + b for a in "bdfgklmnprst" for b in "aeo"]


@dataclass(frozen=True)
class Question:
    """What is asked: words, a vector, and the entities to start from."""

    words: list[str]
    vector: list[float]
    seeds: list[str]


@dataclass(frozen=True)
class Made:
    """The set."""

    chunks: dict[str, list[str]]
    vectors: dict[str, list[float]]
    links: list[tuple[str, str]]
    """From an entity to an entity, or to a chunk."""
    entities: list[str]
    questions: list[Question]


def made(*, entities: int, chunks: int, queries: int, seed: int, clusters: int = 16) -> Made:
    """A set of this size, the same for the same seed."""
    rng = random.Random(seed)  # a made-up set
    topics = [_words(rng, 60) for _ in range(clusters)]
    filler = _words(rng, 20)
    centres = [[rng.gauss(0, 1) for _ in range(32)] for _ in range(clusters)]
    meaning = {w: [rng.gauss(0, 1) for _ in range(32)] for t in (*topics, filler) for w in t}

    def text(at: int, own: int) -> list[str]:
        return rng.choices(topics[at], k=own) + rng.choices(filler, k=2)

    def vector(at: int, words: list[str]) -> list[float]:
        mean = np.mean([meaning[word] for word in words], axis=0)
        return [float(x) for x in 0.6 * np.array(centres[at]) + mean]

    home = {f"e{n:05}": rng.randrange(clusters) for n in range(entities)}
    names = list(home)
    near = {at: [e for e in names if home[e] == at] or names for at in range(clusters)}
    links = [(e, _other(rng, near[home[e]], names, 0.7)) for e in names for _ in range(5)]
    aliases: dict[str, list[str]] = {}
    vectors: dict[str, list[float]] = {}
    for n in range(chunks):
        at, id = rng.randrange(clusters), f"c{n:05}"
        aliases[id] = text(at, 10)
        vectors[id] = vector(at, aliases[id])
        links += {(_other(rng, near[at], names, 0.8), id) for _ in range(rng.randint(1, 3))}
    questions: list[Question] = []
    for _ in range(queries):
        at = rng.randrange(clusters)
        words = text(at, 4)
        questions.append(Question(words, vector(at, words), rng.sample(near[at], 1)))
    return Made(aliases, vectors, [pair for pair in dict.fromkeys(links) if pair[0] != pair[1]],
                names, questions)  # fmt: skip


def _words(rng: random.Random, count: int) -> list[str]:
    return ["".join(rng.choices(_SYLLABLES, k=rng.randint(2, 3))) for _ in range(count)]


def _other(rng: random.Random, near: list[str], every: list[str], share: float) -> str:
    return rng.choice(near if rng.random() < share else every)


# -- the exact answer, without the engine ----------------------------------------------------------


def truth(made: Made, asked: Question) -> list[str]:
    """The ten best of exact fusion."""
    fused: Counter[str] = Counter()
    for scores in (_cosines(made, asked), _bm25(made, asked), _hops(made, asked)):
        best = sorted(scores, key=lambda id: (-scores[id], id))[:POOL]
        for rank, id in enumerate(best, start=1):
            fused[id] += 1 / (60 + rank)  # type: ignore[assignment]  # a sum of shares
    return sorted(fused, key=lambda id: (-round(fused[id], 9), id))[:TOP]


def _cosines(made: Made, asked: Question) -> dict[str, float]:
    query = np.array(asked.vector)
    return {
        id: float(query @ v / np.linalg.norm(query) / np.linalg.norm(v))
        for id, v in made.vectors.items()
    }


def _bm25(made: Made, asked: Question) -> dict[str, float]:
    count = len(made.chunks)
    mean = sum(map(len, made.chunks.values())) / count
    df = Counter(word for words in made.chunks.values() for word in set(words))
    out: dict[str, float] = {}
    for id, words in made.chunks.items():
        tf = Counter(words)
        length = 1.2 * (0.25 + 0.75 * len(words) / mean)
        shares = [
            math.log(1 + (count - df[w] + 0.5) / (df[w] + 0.5)) * tf[w] * 2.2 / (tf[w] + length)
            for w in set(asked.words)
            if tf[w]
        ]
        if shares:
            out[id] = round(sum(shares), 9)
    return out


def _hops(made: Made, asked: Question) -> dict[str, float]:
    reached = dict.fromkeys(asked.seeds, 0)
    for hop in (1, 2, 3):
        for source, target in made.links:
            if reached.get(source) == hop - 1:
                reached.setdefault(target, hop)
    return {id: -float(hops) for id, hops in reached.items() if id in made.chunks}


# -- the same through the engine -------------------------------------------------------------------

_LEG: Final = {"kind": "hops", "max_hops": 3, "through": "scope", "pool": POOL}
_OVERRIDES: Final = {"vector_k": POOL, "fts_k": POOL, "lanes.graph": _LEG}


def opened(made: Made) -> Memory:
    """The set as a memory: entities have no words, chunks have no edges of their own."""
    memory = memoriter.open(":memory:", embedder="given:32", maintenance="manual")
    memory.remember_many({"text": "…", "id": id, "kind": "entity"} for id in made.entities)
    memory.remember_many(
        {"text": " ".join(words), "id": id, "kind": "chunk", "vector": made.vectors[id]}
        for id, words in made.chunks.items()
    )
    for source, target in made.links:
        memory.link(source, target)
    return memory


def answer(memory: Memory, asked: Question) -> list[str]:
    """The ten best of one call."""
    ask: dict[str, Any] = {"vector": asked.vector, "seeds": asked.seeds, "overrides": _OVERRIDES}
    text = " OR ".join(dict.fromkeys(asked.words))
    result = memory.recall(text, TOP, recipe="mnestic", where={"kind": "chunk"}, **ask)
    return [hit.id for hit in result]


def recall_at_10(made: Made) -> float:
    """The mean share of the true ten that one call finds."""
    with opened(made) as memory:
        shares = [
            len(set(answer(memory, each)) & set(truth(made, each))) / TOP for each in made.questions
        ]
    return sum(shares) / len(shares)
