"""What engrava promises of its five signals together: EN-01 to EN-10, EN-22, EN-24, EN-40."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Any, cast

import pytest
from tests.claims.corpus import CORPUS, VECTOR, close, ids, leaves, open_corpus, open_empty
from tests.sound import sound

import memoriter
from memoriter.core.errors import BadQuery, BadRecipe
from memoriter.memory.facade import Memory
from memoriter.memory.options import OpenOptions, SearchKwargs
from memoriter.pipeline.load import is_path, library, recipe_of, value_at
from memoriter.testing.fakes import START, ToyEmbedder
from memoriter.why.result import Result

TEXT = "pricing berlin"
WORDS = [
    ("m02", 0.9), ("m17", 0.411642), ("m01", 0.142857), ("m09", 0.108199), ("m10", 0.071670),
]  # fmt: skip
BOTH = [
    ("m02", 0.955123), ("m17", 0.763962), ("m01", 0.648466), ("m08", 0.640883), ("m18", 0.626903),
    ("m13", 0.625978), ("m07", 0.609577), ("m19", 0.584974), ("m16", 0.461141), ("m09", 0.356491),
]  # fmt: skip


def asked(memory: Memory, text: str = TEXT, limit: int | None = None, **ask: Any) -> Result:
    return sound(memory.recall(text, limit, recipe="engrava", **ask))


def part(result: Result, id: str, label: str) -> dict[str, Any]:
    (hit,) = [hit for hit in result if hit.id == id]
    (part_found,) = [each for each in leaves(hit.explanation) if each.label == label]
    return {"value": part_found.value, **part_found.facts}


def test_en_01_five_signals_have_their_weights_and_these_sum_to_1() -> None:
    recipe = recipe_of("engrava")
    data = recipe.to_data()
    defaults = {
        "default_fts_weight": 0.30, "default_vector_weight": 0.55, "default_recency_weight": 0.10,
        "default_priority_weight": 0.05, "default_graph_weight": 0.0,
    }  # fmt: skip
    for name, weight in defaults.items():
        target = recipe.names[name]
        for path in (target,) if isinstance(target, str) else target:
            assert value_at(data, path) == weight
    assert sum(defaults.values()) == pytest.approx(1.0)


def test_en_01_one_call_blends_all_five(vectors: Memory) -> None:
    ask: dict[str, Any] = {"vector": VECTOR, "cycle": 40, "overrides": {"graph_weight": 0.1}}
    result = asked(vectors, **ask)
    assert result.signals == ("fts5", "vector", "recency", "priority", "graph")
    labels = [each.label for each in leaves(result[0].explanation)]
    assert labels == ["words", "meaning", "recency", "priority", "graph"]


def test_en_02_words_are_scaled_from_the_weakest_to_the_best(corpus: Memory) -> None:
    result = asked(corpus)
    scaled = {hit.id: part(result, hit.id, "words")["scaled"] for hit in result}
    assert (scaled["m02"], scaled["m01"]) == (1.0, 0.0)
    assert scaled["m17"] == pytest.approx((3.112759 - 2.023293) / (4.291834 - 2.023293), abs=1e-6)


def test_en_02_a_single_hit_and_equal_ones_get_a_half(corpus: Memory) -> None:
    off = {"priority_weight": 0.0}
    assert asked(corpus, "passport", overrides=off).rows() == [("m20", 0.5)]
    with open_empty() as memory:
        for id in "ba":
            memory.remember("berlin", id=id)
        assert asked(memory, "berlin", overrides=off).rows() == [("a", 0.5), ("b", 0.5)]


def test_en_03_cosines_are_raw_and_negative_ones_are_dropped() -> None:
    with open_empty("given:2") as memory:
        for id, vector in {"near": [1, 1], "across": [0, 1], "away": [-1, 0]}.items():
            memory.remember("x", id=id, vector=vector)
        off = {"priority_weight": 0.0}
        result = asked(memory, "", vector=[1, 0], overrides=off)
        assert result.rows() == close([("near", 0.5**0.5), ("across", 0.0)])


@pytest.mark.parametrize("size", [6, 384])
def test_en_03_a_cosine_of_exactly_0_stays_however_the_vectors_are_rounded(size: int) -> None:
    """Pairs of small integers at right angles, most of whose unit vectors are not quite."""
    rng = random.Random(f"right angles {size}")
    with open_empty(f"given:{size}") as memory:
        question = [float(rng.choice((-4, -3, -2, -1, 1, 2, 3, 4))) for _ in range(size)]
        for n in range(40):
            one, two = rng.sample(range(size), 2)
            across, away = [0.0] * size, [0.0] * size
            across[one], across[two] = question[two], -question[one]
            away[one] = -question[one]
            memory.remember("x", id=f"across{n}", vector=across)
            memory.remember("x", id=f"away{n}", vector=away)
        off = {"priority_weight": 0.0}
        result = asked(memory, "", 100, vector=question, overrides=off)
        assert {hit.id for hit in result} == {f"across{n}" for n in range(40)}
        assert all(score == pytest.approx(0.0, abs=1e-6) for _, score in result.rows())


def test_en_03_without_a_vector_the_text_is_embedded() -> None:
    embedder = ToyEmbedder()
    with open_empty(embedder) as memory:
        memory.remember("berlin", id="b")
        before = embedder.calls
        embedded = asked(memory, "berlin")
        assert embedder.calls == before + 1
        assert embedded[0].lanes["meaning"].score == pytest.approx(1.0, abs=1e-6)
        vector = embedder.embed(["berlin"], "query")[0]
        assert vector is not None
        calls = embedder.calls
        given = asked(memory, "berlin", vector=vector.tolist())
        assert (given.rows(), embedder.calls) == (embedded.rows(), calls)


def test_en_03_a_wrong_size_is_named_with_both(vectors: Memory) -> None:
    with pytest.raises(BadQuery, match="expected 4 numbers, got 2") as raised:
        asked(vectors, vector=[1.0, 2.0])
    assert raised.value.field == "vector"


def test_en_03_a_zero_vector_is_active_empty_and_reported(vectors: Memory) -> None:
    result = asked(vectors, "pricing", vector=[0.0] * 4)
    assert result.rows() == close([("m17", 0.333333), ("m01", 0.055556), ("m02", 0.054185)])
    assert "vector" in result.signals
    (step,) = [step for step in result.plan.steps if step.name == "meaning"]
    assert (step.rows, step.shows["vector"]) == (0, "zero, which points nowhere")


def test_en_04_recency_halves_with_every_fifty_cycles_of_the_call(vectors: Memory) -> None:
    result = asked(vectors, vector=VECTOR, cycle=40)
    assert part(result, "m02", "recency")["score"] == pytest.approx(0.757858, abs=1e-6)
    halved = asked(vectors, vector=VECTOR, cycle=40, overrides={"recency_half_life": 20})
    assert part(halved, "m02", "recency")["score"] == pytest.approx(0.5)
    assert part(result, "m02", "priority")["score"] == pytest.approx(0.3)  # EN-05: P3


def test_en_04_the_clock_is_the_other_reference_and_both_are_an_error(vectors: Memory) -> None:
    overrides = {"boosts.recency_now.enabled": True}
    week = 604_800 * 1_000_000
    result = asked(vectors, now=START + week, overrides=overrides)
    shares = {part(result, hit.id, "recency_now")["score"] for hit in result}
    assert min(shares) == pytest.approx(0.5, abs=1e-4)
    with pytest.raises(BadQuery, match="cannot both run") as raised:
        asked(vectors, cycle=40, overrides=overrides)
    assert raised.value.field in ("recency", "recency_now")


def test_en_06_weights_of_missing_signals_go_to_the_others(corpus: Memory) -> None:
    result = asked(corpus)
    assert result.rows() == close(WORDS)
    assert part(result, "m02", "words")["weight"] == pytest.approx(0.3 / 0.35)
    assert result.skipped == {"meaning": "this memory has no embedder"}


def test_en_07_corpus_a(vectors: Memory) -> None:
    assert asked(vectors, vector=VECTOR).rows() == close(BOTH)
    alone = asked(vectors, "", 5, vector=VECTOR)
    assert alone.rows() == close(
        [("m01", 0.972698), ("m08", 0.961325), ("m18", 0.940354), ("m13", 0.938967),
         ("m02", 0.932685)]
    )  # fmt: skip
    aged = asked(vectors, limit=6, vector=VECTOR, cycle=40)
    assert aged.rows() == close(
        [("m02", 0.935397), ("m17", 0.764409), ("m01", 0.649594), ("m08", 0.646532),
         ("m18", 0.642129), ("m13", 0.634091)]
    )  # fmt: skip


def test_en_08_a_signal_that_found_nothing_keeps_its_weight(vectors: Memory) -> None:
    assert asked(vectors, "zzqx", 1, vector=VECTOR).rows() == close([("m01", 0.648466)])
    assert asked(vectors, "", 1, vector=VECTOR).rows() == close([("m01", 0.972698)])


WEIGHTS = {
    "fts_weight": 0.4, "vector_weight": 0.4, "recency_weight": 0.1, "priority_weight": 0.05,
    "graph_weight": 0.05,
}  # fmt: skip


def test_en_09_every_weight_can_be_set_per_call(vectors: Memory) -> None:
    result = asked(vectors, limit=3, vector=VECTOR, cycle=42, overrides=WEIGHTS)
    assert result.rows() == close([("m02", 0.914341), ("m17", 0.669385), ("m01", 0.532169)])
    assert asked(vectors, vector=VECTOR).rows() == close(BOTH)  # and the next call has its own


@pytest.mark.parametrize("name", [*WEIGHTS, "default_fts_weight", "default_graph_weight"])
def test_en_09_a_negative_weight_is_an_error_that_names_it(vectors: Memory, name: str) -> None:
    with pytest.raises(BadRecipe) as raised:
        asked(vectors, vector=VECTOR, overrides={name: -1.0})
    assert raised.value.field == name
    assert name in raised.value.message


@pytest.mark.parametrize("value", [0, -1])
@pytest.mark.parametrize("name", ["recency_half_life", "recency_now_half_life"])
def test_en_09_a_half_life_is_positive(vectors: Memory, name: str, value: int) -> None:
    with pytest.raises(BadRecipe, match=name):
        asked(vectors, cycle=1, overrides={name: value})


def test_en_10_results_are_pairs_by_score_then_id(vectors: Memory) -> None:
    rows = asked(vectors, limit=20, vector=VECTOR).rows()
    assert rows == sorted(rows, key=lambda row: (-row[1], row[0]))
    assert len(asked(vectors, vector=VECTOR)) == 10
    data = recipe_of("engrava").to_data()
    assert value_at(data, "lanes.words.pool") == value_at(data, "lanes.meaning.pool") == 50
    with open_empty() as memory:
        for id in "cab":
            memory.remember("berlin", id=id)
        assert ids(asked(memory, "berlin")) == ["a", "b", "c"]


def test_en_10_priority_recency_and_graph_add_no_candidates(corpus: Memory) -> None:
    words = {hit.id for hit in corpus.keywords(TEXT, recipe="engrava")}
    result = asked(corpus, limit=30, cycle=40, overrides={"graph_weight": 1.0})
    assert set(ids(result)) == words


def skipped(result: Result) -> dict[str, str]:
    return {s.name: s.skipped for s in result.plan.steps if s.skipped is not None}


def test_en_22_what_cannot_run_is_skipped_with_its_reason(corpus: Memory) -> None:
    reasons = skipped(asked(corpus))
    assert reasons["meaning"] == "this memory has no embedder"
    assert "no cycle is given" in reasons["recency"]
    assert reasons["graph"] == "its weight is 0"
    assert skipped(asked(corpus, ""))["words"] == "the query has no words"
    assert skipped(asked(corpus, overrides={"priority_weight": 0.0}))["priority"]


def test_en_22_a_store_without_any_vector_has_no_vector_signal() -> None:
    for embedder in (None, "given:4"):
        with open_empty(embedder) as memory:
            for note in CORPUS:
                memory.remember(note.text, id=note.id, priority=note.priority)
            result = asked(memory, vector=VECTOR)
            assert result.rows() == close(WORDS)
            assert "meaning" in result.skipped


def test_en_24_without_any_signal_there_is_a_plain_list(corpus: Memory) -> None:
    bare = asked(corpus, "", 5, overrides={"priority_weight": 0.0})
    assert bare.rows() == [(id, 0.0) for id in ("m11", "m14", "m06", "m05", "m10")]
    listed = asked(corpus, "", 5)
    assert listed.rows() == close(
        [("m11", 1.0), ("m01", 1.0), ("m12", 1.0), ("m05", 0.6), ("m09", 0.6)]
    )
    with open_empty() as memory:
        assert asked(memory, "").rows() == []


def test_en_24_a_plain_list_weighs_recency_as_every_search_does(corpus: Memory) -> None:
    listed = asked(corpus, "", 3, cycle=40)
    # m11 is of cycle 40 and P1: .10/.15 · 1 + .05/.15 · 1. The program adds the recency whole,
    # 1 + .05/.15, and has 1.333333 here.
    assert listed.rows()[0] == ("m11", pytest.approx(1.0, abs=1e-6))
    assert part(listed, "m11", "recency")["weight"] == pytest.approx(0.10 / 0.15, abs=1e-9)


ASKED = {
    "graph_edge_decay": {"graph_weight": 0.3}, "max_neighbors_per_candidate": {"graph_weight": 0.3},
}  # fmt: skip
"""What must be on besides, so that a setting can be seen."""
SETTINGS = {
    "default_fts_weight": 0.9, "default_vector_weight": 0.1, "default_recency_weight": 0.9,
    "default_priority_weight": 0.9, "default_graph_weight": 0.9, "graph_edge_decay": 0.9,
    "max_neighbors_per_candidate": 1, "reflection_boost": 2.0,
}  # fmt: skip


@pytest.mark.parametrize("name", SETTINGS)
def test_en_40_a_setting_has_one_place_and_changes_the_default_of_every_call(name: str) -> None:
    own: Any = recipe_of("engrava").to_data()
    target = recipe_of("engrava").names[name]
    for path in (target,) if isinstance(target, str) else target:
        *keys, last = path.replace("fusion.", "pass.0.fuse.").split(".")
        at = own
        for key in keys:
            at = at[int(key)] if key.isdigit() else at[key]
        at[last] = SETTINGS[name]
    besides = ASKED.get(name, {})
    ask: dict[str, Any] = {"vector": VECTOR, "cycle": 40}
    with open_corpus(vectors=True) as memory:
        memory.remember("pricing in berlin", id="r", kind="reflection", vector=VECTOR, cycle=1)
        once = asked(memory, overrides={**besides, name: SETTINGS[name]}, **ask)
        always = memory.recall(TEXT, recipe=own, overrides=besides, **ask)
        assert always.rows() == once.rows()
        assert always.rows() != asked(memory, overrides=besides, **ask).rows()
    assert recipe_of(own).fingerprint != recipe_of("engrava").fingerprint


def test_en_40_a_misspelt_key_is_an_error(vectors: Memory) -> None:
    with pytest.raises(BadRecipe, match="default_fts_wieght") as raised:
        asked(vectors, overrides={"default_fts_wieght": 0.3})
    assert "default_fts_weight" in raised.value.hint
    own: Any = recipe_of("engrava").to_data()
    own["boosts"]["graph"]["decai"] = 0.5
    with pytest.raises(BadRecipe) as raised:
        vectors.recall(TEXT, recipe=own)
    assert raised.value.field == "boosts.graph.decai"
    assert "decay" in raised.value.hint


@pytest.mark.parametrize("name", library())
def test_en_40_every_name_that_is_a_path_leads_somewhere(name: str) -> None:
    recipe = recipe_of(name)
    data = recipe.to_data()
    for known, target in recipe.names.items():
        for path in (target,) if isinstance(target, str) else target:
            assert not is_path(path) or value_at(data, path) is not None, known


def reached(place: object, path: str) -> bool:
    """Whether a path of fields and keys leads from here to something."""
    for key in path.split("."):
        if isinstance(place, Mapping) and key in place:
            place = cast("Mapping[str, object]", place)[key]
        elif not isinstance(place, Mapping) and hasattr(place, key):
            place = getattr(place, key)
        else:
            return False
    return True


@pytest.mark.parametrize("name", [each for each in library() if recipe_of(each).names])
def test_en_40_every_name_that_people_read_leads_somewhere(name: str) -> None:
    def judge(_: str, texts: Sequence[str]) -> list[float]:
        return [1.0] * len(texts)

    asks = recipe_of(name).reranks
    reranker = judge if asks else None
    with memoriter.open(":memory:", embedder="given:2", reranker=reranker) as memory:
        memory.remember("berlin", id="a", vector=[1.0, 0.0])
        memory.remember("berlin", id="b", vector=[1.0, 0.1], links=[{"target": "a", "kind": "x"}])
        more = {"graph": True} if name == "mentisdb" else {}
        more |= {"pass.1.enabled": True} if asks else {}
        result = memory.recall("berlin", recipe=name, vector=[1.0, 0.0], overrides=more)
        places: dict[str, object] = {
            "ask": {"query": "", **SearchKwargs.__annotations__, "overrides": {"lanes": {}}},
            "open": {"tenant": "", **OpenOptions.__annotations__},
            "record": result[0].record, "result": result, "hit": result[0], "memory": memory,
        }  # fmt: skip
        for known, target in recipe_of(name).names.items():
            for path in (target,) if isinstance(target, str) else target:
                place, _, rest = path.partition(".")
                short = rest.partition(".lanes.")[0] if place == "ask" else rest
                assert place not in places or reached(places[place], short), known
