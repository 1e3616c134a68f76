"""update, link, expire: a memory changes."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from memoriter.core.errors import BadRecord
from memoriter.doors.cli.flags import Flags
from memoriter.doors.cli.opening import opened
from memoriter.doors.cli.options import Id, Scoped
from memoriter.doors.cli.out import show
from memoriter.doors.cli.telling import PANEL
from memoriter.doors.cli.tree import command
from memoriter.memory import options

if TYPE_CHECKING:
    from memoriter.core.batch import Commit
    from memoriter.memory.facade import Memory


@dataclass(frozen=True, slots=True)
class Changed:
    """New values of the fields of a memory, or a new owner."""

    changes: Annotated[dict[str, Any], Flags(options.Changes, panel=PANEL)]
    to_agent: Annotated[str | None, typer.Option("--to-agent", help="Give it to this agent.")] = (
        None
    )
    to_user: Annotated[str | None, typer.Option("--to-user", help="Give it to this user.")] = None
    to_session: Annotated[
        str | None, typer.Option("--to-session", help="Move it to this session.")
    ] = None

    def given(self) -> dict[str, Any]:
        """What was given, by the names of the fields."""
        owner = {"agent": self.to_agent, "user": self.to_user, "session": self.to_session}
        return self.changes | {name: value for name, value in owner.items() if value is not None}


Clear = Annotated[
    list[str] | None,
    typer.Option("--clear", metavar="FIELD", help="Take an optional field away; may be repeated."),
]


@command("update", "memoriter update ID --tag ops --tag ssh --clear expires")
def update(id: Id, at: Scoped, new: Changed, clear: Clear = None) -> None:  # the word users type
    """Change fields of a memory; the old version stays in its history."""
    changes = _cleared(clear, new.given())
    with opened(at, "change") as memory:
        commit = memory.update(id, **_whole(memory, id, changes))
    _told(commit, f"updated {id}", at)


def _cleared(names: list[str] | None, given: dict[str, Any]) -> dict[str, Any]:
    """The changes of an update: what was given, and None for each field to take away."""
    gone = [name.replace("-", "_") for name in names or ()]
    if both := [name for name in gone if name in given]:
        raise BadRecord(
            f"{both[0]}: cannot be set and taken away at once",
            hint="give one of the two",
            field=both[0],
        )
    return {**given, **dict.fromkeys(gone)}


def _whole(memory: Memory, record_id: str, changes: dict[str, Any]) -> dict[str, Any]:
    """A source is one value: parts that were not given stay as they are."""
    if not isinstance(changes.get("source"), dict):
        return changes
    return {**changes, "source": {**asdict(memory.get(record_id).source), **changes["source"]}}


@dataclass(frozen=True, slots=True)
class Bond:
    """What a link says."""

    given: Annotated[dict[str, Any], Flags(options.Tied)]
    kind: Annotated[str, typer.Option("--kind", help="How the first belongs to the second.")] = (
        "related_to"
    )


End = Annotated[str, typer.Argument(metavar="ID", help="Where it points to.", show_default=False)]


@command("link", "memoriter link SUMMARY_ID NOTE_ID --kind derived_from --weight 0.8")
def link(source: Id, target: End, at: Scoped, bond: Bond) -> None:
    """Connect two memories."""
    with opened(at, "change") as memory:
        commit = memory.link(source, target, bond.kind, **bond.given)
    _told(commit, f"linked {source} {bond.kind} {target}", at)


When = Annotated[
    str | None, typer.Option("--at", metavar="TIME", help="From when on (default: now).")
]


@command("expire", "memoriter expire ID --at 2027-01-01")
def expire(id: Id, at: Scoped, when: When = None) -> None:  # as above
    """Let a memory leave all answers from a moment on; `update --clear expires` takes it back."""
    with opened(at, "change") as memory:
        commit = memory.expire(id, when)
    _told(commit, f"{id} expires", at)


def _told(commit: Commit, line: str, at: Scoped) -> None:
    from memoriter.text.safe import one_line  # noqa: PLC0415  # beside the rest that prints

    show(commit.to_dict(), lambda: one_line(line), as_json=at.json)
