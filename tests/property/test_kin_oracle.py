"""The kin lane answers as the oracle does: any history, filter and view; windows of long texts."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.inside import clock_of
from tests.property.histories import changes, lived
from tests.property.strategies import EXAMPLES, queries, wheres
from tests.property.worlds import LIMIT, expected, open_toy

from memoriter.core.errors import NothingToRun
from memoriter.index.pace import unpaced
from memoriter.index.windows import STRIDE, WINDOW, Windows, merged_windows, windows_of
from memoriter.lanes import kin_scan

WORDS: tuple[str, ...] = (
    "wedding", "married", "sister", "brother", "siblings", "cache", "memory", "port", "harbour",
    "camping", "tent", "hiking", "the", "did", "was", "running", "Straße", "49222", "zzyzx",
)  # fmt: skip
phrases = st.lists(st.sampled_from(WORDS), min_size=1, max_size=9).map(" ".join)
long = st.tuples(phrases, st.integers(0, 140), phrases, st.integers(0, 70), phrases).map(
    lambda drawn: f"{drawn[0]} {'of ' * drawn[1]}{drawn[2]} {'of ' * drawn[3]}{drawn[4]}"
)
drafts = st.builds(
    lambda text, title, session: {"text": text, "session": session, **title},
    phrases | long,
    st.just({}) | phrases.map(lambda title: {"title": title}),
    st.sampled_from(["one", "two"]),
)
histories = st.tuples(st.lists(drafts, min_size=1, max_size=9), changes, st.just([]))


@st.composite
def recipes(draw: st.DrawFn) -> dict[str, Any]:
    """A recipe of one kin lane."""
    lane = {
        "kind": "kin",
        "pool": draw(st.sampled_from([1, 2, 5, 1000])),
        "neighbours": draw(st.sampled_from([1, 8, 32])),
        "min_cosine": draw(st.sampled_from([0.0, 0.4, 0.7, 1.0])),
        "ignore": draw(st.sampled_from([0.0, 0.01, 0.3])),
    }
    fuse = {"kind": "weighted", "scale": "max", "weights": {"kin": 1.0}}
    return {
        "name": "mine", "version": 1, "analyzer": "memoriter",
        "lanes": {"kin": lane}, "pass": [{"fuse": fuse}],
    }  # fmt: skip


filters = st.none() | st.just({"session": "one"}) | wheres()


@settings(max_examples=2 * EXAMPLES)
@given(histories, recipes(), phrases | queries, filters, st.sampled_from([0, 2_000]))
def test_the_kin_lane_answers_as_the_oracle_does(
    history: Any, recipe: dict[str, Any], text: str, where: Any, short: int
) -> None:
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(kin_scan, "SHORT", short)  # the race is for long lists; here for any
        memory = lived(Path(folder), history)
        for known_at in (None, clock_of(memory).now() - 2_000_000):
            ask = {"where": where, "known_at": known_at}
            oracle, used = expected(memory, text, recipe, **ask)
            try:
                result = memory.recall(text, LIMIT, recipe=recipe, **ask)
            except NothingToRun:
                assert not used
                continue
            assert [(hit.id, hit.score) for hit in result] == oracle
        memory.close()


@st.composite
def races(draw: st.DrawFn) -> tuple[list[str], list[str], dict[str, Any]]:
    """The words of a question, short texts made of them, and a recipe with a small pool."""
    asked = draw(st.lists(st.sampled_from(WORDS), min_size=3, max_size=9, unique=True))
    one = st.lists(st.sampled_from(asked), min_size=1, max_size=5).map(" ".join)
    recipe = draw(recipes())
    recipe["lanes"]["kin"] |= {"pool": draw(st.integers(1, 3))}
    return asked, draw(st.lists(one, min_size=3, max_size=14)), recipe


@settings(max_examples=6 * EXAMPLES)
@given(races())
def test_no_row_is_left_behind_in_the_race(race: tuple[list[str], list[str], Any]) -> None:
    asked, texts, recipe = race
    memory = open_toy(flush_rows=60)
    memory.remember_many(texts)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kin_scan, "SHORT", 0)
        oracle, _ = expected(memory, " ".join(asked), recipe)
        result = memory.recall(" ".join(asked), LIMIT, recipe=recipe)
        assert [(hit.id, hit.score) for hit in result] == oracle


tokens = st.lists(st.integers(0, 5), max_size=3) | st.integers(0, 300).map(
    lambda n: [k * k % 97 for k in range(n)]
)


def held(arrays: Any, rows: int) -> list[list[set[int]]]:
    """For each row the words of each of its windows."""
    windows = Windows(arrays)
    out = [set[int]() for _ in range(len(windows))]
    for token in range(100):
        first, last = (int(one[0]) for one in windows.spans(np.array([token])))
        for window in windows.holding[first:last].tolist():
            assert token not in out[window]
            out[window].add(token)
    begins = windows.begins.tolist()
    assert windows.owners.tolist() == [
        row for row in range(rows) for _ in range(begins[row], begins[row + 1])
    ]
    return [out[begins[row] : begins[row + 1]] for row in range(rows)]


def plain(text: list[int]) -> list[set[int]]:
    """The windows of a text, as a person would cut them."""
    begins = range(0, max(len(text) - WINDOW + STRIDE, 1), STRIDE) if text else ()
    return [set(text[begin : begin + WINDOW]) for begin in begins]


def flat(texts: list[list[int]]) -> tuple[Any, Any]:
    """(the tokens of all texts, how many each has)."""
    every = [token for text in texts for token in text]
    return np.array(every, np.uint16), np.array([len(each) for each in texts], np.int64)


@given(st.lists(tokens, max_size=6), st.lists(tokens, max_size=6), st.data())
def test_windows_are_cut_and_merged_as_by_hand(one: Any, other: Any, data: Any) -> None:
    parts = [windows_of(*flat(one)), windows_of(*flat(other))]
    assert held(parts[0], len(one)) == [plain(text) for text in one]
    stays = [
        np.array(data.draw(st.lists(st.booleans(), min_size=n, max_size=n)), np.bool_)
        for n in (len(one), len(other))
    ]
    every = zip([*one, *other], np.concatenate(stays).tolist(), strict=True)
    kept = [text for text, stay in every if stay]
    assert held(merged_windows(parts, stays, unpaced), len(kept)) == [plain(text) for text in kept]
