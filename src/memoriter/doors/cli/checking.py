"""verify-store, doctor: is the store sound, and what can be mended?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from memoriter.core.errors import Corrupt
from memoriter.doors.cli.opening import opened
from memoriter.doors.cli.options import Place
from memoriter.doors.cli.out import show
from memoriter.doors.cli.tree import command

if TYPE_CHECKING:
    from memoriter.write.doctor import Checkup


@command("verify-store", "memoriter verify-store --json")
def verify_store(at: Place) -> None:
    """Check every digest, link, checksum and segment of the store; change nothing."""
    with opened(at, "read") as memory:
        found = memory.verify_store()
    show(found.to_dict(), lambda: _told(found), as_json=at.json)
    if not found.sound:
        raise typer.Exit(Corrupt.exit_code)


@command("doctor", "memoriter doctor")
def doctor(at: Place) -> None:
    """Check the store and mend what follows from the records; never touch a record."""
    with opened(at, "change") as memory:
        found = memory.doctor()
    show(found.to_dict(), lambda: _told(found), as_json=at.json)
    if not found.sound:
        raise typer.Exit(Corrupt.exit_code)


def _told(found: Checkup) -> str:
    lines = [f"{found.entries} entries of {found.tenants} tenants checked"]
    lines += [f"damaged: {problem}" for problem in found.problems]
    word = "mended" if found.mended else "damaged, but derived"
    lines += [f"{word}: {problem}" for problem in found.derived]
    if found.problems:
        lines.append("hint: what was written is damaged; restore a backup")
    elif not found.derived:
        lines.append("sound")
    elif not found.mended:
        lines.append("hint: doctor mends what it can make again; answers do not depend on the rest")
    return "\n".join(lines)
