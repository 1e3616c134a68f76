"""The examples of jeffs-brain's own text, asked of a memory: JB-31 to JB-36."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from tests.claims.corpus import ids, open_empty
from tests.sound import sound

from memoriter.core.explanation import Explanation
from memoriter.memory.facade import Memory
from memoriter.why.result import Result

LONG = "The cluster of the team runs on kubernetes, which is upgraded twice a year. "
NOTES = {
    "raw/documents/manual.md": "Prefer prefer; favourite favourite favourite: coffee coffee",
    "memory/global/user-preference-coffee.md": "Oat milk, the favourite coffee, is what I prefer",
    "memory/global/drinks.md": "I prefer tea; coffee is no favourite",
    "wiki/coffee.md": "Coffee that people prefer: the favourite of X",
    "raw/documents/releases.md": f"{LONG * 5}The version of X is in here. Did Y happen?",
    "wiki/version.md": "The version of X is 1.29",
    "wiki/happened.md": "[date: 2024-05-01] Y did happen",
    "wiki/other.md": "The version of X: did Y happen, one may ask",
}


@pytest.fixture
def memory() -> Iterator[Memory]:
    with open_empty(None) as made:
        for path, text in NOTES.items():
            made.remember(text, id=path, source={"path": path})
        yield made


def asked(memory: Memory, query: str, **overrides: Any) -> Result:
    return sound(memory.recall(query, 60, recipe="jeffs-brain", overrides=overrides))


def factors(memory: Memory, query: str) -> dict[str, tuple[float, dict[str, float]]]:
    """By path, what the score of fusion was multiplied by, and the reasons as explained."""
    result = asked(memory, query)
    plain = asked(memory, query, **{"boosts.intent.enabled": False})
    fused = dict(plain.rows())
    assert set(ids(result)) == set(fused)
    out: dict[str, tuple[float, dict[str, float]]] = {}
    for hit in result:
        (node,) = [node for node in _nodes(hit.explanation) if node.label == "intent"]
        assert hit.score == pytest.approx(fused[hit.id] * node.value, abs=1e-9)
        reasons = {name: float(value) for name, value in node.facts.items()}  # type: ignore[arg-type]
        out[hit.id] = (round(node.value, 6), reasons)
    return out


def _nodes(node: Explanation) -> Iterator[Explanation]:
    yield node
    for part in node.parts:
        yield from _nodes(part)


@pytest.mark.parametrize("query", ["what do I prefer?", "my favourite X", "my favourite coffee"])
def test_jb_32_the_examples_of_the_text_ask_for_a_preference(memory: Memory, query: str) -> None:
    result = asked(memory, query)
    assert result.trace["intent"] == "preference"
    plain = asked(memory, query, **{"boosts.intent.enabled": False})
    assert plain.trace["intent"] is None
    assert ids(result)[0] == "memory/global/user-preference-coffee.md"
    raw = "raw/documents/manual.md"
    assert ids(result).index(raw) == len(result) - 1
    assert ids(plain).index(raw) < len(plain) - 1


@pytest.mark.parametrize("query", ["what do I prefer?", "my favourite X"])
def test_jb_34_memory_derived_notes_rise_and_raw_document_chunks_fall(
    memory: Memory, query: str
) -> None:
    assert factors(memory, query) == {
        "memory/global/user-preference-coffee.md": (2.35, {"preference_note": 2.35}),
        "memory/global/drinks.md": (2.1, {"memory_of_a_liking": 2.1}),
        "raw/documents/manual.md": (0.82, {"raw_document": 0.82}),
        "wiki/coffee.md": (1.0, {}),
    }


@pytest.mark.parametrize("query", ["what's the version of X?", "when did Y happen?"])
def test_jb_33_the_examples_of_the_text_ask_for_a_concrete_fact(memory: Memory, query: str) -> None:
    assert asked(memory, query).trace["intent"] == "concrete-fact"


def test_jb_35_concise_factual_snippets_rise_and_long_prose_falls(memory: Memory) -> None:
    version = factors(memory, "what's the version of X?")
    assert version["wiki/version.md"] == (2.2, {"concrete_fact": 2.2})
    assert version["raw/documents/releases.md"] == (0.45, {"long_prose": 0.45})
    assert version["wiki/other.md"] == (1.0, {})
    happened = factors(memory, "when did Y happen?")
    assert happened["wiki/happened.md"] == (2.2, {"concrete_fact": 2.2})
    assert happened["raw/documents/releases.md"] == (0.45, {"long_prose": 0.45})
    assert ids(asked(memory, "what's the version of X?"))[0] == "wiki/version.md"
    assert ids(asked(memory, "when did Y happen?"))[0] == "wiki/happened.md"


def test_jb_36_a_boost_and_a_damp_are_multiplied_in_a_recall(memory: Memory) -> None:
    memory.remember("bikes: tips, a summary", id="raw", source={"path": "raw/both.md"})
    fact = "memory/global/user-fact-x.md"
    memory.remember("bikes: a summary", id="fact", source={"path": fact})
    made = factors(memory, "how many bikes?")
    assert made["raw"] == (0.3375, {"roll-up": 0.45, "generic_advice": 0.75})
    assert made["fact"] == (0.99, {"concrete_fact": 2.2, "roll-up": 0.45})
