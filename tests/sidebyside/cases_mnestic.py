"""Random corpora and questions for mnestic: the same for the same seed."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from tests.sidebyside.cases import (
    COMMON,
    RARE,
    Case,
    random_edges,
    random_note,
    random_vector,
    random_words,
    real_sentences,
)

_FEW: Final = ("ant", "bee", "cat", "dog", "elk", "fox")
"""So few words that they often stand near each other."""
_STEMS: Final = sorted({word[:4] for word in RARE})
_WORDLESS: Final = ("!!!", "… ?!", "- - -", "¿?", "()")


def mixed(seed: int) -> Case:
    """Weighted edges, and questions with legs of every kind."""
    rng = random.Random(f"mnestic {seed}")
    notes = [random_note(rng, n) for n in range(rng.randint(3, 50))]
    return _case(rng, notes, lambda ids: _question(rng, ids, _text(rng)))


def large(seed: int) -> Case:
    """The same with up to 400 records."""
    rng = random.Random(f"mnestic large {seed}")
    notes = [random_note(rng, n) for n in range(rng.randint(100, 400))]
    return _case(rng, notes, lambda ids: _question(rng, ids, _text(rng)))


def near(seed: int) -> Case:
    """NEAR of one to four words, alone and in expressions, where words are few."""
    rng = random.Random(f"mnestic near {seed}")
    notes = [
        {"id": f"n{n:03}", "text": " ".join(rng.choices(_FEW, k=rng.randint(1, 16))),
         "vector": random_vector(rng)}
        for n in range(rng.randint(3, 40))
    ]  # fmt: skip
    return _case(rng, notes, lambda ids: _question(rng, ids, _near_text(rng)), edges=False)


def prefixes_apart(seed: int) -> Case:
    """Prefixes of several words of which no text has two."""
    rng = random.Random(f"mnestic prefixes apart {seed}")
    notes: list[Case] = []
    for n in range(rng.randint(3, 50)):
        note = random_note(rng, n)
        one = {word[:4]: word for word in note["text"].split() if word in RARE}
        words = [one.get(word[:4], word) for word in note["text"].split()]
        notes.append({**note, "text": " ".join(words)})
    return _case(rng, notes, lambda ids: _question(rng, ids, _prefix_text(rng)), edges=False)


def prefixes_together(seed: int) -> Case:
    """Prefixes of several words of which a text may have two: mnestic counts it twice."""
    rng = random.Random(f"mnestic prefixes together {seed}")
    notes = [random_note(rng, n) for n in range(rng.randint(3, 50))]
    case = _case(rng, notes, lambda ids: _question(rng, ids, _prefix_text(rng)), edges=False)
    for asked in case["questions"]:
        spans = re.findall(r"(\w+)\*", asked["text"])
        if any(_meet(note["text"], span) for note in notes for span in spans):
            asked["differs"] = "a prefix counts a record once"
    return case


def diversity(seed: int) -> Case:
    """MMR with λ 0 and 1, and vectors that are equal; the order must be the same to the place."""
    rng = random.Random(f"mnestic diversity {seed}")
    notes = [random_note(rng, n) for n in range(rng.randint(3, 40))]
    models = [note["vector"] for note in rng.sample(notes, rng.choice((1, 1, 2)))]
    for note in notes:
        if rng.random() < 0.3:
            note["vector"] = rng.choice(models)
    rng.shuffle(notes)
    vectors = [tuple(note["vector"]) for note in notes]
    copied = {vector for vector in vectors if vectors.count(vector) > 1}

    def asked(ids: Sequence[str]) -> Case:
        question = _question(rng, ids, _text(rng))
        mmr = [rng.choice((0.0, 0.0, 1.0, 0.5)), rng.choice((0, 5, 10))]
        differs = {"differs": "copies under mmr"} if len(copied) > 1 and mmr[0] < 1.0 else {}
        # All vectors are listed: which of equal ones a cut leaves out is chance there.
        return {**question, **differs, "vector_k": 60, "mmr": mmr, "places": True}

    return _case(rng, notes, asked, edges=False)


def stop_words(seed: int) -> Case:
    """Questions of words that nearly every text has."""
    rng = random.Random(f"mnestic stop words {seed}")
    notes = [random_note(rng, n) for n in range(rng.randint(3, 60))]

    def asked(ids: Sequence[str]) -> Case:
        words = rng.sample(COMMON, rng.randint(1, 5))
        return _question(rng, ids, rng.choice((" OR ", " ", ", ", " NOT ")).join(words))

    return _case(rng, notes, asked, edges=False)


def equal_costs(seed: int) -> Case:
    """Budgets that cut through equal costs, among records that were not written by id."""
    rng = random.Random(f"mnestic equal costs {seed}")
    notes = [random_note(rng, n) for n in range(rng.randint(4, 60))]
    rng.shuffle(notes)
    edges = random_edges(rng, notes, 2 * len(notes))
    edges = [[one, two, rng.choice((0.0, 0.25, 0.25, 0.5))] for one, two, _ in edges]

    def asked(ids: Sequence[str]) -> Case:
        question = _question(rng, ids, _text(rng))
        legs = [{**_leg(rng, ids, n), "max_nodes": rng.randint(1, 12)} for n in range(2)]
        for leg in legs:
            leg["cost"] = rng.choice(("weight", "weight", "hop"))
            leg["from_legs"] = rng.random() < 0.3
        return {**question, "legs": legs}

    return {**_case(rng, notes, asked), "edges": edges}


def wordless(seed: int) -> Case:
    """Texts without a word, which count as no document."""
    rng = random.Random(f"mnestic wordless {seed}")
    notes = [random_note(rng, n) for n in range(rng.randint(4, 50))]
    for note in notes[1:]:
        if rng.random() < 0.3:
            note["text"] = rng.choice(_WORDLESS)
    return _case(rng, notes, lambda ids: _question(rng, ids, _text(rng)))


def sentences(seed: int) -> Case:
    """Real sentences, up to 400, and expressions of words that people asked with."""
    rng = random.Random(f"mnestic sentences {seed}")
    texts, questions = real_sentences()
    chosen = rng.sample(texts, min(len(texts), rng.randint(5, 400)))
    notes = [
        {"id": f"n{n:03}", "text": text, "vector": random_vector(rng)}
        for n, text in enumerate(chosen)
    ]

    def asked(ids: Sequence[str]) -> Case:
        words = [word.lower() for word in re.findall(r"[A-Za-z]+", rng.choice(questions))]
        words = rng.sample(words, min(len(words), rng.randint(1, 6)))
        joint = rng.choice((" OR ", " OR ", ", ", " ", " AND ", "near"))
        joined = f"NEAR/{rng.randint(1, 6)}({' '.join(words[:3])})"
        return _question(rng, ids, joined if joint == "near" else joint.join(words))

    return _case(rng, notes, asked)


def _case(
    rng: random.Random,
    notes: list[Case],
    ask: Callable[[Sequence[str]], Case],
    *,
    edges: bool = True,
) -> Case:
    ids = [note["id"] for note in notes]
    questions = [ask(ids) for _ in range(4)]
    if not edges:
        return {"notes": notes, "edges": [], "questions": [{**q, "legs": []} for q in questions]}
    return {
        "notes": notes, "edges": random_edges(rng, notes, len(notes)), "questions": questions,
    }  # fmt: skip


def _question(rng: random.Random, ids: Sequence[str], text: str) -> Case:
    legs = [_leg(rng, ids, n) for n in range(rng.choice((0, 0, 1, 2)))]
    kind = rng.choice(("both", "both", "words", "vector"))
    diverse = rng.random() < 0.3
    listed = rng.sample(ids, min(len(ids), 5)) if rng.random() < 0.3 else []
    return {
        "text": "" if kind == "vector" else text,
        "vector": None if kind == "words" else random_vector(rng),
        "vector_k": rng.choice((3, 10, 60)),
        "ef": 1000,
        "fts_k": 1000,
        "rrf_k": rng.choice((60.0, 60.0, 0.0, 10.5)),
        "limit": rng.choice((3, 10, 60)),
        "legs": legs,
        "lists": [[id, round(rng.uniform(0, 1), 6)] for id in listed],
        "mmr": [rng.choice((0.3, 0.5, 0.9, 1.0)), rng.choice((0, 5))] if diverse else None,
    }


def _text(rng: random.Random) -> str:
    joint = rng.choice((" OR ", " OR ", " AND ", " ", ", ", " NOT "))
    # There a star behind neighbouring words belongs to all of them together, and finds nothing.
    return random_words(rng, joint, ("",) if joint == " " else ("", "^2.5"))


def _near_text(rng: random.Random) -> str:
    groups: list[str] = []
    for _ in range(rng.choice((1, 1, 1, 2))):
        words = rng.choices(_FEW, k=rng.randint(1, 4))
        if rng.random() < 0.2:  # there a boost behind bare words belongs to all of them
            words = [f'"{word}"^{rng.randint(1, 3)}' for word in words]
        groups.append(f"NEAR{rng.choice(('/1', '/1', '/2', '/3', '/6', ''))}({' '.join(words)})")
    joint = rng.choice((" OR ", " AND ", " NOT ", " "))
    return joint.join([*groups, *rng.sample(_FEW, rng.choice((0, 0, 1)))])


def _prefix_text(rng: random.Random) -> str:
    """Stems of four endings, some with a boost; also words, joined."""
    parts = [stem + "*" for stem in rng.sample(_STEMS, rng.randint(1, 3))]
    parts = [part + rng.choice(("", "", "^2")) for part in parts]
    return rng.choice((" OR ", " AND ", ", ", " NOT ")).join(
        [*parts, *rng.sample(RARE, rng.choice((0, 1)))]
    )


def _meet(text: str, span: str) -> bool:
    return len({word for word in text.split() if word.startswith(span)}) > 1


def _leg(rng: random.Random, ids: Sequence[str], n: int) -> dict[str, Any]:
    budget = rng.choice((None, None, rng.randint(1, 30)))
    return {
        "label": f"leg{n}",
        "seeds": rng.sample(ids, min(len(ids), rng.randint(1, 3))),
        "max_hops": rng.randint(1, 3),
        "undirected": rng.random() < 0.5,
        "max_nodes": budget,
        "max_cost": None if budget is None else rng.choice((None, round(rng.uniform(0.2, 3.0), 3))),
    }


GENERATORS: Final[Mapping[str, Callable[[int], Case]]] = {
    "mixed": mixed,
    "large": large,
    "near": near,
    "prefixes apart": prefixes_apart,
    "prefixes together": prefixes_together,
    "diversity": diversity,
    "stop words": stop_words,
    "equal costs": equal_costs,
    "wordless": wordless,
    "real sentences": sentences,
}
DOCUMENTED: Final[Mapping[str, str]] = {
    "a prefix counts a record once": "tests/claims/test_mnestic.py"
    "::test_mn_33_a_prefix_counts_a_record_once",
    "copies under mmr": "tests/claims/test_mnestic_primitives.py"
    "::test_mn_39_of_copies_of_different_items_the_rounding_of_their_vectors_decides",
}
