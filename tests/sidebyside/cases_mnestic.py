"""Random corpora and questions for mnestic: the same for the same seed."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from typing import Final

from tests.sidebyside.cases import Case, random_edges, random_note, random_vector, random_words


def mixed(seed: int) -> Case:
    """A corpus with weighted edges, and questions with legs of every kind."""
    rng = random.Random(f"mnestic {seed}")
    size = rng.randint(3, 50)
    notes = [random_note(rng, n) for n in range(size)]
    questions = [_question(rng, [note["id"] for note in notes]) for _ in range(4)]
    return {"notes": notes, "edges": random_edges(rng, notes, size), "questions": questions}


def _question(rng: random.Random, ids: list[str]) -> Case:
    legs = [_leg(rng, ids, n) for n in range(rng.choice((0, 0, 1, 2)))]
    kind = rng.choice(("both", "both", "words", "vector"))
    joint = rng.choice((" OR ", " OR ", " AND ", " ", ", ", " NOT "))
    # There a star behind neighbouring words belongs to all of them together, and finds nothing.
    joined = random_words(rng, joint, ("",) if joint == " " else ("", "*", "^2.5"))
    diverse = rng.random() < 0.3
    listed = rng.sample(ids, min(len(ids), 5)) if rng.random() < 0.3 else []
    return {
        "text": "" if kind == "vector" else joined,
        "vector": None if kind == "words" else random_vector(rng),
        "vector_k": rng.choice((3, 10, 60)),
        "rrf_k": rng.choice((60.0, 60.0, 0.0, 10.5)),
        "limit": rng.choice((3, 10, 60)),
        "legs": legs,
        "lists": [[id, round(rng.uniform(0, 1), 6)] for id in listed],
        "mmr": [rng.choice((0.3, 0.5, 0.9, 1.0)), rng.choice((0, 5))] if diverse else None,
    }


def _leg(rng: random.Random, ids: list[str], n: int) -> Case:
    budget = rng.choice((None, None, rng.randint(1, 30)))
    return {
        "label": f"leg{n}",
        "seeds": rng.sample(ids, min(len(ids), rng.randint(1, 3))),
        "max_hops": rng.randint(1, 3),
        "undirected": rng.random() < 0.5,
        "max_nodes": budget,
        "max_cost": None if budget is None else rng.choice((None, round(rng.uniform(0.2, 3.0), 3))),
    }


GENERATORS: Final[Mapping[str, Callable[[int], Case]]] = {"mixed": mixed}
DOCUMENTED: Final[Mapping[str, str]] = {}
