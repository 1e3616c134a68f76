"""The examples of the README print what they show; the set-up comes first."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from tests.e2e.doc_blocks import run
from tests.pages import README, ROOT, Block, blocks
from typer.testing import CliRunner

from memoriter.doors.cli.main import app


def shown(example: str) -> list[str]:
    """The output that an example shows: its whole lines of comment."""
    return [line.removeprefix("# ") for line in example.splitlines() if line.startswith("# ")]


@pytest.mark.parametrize("block", blocks(README, "python"), ids=str)
def test_an_example_of_the_readme_prints_what_it_shows(
    block: Block,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("MEMORITER_NEW_STORE")  # as a reader would run it
    run(block)
    printed = capsys.readouterr().out.splitlines()
    assert printed == shown(block.text)
    assert printed


def test_the_command_of_the_readme_reads_the_store_of_its_first_example(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    run(blocks(README, "python")[0])
    lines = [line for block in blocks(README, "sh") for line in block.text.splitlines()]
    commands = [line for line in lines if line.startswith("memoriter ")]
    assert commands
    for command in commands:
        done = CliRunner().invoke(app, shlex.split(command)[1:])
        assert (done.exit_code, "49222" in done.stdout) == (0, True), done.output


def test_the_readme_names_the_two_commands_first() -> None:
    first, second = re.findall(r"^make (\w+)", README.read_text(encoding="utf-8"), re.MULTILINE)[:2]
    assert (first, second) == ("demo", "test")


def test_nobody_is_told_to_fetch_the_package_from_an_index() -> None:
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
    pattern = re.compile(r"pip install (?:-\S+ )*[\"']?memoriter\b")
    assert not [page.name for page in pages if pattern.search(page.read_text(encoding="utf-8"))]
    assert pattern.search('pip install -U "memoriter[server]"')
