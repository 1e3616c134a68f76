"""The command `forget`: what would go, the question whether it may, and what went."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from memoriter.core.errors import InputError
from memoriter.core.lazy_dataclass import dataclass
from memoriter.doors import render
from memoriter.doors.cli.declare import Flags, command
from memoriter.doors.cli.options import ScopedOptions, opened_memory, store_path
from memoriter.doors.cli.output import console, print_note, show
from memoriter.doors.cli.params import CliArgument, CliOption, CommandExit
from memoriter.memory import options
from memoriter.text.safe import one_line

if TYPE_CHECKING:
    from memoriter.core.record import Record
    from memoriter.write.erasure import Erasure

_SHOWN: Final = 10
_STATES: Final = {
    "hidden": "hidden; upkeep erases them (memoriter status tells when, --now waits)",
    "erased": "erased from all files",
    "server": "erased from the tables; when the server's own files lose them: docs/postgres.md",
}


@dataclass(frozen=True, slots=True)
class ForgetOptions:
    """A filter instead of ids, and whether to ask first."""

    declared: Annotated[dict[str, Any], Flags(options.ForgetKwargs)]
    yes: Annotated[bool, CliOption("--yes", "-y", help="Do not ask for confirmation.")] = False


@command(
    "forget",
    "memoriter forget ID --now",
    'memoriter forget --where \'{"session": "s-12"}\' --dry-run',
    "memoriter forget --user ann --where '{}'",
)
def forget(
    at: ScopedOptions,
    how: ForgetOptions,
    ids: Annotated[
        list[str] | None,
        CliArgument(metavar="ID", help="The ids of memories to forget.", show_default=False),
    ] = None,
) -> None:
    """Forget memories for good: hide them at once, then erase them from the files.

    Searches of a past time no longer find them either. Reflections made from them are forgotten
    too. On a terminal the command lists the memories and asks first. Without a terminal, --where
    needs --yes.
    """
    where, dry_run = how.declared.get("where"), how.declared.get("dry_run", False)
    if bool(ids) == (where is not None):
        raise InputError("forget: give either ids or --where", hint="see memoriter forget --help")
    with opened_memory(at, "read" if dry_run else "change") as memory:
        chosen = ids or []
        if dry_run or not ids or (sys.stdin.isatty() and not how.yes):
            asked: Any = {**how.declared, "dry_run": True}
            preview = memory.forget(ids, **asked)
            # Reflections go with the others; some may be outside this scope.
            chosen = [each for each in preview.ids if each not in preview.reflections]
            records = [memory.get(each) for each in chosen]
            if dry_run:
                show(
                    preview.to_dict(),
                    lambda: render.records.erasure_list(records, len(records), _remarks(preview)),
                    as_json=at.json,
                )
                return
            if not (how.yes or _confirmed(records, preview, by_ids=bool(ids))):
                print_note("nothing was forgotten")
                raise CommandExit(1)
        rest = {name: value for name, value in how.declared.items() if name != "where"}
        erasure = memory.forget(chosen, **rest)
    on_server = erasure.state == "erased" and "://" in store_path(at)
    line = f"forgot {_counted(erasure.count)}, {_STATES['server' if on_server else erasure.state]}"
    show(erasure.to_dict(), lambda: "\n".join([line, *_remarks(erasure)]), as_json=at.json)


def _remarks(erasure: Erasure) -> list[str]:
    """What goes too since it was made from the others, and what stays although it was."""
    made = {
        "with them, since it quotes them": erasure.reflections,
        "stays, and may quote them": erasure.derived,
    }
    return [one_line(f"{text}: {' '.join(ids)}") for text, ids in made.items() if ids]


def _confirmed(records: list[Record], preview: Erasure, *, by_ids: bool) -> bool:
    """Whether the person at the terminal agrees; without one, ids need no agreement."""
    if sys.stdin.isatty():
        some, remarks = records[:_SHOWN], _remarks(preview)
        console(stderr=True).print(render.records.erasure_list(some, len(records), remarks))
        return not records or typer.confirm(f"forget {_counted(preview.count)} for good?", err=True)
    if records and not by_ids:
        raise InputError(
            f"forget: --where matches {_counted(len(records))}, and there is no terminal to ask"
            " for confirmation",
            hint="look with --dry-run, then run it with --yes",
            field="where",
        )
    return True


def _counted(count: int) -> str:
    return f"{count} {'memory' if count == 1 else 'memories'}"
