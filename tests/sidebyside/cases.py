"""What the random corpora and questions of every program are made of, as plain data."""

from __future__ import annotations

import json
import random
from functools import cache
from typing import Any, Final

import pytest
from tools.bench_data import MISSING, bench_data

Case = dict[str, Any]
COMMON: Final = ("the", "of", "and", "to", "in", "is", "it", "on", "for", "with")
_STEMS: Final = ("bake", "coff", "dent", "flig", "hote", "kube", "lear", "pric", "runn", "sist")
RARE: Final = [stem + end for stem in _STEMS for end in ("ing", "er", "s", "ed")]
ODD: Final = (
    "bake-off",
    "snake_case",
    "sister's",
    "12:30",
    "café",
    "École",
    "v1.29",
    "naïve",
    "x",
)


def random_note(rng: random.Random, n: int, odd: float = 0.0) -> Case:
    """A text of common and rare words in any order, with a vector."""
    words = [*rng.choices(COMMON, k=rng.randint(1, 6)), *rng.choices(RARE, k=rng.randint(1, 8))]
    words += [rng.choice(ODD) for _ in range(3) if rng.random() < odd]
    rng.shuffle(words)
    return {"id": f"n{n:03}", "text": " ".join(words), "vector": random_vector(rng)}


def random_vector(rng: random.Random) -> list[float]:
    """Six numbers."""
    return [round(rng.gauss(0.2, 1.0), 6) for _ in range(6)]


def random_edges(rng: random.Random, notes: list[Case], size: int) -> list[list[Any]]:
    """Weighted edges between any two of the notes."""
    pairs = {
        (rng.choice(notes)["id"], rng.choice(notes)["id"]) for _ in range(rng.randint(0, 2 * size))
    }
    kept = sorted(pair for pair in pairs if pair[0] != pair[1])
    # Sums of such weights are exact, so that equal ways are equal on both sides.
    return [[one, two, rng.randint(50, 1024) / 1024] for one, two in kept]


def random_words(rng: random.Random, joint: str, ends: tuple[str, ...]) -> str:
    """A few words, joined, some with an ending."""
    words = [*rng.choices(RARE, k=rng.randint(1, 3))]
    if rng.random() < 0.3:
        words.append(rng.choice(COMMON))
    words = list(dict.fromkeys(words))
    return joint.join(word + (rng.choice(ends) if rng.random() < 0.15 else "") for word in words)


@cache
def real_sentences() -> tuple[list[str], list[str]]:
    """(texts, questions) of the everyday sets of the benchmark data; skipped without."""
    folder = bench_data("everyday")
    if folder is None:
        pytest.skip(MISSING)
    texts, questions = (
        [
            str(json.loads(line)[key])
            for path in sorted(folder.glob(f"*/{name}.jsonl"))
            for line in path.read_text("utf-8").splitlines()
        ]
        for name, key in (("memories", "text"), ("questions", "question"))
    )
    return texts, questions
