"""What is near to a text, as the command line shows it."""

from __future__ import annotations

from collections.abc import Sequence

from memoriter.core.errors import NotFound
from memoriter.core.similar import SimilarRecord
from memoriter.doors.cli.options import ScopedOptions, opened_memory
from memoriter.doors.cli.output import print_note, show
from memoriter.text.safe import one_line


def show_near(at: ScopedOptions, text: str) -> None:
    """Show which memories a text copies, contradicts or may replace; none where is no store."""
    try:
        with opened_memory(at, "read") as memory:
            near = memory.similar(text)
    except NotFound as missing:
        if missing.field != "store":
            raise
        print_note(f"{missing.message}: the first memory makes it")
        near = ()
    shown = {"similar": [each.to_dict() for each in near]}
    show(shown, lambda: near_text(near) or "nothing is near", as_json=at.json)


def near_text(near: Sequence[SimilarRecord]) -> str:
    """A line for each memory near to a new one."""
    whys = ((f"{each.id}  {each.relation}: {each.why}", each.record.essence) for each in near)
    return "\n".join(f"{why}: {one_line(essence)}" for why, essence in whys)
