"""What Comis claims of its merge and its scores, by number: CO-01 to CO-14, CO-18 to CO-21."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from tests.claims.corpus import VECTOR, close, ids, open_empty, open_texts
from tests.sound import sound

import memoriter
from memoriter.embed.callable import FunctionEmbedder
from memoriter.memory.facade import Memory
from memoriter.pipeline.load import recipe_of
from memoriter.testing.fakes import SECOND, START
from memoriter.why.result import Result

ALL: dict[str, Any] = {"rag.minScore": 0.0, "trustLevels": None}
SEARCH: dict[str, Any] = {"trustLevels": None, "order.0.enabled": False}
"""What memory.search sets otherwise than recall."""


def ask(memory: Memory, text: str, limit: int = 1000, **more: Any) -> Result:
    return memory.recall(text, limit, recipe="comis", **more)


def scored_ids(result: Result) -> list[tuple[str, float]]:
    return [(hit.id, hit.score) for hit in sound(result)]


def whole(result: Result) -> list[Any]:
    """Everything an answer says of its hits."""
    return [hit.to_dict() for hit in result]


TEXTS = {
    "both": "The project deadlines are in May",
    "one": "The project has a new logo",
    "alike": "task due dates",
    "lunch": "We had soup for lunch",
    "dog": "The dog sleeps in the garden",
}


def open_notes(embedder: Any) -> Memory:
    memory = memoriter.open(":memory:", embedder=embedder)
    for id, text in TEXTS.items():
        memory.remember(text, id=id)
    return memory


def test_co_01_both_words_rank_above_one_of_them() -> None:
    assert ids(ask(open_notes(None), "project deadlines")) == ["both", "one"]


def test_co_02_meaning_finds_what_shares_no_word() -> None:
    ids_found = ids(ask(open_notes("auto"), "project deadlines"))
    assert ids_found[0] == "both"
    assert ids_found.index("alike") < min(ids_found.index("lunch"), ids_found.index("dog"))


def test_co_03_what_both_lanes_find_appears_once_best_first(vectors: Memory) -> None:
    result = ask(vectors, "pricing berlin", vector=VECTOR)
    assert {"words", "meaning"} == set(result[0].lanes)
    assert len(set(ids(result))) == len(result) == 20
    scores = [hit.score for hit in result]
    assert scores == sorted(scores, reverse=True)


def test_co_04_recall_drops_near_copies_and_search_does_not() -> None:
    """K9."""
    memory = open_empty()
    begin = "The deadline of the project is Friday. " * 6
    assert len(begin) > 200
    memory.remember(begin + "one", id="old", created=START)
    memory.remember("deadline", id="other", created=START)
    memory.remember("  " + begin.upper() + "two", id="new", created=START + SECOND)
    recalled = ask(memory, "deadline")
    searched = ask(memory, "deadline", overrides=SEARCH)
    assert len(ids(searched)) == 3
    place = min(ids(searched).index("old"), ids(searched).index("new"))
    assert ids(recalled) == [
        "new" if id in {"old", "new"} else id
        for at, id in enumerate(ids(searched))
        if id == "other" or at == place
    ]


def test_co_05_without_embeddings_other_words_are_not_found() -> None:
    for embedder, expected in ((None, []), ("auto", ["spaghetti", "bus"])):
        with memoriter.open(":memory:", embedder=embedder) as memory:
            memory.remember("The bus leaves at noon", id="bus")
            memory.remember("how to cook spaghetti", id="spaghetti")
            assert ids(ask(memory, "pasta recipe")) == expected


def test_co_06_embeddings_are_on_without_configuration() -> None:
    with memoriter.open(":memory:") as memory:
        memory.remember("how to cook spaghetti")
        (space,) = memory.embedding.status()
        assert (space.embedder, space.serves) == ("table", True)
        assert ask(memory, "pasta recipe").used == ("words", "meaning")
        assert recipe_of("comis").names["embedding.provider"] == "open.embedder"


def test_co_07_without_an_embedding_the_answer_is_the_text_only_one(vectors: Memory) -> None:
    """K5."""
    text = "pricing berlin"
    plain = ask(vectors, text, overrides={"lanes.meaning.enabled": False})
    empty = ask(vectors, text, vector=[])
    assert whole(empty) == whole(plain) != []
    assert empty.skipped == {"meaning": "the vector that comes with the query is empty"}
    for answer in ([], [[]], "none"):

        def broken(texts: Sequence[str], answer: object = answer) -> object:
            return answer if len(texts) == 1 and texts[0] == text else [[1.0, 0.0]] * len(texts)

        with memoriter.open(":memory:", embedder=FunctionEmbedder(broken, "broken", 2)) as memory:
            memory.remember("pricing in berlin", id="a")
            memory.remember("lunch", id="b")
            result = ask(memory, text)
            assert scored_ids(result) == [("a", 1.0)]
            assert "the embedder failed" in result.skipped["meaning"]
    nobody = ask(open_texts("pricing in berlin", "lunch"), text)
    assert scored_ids(nobody) == [("r0", 1.0)]
    assert nobody.skipped == {"meaning": "this memory has no embedder"}


def test_co_09_scores_lie_between_0_and_1_and_are_shares_of_the_lanes_that_answered(
    vectors: Memory,
) -> None:
    result = ask(vectors, "pricing berlin", vector=VECTOR)
    for hit in result:
        raw = sum(1.0 / (60 + lane.rank) for lane in hit.lanes.values())
        assert hit.score == pytest.approx(raw / (2 / 61), abs=1e-9)
        assert 0.0 < hit.score <= 1.0
    silent = ask(vectors, "zzqx", vector=VECTOR)  # the words answer nothing
    assert silent[0].score == 1.0


def ranked(memory: Memory, **lists: Sequence[str]) -> dict[str, float]:
    """Scores of ids that stand at these places of the two lanes, and perhaps of a third list."""
    off = {"lanes.words.enabled": False, "lanes.meaning.enabled": False, **ALL}
    given = {
        label: [(id, float(len(order) - at)) for at, id in enumerate(order)]
        for label, order in lists.items()
    }
    return dict(scored_ids(ask(memory, "", overrides=off, lists=given)))


def test_co_10_the_scores_of_one_two_and_three_lanes() -> None:
    memory = open_texts(*(f"note {n}" for n in range(6)))
    one = ask(open_texts("ox bat cow", "ox bat dog dog", "ox elk elk elk"), "ox bat cow")
    assert scored_ids(one) == close([("r0", 1.0), ("r1", 0.983871), ("r2", 0.968254)])
    two = ranked(memory, one=["r0", "r1"], two=["r2", "r1"])
    assert two == {
        "r0": pytest.approx(0.5), "r2": pytest.approx(0.5), "r1": pytest.approx(61 / 62),
    }  # fmt: skip
    assert ranked(memory, one=["r0"], two=["r0"]) == {"r0": 1.0}
    mixed = ranked(memory, one=["r0", "r1"], two=["r1", "r0"])
    assert mixed["r0"] == pytest.approx(0.991935, abs=1e-6) == mixed["r1"]
    three = ranked(memory, one=["r0"], two=["r1"], three=["r2"])
    assert three == {f"r{n}": pytest.approx(0.333333, abs=1e-6) for n in range(3)}


PROGRAM: dict[str, Any] = {
    "fusion.scale": "none",
    "fusion.weights": {"words": 24.4, "meaning": 36.6},
}
"""61 / 2.5 and 1.5 of that: the program divides by 2.5 / 61 whatever ran."""


def test_co_11_the_programs_weights_are_reachable_as_overrides() -> None:
    """G5, K6."""
    wanted = {1: 0.4, 2: 0.393548, 3: 0.387302, 5: 0.375385, 10: 0.348571, 20: 0.305}
    memory = open_empty("given:2")
    for n in range(40):  # the words know the first twenty, vectors the others
        word = "budget " * (20 - n) if n < 20 else "other"
        near = 0.0 if n < 20 else 1.0 - (n - 20) / 100
        memory.remember(f"{word}{n}", id=f"{n}", vector=[near, (1.0 - near**2) ** 0.5])
    kept = {"lanes.meaning.min_cosine": 0.5, "lanes.words.b": 0.0, **PROGRAM}
    scores = dict(scored_ids(ask(memory, "budget", vector=[1.0, 0.0], overrides=kept)))
    for rank, score in wanted.items():
        assert scores[f"{rank - 1}"] == pytest.approx(score, abs=1e-6)
        assert scores[f"{rank + 19}"] == pytest.approx(1.5 * score, abs=1e-6)
    alone = ask(memory, "budget", vector=[], overrides=kept)
    assert max(hit.score for hit in alone) == pytest.approx(0.4, abs=1e-6)
    both = open_empty("given:2")
    both.remember("budget", id="a", vector=[1.0, 0.0])
    both.remember("other", id="b", vector=[0.0, 1.0])
    assert scored_ids(ask(both, "budget", vector=[1.0, 0.0], overrides=PROGRAM))[0] == (
        "a", pytest.approx(1.0, abs=1e-6),
    )  # fmt: skip
    usual = ask(memory, "budget", vector=[])
    assert usual[0].score == 1.0, "not the default"


def test_co_11_a_single_lane_may_pass_unscaled() -> None:
    """K11."""
    through = {"kind": "weighted", "scale": "none", "weights": {}}
    memory = open_texts("one", "two")
    off = {"lanes.words.enabled": False, "lanes.meaning.enabled": False, **ALL}
    weights = {"words": 1.0, "meaning": 1.0, "entity": 1.0}
    override = {**off, "pass.0.fuse": {**through, "weights": weights}}
    result = ask(memory, "", overrides=override, lists={"mine": [("r0", 0.95), ("r1", 0.12)]})
    assert scored_ids(result) == close([("r0", 0.95), ("r1", 0.12)])


def test_co_12_a_floor_cuts_before_the_limit_and_only_cuts() -> None:
    memory = open_empty("given:2")
    for n in range(700):
        angle = n / 1000
        memory.remember(f"r{n}", id=f"{n}", vector=[np.cos(angle), np.sin(angle)])
    memory.remember("words only", id="words", vector=[-1.0, 0.0])
    one = ask(memory, "", vector=[1.0, 0.0])
    assert len(one) == 550  # 61 / (60 + 550) = .1
    assert one[549].score == pytest.approx(0.1, abs=1e-9)
    two = ask(memory, "words", vector=[1.0, 0.0])
    assert len([hit for hit in two if set(hit.lanes) == {"meaning"}]) == 245
    before: set[str] = set()
    for floor in (0.9, 0.5, 0.3, 0.1, 0.0):
        result = ask(memory, "words", 40, vector=[1.0, 0.0], overrides={"rag.minScore": floor})
        assert before <= set(ids(result))
        assert all(hit.score >= floor for hit in result)
        before = set(ids(result))
    assert len(before) == 40
    assert len(ask(memory, "", 5, vector=[1.0, 0.0])) == 5


def test_co_12_a_hit_that_is_kept_is_never_lost_to_one_that_is_dropped() -> None:
    """A reranker turns the order round, so that what the floor drops stands at the head."""
    memory = memoriter.open(
        ":memory:", embedder="given:2", reranker=lambda _, texts: list(range(len(texts)))
    )
    for n in range(30):
        memory.remember(f"r{n}", id=f"{n:02}", vector=[np.cos(n / 100), np.sin(n / 100)])

    def answer(limit: int, floor: float, *, turned: bool = True) -> Result:
        options = {"rag.minScore": floor, "rag.rerank.enabled": turned}
        return ask(memory, "", limit, vector=[1.0, 0.0], overrides=options)

    fused = dict(answer(1000, 0.0, turned=False).rows())
    whole = ids(answer(1000, 0.0))
    assert whole == sorted(fused, reverse=True) != ids(answer(1000, 0.0, turned=False))
    floors = sorted(fused.values())[::7]
    for floor in floors:
        kept = [id for id in whole if fused[id] >= floor]
        for limit in (1, 3, 10, 30):
            assert ids(answer(limit, floor)) == kept[:limit]
    assert len(floors) == 5
    assert fused[whole[0]] < floors[1]  # the head falls, and others take its place


def test_co_13_the_order_of_lanes_changes_no_score(vectors: Memory) -> None:
    """K11."""
    data = recipe_of("comis").to_data()
    data["lanes"]["entity"]["enabled"] = True
    turned = {**data, "lanes": dict(reversed(data["lanes"].items()))}
    results = [
        vectors.recall("pricing berlin", 20, recipe=each, vector=VECTOR) for each in (data, turned)
    ]
    assert scored_ids(results[0]) == scored_ids(results[1])
    single = ask(vectors, "pricing", overrides={"lanes.meaning.enabled": False})
    assert [hit.score for hit in single] == [
        pytest.approx(61 / (60 + rank)) for rank in range(1, len(single) + 1)
    ]


def test_co_14_nothing_weighs_the_fused_order_again_unless_asked_for() -> None:
    memory = open_empty()
    memory.remember("deadline one", id="old", created=START - 9 * 86_400 * SECOND, trust="system")
    memory.remember("deadline two", id="new", created=START, trust="learned")
    plain = ask(memory, "deadline", now=START)
    assert plain[0].explanation.op == "sum"
    assert scored_ids(plain) == close([("old", 1.0), ("new", 0.983871)])
    recent = ask(memory, "deadline", now=START, overrides={"boosts.recency.enabled": True})
    # 1 + .2 · (1/(1 + 9) − ½) and 1 + .2 · (1 − ½)
    assert scored_ids(recent) == close([("new", 0.983871 * 1.1), ("old", 0.92)])
    trusted = ask(memory, "deadline", now=START, overrides={"boosts.trust.enabled": True})
    assert scored_ids(trusted) == close([("old", 1.05), ("new", 0.983871)])
    absent = ask(memory, "deadline", now=START, overrides={"boosts.temporal.enabled": True})
    assert scored_ids(absent) == scored_ids(plain)


def test_co_18_vectors_rank_by_cosine_and_the_same_text_is_first() -> None:
    """K3."""
    texts = ["the dog sleeps", "how to cook spaghetti", "a bus leaves at noon"]
    with memoriter.open(":memory:") as memory:
        for n, text in enumerate(texts):
            memory.remember(text, id=f"{n}")
        for n, text in enumerate(texts):
            result = ask(memory, text, overrides={"lanes.words.enabled": False})
            assert ids(result)[0] == f"{n}"
            cosines = [hit.lanes["meaning"].score for hit in result]
            assert cosines == sorted(cosines, reverse=True)
            assert cosines[0] == pytest.approx(1.0, abs=1e-5)


ENTITY = {"rag.entityLane.enabled": True}


def open_entities() -> Memory:
    memory = open_empty()
    memory.remember("a needle", id="seed", entities=["Ada", "İSTANBUL", "Kubernetes"])
    memory.remember("one", id="one", entities=["ada"])
    memory.remember("two", id="two", entities=["ADA", "istanbul"])
    memory.remember("three", id="three", entities=["Ada", "Istanbul", "kubernets"])
    memory.remember("none", id="none", entities=["Bert"])
    return memory


def test_co_19_shared_entities_join_the_merge_as_a_third_list() -> None:
    memory = open_entities()
    assert ids(ask(memory, "needle")) == ["seed"]
    result = ask(memory, "needle", overrides=ENTITY)
    scores = {hit.id: hit.lanes["entity"].score for hit in result if "entity" in hit.lanes}
    assert list(scores) == ["three", "two", "one"]
    assert [round(score, 4) for score in scores.values()] == [0.9051, 0.7616, 0.4621]
    # The words answered and the entities did: two lists.
    wanted = [("seed", 0.5), ("three", 0.5), ("two", 61 / 62 / 2), ("one", 61 / 63 / 2)]
    assert scored_ids(result) == close(wanted)
    assert [hit.source for hit in result] == ["fts", "entity", "entity", "entity"]


def test_co_19_the_first_five_of_the_merged_list_are_its_seeds() -> None:
    memory = open_empty("given:2")
    for n in range(8):
        near = 0.9 - n / 100
        text = f"needle{'' if n else ' needle'} n{n}" if n < 3 else f"hay{n}"
        memory.remember(
            text, id=f"{n}", entities=[f"thing{n}{n}{n}"], vector=[near, (1.0 - near**2) ** 0.5]
        )
    for n in range(8):
        memory.remember(
            f"far {n}", id=f"far{n}", entities=[f"thing{n}{n}{n}"], vector=[-1.0, n / 10]
        )
    strict = {**ENTITY, "lanes.meaning.min_cosine": 0.5, "lanes.entity.alike": 1.0}
    base = ask(memory, "needle", vector=[1.0, 0.0], overrides={"lanes.meaning.min_cosine": 0.5})
    seeds = ids(base)[:5]
    assert sorted(seeds) == ["0", "1", "2", "3", "4"]
    result = ask(memory, "needle", vector=[1.0, 0.0], overrides=strict)
    joined = {hit.id for hit in result if "entity" in hit.lanes}
    assert joined == {f"far{n}" for n in range(5)}
    for knob, count, kept in (("seedCount", 1, {"far0"}), ("perEntityCap", 2, {"far0", "far1"})):
        overrides = {**strict, f"rag.entityLane.{knob}": count}
        some = ask(memory, "needle", vector=[1.0, 0.0], overrides=overrides)
        assert {hit.id for hit in some if "entity" in hit.lanes} == kept


def test_co_20_without_entities_or_seeds_the_answer_is_the_one_without_the_lane() -> None:
    """K12."""
    for entities in ([], ["!!!"]):
        memory = open_texts("needle one", "needle two", "hay", entities=entities)
        off, on = ask(memory, "needle"), ask(memory, "needle", overrides=ENTITY)
        assert whole(off) == whole(on) != []
        assert whole(ask(memory, "zzz")) == whole(ask(memory, "zzz", overrides=ENTITY)) == []


def test_co_20_the_lane_crosses_no_tenant_and_no_agent() -> None:
    memory = open_entities()
    memory.remember("other", id="other", agent="bot", entities=["Ada"])
    ids_found = ids(ask(memory, "needle", overrides=ENTITY))
    assert "other" not in ids_found
    kept = ask(memory, "needle", overrides=ENTITY, where={"id": {"in": ["seed", "one"]}})
    assert ids(kept) == ["seed", "one"]


def test_co_21_names_fold_and_merge_when_they_are_alike() -> None:
    """K13."""
    for one, other, same in (
        ("İSTANBUL", "istanbul", True),
        ("CAFÉ", "café", True),
        ("Kubernetes", "kubernets", True),
        ("Ada", "Bert", False),
        ("!!!", "!!!", False),
    ):
        memory = open_empty()
        memory.remember("needle", id="seed", entities=[one])
        memory.remember("hay", id="other", entities=[other])
        ids_found = ids(ask(memory, "needle", overrides=ENTITY))
        assert (one, "other" in ids_found) == (one, same)
    with pytest.raises(memoriter.InputError, match="entities"):
        open_empty().remember("x", entities=["  "])
