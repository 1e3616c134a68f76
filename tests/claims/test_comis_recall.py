"""What Comis claims of rerankers, filters and settings, by number: CO-22 to CO-31, CO-36, CO-37."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from tests.claims.corpus import close, ids, open_empty, open_texts

import memoriter
from memoriter.core.errors import BadFilter, BadQuery, BadRecipe
from memoriter.memory.facade import Memory
from memoriter.pipeline.load import recipe_of
from memoriter.testing.fakes import SECOND, START, CountedEntropy, HandClock, ToyReranker
from memoriter.why.result import Result

RERANK: dict[str, Any] = {"rag.rerank.enabled": True}
OFF: dict[str, Any] = {"rag.rerank.enabled": False}
SEARCH: dict[str, Any] = {"trustLevels": None, "order.0.enabled": False}


def ask(memory: Memory, text: str, limit: int = 1000, **overrides: Any) -> Result:
    return memory.recall(text, limit, recipe="comis", overrides=overrides)


@pytest.fixture
def toy() -> Iterator[ToyReranker]:
    made = ToyReranker()
    yield made
    made.released.set()


def open_judged(judge: Any, count: int = 5) -> Memory:
    """Notes whose fused order is that of their numbers."""
    memory = memoriter.open(
        ":memory:", embedder=None, reranker=judge, clock=HandClock(), entropy=CountedEntropy()
    )
    for n in range(count):
        memory.remember(f"n{n} {'budget ' * (count - n)}", id=f"{n}")
    return memory


FLAT: dict[str, Any] = {"lanes.words.b": 0.0}


def test_co_22_no_reranker_is_asked_unless_switched_on(toy: ToyReranker) -> None:
    memory = open_judged(toy)
    with pytest.raises(BadQuery, match="would ignore the reranker"):  # it says so, and asks nobody
        ask(memory, "budget", **FLAT)
    plain = ask(memory, "budget", **OFF, **FLAT)
    assert (ids(plain), toy.asked) == (list("01234"), [])
    assert next(step.skipped for step in plain.plan.steps if step.name == "rerank")
    assert recipe_of("comis").passes[1].enabled is False


def test_co_23_the_first_forty_fused_candidates_are_judged_whatever_the_limit() -> None:
    seen: list[int] = []

    def judge(query: str, texts: Sequence[str]) -> list[float]:
        assert query == "budget"
        seen.append(len(texts))
        return [float(n) for n in range(len(texts))]

    memory = open_judged(judge, 60)
    few = ask(memory, "budget", 5, **RERANK, **FLAT)
    whole = ask(memory, "budget", 60, **RERANK, **FLAT)
    assert seen == [40, 40]
    assert ids(whole) == [f"{n}" for n in (*reversed(range(40)), *range(40, 60))]
    assert ids(few) == ids(whole)[:5]
    head = next(step.shows for step in whole.plan.steps if step.name == "rerank")
    assert (head["head"], head["timeout_ms"]) == (40, 800)


def test_co_24_its_score_decides_and_the_rest_follows_after() -> None:
    """K15."""
    memory = open_judged(lambda _, texts: [0.1, 0.9][: len(texts)])
    result = ask(memory, "budget", **RERANK, **FLAT, **{"rag.rerank.maxCandidates": 2})
    assert ids(result) == ["1", "0", "2", "3", "4"]  # 0.1 stays above the others' .96
    scores = [(hit.id, hit.score) for hit in result]
    assert scores[:3] == close([("1", 0.9), ("0", 0.1), ("2", 0.968254)])
    equal = open_judged(lambda _, texts: [0.5] * len(texts))
    assert ids(ask(equal, "budget", **RERANK, **FLAT)) == list("01234")


def test_co_24_optional_factors_act_on_its_score_and_not_on_what_it_is_asked_about() -> None:
    asked: list[list[str]] = []

    def judge(_: str, texts: Sequence[str]) -> list[float]:
        asked.append([text.split()[0] for text in texts])
        return [0.5] * len(texts)

    memory = open_judged(judge)
    memory.update("4", trust="system")
    factors = {"boosts.trust.enabled": True, "boosts.trust.alpha": 1.0, **RERANK, **FLAT}
    result = ask(memory, "budget", **factors, **{"rag.rerank.maxCandidates": 3})
    assert [sorted(each) for each in asked] == [["n0", "n1", "n2"]]  # the first three fused
    assert ids(result)[:3] == ["0", "1", "2"]
    assert ids(result)[3:] == ["4", "3"]  # the rest on its own scale: .953125 · 1.5 and .968254
    whole = ask(memory, "budget", **factors)
    assert (whole[0].id, whole[0].score) == ("4", pytest.approx(0.75, abs=1e-6))


@pytest.mark.parametrize("fault", ["failing", "hanging", "answer"])
def test_co_25_without_an_answer_in_time_the_fused_order_stays(
    toy: ToyReranker, fault: str
) -> None:
    setattr(toy, fault, [1.0] if fault == "answer" else True)
    memory = open_judged(toy)
    result = ask(memory, "budget", **RERANK, **FLAT, **{"rag.rerank.timeoutMs": 200})
    assert ids(result) == list("01234")
    plain = ask(memory, "budget", **OFF, **FLAT)
    assert [hit.score for hit in result] == [hit.score for hit in plain]
    assert (result.status, list(result.skipped)) == ("degraded", ["meaning", "rerank"])
    reason = "rerank_timeout" if fault == "hanging" else "rerank_failed"
    assert result.skipped["rerank"].startswith(reason)
    nobody = ask(open_judged(None), "budget", **RERANK, **FLAT)
    assert ids(nobody) == list("01234")
    assert "no_reranker" in str(nobody.plan)


def test_co_27_an_agents_records_or_all_of_the_tenant() -> None:
    memory = open_empty()
    memory.remember("budget one", id="mine", agent="ann")
    memory.remember("budget two", id="theirs", agent="bob")
    memory.remember("budget three", id="nobodys")
    assert set(ids(ask(memory, "budget"))) == {"mine", "theirs", "nobodys"}
    assert ids(ask(memory, "budget", agentId="ann")) == ["mine"]
    assert ids(ask(memory, "budget", agentId="default")) == ["nobodys"]
    assert ids(memory.scoped(agent="bob").recall("budget", recipe="comis")) == ["theirs"]


def open_trusted() -> Memory:
    memory = open_empty()
    for trust in ("system", "learned", "external"):
        memory.remember(f"budget of {trust}", id=trust, trust=trust)
    return memory


def test_co_28_recall_leaves_external_records_out_and_search_admits_all() -> None:
    memory = open_trusted()
    assert set(ids(ask(memory, "budget"))) == {"system", "learned"}
    assert set(ids(ask(memory, "budget", **SEARCH))) == {"system", "learned", "external"}
    assert ids(ask(memory, "budget", **{**SEARCH, "trustLevels": ["external"]})) == ["external"]
    assert ids(ask(memory, "budget", trustLevel="system")) == ["system"]
    assert ids(ask(memory, "budget", trustLevel="external")) == []  # never by recall's default
    with pytest.raises(BadRecipe) as caught:
        ask(memory, "budget", trustLevel="friends")
    assert caught.value.hint == "known: system, learned, external"
    with pytest.raises(BadRecipe, match="'system', 'learned' or 'external'"):
        ask(memory, "budget", trustLevels=["friends"])


def test_a_memory_type_is_a_filter() -> None:
    memory = open_empty()
    for kind in ("working", "episodic", "procedural"):
        memory.remember(f"budget {kind}", id=kind, memory_type=kind)
    memory.remember("budget", id="semantic")  # the default
    for kind in ("working", "episodic", "semantic", "procedural"):
        assert ids(ask(memory, "budget", memoryType=kind)) == [kind]
    with pytest.raises(BadRecipe) as caught:
        ask(memory, "budget", memoryType="dreams")
    assert caught.value.hint == "known: working, episodic, semantic, procedural"


def test_co_31_filters_act_before_any_limit() -> None:
    """K7, K8."""
    memory = memoriter.open(":memory:", embedder=None, clock=HandClock())
    drafts: list[Any] = [{"text": "budget budget", "expires": START}] * 600
    drafts += [{"text": "budget budget", "agent": "other"}] * 600
    drafts += [{"text": "budget budget", "trust": "external"}] * 600
    memory.remember_many(drafts)
    for n in range(3):
        memory.remember(f"a budget in a long note about {n}", id=f"{n}", tags=["x", f"t{n}"])
    assert set(ids(ask(memory, "budget", 5, agentId="default"))) == {"0", "1", "2"}
    assert set(ids(ask(memory, "budget", 3, tags=["x"]))) == {"0", "1", "2"}
    assert ids(ask(memory, "budget", 5, tags=["x", "t1"])) == ["1"]  # all of them
    assert ids(ask(memory, "budget", 5, tags=["t0", "t1"])) == []
    with pytest.raises(BadFilter, match="tags"):
        ask(memory, "budget", tags="x")


def test_co_31_another_tenant_changes_nothing(tmp_path: Any) -> None:
    place = tmp_path / "m.db"
    with memoriter.open(place, "mine", embedder=None) as own:
        own.remember("a budget", id="a")
        own.remember("the plan", id="b")
        before = [hit.to_dict() for hit in ask(own, "budget")]
    with memoriter.open(place, "theirs", embedder=None) as theirs:
        theirs.remember_many(["budget budget"] * 1000)
    with memoriter.open(place, "mine", embedder=None) as own:
        assert [hit.to_dict() for hit in ask(own, "budget")] == before


def test_co_36_the_settings_are_those_of_recall_and_have_their_names() -> None:
    recipe = recipe_of("comis")
    assert (recipe.final.limit, recipe.final.min_score) == (5, 0.1)
    assert recipe.select.trust == ("system", "learned")
    for name, path in (
        ("rag.maxResults", "final.limit"),
        ("rag.minScore", "final.min_score"),
        ("rag.includeTrustLevels", "select.trust"),
        ("rag.maxContextChars", "ask.budget_chars"),
    ):
        assert recipe.names[name] == path
    memory = open_texts(*(f"budget number {n}" for n in range(12)))
    overrides = {"rag.maxResults": 7}
    assert len(memory.recall("budget", recipe="comis")) == 5
    assert len(memory.recall("budget", recipe="comis", overrides=overrides)) == 7


def test_every_knob_of_comis_can_be_turned() -> None:
    memory = open_trusted()
    for name, value in (
        ("rag.entityLane.enabled", True), ("rag.entityLane.seedCount", 3),
        ("rag.entityLane.perEntityCap", 9), ("rag.rerank.enabled", False),
        ("rag.rerank.maxCandidates", 4), ("rag.rerank.timeoutMs", 5), ("limit", 2),
        ("minScore", 0.2), ("rag.includeTrustLevels", ["system"]),
    ):  # fmt: skip
        assert memory.recall("budget", recipe="comis", overrides={name: value})
    with pytest.raises(BadRecipe, match="tenantId"):
        ask(memory, "budget", tenantId="other")


def test_co_37_two_memories_that_contradict_each_other_both_stay() -> None:
    """K17. The rest of this claim is that of a context."""
    memory = open_empty()
    memory.remember("The office opens at nine", id="nine", created=START)
    memory.remember("The office opens at ten", id="ten", created=START + SECOND)
    assert set(ids(ask(memory, "office opens"))) == {"nine", "ten"}
