"""Every command of the command line, and how a test runs one inside its own process."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import typer.main

from memoriter.doors.cli.main import app

DOCS = Path(__file__).parents[2] / "docs" / "cli.md"
Cli = Callable[..., Any]
"""Runs a command (see the fixture `cli`)."""


def tree(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """The commands below one, each with the words that name it."""
    for name in command.list_commands(None):  # those of other packages too
        child = command.get_command(None, name)
        if hasattr(child, "commands"):
            yield from tree(child, (*path, name))
        else:
            yield (*path, name), child


COMMANDS = dict(tree(typer.main.get_command(app)))
