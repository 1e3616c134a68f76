"""Random chains and questions for MentisDB: the same for the same seed."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from typing import Any, Final

from tests.sidebyside.cases import (
    COMMON,
    RARE,
    Case,
    random_note,
    random_vector,
    random_words,
    real_sentences,
)

_AGENTS: Final = ("rust-backend-engineer", "planner", "hotel-booker", "a1")
_TYPES: Final = ("decision", "finding", "plan", "lesson_learned", "summary", "question")
_KINDS: Final = (
    "continues_from", "branches_from", "corrects", "invalidates", "supersedes", "derived_from",
    "summarizes", "caused_by", "supports", "contradicts", "related_to", "references",
)  # fmt: skip
_WORDLESS: Final = ("!!! ???", "...", "—", "🙂", "(*)", "&&", "?!")
_ODD: Final = ("   ---   ", "went", "gave it away", "!!!", "")


def agents(seed: int) -> Case:
    """Agents that nobody registers, asked for by the words of their names."""
    rng = random.Random(f"mentisdb agents {seed}")
    case = _case(rng, rng.randint(1, 60))
    for asked in case["questions"]:
        names = rng.choice(_AGENTS).split("-")
        asked["text"] = " ".join([*rng.sample(names, rng.randint(1, len(names))), asked["text"]])
    return case


def registry(seed: int) -> Case:
    """As `agents`, with display names, owners, descriptions and aliases for some."""
    rng = random.Random(f"mentisdb registry {seed}")
    case = agents(seed)
    for agent in rng.sample(_AGENTS, rng.randint(1, 3)):
        entry = {
            "display_name": " ".join(rng.sample(RARE, 2)),
            "owner": rng.choice(RARE),
            "description": " ".join(rng.sample((*RARE, *COMMON), 5)),
        }
        kept = {name: value for name, value in entry.items() if rng.random() < 0.6}
        case["agents"][agent] = {**kept, "aliases": rng.sample(RARE, rng.randint(0, 2))}
    return case


def mixed(seed: int) -> Case:
    """Thoughts of all types with links, and questions with graph, vectors, reranking, filters."""
    rng = random.Random(f"mentisdb {seed}")
    return _case(rng, rng.choice((rng.randint(1, 15), rng.randint(15, 90))))


def stop_words(seed: int) -> Case:
    """Questions of words that most thoughts have."""
    rng = random.Random(f"mentisdb stop words {seed}")
    case = _case(rng, rng.randint(3, 90))
    for asked in case["questions"]:
        asked["text"] = " ".join(rng.sample(COMMON, rng.randint(1, 4)))
    return case


def wordless(seed: int) -> Case:
    """Texts without a word, in thoughts and in questions, with and without a vector."""
    rng = random.Random(f"mentisdb wordless {seed}")
    case = _case(rng, rng.randint(3, 40))
    for note in case["notes"]:
        if rng.random() < 0.4:
            note["text"] = rng.choice(_WORDLESS)
    for asked in case["questions"]:
        if rng.random() < 0.7:
            asked |= {
                "text": rng.choice(_WORDLESS),
                "vector": rng.choice((None, random_vector(rng))),
            }
    return case


def sentences(seed: int) -> Case:
    """Real sentences, up to 400, and questions that people asked about them."""
    rng = random.Random(f"mentisdb sentences {seed}")
    texts, questions = real_sentences()
    case = _case(rng, rng.choice((rng.randint(5, 60), rng.randint(60, 400))))
    for note, text in zip(case["notes"], rng.sample(texts, len(case["notes"])), strict=True):
        note["text"] = text
    for asked in case["questions"]:
        asked["text"] = rng.choice((rng.choice(questions), rng.choice(texts)))
    return case


def _case(rng: random.Random, size: int) -> Case:
    notes = [_thought(rng, n) for n in range(size)]
    return {"notes": notes, "agents": {}, "questions": [_question(rng) for _ in range(4)]}


def _thought(rng: random.Random, n: int) -> Case:
    count = rng.choice((0, 0, 1, 2)) if n else 0
    pairs = {(f"n{rng.randrange(n):03}", rng.choice(_KINDS)) for _ in range(count)}
    return random_note(rng, n) | {
        "kind": rng.choice(_TYPES),
        "agent": rng.choice(_AGENTS),
        "tags": rng.sample(RARE, rng.randint(0, 2)),
        "concepts": rng.sample(RARE, rng.randint(0, 2)),
        "importance": rng.choice((0.5, round(rng.random(), 3))),
        "confidence": rng.choice((None, round(rng.random(), 3))),
        "links": sorted(pairs),
        "refs": [rng.randrange(n)] if n and rng.random() < 0.2 else [],
    }


def _question(rng: random.Random) -> Case:
    text = rng.choice(_ODD) if rng.random() < 0.1 else random_words(rng, " ", ("", "!", "'s"))
    return {
        "text": text,
        "vector": random_vector(rng) if text.strip() and rng.random() < 0.6 else None,
        "limit": rng.choice((1, 5, 10, 1000)),
        "graph": rng.random() < 0.6,
        "max_depth": rng.choice((1, 2, 2, 3)),
        "max_visited": rng.choice((3, 128, 128)),
        "mode": rng.choice(("both", "both", "out", "in")),
        "reranking": rng.random() < 0.3,
        "thought_types": _types(rng),
    }


def _types(rng: random.Random) -> Any:
    return rng.sample(_TYPES, rng.randint(1, 4)) if rng.random() < 0.3 else None


GENERATORS: Final[Mapping[str, Callable[[int], Case]]] = {
    "mixed": mixed,
    "agents": agents,
    "registry": registry,
    "stop words": stop_words,
    "wordless": wordless,
    "real sentences": sentences,
}
DOCUMENTED: Final[Mapping[str, str]] = {}
