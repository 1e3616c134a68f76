"""Plain command lines are read without typer: the values must be those that typer reads."""

from __future__ import annotations

from typing import Any

import pytest
from tests.inside import words_left
from tests.unit.processes import python

from memoriter.doors.cli.main import app, plain_call

PLAIN = [
    ["recall", "which port?"],
    ["recall", "", "--limit", "3", "--json", "--store=a b.db"],
    ["recall", "--tag", "ops", "--tag", "a,b", "deploys", "-n", "2", "--explain"],
    ["recall", "x", "--override", "lanes.words.k1=1.5", "--where", '{"tags": "ops"}'],
    ["hooks", "recall"],
    ["hooks", "recall", "--budget-tokens", "300", "--agent", "bot"],
    ["remember", "a text", "--tag", "ops", "--source-who", "me"],
    ["get", "id-1", "--known-at", "2025-01-01"],
    ["browse", "--limit", "5"],
    ["version"],
    ["version", "--json"],
]
OTHER = [
    [],
    ["--help"],
    ["recall"],
    ["recall", "--help"],
    ["recall", "two", "words"],
    ["recall", "x", "--limit"],
    ["recall", "x", "--limit", "-1"],
    ["recall", "x", "--limit", "many"],
    ["recall", "x", "--limit", "٣"],
    ["recall", "x", "--limit", "1", "--limit", "2"],
    ["recall", "x", "--json=yes"],
    ["recall", "x", "--nothing", "y"],
    ["recall", "x", "--min-relevance", "0.5"],
    ["recall", "x", "--html", "a.html"],
    ["recall", "--", "-x"],
    ["remember", "-"],
    ["hooks"],
    ["mcp"],
    ["reccall", "x"],
]


def by_typer(argv: list[str]) -> dict[str, Any]:
    """The values that typer reads, as the command gets them."""
    import typer.main  # noqa: PLC0415  # what is compared with

    command: Any = typer.main.get_command(app)
    context = command.make_context("memoriter", list(argv))
    while rest := words_left(context):
        command = command.get_command(context, rest[0])
        context = command.make_context(rest[0], rest[1:], parent=context)
    return context.params


@pytest.mark.parametrize("argv", PLAIN, ids=" ".join)
def test_values_are_those_that_typer_reads(argv: list[str]) -> None:
    call: Any = plain_call(argv)
    assert call is not None
    theirs = {name: value if value != () else None for name, value in by_typer(argv).items()}
    assert call.keywords == {
        name: list(value) if isinstance(value, tuple) else value for name, value in theirs.items()
    }


@pytest.mark.parametrize("argv", OTHER, ids=" ".join)
def test_what_is_not_plain_is_left_to_typer(argv: list[str]) -> None:
    assert plain_call(argv) is None


def test_help_loads_neither_numpy_nor_pydantic_and_a_recall_no_typer() -> None:
    code = """
import sys
from memoriter.doors.cli import main
sys.argv = ["memoriter", {word!r}]
os._exit = sys.exit
try:
    main.run()
except SystemExit:
    pass
print("\\nloaded:", *({{"numpy", "pydantic", "typer", "rich"}} & set(sys.modules)))
"""
    assert python(code.format(word="--help")).split("loaded:")[1].split() == ["typer"]
    assert python(code.format(word="version")).split("loaded:")[1].split() in (["rich"], [])


@pytest.mark.parametrize(
    ("word", "own", "threads"),
    [("version", None, "1"), ("version", "3", "3"), ("status", None, None)],
)
def test_a_short_command_asks_blas_for_one_thread(
    word: str, own: str | None, threads: str | None
) -> None:
    code = f"""
import os, sys
from memoriter.doors.cli import main
os.environ.pop("OPENBLAS_NUM_THREADS", None)
os.environ.update({{"OPENBLAS_NUM_THREADS": {own!r}}} if {own!r} else {{}})
main.run_and_exit = lambda args, run: None
sys.argv = ["memoriter", {word!r}]
main.run()
print(os.environ.get("OPENBLAS_NUM_THREADS"))
"""
    assert python(code).strip() == str(threads)
