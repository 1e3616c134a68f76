"""Any word lane, whatever its analyzer, dialect and formula, answers as the oracle does."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.inside import clock_of, engine_of, log_of
from tests.property.histories import changes, lived
from tests.property.strategies import (
    AGENTS,
    EXAMPLES,
    WORDS,
    drafts,
    queries,
    texts,
    wheres,
)
from tests.property.worlds import LIMIT, expected, world_of

from memoriter.core.errors import NothingToRun
from memoriter.index.field_stats import FieldStats
from memoriter.index.match import PhrasePattern
from memoriter.text.analyzers import analyzer, analyzer_names

OWN_FIELDS = ("text", "title", "summary", "tags", "concepts", "entities", "agent", "path")
DIALECTS = ("bare", "bare", "jeffs-brain", "engrava", "mnestic")
MARKS = ("AND", "OR", "NOT", "(", ")", '"', "*", "text:", "title:", "NEAR/3(", "^2", ",", "-",
         "NEAR/1(port cache)", "NEAR/2(cache port ssh)", 'NEAR("port" "cache", 1)')  # fmt: skip


@st.composite
def recipes(draw: st.DrawFn) -> dict[str, Any]:
    """A recipe of one word lane."""
    reader = draw(st.sampled_from(analyzer_names()))
    known = ("text", "essence") if reader == "fts5-dashed" else OWN_FIELDS
    listed = draw(st.lists(st.sampled_from((*known, "agent_registry")), min_size=1, unique=True))
    weights = {name: draw(st.sampled_from([0.0, 0.5, 1.0, 3.0])) for name in listed}
    lane = {
        "kind": "bm25",
        "pool": draw(st.sampled_from([1, 2, 5, 1000])),
        "dialect": draw(st.sampled_from(DIALECTS)),
        "expert": draw(st.booleans()),
        "stop": draw(st.sampled_from(["none", "none", "latin"])),
        "form": draw(st.sampled_from(["fields", "row"])),
        "score": draw(st.sampled_from(["bm25", "bm25", "tf_idf", "tf"])),
        "idf": draw(st.sampled_from(["positive", "floored"])),
        "records": draw(st.sampled_from(["all", "worded"])),
        "k1": draw(st.sampled_from([0.0, 1.2, 2.0])),
        "b": draw(st.sampled_from([0.0, 0.75, 1.0])),
        "fields": weights,
        "gate": draw(st.dictionaries(st.sampled_from(listed), st.sampled_from([0.1, 0.5, 1.0]))),
        "least_mean": draw(st.sampled_from([0.0, 1.0])),
        "gate_from": draw(st.sampled_from([0, 3, 20])),
        "wordless": draw(st.sampled_from(["skip", "empty"])),
        "agents": draw(st.sampled_from(["registered", "every"])),
        "ladder": draw(st.booleans()),
        "fuzzy": draw(st.sampled_from([0.3, 0.5])),
    }
    fuse = {"kind": "weighted", "scale": "max", "weights": {"words": 1.0}}
    return {
        "name": "mine", "version": 1, "analyzer": reader,
        "lanes": {"words": lane}, "pass": [{"fuse": fuse}],
    }  # fmt: skip


expressions = st.lists(st.sampled_from((*WORDS, *MARKS, "prot", "cahce")), max_size=8).map(" ".join)
aliases = st.dictionaries(
    st.sampled_from(["port", "v1.2.3", "a"]),
    st.lists(st.sampled_from(["cache", "ssh prod", "port"]), min_size=1, max_size=2),
    max_size=2,
)
edits = st.lists(st.tuples(st.sampled_from(AGENTS), texts), max_size=2)


histories = st.tuples(st.lists(drafts(), min_size=1, max_size=7), changes, edits)


@settings(max_examples=4 * EXAMPLES)
@given(histories, recipes(), queries | expressions, aliases, st.none() | wheres())
def test_any_word_lane_answers_as_the_oracle_does(
    history: Any, recipe: dict[str, Any], text: str, other: Any, where: Any
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        memory = lived(Path(folder), history)
        for known_at in (None, clock_of(memory).now() - 2_000_000):
            ask = {"aliases": other, "where": where, "known_at": known_at}
            oracle, used = expected(memory, text, recipe, **ask)
            try:
                result = memory.recall(text, LIMIT, recipe=recipe, **ask)
            except NothingToRun:
                assert not used
                continue
            assert [(hit.id, hit.score) for hit in result] == oracle
        memory.close()


@given(
    histories, st.sampled_from(analyzer_names()), st.lists(st.sampled_from(OWN_FIELDS), unique=True)
)
def test_counts_of_every_view_equal_a_naive_count(history: Any, name: str, listed: Any) -> None:
    reader = analyzer(name)
    wanted = [field for field in listed if field in reader.fields] or ["text"]
    with tempfile.TemporaryDirectory() as folder:
        memory = lived(Path(folder), history)
        head = log_of(memory).head("default").seq
        for seq in {head, head // 2, max(head - 1, 0)}:
            view = engine_of(memory).index_cache.view("default", seq, reader)
            ground = FieldStats(view, wanted, reader)
            pages = world_of(memory, seq, reader=reader).pages(wanted)
            assert ground.total == len(pages)
            for place in ground.listed:
                lengths = [page.lengths[ground.names[place]] for page in pages.values()]
                assert ground.means[place] == (sum(lengths) / len(lengths) if lengths else 0.0)
            seen = [{t for f in wanted for t in page.spots[f]} for page in pages.values()]
            for term in set[str]().union(*seen):
                held = sum(term in column for column in seen)
                assert ground.df(PhrasePattern(((term, 0),))) == held
        memory.close()
