"""A changed search as text to copy: the Python call and the command ask what was asked."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import memoriter
from memoriter.doors.cli.main import app
from memoriter.doors.spelled import spelled_override

QUESTION = "--which ssh port, Ana's?"
OVERRIDES = {"final.min_score": 0.01}


@pytest.mark.parametrize(
    "ask",
    [
        {},
        {"agent": "scout", "user": "ana", "mode": "hybrid"},
        {"tags": ["ops"], "where": {"kind": "fact"}, "as_of": "2099-01-01"},
        {"known_at": "2099-01-01", "session": "s 1", "limit": 1, "budget_tokens": 400},
        {"overrides": {"select.superseded": "show"}, "require": ["words"]},
        {"recipe": "linked", "seeds": ["one"], "aliases": {"ssh": ["ssh", "shell"]},
         "lists": {"top": [["m2", 0.5]]}},
    ],
)  # fmt: skip
def test_what_is_copied_asks_the_same(tmp_path: Path, ask: dict[str, Any]) -> None:
    store = tmp_path / "agent.db"
    with memoriter.open(store) as memory:
        for n, kind in enumerate(("fact", "fact", "note")):
            memory.remember(
                f"SSH port of Ana, number {n}", id=f"m{n}", kind=kind, tags=["ops"][n % 2 :],
                agent="scout" if n else None, user="ana" if n else None, session="s 1",
            )  # fmt: skip
        memory.remember("The SSH port of Ana is 49222", id="one", supersedes="m1")
        result = memory.recall(QUESTION, **ask)
        overrides = {**ask.get("overrides", {}), **OVERRIDES}
        changed = result.what_if(overrides)
        spelled = spelled_override(changed, overrides)
        again = eval(spelled["python"], {"memory": memory})  # noqa: S307  # what people paste
        asked = without_moment(changed.receipt.body["query"])
        assert without_moment(again.receipt.body["query"]) == asked
        assert [hit.id for hit in again] == [hit.id for hit in changed]
    words = shlex.split(spelled["command"])
    flags = ["--store", str(store), "--receipt", str(tmp_path / "r.json")]
    done = CliRunner().invoke(app, [words[1], *flags, *words[2:]])
    assert done.exit_code == 0, done.output
    receipt = json.loads((tmp_path / "r.json").read_text())
    assert without_moment(receipt["query"]) == asked
    assert receipt["hits"] == [hit.id for hit in changed]


def without_moment(query: Any) -> dict[str, Any]:
    return {key: value for key, value in query.items() if key != "now"}
