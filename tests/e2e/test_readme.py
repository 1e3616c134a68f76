"""The examples of the README run, and show what the text says."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

README = Path(__file__).parents[2] / "README.md"


@pytest.fixture
def examples() -> list[str]:
    return re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)


def test_the_python_examples_of_the_readme_run(
    examples: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    first, second = examples
    exec(compile(first, "README.md", "exec"), {})  # noqa: S102  # our own README
    shown = capsys.readouterr().out
    assert "1 1.0 Prod SSH port is 49222" in shown
    assert "Prod SSH port is 22" not in shown
    assert "complete ('words', 'kin', 'meaning')" in shown
    assert (tmp_path / "receipt.json").exists()
    exec(compile(second, "README.md", "exec"), {})  # noqa: S102  # as above
    assert capsys.readouterr().out.splitlines() == [
        "['Prod SSH port is 22']",
        "['Prod SSH port is 49222']",
    ]


def test_the_readme_names_the_two_commands_first() -> None:
    first, second = re.findall(r"^make (\w+)", README.read_text(encoding="utf-8"), re.MULTILINE)[:2]
    assert (first, second) == ("demo", "test")


def test_the_python_examples_of_the_docs_run() -> None:
    for page in sorted((README.parent / "docs").glob("**/*.md")):
        names: dict[str, object] = {}
        for example in re.findall(r"```python\n(.*?)```", page.read_text("utf-8"), re.DOTALL):
            exec(compile(example, page.name, "exec"), names)  # noqa: S102  # our own docs


def test_the_lane_that_contributing_shows_is_a_lane() -> None:
    text = (README.parent / "CONTRIBUTING.md").read_text(encoding="utf-8")
    names: dict[str, Any] = {"__name__": "contributing"}
    for example in re.findall(r"```python\n(.*?)```", text, re.DOTALL):
        exec(compile(example, "CONTRIBUTING.md", "exec", dont_inherit=True), names)  # noqa: S102  # our own page
    lane = names["Pinned"](kind="pinned")
    assert lane.model_dump() == {"kind": "pinned", "enabled": True, "pool": 100}
    assert {"ready", "rank", "evidence"} <= set(dir(lane))
