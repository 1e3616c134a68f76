"""What jeffs-brain promises of its whole answer: JB-01, JB-11 to JB-14, JB-27 to JB-31, JB-38."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from tests.claims.corpus import VECTOR, close, ids, open_corpus, open_empty, path_of, understood
from tests.sound import sound

import memoriter
from memoriter.core.errors import BadQuery
from memoriter.memory.facade import Memory
from memoriter.pipeline.load import recipe_of, value_at
from memoriter.testing.fakes import CountedEntropy, HandClock, ToyEmbedder
from memoriter.why.result import Result

TEXT = "pricing berlin"
FUSED = [
    ("m02", 0.032018), ("m17", 0.031514), ("m01", 0.030798), ("m09", 0.029670), ("m10", 0.029324),
]  # fmt: skip


def asked(
    memory: Memory, mode: str | None = "hybrid", limit: int | None = None, **ask: Any
) -> Result:
    options = {"recipe": "jeffs-brain", "mode": mode, "vector": VECTOR, **ask}
    return sound(memory.recall(options.pop("text", TEXT), limit, **options))


def judged(reranker: Any, *, agree: bool = False, vectors: str | None = None) -> Memory:
    """Files with vectors and a judge. Words rank them a to f; vectors backwards, or as is said."""
    order = vectors or ("abcdef" if agree else "fedcba")
    memory = memoriter.open(
        ":memory:", clock=HandClock(), entropy=CountedEntropy(), embedder="given:2",
        maintenance="manual", reranker=reranker,
    )  # fmt: skip
    for n in range(6):
        text = " ".join(["berlin"] * (6 - n) + ["x"] * n)
        angle = order.index("abcdef"[n])
        memory.remember(text, id=f"r{n}", vector=[1.0, 0.1 * angle], source={"path": f"{n}.md"})
    return memory


def judge(memory: Memory, **ask: Any) -> Result:
    return asked(memory, **{"text": "berlin", "vector": [1.0, 0.0], **ask})


class Judge:
    """Scores texts by how far behind they stand, and counts how often it is asked."""

    def __init__(self) -> None:
        self.asked: list[int] = []

    def __call__(self, query: str, texts: Sequence[str]) -> list[float]:
        self.asked.append(len(texts))
        return [float(n) for n in range(len(texts))]


# -- the pipeline ----------------------------------------------------------------------------------


def test_jb_01_the_plan_has_the_steps_in_their_order(files_with_vectors: Memory) -> None:
    result = asked(files_with_vectors, text="recommend k8s", aliases={"k8s": ["kubernetes"]})
    assert [step.name for step in result.plan.steps] == [
        "select", "words.parse", "words.aliases", "words", "vector", "fuse", "intent", "rerank",
        "limit",
    ]  # fmt: skip
    shown = {step.name: dict(step.shows) for step in result.plan.steps}
    assert shown["words.parse"] == {"query": "k8s"}  # recommend is a stop word
    assert shown["words.aliases"] == {"k8s": ["kubernetes"]}
    words = next(step for step in result.plan.steps if step.name == "words")
    assert understood(result.plan) == "kubernetes"
    assert [each.name for each in words.attempts] == ["initial"]


def test_jb_01_without_aliases_there_is_nothing_to_expand(files_with_vectors: Memory) -> None:
    for aliases, why in (({}, "none are given"), ({"x": ["y"]}, "no word of the query has one")):
        result = asked(files_with_vectors, aliases=aliases)
        steps = {step.name: step for step in result.plan.steps}
        assert dict(steps["words.parse"].shows) == {"query": "pricing OR berlin"}
        assert steps["words.aliases"].skipped == why
        assert result.status == "complete"


DEFAULTS = {"topK": 10, "candidateK": 60, "rerankTopN": 20, "k": 60, "rrfK": 60}


def test_jb_01_defaults_have_their_names() -> None:
    recipe = recipe_of("jeffs-brain")
    data = recipe.to_data()
    for name, value in DEFAULTS.items():
        target = recipe.names[name]
        for path in (target,) if isinstance(target, str) else target:
            assert value_at(data, path) == value


@pytest.mark.parametrize("name", ["topK", "candidateK", "rerankTopN", "k"])
@pytest.mark.parametrize("value", [0, -1, -1000])
def test_jb_01_a_value_of_0_or_less_means_the_default(
    files_with_vectors: Memory, name: str, value: int
) -> None:
    plain = asked(files_with_vectors)
    result = asked(files_with_vectors, overrides={name: value})
    assert result.to_dict()["plan"] == plain.to_dict()["plan"]
    assert result.rows() == plain.rows()
    for limit in (0, -1, -1000):
        assert asked(files_with_vectors, limit=limit).rows() == plain.rows()


def test_jb_01_positive_values_are_taken(files_with_vectors: Memory) -> None:
    overrides = {"candidateK": 3, "topK": 4, "k": 1}
    result = asked(files_with_vectors, overrides=overrides)
    counts: Any = result.trace["counts"]
    assert (counts["words"], counts["vector"], len(result)) == (3, 3, 4)
    assert result[0].score == pytest.approx(1 / 2)


def test_jb_11_the_raw_text_is_embedded_once(monkeypatch: pytest.MonkeyPatch) -> None:
    embedder = ToyEmbedder()
    seen: list[str] = []
    embed = embedder.embed

    def spy(texts: Any, role: Any) -> Any:
        seen.extend(texts)
        return embed(texts, role)

    with open_empty(embedder) as memory:
        memory.remember("kubernetes upgrade", id="a")
        monkeypatch.setattr(embedder, "embed", spy)
        text = '"K8S" the  upgrade NOT x!'
        result = memory.recall(text, recipe="jeffs-brain", aliases={"k8s": ["kubernetes"]})
        assert set(result.used) == {"words", "vector"}
        assert seen == [text]


def test_jb_12_ranks_are_fused(files_with_vectors: Memory) -> None:
    assert asked(files_with_vectors, limit=5).rows() == close(FUSED)
    alone = asked(files_with_vectors, "semantic", 3).rows()
    assert alone == close([("m18", 1 / 61), ("m13", 1 / 62), ("m08", 1 / 63)], 1e-9)
    words = asked(files_with_vectors, "bm25", 2).rows()
    assert words == close([("m02", 1 / 61), ("m17", 1 / 62)], 1e-9)


def test_jb_13_equal_sums_come_by_path(files_with_vectors: Memory) -> None:
    semantic = ids(asked(files_with_vectors, "semantic"))
    assert semantic.index("m07") < semantic.index("m01")  # wiki/m07 before wiki/pro-plan-price
    by_id = {hit.id: hit for hit in asked(files_with_vectors, "semantic")}
    assert by_id["m07"].lanes["vector"].score == by_id["m01"].lanes["vector"].score
    with open_empty("given:2") as memory:
        say = memory.remember
        say("berlin berlin", id="x", vector=[0.9, 0.1], source={"path": "b.md"})
        say("berlin berlin y", id="y", vector=[1.0, 0.0], source={"path": "a.md"})
        result = asked(memory, text="berlin", vector=[1.0, 0.0])
        ranks = {hit.id: {n: lane.rank for n, lane in hit.lanes.items()} for hit in result}
        assert ranks == {"x": {"words": 1, "vector": 2}, "y": {"words": 2, "vector": 1}}
        assert ids(result) == ["y", "x"]
        assert result[0].score == result[1].score


def test_jb_13_without_a_path_the_id_decides() -> None:
    with open_empty() as memory:
        for id in "cab":
            memory.remember("berlin", id=id)
        assert ids(memory.recall("berlin", recipe="jeffs-brain")) == ["a", "b", "c"]


def test_jb_14_the_order_of_lanes_changes_nothing(files_with_vectors: Memory) -> None:
    turned: Any = recipe_of("jeffs-brain").to_data()
    turned["lanes"] = dict(reversed(turned["lanes"].items()))
    plain, other = asked(files_with_vectors, None), asked(files_with_vectors, None, recipe=turned)
    assert other.receipt.body["recipe"] == plain.receipt.body["recipe"]
    assert other.rows(detailed=True) == plain.rows(detailed=True)


@pytest.mark.parametrize("factor", [0.001, 0.5, 1000.0])
def test_jb_14_the_scale_of_a_lane_changes_nothing(
    files_with_vectors: Memory, factor: float
) -> None:
    overrides = {"lanes.vector.fresh": factor}
    scaled = asked(files_with_vectors, limit=20, overrides=overrides)
    plain = asked(files_with_vectors, limit=20)
    assert scaled.rows() == plain.rows()
    assert scaled[0].lanes["vector"].score == pytest.approx(
        factor * plain[0].lanes["vector"].score, abs=1e-6
    )


# -- the reranker ----------------------------------------------------------------------------------


def test_jb_27_lanes_that_agree_make_the_reranker_needless() -> None:
    judge_ = Judge()
    result = judge(judged(judge_, agree=True))
    assert judge_.asked == []
    assert result.trace["rerank_skipped"] == "unanimity"
    assert result.trace["agreements"] == 3
    assert result.status == "complete"
    again = judge(judged(judge_))
    assert (judge_.asked, again.trace["agreements"]) == ([6], 0)


@pytest.mark.parametrize(
    ("vectors", "agreements", "skipped"),
    [
        ("abdcef", 2, True),
        ("adcbef", 2, True),
        ("decabf", 1, False),
        ("bacdef", 1, False),
        ("bcadef", 0, False),
        ("cabdef", 0, False),
        ("abcdef", 3, True),
        ("fedcba", 0, False),
    ],
)
def test_jb_27_two_of_the_first_three_at_their_places_spare_the_reranker(
    vectors: str, agreements: int, *, skipped: bool
) -> None:
    judge_ = Judge()
    result = judge(judged(judge_, vectors=vectors))
    for lane, order in (("words", "abcdef"), ("vector", vectors)):
        ranked = sorted(result, key=lambda hit: hit.lanes[lane].rank)
        assert [hit.id for hit in ranked] == [f"r{'abcdef'.index(each)}" for each in order]
    assert result.trace["agreements"] == agreements
    assert (judge_.asked == []) is skipped
    assert result.trace["reranked"] is not skipped
    assert result.trace["rerank_skipped"] == ("unanimity" if skipped else None)
    fused = judge(judged(judge_, vectors=vectors), overrides={"rerank": False})
    assert (ids(result) == ids(fused)) is skipped


def test_jb_27_a_list_of_two_is_too_short_to_agree() -> None:
    judge_ = Judge()
    result = judge(judged(judge_, agree=True), overrides={"candidateK": 2})
    assert (judge_.asked, result.trace["agreements"]) == ([2], 0)


def test_jb_27_as_sets_the_first_three_agree_in_any_order() -> None:
    judge_ = Judge()
    by_set = {"pass.1.rerank.unless.by": "overlap"}
    for vectors, agreements in (("bcadef", 3), ("cbdaef", 2), ("defabc", 0)):
        result = judge(judged(judge_, vectors=vectors), overrides=by_set)
        assert result.trace["agreements"] == agreements
        assert result.trace["reranked"] is (agreements < 2)


def test_jb_27_overlap_is_an_option() -> None:
    judge_ = Judge()
    overrides = {
        "pass.1.rerank.unless.by": "overlap",
        "pass.1.rerank.unless.depth": 5,
        "agreeMin": 4,
    }
    result = judge(judged(judge_), overrides=overrides)
    assert (result.trace["rerank_skipped"], result.trace["agreements"]) == ("unanimity", 4)


def test_jb_28_only_the_head_is_put_in_a_new_order() -> None:
    memory = judged(Judge())
    fused = judge(memory, overrides={"rerank": False})
    result = judge(memory, overrides={"rerankTopN": 3})
    third, second, first = ids(fused)[:3]
    assert ids(result) == [first, second, third, *ids(fused)[3:]]
    assert dict(result.rows()) == dict(fused.rows())  # the fused score stays
    assert [hit.moves["rerank"].get("score") for hit in result] == [2.0, 1.0, 0.0, None, None, None]
    assert set(ids(judge(memory))) == set(ids(fused))


def test_jb_28_equals_keep_their_places() -> None:
    memory = judged(lambda _, texts: [1.0] * len(texts))
    fused = judge(memory, overrides={"rerank": False})
    assert ids(judge(memory)) == ids(fused)


def test_jb_29_without_a_reranker_the_fused_order_stands(files_with_vectors: Memory) -> None:
    result = asked(files_with_vectors)
    assert (result.trace["reranked"], result.trace["rerank_skipped"]) == (False, "no_reranker")


def test_jb_29_a_wired_reranker_runs_by_default_but_not_in_every_mode() -> None:
    judge_ = Judge()
    memory = judged(judge_)
    for mode in (None, "hybrid", "hybrid-rerank", "auto"):
        assert judge(memory, mode=mode).trace["reranked"] is True
    assert judge_.asked == [6] * 4
    for mode in ("bm25", "semantic"):
        assert judge(memory, mode=mode).trace["rerank_skipped"] == "mode_off"
    assert judge(memory, text="", vector=[0.0, 0.0]).trace["rerank_skipped"] == "empty_candidates"
    assert judge_.asked == [6] * 4


def broken(query: str, texts: Sequence[str]) -> list[float]:
    raise OSError("gone")


def empty(query: str, texts: Sequence[str]) -> list[float]:
    return []


@pytest.mark.parametrize("reranker", [broken, empty])
def test_jb_29_a_failure_leaves_the_fused_order_and_says_so(reranker: Any) -> None:
    memory = judged(reranker)
    result = judge(memory)
    assert result.rows() == judge(memory, overrides={"rerank": False}).rows()
    assert result.trace["rerank_skipped"] == "rerank_failed"
    assert (result.trace["reranked"], result.status) == (False, "degraded")


def test_jb_29_so_does_a_timeout() -> None:
    from memoriter.testing.fakes import ToyReranker  # noqa: PLC0415  # used here alone

    toy = ToyReranker()
    toy.hanging = True
    try:
        result = judge(judged(toy), overrides={"pass.1.rerank.timeout_ms": 20})
        assert result.trace["rerank_skipped"] == "rerank_failed"
        assert "within 20 ms" in str(result.trace["rerank_reason"])
    finally:
        toy.released.set()


@pytest.mark.parametrize("text", ["latest berlin", "first berlin now", "berlin on 2026-03-01"])
def test_jb_30_nothing_sorts_after_the_reranker(text: str) -> None:
    result = judge(judged(Judge()), text=text)
    steps = [step.name for step in result.plan.steps]
    assert steps[steps.index("rerank") + 1 :] == ["limit"]
    scores_in_order = [float(str(hit.moves["rerank"]["score"])) for hit in result]
    assert scores_in_order == sorted(scores_in_order, reverse=True)


# -- intent in the pipeline ------------------------------------------------------------------------


def test_jb_31_without_an_intent_scores_are_those_of_fusion(files_with_vectors: Memory) -> None:
    plain = asked(files_with_vectors, limit=20)
    off = asked(files_with_vectors, limit=20, overrides={"boosts.intent.enabled": False})
    assert plain.rows() == off.rows()
    assert plain.trace["intent"] is None


def test_jb_34_a_preference_is_lifted_after_fusion(files: Memory) -> None:
    result = asked(files, "bm25", text="recommend a coffee", vector=None)
    assert result.rows() == close([("m05", 0.038525), ("m06", 0.016129)])
    assert result.trace["intent"] == "preference"
    assert path_of("m05").endswith("user-preference-coffee.md")
    facts = [part.facts for part in result[0].explanation.parts if part.label == "intent"]
    assert [value for fact in facts for value in fact.values()] == [2.35]


# -- the trace -------------------------------------------------------------------------------------


def test_jb_38_the_trace_tells_what_happened(files_with_vectors: Memory) -> None:
    trace = asked(files_with_vectors, "auto", text="suggest pricing berlin").trace
    assert (trace["requested_mode"], trace["effective_mode"]) == ("auto", "hybrid")
    assert (trace["intent"], trace["used_retry"], trace["fell_back"]) == (
        "preference",
        False,
        False,
    )
    assert (trace["embedder_used"], trace["reranked"]) == (True, False)
    assert (trace["rerank_skipped"], trace["agreements"]) == ("no_reranker", None)
    counts: Any = trace["counts"]
    assert (counts["words"], counts["vector"], counts["fuse"]) == (5, 20, 20)
    numbers: Any = trace["numbers"]
    assert {name: numbers[name] for name in DEFAULTS} == DEFAULTS
    attempts: Any = trace["attempts"]
    assert [(each["rung"], each["name"], each["hits"]) for each in attempts] == [(0, "initial", 5)]


@pytest.mark.parametrize(
    ("mode", "effective", "fell_back"),
    [
        ("auto", "bm25", False), ("bm25", "bm25", False), ("hybrid", "bm25", True),
        ("semantic", "bm25", True), ("hybrid-rerank", "bm25", True),
    ],
)  # fmt: skip
def test_jb_38_the_trace_tells_what_was_asked_for_and_what_ran(
    files: Memory, mode: str, effective: str, *, fell_back: bool
) -> None:
    trace = asked(files, mode, vector=None).trace
    assert (trace["requested_mode"], trace["effective_mode"]) == (mode, effective)
    assert (trace["fell_back"], trace["embedder_used"]) == (fell_back, False)


def test_jb_38_a_retry_is_told() -> None:
    with open_corpus(paths=True) as memory:
        trace = asked(memory, "bm25", text="zzqx wwpl", vector=None).trace
        attempts: Any = trace["attempts"]
        assert (trace["used_retry"], len(attempts)) == (True, 6)
        with pytest.raises(BadQuery, match="mode"):
            asked(memory, "nope", vector=None)
