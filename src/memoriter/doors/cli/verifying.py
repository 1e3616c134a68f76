"""verify: does an answer follow from what its receipt says?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from memoriter.core.errors import Corrupt
from memoriter.doors.cli.options import AsJson
from memoriter.doors.cli.out import show
from memoriter.doors.cli.tree import command

if TYPE_CHECKING:
    from memoriter.why.verify import Verified

ReceiptPath = Annotated[
    Path,
    typer.Argument(metavar="RECEIPT", help="The file of a receipt.", show_default=False),
]
All = Annotated[bool, typer.Option("--all", help="Name every part, not only how many there are.")]


@command("verify", "memoriter verify receipt.json")
def verify(receipt: ReceiptPath, *, every: All = False, as_json: AsJson = False) -> None:
    """Derive every number of a receipt again, from the receipt alone; no store is opened."""
    from memoriter.why.receipt import verify as verified  # noqa: PLC0415  # rarely asked for

    found = verified(receipt)
    show({"receipt": str(receipt), **found.to_dict()}, lambda: _told(found, every), as_json=as_json)
    if not found.ok:
        raise typer.Exit(Corrupt.exit_code)


def _told(found: Verified, every: bool) -> str:  # noqa: FBT001  # a switch of the command line
    lines = ["verified" if found.ok else "NOT verified"]
    lines += [f"wrong: {problem}" for problem in found.problems]
    for name, parts in (("derived again", found.checked), ("attested", found.attested)):
        lines.append(f"{name}: {len(parts)} parts")
        lines += [f"  {part}" for part in parts] if every else []
    if not found.ok:
        lines.append("hint: these numbers do not follow from the others: do not rely on it")
    return "\n".join(lines)
