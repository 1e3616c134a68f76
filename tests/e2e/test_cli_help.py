"""The help of every command, what the docs say of it, and answers to mistakes in typing."""

from __future__ import annotations

import json
import re

import pytest
from tests.e2e.commands import COMMANDS, DOCS, Cli

import memoriter
from memoriter.doors.cli import records
from memoriter.doors.cli.main import PANELS
from memoriter.imports.table import format_names


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_every_command_has_help_with_an_example(path: tuple[str, ...], cli: Cli) -> None:
    result = cli(*path, "--help")
    assert result.exit_code == 0
    assert re.search(r"Examples?:", result.stdout)
    assert f"memoriter {' '.join(path)}" in " ".join(result.stdout.split())
    first_line = COMMANDS[path].help.strip().splitlines()[0]
    assert first_line[0].isupper()
    assert first_line.endswith(".")


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_every_command_and_its_options_are_documented(path: tuple[str, ...]) -> None:
    text = DOCS.read_text(encoding="utf-8")
    assert f"### `memoriter {' '.join(path)}" in text
    for parameter in COMMANDS[path].params:
        for name in (each for each in parameter.opts if each.startswith("--")):
            assert f"`{name}" in text, f"{name} of {' '.join(path)}"


def test_the_documentation_names_no_command_that_is_gone() -> None:
    headings = re.findall(
        r"^### `memoriter ([a-z -]+?)(?: [A-Z\[].*)?`$", DOCS.read_text("utf-8"), re.M
    )
    assert sorted(headings) == sorted(" ".join(path) for path in COMMANDS)


def test_every_exit_code_is_documented() -> None:
    text = DOCS.read_text(encoding="utf-8")
    for name in memoriter.__all__:
        error = getattr(memoriter, name)
        if isinstance(error, type) and issubclass(error, memoriter.MemoriterError):
            assert re.search(rf"^\| {error.exit_code} \|.*\b{name}\b", text, re.M), name


def test_every_command_stands_in_one_panel() -> None:
    named = [each.name for panel in PANELS.values() for each in panel]
    assert sorted(named) == sorted({path[0] for path in COMMANDS})


def test_the_help_of_import_names_every_format(cli: Cli) -> None:
    shown = re.sub(r"[\s│]+", " ", cli("import", "--help").stdout)
    assert all(name in shown for name in format_names())


def test_version_is_told_both_ways(cli: Cli) -> None:
    assert (
        cli("version").stdout == cli("--version").stdout == f"memoriter {memoriter.__version__}\n"
    )
    assert cli("version", ok=True) == {"version": memoriter.__version__}


@pytest.mark.parametrize(
    ("args", "hint"),
    [
        (["recal", "x"], "did you mean recall?"),
        (["recipe", "lsit"], "did you mean list?"),
        (["recall", "x", "--limt", "1"], "did you mean --limit?"),
        (["recall"], "memoriter recall --help"),
        (["recall", "x", "--limit", "many"], "memoriter recall --help"),
        (["zzzzz"], "memoriter --help"),
    ],
)
def test_a_typing_mistake_gets_a_guess(args: list[str], hint: str, cli: Cli) -> None:
    result = cli(*args)
    assert result.exit_code == 2
    assert hint in result.stderr.splitlines()[1]
    assert result.stdout == ""


def test_a_bug_shows_one_line_and_the_way_to_more(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError("by zero")

    monkeypatch.setattr(records, "store_path", broken)
    result = cli("status")
    assert result.exit_code == 1
    assert result.stderr.splitlines()[0] == "internal error: ZeroDivisionError: by zero"
    assert "MEMORITER_DEBUG=1" in result.stderr
    assert "Traceback" not in result.stderr
    assert json.loads(cli("status", "--json").stderr)["error"] == "InternalError"
    monkeypatch.setenv("MEMORITER_DEBUG", "1")
    assert "Traceback" in cli("status").stderr


def test_an_interrupt_anywhere_is_quiet(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(records, "store_path", interrupted)
    result = cli("status")
    assert (result.exit_code, result.stdout, result.stderr) == (130, "", "")


def test_what_opens_no_memory_has_no_embedder(cli: Cli) -> None:
    cli("remember", "a red bird", ok=True)
    result = cli("token", "list", "--embedder", "table")
    assert result.exit_code == 2
    assert "--embedder" in result.stderr
    assert "--embedder" in cli("serve", "--help").stdout
