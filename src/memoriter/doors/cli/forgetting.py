"""forget: a memory leaves, for good."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Final

import typer

from memoriter.core.errors import InputError
from memoriter.doors.cli.opening import opened
from memoriter.doors.cli.options import Key, Scoped, Where
from memoriter.doors.cli.out import console, note, show
from memoriter.doors.cli.tree import command
from memoriter.doors.cli.values import where_of

if TYPE_CHECKING:
    from memoriter.core.record import Record
    from memoriter.memory.facade import Memory

_PAGE: Final = 1000
_SHOWN: Final = 10
Ids = Annotated[
    list[str] | None,
    typer.Argument(metavar="[ID]...", help="The ids of memories.", show_default=False),
]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Show what would go, and forget nothing.")]


@command(
    "forget",
    "memoriter forget ID",
    'memoriter forget --where \'{"session": "s-12"}\' --dry-run',
)
def forget(
    at: Scoped,
    ids: Ids = None,
    where: Where = None,
    *,
    yes: Yes = False,
    dry_run: DryRun = False,
    key: Key = None,  # switches of the command line
) -> None:
    """Erase memories for good: from every answer, from every past view.

    On a terminal it shows what would go and asks first. Without a terminal a --where needs --yes.
    """
    if bool(ids) == (where is not None):
        raise InputError(
            "forget: give ids or --where, and not both", hint="memoriter forget --help"
        )
    test = where_of(where)
    if test is not None and not test:
        raise InputError(
            "where: is empty and would forget everything", hint="say which memories", field="where"
        )
    with opened(at, "read" if dry_run else "change") as memory:
        if dry_run:
            _preview(found(memory, ids, test), at)
            return
        doomed = None if ids else found(memory, None, test)
        if not (yes or _agreed(memory, ids, doomed)):
            note("nothing was forgotten")
            raise typer.Exit(1)
        erasure = memory.forget(ids or [record.id for record in doomed or ()], key=key)
    show(erasure.to_dict(), lambda: f"forgot {_counted(len(erasure.ids))}", as_json=at.json)


def found(memory: Memory, ids: list[str] | None, where: dict[str, object] | None) -> list[Record]:
    """The memories that would go: these ids, or all that pass the test."""
    if ids:
        return [memory.get(each) for each in dict.fromkeys(ids)]
    out: list[Record] = []
    cursor: str | None = None
    while True:
        page = memory.browse(
            "oldest", cursor=cursor, limit=_PAGE, where=where, archived="show", expired="show"
        )
        out += page.records
        cursor = page.cursor
        if cursor is None:
            return out


def _preview(doomed: list[Record], at: Scoped) -> None:
    from memoriter.doors.render.plain import page_list  # noqa: PLC0415  # loads the engine

    data = {"ids": [record.id for record in doomed], "state": "would be forgotten"}
    show(data, lambda: page_list(doomed, len(doomed), None), as_json=at.json)


def _agreed(memory: Memory, ids: list[str] | None, doomed: list[Record] | None) -> bool:
    """Whether the person at the terminal says yes; ids need no yes where nobody can be asked."""
    if sys.stdin.isatty():
        return _asked(found(memory, ids, None) if doomed is None else doomed)
    if doomed:
        raise InputError(
            f"forget: --where found {_counted(len(doomed))}, and there is no terminal to ask",
            hint="look with --dry-run, then run it with --yes",
            field="where",
        )
    return True


def _asked(doomed: list[Record]) -> bool:
    from memoriter.doors.render.plain import page_list  # noqa: PLC0415  # as above

    console(stderr=True).print(page_list(doomed[:_SHOWN], len(doomed), None))
    return not doomed or typer.confirm(f"forget {_counted(len(doomed))} for good?", err=True)


def _counted(count: int) -> str:
    return f"{count} {'memory' if count == 1 else 'memories'}"
