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
from memoriter.pipeline.plan import reranks
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


@pytest.mark.parametrize("name", [each for each in library() if reranks(recipe_of(each))])
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
