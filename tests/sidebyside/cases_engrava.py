"""Random corpora and questions for engrava: the same for the same seed."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from itertools import combinations
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
)  # fmt: skip

_PRIORITIES: Final = ("P1", "P2", "P3", "P4")
_TYPES: Final = ("OBSERVATION", "TASK", "BELIEF", "OUTPUT_DRAFT", "NOTE", "REFLECTION")
_KINDS: Final = ("ASSOCIATED", "ASSOCIATED", "DEPENDS_ON", "DERIVED_FROM", "BRIDGE")
_LATER: Final = "2999-01-01T00:00:00+00:00"
_WORDLESS: Final = ("!!! ???", "...", "—", "🙂", "(*)", "&&", "  ", '""', "?!")


def mixed(seed: int) -> Case:
    """A corpus with all that a thought there can have, and questions of every mix."""
    rng = random.Random(f"engrava {seed}")
    size = rng.choice((rng.randint(3, 15), rng.randint(15, 40), rng.randint(40, 90)))
    return _case(rng, size)


def large(seed: int) -> Case:
    """As `mixed`, of up to 400 thoughts."""
    rng = random.Random(f"engrava large {seed}")
    return _case(rng, rng.randint(150, 400))


def wordless(seed: int) -> Case:
    """Texts without a word, in thoughts and in questions."""
    rng = random.Random(f"engrava wordless {seed}")
    case = _case(rng, rng.randint(3, 30))
    for note in case["notes"]:
        if rng.random() < 0.3:
            note["text"] = note["summary"] = rng.choice(_WORDLESS[:5])
    for asked in case["questions"]:
        asked |= {"text": rng.choice(_WORDLESS), "verb": rng.choice(("hybrid", "keywords"))}
        asked |= {"vector": rng.choice((None, random_vector(rng)))}
        if asked["verb"] == "keywords":
            asked |= {"text": rng.choice((*_WORDLESS, "", "baking !?", "? coffer"))}
    case["questions"][0] |= {"verb": "hybrid", "vector": random_vector(rng)}
    return case


def stop_words(seed: int) -> Case:
    """Questions of words that most thoughts have."""
    rng = random.Random(f"engrava stop words {seed}")
    case = _case(rng, rng.randint(3, 90))
    for asked in case["questions"]:
        asked["text"] = " ".join(rng.sample(COMMON, rng.randint(1, 4)))
    return case


def thought_types(seed: int) -> Case:
    """Thoughts of all types, and more reflections, with none, few or many sources."""
    rng = random.Random(f"engrava types {seed}")
    case = _case(rng, rng.randint(10, 90), reflections=rng.randint(3, 15))
    for note in case["notes"]:
        note["kind"] = rng.choice(_TYPES)
    for made in case["reflections"]:
        made["archived"] = rng.random() < 0.2
        count = min(len(case["notes"]), rng.choice((0, 2, 5, 30, 60)))
        weights = rng.sample(range(200, 1000), count)  # of equal ones any may come first there
        pairs = zip(rng.sample(case["notes"], count), weights, strict=True)
        made["sources"] = [[note["id"], weight / 1000] for note, weight in pairs]
    return case


def equals(seed: int) -> Case:
    """Equal cycles, priorities, weights of edges, texts, and cosines of exactly 0 and 1."""
    rng = random.Random(f"engrava equals {seed}")
    case = _case(rng, rng.choice((rng.randint(3, 18), rng.randint(3, 18), rng.randint(19, 60))))
    texts = [random_note(rng, 0)["text"] for _ in range(4)]
    for note in [*case["notes"], *case["reflections"]]:
        note["text"] = note["summary"] = rng.choice(texts)
        note["vector"], note["cycle"], note["priority"] = _axis(rng), rng.choice((3, 7, 7)), "P2"
    case["edges"] = [[one, two, 0.5, kind] for one, two, _, kind in case["edges"]]
    for asked in case["questions"]:
        asked["vector"] = None if asked["vector"] is None else _axis(rng)
    return case


def right_angles(seed: int) -> Case:
    """Vectors of small integers, of which many stand at right angles."""
    rng = random.Random(f"engrava right angles {seed}")
    case = _case(rng, rng.randint(5, 40))
    for note in [*case["notes"], *case["reflections"]]:
        note["vector"] = _small(rng)
    for asked in case["questions"]:
        asked["vector"] = None if asked["vector"] is None else _small(rng)
        asked["knobs"].pop("vector_top_k", None)  # cosines that are equal but for rounding
    return case


def listed(seed: int) -> Case:
    """Plain lists, with and without a cycle; many cycles are equal where the newest are cut off."""
    rng = random.Random(f"engrava listed {seed}")
    case = _case(rng, rng.randint(5, 60))
    cycles = rng.choice((3, 8, 40))
    for note in [*case["notes"], *case["reflections"]]:
        note |= {"cycle": rng.randint(0, cycles), "priority": rng.choice(_PRIORITIES)}
    for asked in case["questions"]:
        asked |= {"text": rng.choice(("", "  ")), "vector": None}
        asked["cycle"] = rng.choice((None, None, rng.randint(0, 60)))
        asked["top_k"] = rng.choice((1, 2, 3, 4, 5, 10, 60))
    return case


def sentences(seed: int) -> Case:
    """Real sentences, up to 400, and questions that people asked about them."""
    rng = random.Random(f"engrava sentences {seed}")
    texts, questions = real_sentences()
    case = _case(rng, rng.choice((rng.randint(5, 60), rng.randint(60, 400))))
    for note, text in zip(case["notes"], rng.sample(texts, len(case["notes"])), strict=True):
        note |= {"text": text, "summary": text[:200]}
    for asked in case["questions"]:
        if asked["text"]:
            asked["text"] = rng.choice((rng.choice(questions), rng.choice(texts)))
    return case


def consolidated(seed: int) -> Case:
    """Real sentences, and one run of the consolidation: by vectors, or at its defaults.

    There names are read by other rules, and decide whether a group passes: these have none.
    """
    rng = random.Random(f"engrava consolidated {seed}")
    texts = [_nameless(text) for text in real_sentences()[0]]
    size = rng.choice((rng.randint(20, 60), rng.randint(60, 120), rng.randint(210, 400)))
    vectors = {"cluster_algorithm": "agglomerative", "cluster_similarity_threshold": 0.95}
    gates = rng.choice((vectors, {}, {}))
    notes: list[Case] = []
    for n, (place, text) in enumerate(
        zip(rng.sample(range(size), size), rng.sample(texts, size), strict=True)
    ):
        kind = rng.choice(("OBSERVATION",) * 8 + ("TASK", "NOTE"))
        vector = _grouped(rng) if gates else [rng.gauss(1.0, 0.1) for _ in range(6)]
        note = {"id": f"n{place:03}", "text": text, "summary": text[:200], "priority": "P3"}
        note |= {"archived": rng.random() < 0.15, "expires": None, "cycle": n, "metadata": {}}
        notes.append(note | {"kind": kind, "vector": vector})
    asked = {"verb": "consolidate", "cycle": size + 200, "gates": gates}
    edges = [] if gates else _associations(rng, [note["id"] for note in notes])
    return {"notes": notes, "reflections": [], "questions": [asked], "edges": edges}


def _nameless(text: str) -> str:
    return "".join(each for each in text.lower() if each.isalpha() or each in " .,'-")


def _grouped(rng: random.Random) -> list[float]:
    """A vector near one of a few directions."""
    centre = [float(rng.randint(-1, 1)) for _ in range(3)]
    return [each + rng.gauss(0.0, 0.05) for each in (*centre, 0.3, 0.3, 0.3)]


def _associations(rng: random.Random, ids: list[str]) -> list[list[Any]]:
    """Groups, chains, stars or pairs at random; mostly by dreaming, some of equal cycles."""
    rng.shuffle(ids)
    shape = rng.choice(("groups", "chains", "stars", "pairs", "pairs"))
    pairs: list[tuple[str, str]] = []
    while shape != "pairs" and len(ids) > 8:
        size = rng.randint(2, 8)
        group, ids = ids[:size], ids[size:]
        if shape == "groups":
            pairs += combinations(group, 2)
        else:
            pairs += zip(group if shape == "chains" else group[:1] * size, group[1:], strict=False)
    pairs += [
        (one, two)
        for one, two in ((rng.choice(ids), rng.choice(ids)) for _ in range(len(ids) * 3 // 4))
        if one < two
    ]
    pairs = [(one, two) if rng.random() < 0.5 else (two, one) for one, two in dict.fromkeys(pairs)]
    rng.shuffle(pairs)
    cycles = rng.sample(range(1000), len(pairs)) if len(pairs) < 1000 else [0] * len(pairs)
    if rng.random() < 0.2:
        cycles = [cycle // 500 for cycle in cycles]
    others = rng.choice((0.0,) * 5 + (0.1,) * 8 + (0.5,) * 6 + (1.0,))
    return [
        [
            one, two, rng.randint(50, 1000) / 1000,
            "DEPENDS_ON" if rng.random() < 0.05 else "ASSOCIATED", cycle,
            "EXPERIENCE" if rng.random() < others else "DREAMING",
        ]
        for (one, two), cycle in zip(pairs, cycles, strict=True)
    ]  # fmt: skip


def _case(rng: random.Random, size: int, reflections: int | None = None) -> Case:
    notes = [_thought(rng, n) for n in range(size)]
    edges = [[*edge, rng.choice(_KINDS)] for edge in random_edges(rng, notes, size)]
    count = rng.randint(0, 6) if reflections is None else reflections
    made = [_thought(rng, 1000 + n) | {"kind": "REFLECTION"} for n in range(count)]
    cycles = rng.sample(range(2 * (size + count)), size + count)
    for note, cycle in zip([*notes, *made], cycles, strict=True):
        note["cycle"] = cycle
    for each in made:
        sources = rng.sample(notes, min(size, rng.randint(1, 6)))
        weights = [round(rng.uniform(0.2, 1.0), 3) for _ in sources]
        each |= {"priority": "P2", "archived": False, "expires": None}
        each |= {"sources": [[s["id"], w] for s, w in zip(sources, weights, strict=True)]}
    questions = [_question(rng) for _ in range(4)]
    return {"notes": notes, "edges": edges, "reflections": made, "questions": questions}


def _thought(rng: random.Random, n: int) -> Case:
    note = random_note(rng, n, odd=0.15)
    brief = random_note(rng, n)["text"] if rng.random() < 0.2 else note["text"]
    return note | {
        "kind": "OBSERVATION",
        "summary": brief[:200],
        "priority": rng.choice(_PRIORITIES),
        "archived": rng.random() < 0.05,
        "expires": rng.choice((None, None, None, "2001-01-01T00:00:00+00:00", _LATER)),
        "metadata": {"topic": rng.choice("abc"), "level": rng.randint(1, 3)},
    }


def _axis(rng: random.Random) -> list[float]:
    """A vector along an axis or between two: cosines of 0 and 1 are exact."""
    vector = [0.0] * 6
    for at in rng.sample(range(4), rng.choice((1, 1, 2))):
        vector[at] = 1.0
    return vector


def _small(rng: random.Random) -> list[float]:
    return [float(rng.randint(-2, 2)) for _ in range(5)] + [float(rng.choice((-1, 1)))]


def _question(rng: random.Random) -> Case:
    kind = rng.choice(("both", "both", "both", "words", "words", "vector", "neither"))
    ranked = kind != "neither"
    return {
        "verb": "hybrid",
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
        "vector_weight": round(rng.uniform(0.05, 1.0), 3) if rng.random() < 0.75 else 0.0,
        "recency_weight": round(rng.uniform(0.0, 0.5), 3),
        "priority_weight": rng.choice((0.0, round(rng.uniform(0.0, 0.5), 3))),
        "graph_weight": rng.choice((0.0, round(rng.uniform(0.05, 0.6), 3))),
        "graph_edge_decay": round(rng.uniform(0.1, 1.5), 3),
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


GENERATORS: Final[Mapping[str, Callable[[int], Case]]] = {
    "mixed": mixed,
    "wordless": wordless,
    "stop words": stop_words,
    "thought types": thought_types,
    "equals": equals,
    "right angles": right_angles,
    "plain lists": listed,
    "real sentences": sentences,
    "up to 400": large,
    "consolidation": consolidated,
}
DOCUMENTED: Final[Mapping[str, str]] = {
    "a plain list with a cycle": "tests/claims/test_engrava_fused.py::"
    "test_en_24_a_plain_list_weighs_recency_as_every_search_does",
    "reflections at right angles": "tests/claims/test_engrava_reflections.py::"
    "test_en_28_a_reflection_at_a_right_angle_lends_what_rounding_left",
    "equal reflections above the cap": "tests/claims/test_engrava_reflections.py::"
    "test_en_37_of_equal_reflections_above_the_cap_the_first_are_kept",
    "archived reflections that are asked for": "tests/claims/test_engrava_reflections.py::"
    "test_en_39_retired_reflections_are_in_no_answer_unless_asked_for",
    "associations of equal cycles": "tests/claims/test_engrava_reflections.py::"
    "test_en_34_of_associations_the_last_that_was_written_comes_first",
    "an empty answer with a cycle": "tests/claims/test_engrava_graph.py::"
    "test_en_32_an_answer_without_hits_names_no_recency",
    "equal scores at the edge of the window": "tests/claims/test_engrava_reflections.py::"
    "test_en_28_of_equal_scores_at_the_edge_of_the_window_the_smaller_id_is_in",
}
"""What is known to differ, as docs/recipes/engrava.md says, and the test that pins it."""
