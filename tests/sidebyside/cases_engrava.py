"""Random corpora and questions for engrava: the same for the same seed."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from typing import Any, Final

from tests.sidebyside.cases import (
    RARE,
    Case,
    random_edges,
    random_note,
    random_vector,
    random_words,
)

_PRIORITIES: Final = ("P1", "P2", "P3", "P4")
_KINDS: Final = ("ASSOCIATED", "ASSOCIATED", "DEPENDS_ON", "DERIVED_FROM", "BRIDGE")
_LATER: Final = "2999-01-01T00:00:00+00:00"


def mixed(seed: int) -> Case:
    """A corpus with all that a note there can have, and questions of every mix."""
    rng = random.Random(f"engrava {seed}")
    size = rng.choice((rng.randint(3, 15), rng.randint(15, 40), rng.randint(40, 90)))
    notes = [_thought(rng, n) for n in range(size)]
    edges = [[*edge, rng.choice(_KINDS)] for edge in random_edges(rng, notes, size)]
    reflections = [_thought(rng, 100 + n) for n in range(rng.randint(0, 6))]
    # Of equal cycles a plain list there has any first, and its window may cut through them.
    for note, cycle in zip([*notes, *reflections], rng.sample(range(150), size + 6), strict=False):
        note["cycle"] = cycle
    for made in reflections:
        sources = rng.sample(notes, min(size, rng.randint(1, 6)))
        weights = [round(rng.uniform(0.2, 1.0), 3) for _ in sources]
        made |= {"priority": "P2", "archived": False, "expires": None}
        made |= {"sources": [[s["id"], w] for s, w in zip(sources, weights, strict=True)]}
    questions = [_question(rng) for _ in range(4)]
    return {"notes": notes, "edges": edges, "reflections": reflections, "questions": questions}


def _thought(rng: random.Random, n: int) -> Case:
    note = random_note(rng, n, odd=0.15)
    brief = random_note(rng, n)["text"] if rng.random() < 0.2 else note["text"]
    return note | {
        "summary": brief[:200],
        "priority": rng.choice(_PRIORITIES),
        "archived": rng.random() < 0.05,
        "expires": rng.choice((None, None, None, "2001-01-01T00:00:00+00:00", _LATER)),
        "metadata": {"topic": rng.choice("abc"), "level": rng.randint(1, 3)},
    }


def _question(rng: random.Random) -> Case:
    kind = rng.choice(("both", "both", "both", "words", "words", "vector", "neither"))
    # In a plain list recency counts whole there, whatever its weight, which no claim asks for; and
    # which of equal reflections its cap drops is nowhere said.
    ranked = kind != "neither"
    return {
        "text": "" if kind in ("vector", "neither") else _text(rng),
        "vector": None if kind in ("words", "neither") else random_vector(rng),
        "top_k": rng.choice((1, 3, 5, 10, 20, 60)),
        "cycle": rng.randint(0, 200) if ranked and rng.random() < 0.5 else None,
        "reflections": ranked and rng.random() < 0.8,
        "archived": rng.random() < 0.2,
        "where": _where(rng) if rng.random() < 0.3 else [],
        "knobs": _knobs(rng) if rng.random() < 0.6 else {},
    }


def _knobs(rng: random.Random) -> Case:
    """What a call there may set; each is set or left as it is."""
    knobs: Case = {
        "fts_weight": rng.choice((0.0, round(rng.uniform(0.05, 1.0), 3))),
        "vector_weight": round(rng.uniform(0.05, 1.0), 3),
        "recency_weight": round(rng.uniform(0.0, 0.5), 3),
        "priority_weight": rng.choice((0.0, round(rng.uniform(0.0, 0.5), 3))),
        "graph_weight": rng.choice((0.0, round(rng.uniform(0.05, 0.6), 3))),
        "graph_edge_decay": round(rng.uniform(0.1, 1.0), 3),
        "reflection_boost": rng.choice((1.0, 1.5, 0.5)),
        "recency_half_life": rng.choice((10, 200)),
        "fts_top_k": rng.choice((4, 12)),
        "vector_top_k": rng.choice((4, 12)),
    }
    return {name: value for name, value in knobs.items() if rng.random() < 0.7}


def _where(rng: random.Random) -> list[list[Any]]:
    """Tests of the metadata that must all hold: a name, and the values it may have."""
    topics = rng.sample("abcz", rng.randint(1, 3))
    levels = rng.sample((1, 2, 3), rng.randint(1, 2))
    return rng.choice(
        ([["topic", topics]], [["level", levels]], [["topic", topics], ["level", [1]]])
    )


def _text(rng: random.Random) -> str:
    """Bare words mostly; else an expression, or something that is none."""
    if rng.random() < 0.7:
        return random_words(rng, " ", ("", "*", "!?", "'s", "..."))
    one, two, three = rng.sample(RARE, 3)
    return rng.choice(
        (
            f"{one} AND {two}", f"{one} OR {two}", f"{one} NOT {two}",
            f"({one} OR {two}) AND {three}",
            f'"{one} {two}"', f'"{one}" OR {two}', f"content:{one}", f"essence:{one} OR {two}",
            f"{one} NOT", f'{one} "{two}', f"{one[:4]}* OR {two}", f"{one}-{two} {three}",
            f"({one} AND", f"{one} AND {two}*", f"NOT {one}",
        )
    )  # fmt: skip


GENERATORS: Final[Mapping[str, Callable[[int], Case]]] = {"mixed": mixed}
DOCUMENTED: Final[Mapping[str, str]] = {}
