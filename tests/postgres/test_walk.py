"""Every command of the command line, on a store on PostgreSQL, in one process and in one go."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.e2e.commands import COMMANDS
from typer.testing import CliRunner

import memoriter
from memoriter.doors.cli.main import app

ASIDE = {"recipe from-engrava", "version", "demo"}
"""They have no store: what they read and print is the same whatever the store is."""


class Walk:
    """Runs commands, and knows which ones were run."""

    def __init__(self) -> None:
        self.walked: set[str] = set()

    def __call__(self, line: str, *more: str, code: int = 0, stdin: str | None = None) -> str:
        """What a command prints; a failure must be an error of ours, with its exit code."""
        words = [*line.split(), *more]
        done = CliRunner().invoke(app, words, input=stdin)
        assert done.exit_code == code, (words, done.output, done.exception)
        assert "Traceback" not in done.output
        self.walked |= {" ".join(words[:1]), " ".join(words[:2])}
        return done.output

    def json(self, line: str, *more: str, stdin: str | None = None) -> Any:
        return json.loads(self(line, *more, "--json", stdin=stdin))


@pytest.fixture
def walk(url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Walk:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("MEMORITER_STORE", url)
    return Walk()


def test_every_command_works_or_says_why_not(walk: Walk, url: str, tmp_path: Path) -> None:
    for part in (writes, asks, proves, looks, tunes, keeps, moves, serves):
        part(walk, url)
    paths = {" ".join(path) for path in COMMANDS}
    assert paths - walk.walked - ASIDE - {"serve", "page", "mcp run"} == set()
    assert not list(tmp_path.glob("postgresql*")), "no file was made of the address"


def writes(walk: Walk, url: str) -> None:
    assert "exists already" in walk("init")
    walk("remember --id port --tag ops", "Prod SSH port is 22")
    walk("remember --id new --supersedes port", "Prod SSH port is 49222")
    walk("remember --id trip --key k", "a trip to Berlin by train")
    assert walk.json("remember --id trip --key k", "a trip to Berlin by train")["ids"] == ["trip"]
    walk("remember --id rule --trust system", "Backups are kept for ten years")
    walk("remember --id web --trust external --supersedes rule", "Backups are kept for a day")
    Path("notes.jsonl").write_text('{"text": "a journey to Berlin by train", "id": "i1"}\n')
    assert "1" in walk("import notes.jsonl")
    walk("update trip --title journey")
    walk("link trip new --kind related_to")
    walk("remember --id offer", "an offer of the day")
    walk("expire offer")
    walk("reflect --similarity 0.5 --dry-run")
    walk("reflect --similarity 0.5 --cycle 2")
    assert "rule" in walk("review")
    walk("decide web rule --reject")


def asks(walk: Walk, url: str) -> None:
    assert walk.json("recall", "which port for ssh?")["hits"][0]["record"]["id"] == "new"
    assert walk.json("keywords berlin")["hits"]
    assert walk.json("bundles berlin")["bundles"]
    walk("reflections")
    walk("plan berlin")


def proves(walk: Walk, url: str) -> None:
    walk("recall", "which port for ssh?", "--receipt", "a.json")
    walk("recall", "which port for ssh?", "--receipt", "b.json", "--override", "lanes.words.k1=2")
    assert "words" in walk("explain new --query port")
    assert "took its place" in walk("why-not port --receipt a.json")
    walk("verify a.json")
    assert "same" in walk("replay a.json")
    walk("diff a.json b.json")


def looks(walk: Walk, url: str) -> None:
    assert walk.json("browse")["total"] >= 5
    assert walk.json("get new")["text"] == "Prod SSH port is 49222"
    assert len(walk.json("history trip")["versions"]) == 2
    assert walk.json("links trip")["links"]
    walk("agents upsert bot --owner ana")
    walk("agents alias bot shipper")
    for line in ("agents list", "agents show bot", "agents search ana"):
        assert "bot" in walk(line)


def tunes(walk: Walk, url: str) -> None:
    for line in ("recipe list", "recipe show memoriter", "recipe check memoriter"):
        walk(line)
    walk("recipe diff memoriter lexical")
    walk("export memories.jsonl --where {}")
    Path("questions.jsonl").write_text('{"question": "which port?", "gold": ["new"]}\n')
    assert "1 questions" in walk("eval --data questions.jsonl --recipe lexical")
    walk("recipe compare lexical memoriter --data questions.jsonl")
    walk("analyzer list")
    walk("analyzer add fts5-porter")
    walk("analyzer remove fts5-porter")
    walk("embed migrate hash")
    walk("embed promote hash")
    walk("embed status")
    walk("embed rollback")
    secret = url.replace("keeper@", "keeper:sesame@")
    shown = walk("config show", "--store", secret)
    assert "keeper@" in shown
    assert "sesame" not in shown


def keeps(walk: Walk, url: str) -> None:
    status = walk.json("status")
    assert (status["tenants"], status["bytes"]) == (["default"], {})
    walk("maintain")
    walk("calibrate")
    walk("export all.export")
    walk("import all.export --store loaded.db")
    loaded = walk.json("status --store loaded.db")
    assert loaded["records"] == walk.json("status")["records"]
    assert "pg_dump" in walk("backup b.db", code=11)
    assert "sound" in walk("verify-store")
    assert "sound" in walk("doctor")


def moves(walk: Walk, url: str) -> None:
    walk("copy", url, "back.db")
    assert "memoriter copy" in walk("restore back.db --store", url, code=11)
    with memoriter.open("back.db", embedder=None) as memory:
        assert memory.verify_store().sound
    assert "erased from the tables" in walk("forget i1 --yes --now")
    walk("get i1", code=3)


def serves(walk: Walk, url: str) -> None:
    made = walk.json("token create")
    assert made["id"] in walk("token list")
    walk("token revoke", made["id"])
    assert "49222" in walk("hooks recall", stdin='{"prompt": "which port does prod ssh use?"}')
    turns = {"session": "s1", "messages": [{"role": "user", "content": "I live in Lisbon now"}]}
    walk("hooks capture", stdin=json.dumps(turns))
    assert walk.json("recall", "who lives in Lisbon?")["hits"]
    assert url in walk("hooks show claude-code --store", url)
    walk("mcp install claude-code --store", url)
    assert url in (Path.home() / ".claude.json").read_text()
    walk("mcp uninstall claude-code")
    secret = url.replace("keeper@", "keeper:sesame@")
    for line in ("hooks show", "mcp install"):
        assert "pgpass" in walk(f"{line} claude-code --store", secret, code=2)
