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
from memoriter.doors.hosts import HOST_NAMES, host_of, own_hook
from memoriter.doors.installing import FileChange, plan_install, plan_uninstall

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


@pytest.mark.parametrize("host", HOST_NAMES)
def test_hooks_that_are_shown_use_the_store_that_install_uses(tmp_path: Path, host: str) -> None:
    shown = CliRunner().invoke(app, ["hooks", "show", host, "--json"]).stdout
    assert shown.count(f"--store {tmp_path / '.memoriter.db'}") == shown.count("memoriter hooks")
    assert "--store" in shown
    served = CliRunner().invoke(app, ["hooks", "show", host, "--json", "--url", "http://a"]).stdout
    assert "--store" not in served


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
        (".codex/config.toml", 'mcp_servers = {x = {command = "x"}}', "[mcp_servers.NAME]"),
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


OURS = {"command": "'/opt/x y/bin/memoriter' hooks recall --store y"}


@pytest.mark.parametrize(
    "theirs",
    [
        "echo memoriter",
        "echo uses memoriter hooks capture && notify-send done",
        "memoriter hooks capture && notify-send done",
        "memoriter hooks capture|tee log",
        "memoriter hooks capture 2>log",
        "my-memoriter hooks recall",
        "memoriter 'hooks",
        "memoriter hooks show",
        None,
    ],
)
def test_hooks_of_others_that_name_us_are_kept(theirs: str | None) -> None:
    other = {"command": theirs, "note": "memoriter hooks recall"}
    assert own_hook({"Stop": [other, {"hooks": [other]}, {"hooks": []}, "memoriter"]}) is None
    assert own_hook({"Stop": [other], "Start": [other, OURS]}) == ("Start", 1)
    assert own_hook({"Stop": [{"hooks": [OURS, OURS]}]}) == ("Stop", 0)
    assert own_hook({"Stop": [{"hooks": [other, OURS]}]}) == ("Stop", 0, "hooks", 1)


SERVERS = {
    "claude-code": ".claude.json",
    "cursor": ".cursor/mcp.json",
    "gemini": ".gemini/settings.json",
}
HOOKS = {
    "claude-code": ".claude/settings.json",
    "codex": ".codex/hooks.json",
    "cursor": ".cursor/hooks.json",
    "gemini": ".gemini/settings.json",
}
ODD = [
    "",
    "\n",
    "{}",
    "{}\n",
    "{ }",
    "{\n}\n",
    '{"a":1.10,"b":["x","y"],"c":"\\u00e9"}',
    '{ "a": 1 }',
    '{\n  "a": [1, 2],\n  "b": 1.10\n}',
    '{"mcpServers": {}, "hooks": {}}\n',
    '{\n\t"mcpServers": {\n\t},\n\t"hooks": {\n\t\t"Stop": [],\n\t\t"AfterAgent": [ ]\n\t}\n}\n',
    '{"version": 1}',
    '{"version": 1, "hooks": {"stop": []}}',
    '{\n  "hooks": {"Stop": [{"hooks": [{"command": "echo memoriter hooks capture && x"}]}]}\n}\n',
]


def change(host: str, root: Path, store: str | None) -> int:
    """Install, or uninstall without a store; how many files changed."""
    if store is None:
        changes = plan_uninstall(host_of(host), root, project=False)
    else:
        changes = plan_install(host_of(host), root, store, "/bin/memoriter", project=False)
    for each in changes:
        each.check()
        each.path.parent.mkdir(exist_ok=True)
        if each.after is None:
            each.path.unlink()
        else:  # not `make`, which waits for the disk
            each.path.write_bytes(each.after.encode())
    return len(changes)


def check_restored(root: Path, host: str, files: set[Path], data: bytes) -> None:
    """Each file is as before after install, another store, and uninstall."""
    for path in files:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    assert change(host, root, "one.db")
    for path in files:
        installed = path.read_bytes()
        assert b"one.db" in installed
        assert b"\r" not in data or b"\n" not in installed.replace(b"\r\n", b"")
    assert not change(host, root, "one.db")
    assert change(host, root, "two.db")
    assert change(host, root, None)
    assert {path: path.read_bytes() for path in files} == dict.fromkeys(files, data)


@pytest.mark.parametrize("line_break", ["\n", "\r\n"])
@pytest.mark.parametrize("host", HOST_NAMES)
def test_uninstall_restores_every_character_of_json(
    tmp_path: Path, host: str, line_break: str
) -> None:
    for number, text in enumerate(ODD):
        root = tmp_path / str(number)
        files = {root / each[host] for each in (SERVERS, HOOKS) if host in each}
        check_restored(root, host, files, text.replace("\n", line_break).encode())


def test_uninstall_restores_every_character_of_toml(tmp_path: Path) -> None:
    texts = ["", "\n", "a = 1", "a = 1\n", "a = 1\n\n\n", "# c\r\n[a]\r\n  b = [\r\n1,\r\n]\r\n"]
    for number, text in enumerate(texts):
        root = tmp_path / str(number)
        check_restored(root, "codex", {root / ".codex/config.toml"}, text.encode())


ADDED = """
# my other server
{}[mcp_servers.github]
command = "gh-mcp"

[profiles.x]
model = "y"
"""


@pytest.mark.parametrize("indent", ["", "  "])
@pytest.mark.parametrize(
    "inside", ["", "note = '''\n[x]\n# y\n'''\n", "\n[mcp_servers.memoriter.env]\nA = 1\n"]
)
def test_tables_behind_ours_stay(tmp_path: Path, indent: str, inside: str) -> None:
    path = tmp_path / ".codex/config.toml"
    path.parent.mkdir()
    path.write_text('model = "o"\n')
    run("install", "codex")
    path.write_text(path.read_text() + inside + ADDED.format(indent))
    assert run("install", "codex", "--store", "other.db")[0] == 0
    assert tomllib.loads(path.read_text())["mcp_servers"]["github"] == {"command": "gh-mcp"}
    assert run("uninstall", "codex")[0] == 0
    assert path.read_text() == 'model = "o"\n' + ADDED.format(indent)


def test_a_hook_that_was_put_behind_ours_stays_there(tmp_path: Path) -> None:
    path = tmp_path / ".gemini/settings.json"
    run("install", "gemini")
    data, theirs = json.loads(path.read_text()), {"hooks": [{"command": "say done"}]}
    data["hooks"]["AfterAgent"].append(theirs)
    path.write_text(json.dumps(data))
    assert run("install", "gemini")[1] == "nothing to change\n"
    assert run("uninstall", "gemini")[0] == 0
    left = json.loads(path.read_text())
    assert left["hooks"]["AfterAgent"] == [theirs]
    assert "memoriter" not in str(left)


def test_a_hooks_file_with_comments_is_no_obstacle_to_the_server_alone(tmp_path: Path) -> None:
    settings = tmp_path / ".claude/settings.json"
    settings.parent.mkdir()
    settings.write_text("{ // a comment\n}")
    assert run("install", "claude-code", "--no-hooks")[0] == 0
    assert "memoriter" in (tmp_path / ".claude.json").read_text()
    assert run("uninstall", "claude-code")[0] == 0
    assert settings.read_text() == "{ // a comment\n}"
    assert not (tmp_path / ".claude.json").exists()


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
