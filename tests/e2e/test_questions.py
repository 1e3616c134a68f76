"""The questions of the five texts: one small memory, the default recipe, a page that tells it."""

from __future__ import annotations

import io
import re
from pathlib import Path
from typing import Any, Final

import pytest
from rich.console import Console
from tests.claims.corpus import CORPUS

import memoriter
from memoriter.doors.render.ink import inks_of
from memoriter.doors.render.tree import hit_tree
from memoriter.why.result import Result

PAGE: Final = Path(__file__).parents[2] / "docs" / "questions.md"
SISTER: Final = "what was my sister doing"
RIGHT: Final = {
    "cache latency": "lookups",
    "pricing decision": "price",
    "what do I prefer?": "milk",
    "project deadlines": "deadlines",
    SISTER: "sail",
}
"""Each question, and the memory that answers it."""
ANSWERS_TOO: Final = ("m01", "m05")
"""Records of the other corpus that say the same as a right memory."""


def page_text() -> str:
    """The page."""
    return PAGE.read_text(encoding="utf-8")


def filled() -> memoriter.Memory:
    """The memory of the page."""
    first = re.findall(r"```python\n(.*?)```", page_text(), re.DOTALL)[0]
    names: dict[str, Any] = {}
    exec(compile(first, PAGE.name, "exec"), names)  # noqa: S102  # our own page
    return names["memory"]


def drawn(result: Result) -> str:
    """The best hit taken apart, as the command line draws it."""
    out = io.StringIO()
    console = Console(file=out, width=100, color_system=None)
    console.print(hit_tree(result[0], inks_of(result.plan.recipe)))
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines())


@pytest.mark.parametrize("question", RIGHT)
def test_the_default_recipe_puts_the_right_memory_first(question: str) -> None:
    with filled() as memory:
        result = memory.recall(question)
    assert (result[0].id, result.status) == (RIGHT[question], "complete")
    assert result.plan.recipe.name == "memoriter"
    assert memoriter.verify(result.receipt.to_bytes()).ok


@pytest.mark.parametrize("question", [question for question in RIGHT if question != SISTER])
def test_other_memories_around_them_change_nothing_about_it(question: str) -> None:
    with filled() as memory:
        for note in CORPUS:
            if note.id not in ANSWERS_TOO:
                memory.remember(note.text, id=note.id)
        assert memory.recall(question)[0].id == RIGHT[question]


def test_a_memory_with_a_word_like_doing_comes_before_the_one_about_sailing() -> None:
    # A loss, and the page says so: the word lane leaves `was` out, and `works` is like `doing`.
    with filled() as memory:
        memory.remember(next(note.text for note in CORPUS if note.id == "m04"), id="m04")
        assert [hit.id for hit in memory.recall(SISTER, 3)] == ["m04", "sail", "dog"]


def test_a_memory_about_the_due_dates_comes_beside_the_one_about_deadlines() -> None:
    with filled() as memory:
        assert [hit.id for hit in memory.recall("project deadlines", 2)] == ["deadlines", "dates"]


def test_the_page_shows_the_explanation_of_every_answer() -> None:
    shown = [block.strip() for block in re.findall(r"```text\n(.*?)```", page_text(), re.DOTALL)]
    with filled() as memory:
        assert shown == [drawn(memory.recall(question)) for question in RIGHT]
