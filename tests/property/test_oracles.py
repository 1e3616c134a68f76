"""Scores against two implementations of BM25 that nobody here wrote: SQLite's FTS5 and bm25s.

They are floating point throughout and ours is on the grid, so equal means to 1e-6. The worst
difference of a run is logged: `pytest tests/property/test_oracles.py --log-cli-level=info`.
"""

from __future__ import annotations

import logging
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, pairwise
from typing import Any, NamedTuple

import apsw
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.night import NIGHT
from tests.property.worlds import open_toy

from memoriter.memory.facade import Memory
from memoriter.pipeline.load import recipe_of
from memoriter.pipeline.recipe import Recipe

CLOSE = 1e-6
Scored = dict[str, float]
WORST: dict[str, float] = {}
"""The worst difference to each of the two."""


@pytest.fixture(scope="module", autouse=True)
def _log_worst() -> Iterator[None]:
    yield
    for name, worst in WORST.items():
        logging.getLogger(__name__).info("worst difference to %s: %.3g", name, worst)


def lane_recipe(analyzer: str, words: Mapping[str, Any]) -> Recipe:
    """A recipe of one lane of words."""
    fuse = {"kind": "weighted", "scale": "max", "weights": {"words": 1.0}}
    return recipe_of(
        {
            "name": "oracle",
            "version": 1,
            "analyzer": analyzer,
            "lanes": {"words": {"kind": "bm25", "pool": 5000, **words}},
            "pass": [{"fuse": fuse}],
            "final": {"limit": 5000},
        }
    )


def by_us(memory: Memory, text: str, recipe: Recipe) -> Scored:
    """What the word lane answers, best first."""
    return {hit.id: hit.lanes["words"].score for hit in memory.recall(text, recipe=recipe)}


def agree(name: str, ours: Scored, theirs: Scored) -> None:
    """The same rows with the same scores, in the same order where theirs is no tie."""
    assert ours.keys() == theirs.keys()
    worst = max((abs(ours[id] - theirs[id]) for id in ours), default=0.0)
    WORST[name] = max(worst, WORST.get(name, 0.0))
    assert worst <= CLOSE
    in_our_order = [theirs[id] for id in ours]
    assert all(one >= other - 2 * CLOSE for one, other in pairwise(in_our_order))


# -- FTS5 ------------------------------------------------------------------------------------------

WORDS = (
    "port", "ports", "ported", "run", "running", "runs", "general", "generic", "café", "Cafe",
    "Straße", "the", "The", "a", "x1", "user_id", "REQ-12", "re", "well-known", "日本語", "и", "И",
)  # fmt: skip
COLUMNS = ("path", "title", "summary", "tags", "content")
FIELDS: tuple[str, ...] = ("path", "title", "summary", "tags", "text")
"""What we call the columns."""

words = st.sampled_from(WORDS)
texts = st.lists(
    st.tuples(words, st.sampled_from([" ", " ", " ", ", ", "-", "_", ". "])), min_size=1, max_size=9
).map(lambda each: "".join(word + mark for word, mark in each).strip())
maybe = st.just("") | texts
weights = st.sampled_from([0.5, 1.0, 1.0, 3.0, 10.0])
five_columns = st.lists(st.tuples(maybe, maybe, maybe, maybe, texts), min_size=1, max_size=20)
two_columns = st.lists(st.tuples(texts, maybe), min_size=1, max_size=20)


class Fts5(NamedTuple):
    """A real FTS5 table."""

    tokenize: str
    columns: Sequence[str]

    def of(self, rows: Iterable[Sequence[str]]) -> apsw.Connection:
        names = ", ".join(self.columns)
        made = apsw.Connection(":memory:")
        made.execute(f'create virtual table docs using fts5({names}, tokenize="{self.tokenize}")')
        statement = f"insert into docs(rowid, {names}) values (?{', ?' * len(self.columns)})"  # noqa: S608  # names of ours
        made.executemany(statement, [(nth, *row) for nth, row in enumerate(rows)])
        return made


def by_fts5(made: apsw.Connection, match: str, weights: Sequence[float]) -> Scored:
    """The rows that match, and their bm25() with its sign turned."""
    rank = f"bm25(docs, {', '.join(map(str, weights))})"
    asked = f"select rowid, {rank} from docs where docs match ?"  # noqa: S608  # numbers of ours
    return {f"r{row}": -float(score) for row, score in made.execute(asked, (match,))}


def row_recipe(analyzer: str, fields: Mapping[str, float]) -> Recipe:
    """A word lane that scores as FTS5 does, for expressions as FTS5 has them."""
    shape = {"form": "row", "idf": "floored", "k1": 1.2, "b": 0.75, "dialect": "engrava"}
    return lane_recipe(analyzer, {**shape, "fields": fields})


leaves = st.builds(
    lambda each, star: f'"{" ".join(each)}"{star}',
    st.lists(words, min_size=1, max_size=3),
    st.sampled_from(["", "", "*"]),
)


