"""The examples of the README print what they show; the set-up comes first."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.e2e.test_docs import run
from tests.pages import README, ROOT, Block, blocks


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
    run(block)
    printed = capsys.readouterr().out.splitlines()
    assert printed == shown(block.text)
    assert printed


def test_the_readme_names_the_two_commands_first() -> None:
    first, second = re.findall(r"^make (\w+)", README.read_text(encoding="utf-8"), re.MULTILINE)[:2]
    assert (first, second) == ("demo", "test")


def test_nobody_is_told_to_fetch_the_package_from_an_index() -> None:
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
    pattern = re.compile(r"pip install (?:-\S+ )*[\"']?memoriter\b")
    assert not [page.name for page in pages if pattern.search(page.read_text(encoding="utf-8"))]
    assert pattern.search('pip install -U "memoriter[server]"')
