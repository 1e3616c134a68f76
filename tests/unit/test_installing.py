"""`memoriter mcp install`: shows and makes the change; uninstall leaves no trace of it."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from memoriter.core.errors import InputError
from memoriter.doors.cli.main import app
from memoriter.doors.hosts import HOST_NAMES, without_own
from memoriter.doors.installing import FileChange

OTHERS: dict[str, dict[str, Any]] = {
    "claude-code": {
        ".claude.json": {"theme": "dark", "mcpServers": {"other": {"command": "x"}}},
        ".claude/settings.json": {
            "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "say done"}]}]}
        },
    },
    "codex": {".codex/hooks.json": {"hooks": {"Stop": [{"hooks": []}]}}},
    "cursor": {
        ".cursor/mcp.json": {"mcpServers": {"other": {"command": "x"}}},
        ".cursor/hooks.json": {"version": 1, "hooks": {"stop": [{"command": "say done"}]}},
    },
    "gemini": {".gemini/settings.json": {"mcpServers": {"other": {"command": "x"}}, "ui": {}}},
}


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)


def run(*args: str) -> tuple[int, str, str]:
    done = CliRunner().invoke(app, ["mcp", *args])
    return done.exit_code, done.stdout, done.stderr


def tree(root: Path) -> dict[str, str]:
    return {
        str(path.relative_to(root)): path.read_text() if path.is_file() else ""
        for path in sorted(root.rglob("*"))
    }


@pytest.mark.parametrize("project", [False, True])
@pytest.mark.parametrize("indent", [2, 4, "\t"])
@pytest.mark.parametrize("host", HOST_NAMES)
def test_uninstall_gives_every_file_back_as_it_was(
    tmp_path: Path, host: str, indent: Any, project: object
) -> None:
    for name, content in OTHERS[host].items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(json.dumps(content, indent=indent) + "\n")
    if host == "codex":
        (tmp_path / ".codex/config.toml").write_text(
            'model = "o"\n\n[mcp_servers.other]\ncommand = "x"\n'
        )
    before = tree(tmp_path)
    where = ["--project"] if project else []
    code, out, _ = run("install", host, "--store", "m.db", *where)
    assert (code, "memoriter" in out) == (0, True)
    assert tree(tmp_path) != before
    assert run("install", host, "--store", "m.db", *where)[1] == "nothing to change\n"
    assert run("uninstall", host, *where)[0] == 0
    assert tree(tmp_path) == before


@pytest.mark.parametrize("host", HOST_NAMES)
def test_a_host_without_settings_gets_files_and_loses_them_again(tmp_path: Path, host: str) -> None:
    assert run("install", host)[0] == 0
    files = [name for name, text in tree(tmp_path).items() if text]
    assert files
    modes = [each.stat().st_mode & 0o077 for each in tmp_path.rglob("*") if each.is_file()]
    assert not any(modes)  # they name the store; nobody else need know
    text = "".join(tree(tmp_path).values())
    store = str(tmp_path / ".memoriter.db")
    assert text.count(store) == text.count("--store") >= 3  # the server and the hooks share it
    assert run("uninstall", host)[0] == 0
    assert [name for name, text in tree(tmp_path).items() if text] == []


def test_a_server_that_could_not_start_is_not_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _name: None)
    _, out, err = run("install", "codex")
    assert (out, "needs the package mcp" in err, "[server]" in err) == ("", True, True)
    assert tree(tmp_path) == {}


def test_a_dry_run_shows_and_changes_nothing(tmp_path: Path) -> None:
    code, out, err = run("install", "codex", "--dry-run")
    assert (code, "+[mcp_servers.memoriter]" in out, err) == (0, True, "")
    assert tree(tmp_path) == {}
    data = json.loads(run("install", "codex", "--dry-run", "--json")[1])
    assert (data["made"], len(data["changes"])) == (False, 2)


def test_the_table_of_codex_is_toml_beside_what_was_there(tmp_path: Path) -> None:
    (tmp_path / ".codex").mkdir()
    (tmp_path / ".codex/config.toml").write_text('model = "o"\n')
    run("install", "codex", "--no-hooks")
    data = tomllib.loads((tmp_path / ".codex/config.toml").read_text())
    assert data["model"] == "o"
    assert data["mcp_servers"]["memoriter"]["args"][:2] == ["mcp", "--store"]
    assert not (tmp_path / ".codex/hooks.json").exists()


def test_another_store_replaces_the_one_before(tmp_path: Path) -> None:
    run("install", "cursor", "--store", "one.db")
    run("install", "cursor", "--store", "two.db")
    text = "".join(tree(tmp_path).values())
    assert "one.db" not in text
    assert text.count("two.db") == 4


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        (".gemini/settings.json", "{ // a comment\n}", "not plain JSON"),
        (".gemini/settings.json", "[]", "expected a JSON object"),
        (".gemini/settings.json", '{"mcpServers": []}', "mcpServers is not an object"),
        (".gemini/settings.json", '{"hooks": "x"}', "hooks is not an object"),
        (".gemini/settings.json", '{"hooks": {"AfterAgent": {}}}', "AfterAgent is not a list"),
        (".codex/config.toml", "a = = 1", "not TOML"),
        (".codex/config.toml", "mcp_servers = {memoriter = {}}", "cannot be edited"),
    ],
)
def test_settings_that_cannot_be_edited_are_left_alone(
    tmp_path: Path, name: str, content: str, says: str
) -> None:
    (tmp_path / name).parent.mkdir()
    (tmp_path / name).write_text(content)
    code, _, err = run("install", "gemini" if "gemini" in name else "codex")
    assert (code, says in err) == (2, True)
    assert (tmp_path / name).read_text() == content


def test_a_host_that_gives_up_early_is_told_to_wait(tmp_path: Path) -> None:
    run("install", "codex")
    run("install", "gemini")
    assert "startup_timeout_sec = 60" in (tmp_path / ".codex/config.toml").read_text()
    servers = json.loads((tmp_path / ".gemini/settings.json").read_text())["mcpServers"]
    assert servers["memoriter"]["timeout"] == 60_000


def test_an_unknown_host_is_refused_with_those_that_are_known() -> None:
    code, _, err = run("install", "zed")
    assert (code, "claude-code, codex, cursor, gemini" in err) == (2, True)


def test_hooks_of_others_that_name_us_only_in_passing_are_kept() -> None:
    theirs = {"command": "echo memoriter"}
    ours = {"command": "/opt/x/bin/memoriter hooks recall --store y"}
    assert list(without_own([{"hooks": [theirs]}, {"hooks": [ours]}])) == [{"hooks": [theirs]}]
    mixed = {"matcher": "*", "hooks": [ours, theirs]}
    assert list(without_own([mixed, ours])) == [{"matcher": "*", "hooks": [theirs]}]


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "dots").mkdir()
    (tmp_path / ".gemini").mkdir()
    real, link = tmp_path / "dots" / "gemini.json", tmp_path / ".gemini" / "settings.json"
    text = '{\n  "theme": "dark"\n}\n'
    real.write_text(text)
    link.symlink_to(real)
    assert run("install", "gemini")[0] == 0
    assert link.is_symlink()
    assert json.loads(real.read_text())["mcpServers"]["memoriter"]
    assert run("uninstall", "gemini")[0] == 0
    assert (link.is_symlink(), real.read_text()) == (True, text)


def test_a_file_that_may_only_be_read_is_not_replaced(tmp_path: Path) -> None:
    (tmp_path / ".claude").mkdir()
    settings = tmp_path / ".claude" / "settings.json"
    settings.write_text("{}")
    settings.chmod(0o444)
    code, _, err = run("install", "claude-code")
    assert (code, "is read-only" in err) == (2, True)
    assert settings.read_text() == "{}"
    assert not (tmp_path / ".claude.json").exists()


def test_a_file_that_changes_in_the_meantime_is_not_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    change = FileChange(path, None, "ours")
    path.write_text("theirs")
    with pytest.raises(InputError, match="has changed since this command read it"):
        change.check()
