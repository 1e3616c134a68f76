"""Random corpora and questions for both sides, as plain data: the same for the same seed."""

from __future__ import annotations

import random
from typing import Any, Final

Case = dict[str, Any]
_COMMON: Final = ("the", "of", "and", "to", "in", "is", "it", "on", "for", "with")
_STEMS: Final = ("bake", "coff", "dent", "flig", "hote", "kube", "lear", "pric", "runn", "sist")
_RARE: Final = [stem + end for stem in _STEMS for end in ("ing", "er", "s", "ed")]
_ODD: Final = (
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
_PRIORITIES: Final = ("P1", "P2", "P3", "P4")
_KINDS: Final = ("ASSOCIATED", "ASSOCIATED", "DEPENDS_ON", "DERIVED_FROM", "BRIDGE")
_LATER: Final = "2999-01-01T00:00:00+00:00"


def engrava(seed: int) -> Case:
    """A corpus with all that a note there can have, and questions of every mix."""
    rng = random.Random(f"engrava {seed}")
    size = rng.choice((rng.randint(3, 15), rng.randint(15, 40), rng.randint(40, 90)))
    notes = [_thought(rng, n) for n in range(size)]
    edges = [[*edge, rng.choice(_KINDS)] for edge in _edges(rng, notes, size)]
    reflections = [_thought(rng, 100 + n) for n in range(rng.randint(0, 6))]
    # Of equal cycles a plain list there has any first, and its window may cut through them.
    for note, cycle in zip([*notes, *reflections], rng.sample(range(150), size + 6), strict=False):
        note["cycle"] = cycle
    for made in reflections:
        sources = rng.sample(notes, min(size, rng.randint(1, 6)))
        weights = [round(rng.uniform(0.2, 1.0), 3) for _ in sources]
        made |= {"priority": "P2", "archived": False, "expires": None}
        made |= {"sources": [[s["id"], w] for s, w in zip(sources, weights, strict=True)]}
    questions = [_engrava_question(rng) for _ in range(4)]
    return {"notes": notes, "edges": edges, "reflections": reflections, "questions": questions}


def _thought(rng: random.Random, n: int) -> Case:
    note = _note(rng, n, odd=0.15)
    brief = _note(rng, n)["text"] if rng.random() < 0.2 else note["text"]
    return note | {
        "summary": brief[:200],
        "priority": rng.choice(_PRIORITIES),
        "archived": rng.random() < 0.05,
        "expires": rng.choice((None, None, None, "2001-01-01T00:00:00+00:00", _LATER)),
        "metadata": {"topic": rng.choice("abc"), "level": rng.randint(1, 3)},
    }


def _engrava_question(rng: random.Random) -> Case:
    kind = rng.choice(("both", "both", "both", "words", "words", "vector", "neither"))
    # In a plain list recency counts whole there, whatever its weight, which no claim asks for; and
    # which of equal reflections its cap drops is nowhere said.
    ranked = kind != "neither"
    return {
        "text": "" if kind in ("vector", "neither") else _engrava_text(rng),
        "vector": None if kind in ("words", "neither") else _vector(rng),
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


def _engrava_text(rng: random.Random) -> str:
    """Bare words mostly; else an expression, or something that is none."""
    if rng.random() < 0.7:
        return _asked(rng, " ", ("", "*", "!?", "'s", "..."))
    one, two, three = rng.sample(_RARE, 3)
    return rng.choice(
        (
            f"{one} AND {two}", f"{one} OR {two}", f"{one} NOT {two}",
            f"({one} OR {two}) AND {three}",
            f'"{one} {two}"', f'"{one}" OR {two}', f"content:{one}", f"essence:{one} OR {two}",
            f"{one} NOT", f'{one} "{two}', f"{one[:4]}* OR {two}", f"{one}-{two} {three}",
            f"({one} AND", f"{one} AND {two}*", f"NOT {one}",
        )
    )  # fmt: skip


def mnestic(seed: int) -> Case:
    """A corpus with weighted edges, and questions with legs of every kind."""
    rng = random.Random(f"mnestic {seed}")
    size = rng.randint(3, 50)
    notes = [_note(rng, n) for n in range(size)]
    questions = [_mnestic_question(rng, [note["id"] for note in notes]) for _ in range(4)]
    return {"notes": notes, "edges": _edges(rng, notes, size), "questions": questions}


def _mnestic_question(rng: random.Random, ids: list[str]) -> Case:
    legs = [_leg(rng, ids, n) for n in range(rng.choice((0, 0, 1, 2)))]
    kind = rng.choice(("both", "both", "words", "vector"))
    joint = rng.choice((" OR ", " OR ", " AND ", " ", ", ", " NOT "))
    # There a star behind neighbouring words belongs to all of them together, and finds nothing.
    joined = _asked(rng, joint, ("",) if joint == " " else ("", "*", "^2.5"))
    diverse = rng.random() < 0.3
    listed = rng.sample(ids, min(len(ids), 5)) if rng.random() < 0.3 else []
    return {
        "text": "" if kind == "vector" else joined,
        "vector": None if kind == "words" else _vector(rng),
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


def _note(rng: random.Random, n: int, odd: float = 0.0) -> Case:
    words = [*rng.choices(_COMMON, k=rng.randint(1, 6)), *rng.choices(_RARE, k=rng.randint(1, 8))]
    words += [rng.choice(_ODD) for _ in range(3) if rng.random() < odd]
    rng.shuffle(words)
    return {"id": f"n{n:03}", "text": " ".join(words), "vector": _vector(rng)}


def _vector(rng: random.Random) -> list[float]:
    return [round(rng.gauss(0.2, 1.0), 6) for _ in range(6)]


def _edges(rng: random.Random, notes: list[Case], size: int) -> list[list[Any]]:
    pairs = {
        (rng.choice(notes)["id"], rng.choice(notes)["id"]) for _ in range(rng.randint(0, 2 * size))
    }
    kept = sorted(pair for pair in pairs if pair[0] != pair[1])
    # Sums of such weights are exact, so that equal ways are equal on both sides.
    return [[one, two, rng.randint(50, 1024) / 1024] for one, two in kept]


def _asked(rng: random.Random, joint: str, ends: tuple[str, ...]) -> str:
    words = [*rng.choices(_RARE, k=rng.randint(1, 3))]
    if rng.random() < 0.3:
        words.append(rng.choice(_COMMON))
    words = list(dict.fromkeys(words))
    return joint.join(word + (rng.choice(ends) if rng.random() < 0.15 else "") for word in words)