def expressions(leaf: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """Words, phrases and beginnings, joined and nested."""
    return st.recursive(
        leaf,
        lambda inner: st.builds(
            lambda one, operator, other: f"({one} {operator} {other})",
            inner,
            st.sampled_from(["OR", "OR", "AND", "NOT"]),
            inner,
        ),
        max_leaves=5,
    )


PORTER = Fts5("porter unicode61", COLUMNS)
DASHED = Fts5("unicode61 tokenchars '-_'", ("content", "essence"))


def filed(rows: Iterable[Sequence[str]]) -> Memory:
    """The rows of five columns as records."""
    memory = open_toy(embedder=None)
    for nth, (path, title, summary, tag, text) in enumerate(rows):
        more: dict[str, Any] = {"title": title, "summary": summary, "source": {"path": path}}
        memory.remember(text, id=f"r{nth}", tags=[tag] if tag else [], **more)
    return memory


@given(five_columns, st.lists(words, min_size=1, max_size=5), st.tuples(*[weights] * 5))
def test_bare_words_are_scored_as_fts5_scores_them(
    rows: list[tuple[str, ...]], asked: list[str], each: tuple[float, ...]
) -> None:
    fields = dict(zip(FIELDS, each, strict=True))
    ours = by_us(filed(rows), " ".join(asked), row_recipe("fts5-porter", fields))
    match = " OR ".join(f'"{word}"' for word in asked)
    agree("FTS5", ours, by_fts5(PORTER.of(rows), match, each))


@given(
    five_columns, st.lists(expressions(leaves), min_size=1, max_size=4), st.tuples(*[weights] * 5)
)
def test_expressions_are_scored_as_fts5_scores_them(
    rows: list[tuple[str, ...]], asked: list[str], each: tuple[float, ...]
) -> None:
    fields = dict(zip(FIELDS, each, strict=True))
    memory, theirs = filed(rows), PORTER.of(rows)
    for text in asked:
        ours = by_us(memory, text, row_recipe("fts5-porter", fields))
        agree("FTS5", ours, by_fts5(theirs, text, each))


in_column = st.builds(
    lambda column, leaf: f"{column}{leaf}", st.sampled_from(["", "content:", "essence:"]), leaves
)


@given(
    two_columns, st.lists(expressions(in_column), min_size=1, max_size=4), st.tuples(*[weights] * 2)
)
def test_words_with_hyphens_and_columns_are_scored_as_fts5_scores_them(
    rows: list[tuple[str, str]], asked: list[str], each: tuple[float, ...]
) -> None:
    memory = open_toy(embedder=None)
    for nth, (text, essence) in enumerate(rows):
        memory.remember(text, id=f"r{nth}", summary=essence or None)
    theirs = DASHED.of((text, essence or text[:200]) for text, essence in rows)
    fields = {"text": each[0], "essence": each[1]}
    for text in asked:
        ours = by_us(memory, text, row_recipe("fts5-dashed", fields))
        agree("FTS5", ours, by_fts5(theirs, text, each))


# -- bm25s -----------------------------------------------------------------------------------------

LETTERS = [f"w{nth}" for nth in range(30)]
documents = st.lists(
    st.lists(st.sampled_from(LETTERS), min_size=1, max_size=20), min_size=1, max_size=30
)


@given(
    documents,
    st.lists(st.sampled_from(LETTERS), min_size=1, max_size=6, unique=True),
    st.sampled_from([0.0, 0.5, 1.2, 2.0]),
    st.sampled_from([0.0, 0.4, 0.75, 1.0]),
)
def test_okapi_is_scored_as_bm25s_scores_it(
    corpus: list[list[str]], asked: list[str], k1: float, b: float
) -> None:
    bm25s = pytest.importorskip("bm25s", reason="bm25s is not installed: make test installs it")
    memory = open_toy(embedder=None)
    memory.remember_many({"text": " ".join(t), "id": f"r{nth}"} for nth, t in enumerate(corpus))
    recipe = lane_recipe("simple", {"expert": False, "k1": k1, "b": b, "fields": {"text": 1.0}})
    ours = by_us(memory, " ".join(asked), recipe)
    theirs = bm25s.BM25(method="lucene", k1=k1, b=b, dtype="float64")
    theirs.index(corpus, show_progress=False)
    known = [word for word in asked if any(word in document for document in corpus)]
    # Like Lucene since its version 8 it leaves out the constant factor k1 + 1.
    scores = (k1 + 1.0) * theirs.get_scores(known) if known else []
    agree("bm25s", ours, {f"r{nth}": float(s) for nth, s in enumerate(scores) if s > 0.0})


# -- one larger corpus -----------------------------------------------------------------------------


TEXTS, QUERIES = (1500, 12) if NIGHT else (600, 6)


def test_a_larger_corpus_with_common_and_rare_words_is_scored_as_both_score_it() -> None:
    bm25s = pytest.importorskip("bm25s", reason="bm25s is not installed; the extra dev has it")
    chance = random.Random(20)
    vocabulary = [f"w{nth}" for nth in range(2000)]
    shares = [1.0 / (nth + 1) for nth in range(2000)]
    corpus = [chance.choices(vocabulary, shares, k=chance.randint(1, 60)) for _ in range(TEXTS)]
    memory = open_toy(embedder=None, flush_rows=200)
    memory.remember_many({"text": " ".join(t), "id": f"r{nth}"} for nth, t in enumerate(corpus))
    shape = {"expert": False, "k1": 1.2, "b": 0.75, "fields": {"text": 1.0}}
    okapi = lane_recipe("simple", shape)
    row = row_recipe("fts5-porter", {"text": 1.0})
    lucene = bm25s.BM25(method="lucene", k1=1.2, b=0.75, dtype="float64")
    lucene.index(corpus, show_progress=False)
    fts5 = Fts5("porter unicode61", ("content",)).of([(" ".join(text),) for text in corpus])
    known = set(chain.from_iterable(corpus))
    for _ in range(QUERIES):
        drawn = chance.choices(vocabulary, shares, k=8)
        asked = [word for word in dict.fromkeys(drawn) if word in known]
        text = " ".join(asked)
        scores = 2.2 * lucene.get_scores(asked)
        theirs = {f"r{nth}": float(score) for nth, score in enumerate(scores) if score > 0.0}
        agree("bm25s", by_us(memory, text, okapi), theirs)
        match = " OR ".join(f'"{word}"' for word in asked)
        agree("FTS5", by_us(memory, text, row), by_fts5(fts5, match, [1.0]))
