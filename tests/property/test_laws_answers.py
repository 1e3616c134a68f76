"""Laws of an answer: determinism, reconciliation, prefix, filter."""

from __future__ import annotations

import os
import subprocess
import sys
from itertools import pairwise
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.property.strategies import EXAMPLES, drafts, moments, queries, recipes, wheres
from tests.property.worlds import open_toy, sound

from recollect.core.errors import NothingToRun
from recollect.memory.facade import Memory
from recollect.testing.wheres import passes

corpora = st.lists(drafts(), min_size=1, max_size=8)
weights = st.sampled_from([0.0, 0.1, 0.3, 0.5, 1.0, 3.0, 1000.0])
Corpus = list[dict[str, Any]]


def filled(corpus: Corpus, **more: Any) -> Memory:
    memory = open_toy(**more)
    memory.remember_many(corpus)
    return memory


def answered(memory: Memory, text: str, limit: int = 100, **ask: Any) -> bytes | str:
    """The whole answer as bytes: hits, plan, receipt."""
    try:
        result = memory.recall(text, limit, **ask)
    except NothingToRun as nothing:
        return str(nothing)
    return repr(result.to_dict()).encode() + result.receipt.to_bytes()


@given(corpora, queries, recipes, st.none() | wheres(), st.none() | moments)
def test_determinism(
    corpus: Corpus, text: str, recipe: str, where: dict[str, Any] | None, as_of: int | None
) -> None:
    one, two = filled(corpus), filled(corpus)
    first = answered(one, text, recipe=recipe, where=where, as_of=as_of)
    assert answered(one, text, recipe=recipe, where=where, as_of=as_of) == first
    assert answered(two, text, recipe=recipe, where=where, as_of=as_of) == first


_SCRIPT = """
import hashlib, recollect
from recollect.testing.fakes import CountedEntropy, HandClock
memory = recollect.open(":memory:", clock=HandClock(), entropy=CountedEntropy())
memory.remember_many({"text": f"port {n % 7} of ssh cache {n % 3}", "tags": ["ops", f"t{n % 5}"],
    "metadata": {"b": n, "a": [1, n]}} for n in range(60))
state = hashlib.sha256()
for recipe in ("recollect", "lexical", "semantic"):
    for text in ("ssh port 3", "cache ops", "memory of ports"):
        result = memory.recall(text, 30, recipe=recipe, where={"tags": {"any": {"ops", "t1"}}})
        state.update(repr(result.to_dict()).encode() + result.receipt.to_bytes())
state.update(repr(memory._parts.log.dump("default")).encode())
print(state.hexdigest())
"""


def test_determinism_across_hash_seeds_and_threads() -> None:
    told = {
        subprocess.run(  # noqa: S603  # our own interpreter
            [sys.executable, "-c", _SCRIPT],
            env={**os.environ, "PYTHONHASHSEED": seed, "OPENBLAS_NUM_THREADS": threads},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed, threads in (("0", "1"), ("1", "2"), ("4242", "4"))
    }
    assert len(told) == 1


@given(corpora, queries, recipes, st.fixed_dictionaries({"words": weights, "meaning": weights}))
def test_reconciliation(corpus: Corpus, text: str, recipe: str, told: dict[str, float]) -> None:
    memory = filled(corpus)
    overrides = {f"fusion.weights.{k}": v for k, v in told.items()} if recipe == "recollect" else {}
    try:
        result = sound(memory.recall(text, 100, recipe=recipe, overrides=overrides))
    except NothingToRun:
        return
    for hit in result:
        assert sum(part.value for part in hit.explanation.parts) == hit.score
        assert set(hit.lanes) == {part.label for part in hit.explanation.parts}
    assert [hit.score for hit in result] == sorted((hit.score for hit in result), reverse=True)


@given(corpora, queries, recipes, st.integers(1, 10), st.integers(1, 10), st.none() | wheres())
def test_prefix(
    corpus: Corpus, text: str, recipe: str, a: int, b: int, where: dict[str, Any] | None
) -> None:
    memory = filled(corpus)
    small, large = sorted((a, b))
    try:
        few = memory.recall(text, small, recipe=recipe, where=where)
        many = memory.recall(text, large, recipe=recipe, where=where)
    except NothingToRun:
        return
    assert [hit.to_dict() for hit in few] == [hit.to_dict() for hit in many[:small]]
    assert few.total == many.total


@settings(max_examples=2 * EXAMPLES)
@given(corpora, queries, recipes, wheres(), wheres())
def test_filter(
    corpus: Corpus, text: str, recipe: str, where: dict[str, Any], more: dict[str, Any]
) -> None:
    memory = filled(corpus)
    try:
        narrow = memory.recall(text, 100, recipe=recipe, where={"all": [where, more]})
        wide = memory.recall(text, 100, recipe=recipe, where=where)
        everything = memory.recall(text, 100, recipe=recipe)
    except NothingToRun:
        return
    assert all(passes(where, hit.record) for hit in wide)
    assert all(passes(where, hit.record) and passes(more, hit.record) for hit in narrow)
    scores = [_lexical(result) for result in (narrow, wide, everything)]
    for less, widened in pairwise(scores):
        assert less.items() <= widened.items()


def _lexical(result: Any) -> dict[str, float]:
    return {hit.id: hit.lanes["words"].score for hit in result if "words" in hit.lanes}
