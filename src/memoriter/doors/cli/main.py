"""The command `memoriter`: every verb of a memory at a terminal."""

from __future__ import annotations

from typing import Final

from memoriter.doors.cli import (
    asking,
    changing,
    checking,
    demo,
    embedding,
    evaluation,
    forgetting,
    hooking,
    importing,
    keeping,
    looking,
    mcp,
    proving,
    reading,
    recipes,
    reflecting,
    registry,
    serving,
    settling,
    telling,
    tokens,
    transfer,
    verifying,
)
from memoriter.doors.cli.tree import app

ROOMS: Final = (
    asking, changing, checking, demo, embedding, evaluation, forgetting, hooking, importing,
    keeping, looking, mcp, proving, reading, recipes, reflecting, registry, serving, settling,
    telling, tokens, transfer, verifying,
)  # fmt: skip
"""The modules whose commands hang in the tree: importing them hangs them there."""


def run() -> None:
    """Run the command line and end the process."""
    app()
