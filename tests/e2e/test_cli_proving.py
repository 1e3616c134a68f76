"""explain, why-not, replay and diff at the command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from memoriter.doors.cli.main import app


def call(*args: str, code: int = 0) -> str:
    result = CliRunner().invoke(app, list(args))
    assert result.exit_code == code, result.stderr
    return result.stdout


def data(*args: str, code: int = 0) -> Any:
    return json.loads(call(*args, "--json", code=code))


@pytest.fixture(autouse=True)
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A store with a few memories, and the receipt of a search in it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    for name in ("STORE", "TENANT", "RECIPE", "RERANKER", "AGENT", "USER", "SESSION", "DEBUG"):
        monkeypatch.delenv(f"MEMORITER_{name}", raising=False)
    call("remember", "ssh port is 22", "--id", "old")
    call("remember", "ssh port is 49222", "--id", "new", "--supersedes", "old")
    call("remember", "the sea was blue", "--id", "sea", "--kind", "fact")
    call("recall", "ssh port", "--limit", "1", "--receipt", "a.json")


def test_explain_shows_one_hit() -> None:
    for source in (("--query", "ssh port"), ("--receipt", "a.json")):
        assert "why #1 · new" in call("explain", "new", *source)
        assert data("explain", "new", *source)["hit"]["rank"] == 1


def test_explain_of_no_hit_says_why_not() -> None:
    assert "new took its place" in call("explain", "old", "--query", "ssh port")
    assert data("explain", "old", "--receipt", "a.json")["why_not"]["stage"] == "superseded"


def test_why_not_tells_what_to_ask_instead() -> None:
    output = call("why-not", "old", "--query", "ssh port", "--limit", "1")
    assert "superseded · old" in output
    assert "--override select.superseded=show" in output
    assert "tested" in output
    answer = data("why-not", "sea", "--receipt", "a.json")
    assert (answer["stage"], answer["change"], answer["rank_then"]) == ("limit", {"limit": 2}, 2)
    assert "no change is known" in call("why-not", "nothing", "--receipt", "a.json")


def test_every_kind_of_change_is_spelled() -> None:
    asked = ("--query", "ssh port", "--recipe", "lexical", "--where", '{"kind": "note"}')
    output = call("why-not", "sea", *asked, "--as-of", "2020-01-01")
    assert "no --where" in output
    assert "--list given=sea:1.0" in output
    where = '{"all": [{"kind": "fact"}, {"text": {"exists": true}}]}'
    output = call("why-not", "new", "--query", "ssh", "--where", where)
    assert '--where \'{"text": {"exists": true}}\'' in output
    call("recall", "ssh", "--agent", "bot", "--receipt", "bot.json")
    assert "no --agent" in call("why-not", "new", "--receipt", "bot.json")
    call("recall", "ssh", "--agent", "bot", "--user", "ana", "--receipt", "bot.json")
    call("remember", "ssh", "--id", "anas", "--user", "ana")
    output = call("why-not", "anas", "--receipt", "bot.json")
    assert "no --known-at" in output
    assert "no --agent" in output


def test_a_question_and_a_receipt_are_too_much_and_none_is_too_little() -> None:
    for verb in ("explain", "why-not"):
        call(verb, "new", code=2)
        call(verb, "new", "--query", "x", "--receipt", "a.json", code=2)


def test_replay_says_whether_it_is_the_same() -> None:
    call("remember", "ssh port again", "--id", "more")
    assert "the same, byte for byte" in call("replay", "a.json")
    assert data("replay", "a.json")["same"] is True
    call("forget", "new", "--yes")
    output = call("replay", "a.json", code=10)
    assert "gone: new" in output
    assert "1 record forgotten since" in output
    assert data("replay", "a.json", code=10)["gone"] == ["new"]


def test_replay_of_another_store() -> None:
    assert call("replay", "a.json", "--store", "none.db", code=3) == ""
    for n in range(4):
        call("remember", f"note {n}", "--store", "other.db")
    output = call("replay", "a.json", "--store", "other.db", code=9)
    assert "not the same" in output
    assert "differs: " in output
    assert call("replay", "a.json", "--tenant", "other", code=6) == ""
    assert call("replay", "nothing.json", code=2) == ""


def test_diff_shows_moves_and_what_is_behind_them() -> None:
    call("remember", "the ssh port", "--id", "x")
    call("recall", "ssh port", "-n", "2", "--override", "fusion.weights.words=0.9",
         "--receipt", "b.json")  # fmt: skip
    output = call("diff", "a.json", "b.json")
    assert "data: view.seq" in output
    assert "recipe: pass.0.fuse.weights.words" in output
    assert "— → " in output
    answer = data("diff", "a.json", "b.json")
    assert answer["causes"] == ["data", "recipe", "question"]
    assert len(answer["entered"]) == 1
    assert "the same hits, ranks and scores" in call("diff", "a.json", "a.json")
    call("diff", "a.json", "nothing.json", code=2)
