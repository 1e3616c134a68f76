"""The docs: every example runs alone, every page is in the index, every link leads somewhere."""

from __future__ import annotations

import os
import re
import shlex
from pathlib import Path

import mcp.client.stdio  # noqa: F401  # first here: it keeps the stderr of its first import, and a CliRunner's has no file
import pytest
from tests.e2e.doc_blocks import run
from tests.hosts.counts import host_of_block
from tests.pages import DOCS, README, Block, anchors, blocks, broken, docs, links, name
from typer.testing import CliRunner

from memoriter.doors.cli.main import app

PYTHON = [block for page in (README, *docs()) for block in blocks(page, "python")]
CONSOLE = [block for page in docs() for block in blocks(page, "console")]


@pytest.mark.parametrize("block", PYTHON, ids=str)
def test_an_example_runs_alone_in_an_empty_folder(
    block: Block, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("MEMORITER_NEW_STORE")  # as a reader would run it
    if (needed := host_of_block(block.text)) is not None:
        pytest.skip(f"{needed} is not installed; `make hosts` runs this example")
    run(block)


def test_an_example_that_needs_another_is_noticed() -> None:
    with pytest.raises(NameError):
        run(Block(README, 1, "print(memory)\n"))


def typed(line: str) -> None:
    """Run a command of ours as a shell would: `echo TEXT | …` and `… > FILE` are understood."""
    words = shlex.split(line, comments=True)
    echoed = words[1] if words[0] == "echo" else None
    words = words[words.index("|") + 1 :] if echoed else words
    file = words[-1] if ">" in words else None
    words = words[: words.index(">")] if file else words
    assert words[0] == "memoriter", line
    done = CliRunner().invoke(app, words[1:], input=echoed)
    assert done.exit_code == 0, f"{line}\n{done.stderr}"
    if file:
        Path(file).write_text(done.stdout, encoding="utf-8")


@pytest.mark.parametrize("block", CONSOLE, ids=str)
def test_the_commands_of_an_example_run_alone_in_an_empty_folder(
    block: Block, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for variable in [each for each in os.environ if each.startswith("MEMORITER_")]:
        monkeypatch.delenv(variable)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    lines = re.findall(r"^\$ (.*)$", block.text, re.M)
    assert lines
    for line in lines:
        typed(line)


# --- index and links ------------------------------------------------------------------------


def test_every_page_is_in_the_index() -> None:
    index = DOCS / "README.md"
    linked = {(DOCS / link).resolve() for link in links(index.read_text(encoding="utf-8"))}
    missing = [name(page) for page in docs() if page != index and page not in linked]
    assert not missing, f"add a line to {name(index)} for {', '.join(missing)}"


@pytest.mark.parametrize("page", [*README.parent.glob("*.md"), *docs()], ids=name)
def test_every_link_leads_to_a_file_and_a_heading(page: Path) -> None:
    assert not list(broken(page, page.read_text(encoding="utf-8")))


def test_a_broken_link_is_noticed() -> None:
    text = '[a](LAWS.md) [b](NOWHERE.md) [c](LAWS.md#nothing) <img src="none.svg"> `[d](x.md)`'
    assert [each.partition(":")[0] for each in broken(README, text)] == [
        "NOWHERE.md",
        "LAWS.md#nothing",
        "none.svg",
    ]


def test_headings_are_spelled_as_github_does() -> None:
    text = "# Why, why not?\n```sh\n# no heading\n```\n## The format (version 2)\n### `as_of`\n"
    assert anchors(text) == {"why-why-not", "the-format-version-2", "as_of"}
