"""A reranker that was passed in is used, or the call is refused: in every recipe, mode and door."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import memoriter
from memoriter.core.errors import BadQuery
from memoriter.doors.cli.main import app
from memoriter.doors.mcp.tools import tools_of
from memoriter.doors.operations import BY_NAME
from memoriter.doors.tenant_session import TenantSession
from memoriter.memory.facade import Memory
from memoriter.pipeline.load import library, recipe_of
from memoriter.testing.fakes import HandClock
from memoriter.why.result import Result


class Judge:
    """Counts how often it is asked."""

    __name__ = "counting"

    def __init__(self) -> None:
        self.asked = 0

    def __call__(self, query: str, texts: list[str]) -> list[float]:
        self.asked += 1
        return [1.0] * len(texts)


@pytest.fixture
def judge() -> Judge:
    return Judge()


@pytest.fixture
def judged(judge: Judge) -> Memory:
    memory = memoriter.open(clock=HandClock(), reranker=judge)
    memory.remember("Prod SSH port is 49222", id="port")
    return memory


def answered(memory: Memory, recipe: str, mode: str | None) -> Result | None:
    """The answer; None where the question is refused."""
    try:
        return memory.recall("port", recipe=recipe, mode=mode)
    except BadQuery:
        return None


@pytest.mark.parametrize("name", library())
def test_a_recipe_asks_the_reranker_or_the_question_is_refused(
    judged: Memory, judge: Judge, name: str
) -> None:
    for mode in (None, *recipe_of(name).modes):
        before = judge.asked
        if (result := answered(judged, name, mode)) is None:
            with pytest.raises(BadQuery, match="would ignore the reranker") as caught:
                judged.plan("port", recipe=name, mode=mode)
            assert caught.value.hint
            assert judge.asked == before
            continue
        skipped = result.trace["rerank_skipped"]
        assert (judge.asked, skipped) in ((before + 1, None), (before, "mode_off"))
        # A mode may leave it out only where the recipe's users read that, under a name of theirs.
        named = "result.trace.rerank_skipped" in recipe_of(name).names.values()
        assert skipped is None or named


@pytest.mark.parametrize("name", [each for each in library() if recipe_of(each).reranks])
def test_a_question_may_say_that_the_reranker_stays_out(
    judged: Memory, judge: Judge, name: str
) -> None:
    judged.recall("port", recipe=name, overrides={"pass.1.enabled": False})
    assert judge.asked == 0


def test_every_door_asks_the_reranker_or_refuses(judged: Memory, judge: Judge) -> None:
    tenant_session = TenantSession(judged)
    tool = {tool.name: tool for tool in tools_of("full", "write")}["recall"]
    doors: list[Callable[[dict[str, Any]], object]] = [
        lambda more: BY_NAME["recall"].run(tenant_session, {"query": "port", **more}),
        lambda more: BY_NAME["context"].run(tenant_session, {"query": "port", **more}),
        lambda more: tool.run(tenant_session, {"query": "port", **more}),
        lambda more: memoriter.Hook(judged)("port", **more),
    ]
    for at, door in enumerate(doors, 1):
        door({})
        assert judge.asked == at
        for more in ({"recipe": "lexical"}, {"mode": "bm25"}):
            with pytest.raises(BadQuery, match="would ignore the reranker"):
                door(more)


def test_the_command_line_refuses_what_would_ignore_a_reranker(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    memoriter.open("memoriter.db").close()
    monkeypatch.setenv("MEMORITER_RERANKER", "http:model@http://127.0.0.1:9")
    for args in (["recall", "x"], ["plan", "x"], ["explain", "i", "--query", "x"]):
        done = CliRunner().invoke(app, [*args, "--recipe", "lexical", "--json"])
        assert "would ignore the reranker" in json.loads(done.stderr)["message"], args
    done = CliRunner().invoke(app, ["hooks", "recall", "--recipe", "lexical"], input="which port?")
    assert "would ignore the reranker" in done.stderr


def words_then_judge() -> dict[str, object]:
    """The recipe `lexical`, and a reranker after it."""
    data = recipe_of("lexical").to_data()
    data["pass"] = [*data["pass"], {"head": {"count": 10}, "rerank": {}}]
    return {**data, "name": "words-then-judge"}


@pytest.mark.parametrize("recipe", [None, "lexical", "memoriter", "own"])
def test_keywords_leave_the_reranker_out_and_say_so(
    judged: Memory, judge: Judge, recipe: str | None
) -> None:
    result = judged.keywords("port", recipe=words_then_judge() if recipe == "own" else recipe)
    reason = "not_asked: keywords asks no reranker; recall does"
    assert [hit.id for hit in result] == ["port"]
    assert judge.asked == 0
    assert (result.status, result.skipped) == ("complete", {"rerank": reason})
    assert (result.trace["rerank_skipped"], result.trace["rerank_reason"]) == ("not_asked", reason)
    assert result.to_dict()["skipped"] == result.skipped
    assert reason in str(result.plan)
    assert memoriter.verify(result.receipt).ok
    assert judged.replay(result.receipt).same


def test_bundles_and_reflections_leave_the_reranker_out_and_say_so(
    judged: Memory, judge: Judge
) -> None:
    page = judged.bundles("port")
    assert page.skipped == {"rerank": "not_asked: bundles asks no reranker; recall does"}
    assert page.to_dict()["skipped"] == page.skipped
    assert judged.bundles("…").skipped == page.skipped
    listed = judged.reflections("port")
    assert listed.skipped == {"rerank": "not_asked: reflections asks no reranker; recall does"}
    assert judge.asked == 0


def test_without_a_reranker_nothing_is_left_out() -> None:
    memory = memoriter.open(clock=HandClock())
    memory.remember("Prod SSH port is 49222")
    assert memory.keywords("port").skipped == {}
    assert memory.bundles("port").skipped == {}
    assert memory.reflections("port").skipped == {}


@pytest.mark.parametrize("verb", ["recall", "keywords", "bundles", "reflections"])
def test_a_reranker_for_one_search_is_refused(judged: Memory, judge: Judge, verb: str) -> None:
    with pytest.raises(BadQuery, match="reranker: there is no such option") as caught:
        getattr(judged, verb)("port", reranker=judge)
    assert caught.value.hint == "pass it to open: memoriter.open(…, reranker=…); recall asks it"
