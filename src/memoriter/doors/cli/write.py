"""The commands that write: remember, import, update, link, expire, reflect, forget."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, cast

from memoriter.core.clock import SystemClock
from memoriter.core.draft import Draft
from memoriter.core.errors import BadRecord, InputError
from memoriter.core.lazy_dataclass import dataclass
from memoriter.core.record_fields import RecordFields
from memoriter.doors import render
from memoriter.doors.cli.declare import Flags, command
from memoriter.doors.cli.near import near_text, show_near
from memoriter.doors.cli.options import (
    CliArgument,
    CliOption,
    IdArgument,
    ScopedOptions,
    complete_format,
    complete_words,
    opened_memory,
    store_exists,
    store_path,
)
from memoriter.doors.cli.output import CommandExit, console, print_note, show, shows_progress
from memoriter.memory import options, writing_options
from memoriter.text.safe import one_line

if TYPE_CHECKING:
    from memoriter.core.record import Record
    from memoriter.core.similar import OnSimilar
    from memoriter.memory.importing import Imported
    from memoriter.write.erasure import Erasure

_PANEL: Final = "Fields of the memory"


# --- remember ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class RecordOptions:
    """The fields of a new memory without its text, and how to write it."""

    how: Annotated[dict[str, Any], Flags(options.WriteOptions)]
    fields: Annotated[dict[str, Any], Flags(RecordFields, panel=_PANEL)]


@command(
    "remember",
    'memoriter remember "Prod SSH port is 49222" --kind fact --tag ops --supersedes OLD_ID',
    "git log -1 | memoriter remember - --tag git",
)
def remember(
    text: Annotated[
        str, CliArgument(metavar="TEXT", help="What to remember; `-` reads the text from stdin.")
    ],
    at: ScopedOptions,
    new: RecordOptions,
    on_similar: Annotated[
        str,
        CliOption(
            "--on-similar",
            metavar="WHAT",
            help="What to do about similar memories. `keep`: do not look for any, store the text."
            " `skip`: store nothing if the text is a copy. `supersede`: store the text and replace"
            " what it copies or contradicts. `report`: store the text and list similar memories.",
            autocompletion=complete_words("keep", "skip", "supersede", "report"),
        ),
    ] = "keep",
    *,
    check: Annotated[
        bool,
        CliOption(
            "--check",
            help="Store nothing; show which memories the text copies, contradicts or may replace.",
        ),
    ] = False,
) -> None:
    """Store one memory and print its id; the store is made if there is none."""
    content = _stdin() if text == "-" else text
    if not content.strip():
        raise BadRecord("text: must not be empty", hint="say what to remember", field="text")
    fields = {**new.fields, **new.how}
    # Checked before the store is opened: a mistake must not leave an empty store behind.
    Draft.of({"text": content, **fields}, SystemClock().now)
    if check:
        show_near(at, content)
        return
    with opened_memory(at, "make") as memory:
        commit = memory.remember(content, on_similar=cast("OnSimilar", on_similar), **fields)
    if commit.near and not at.json:
        print_note(near_text(commit.near))
    show(commit.to_dict(), lambda: commit.id, as_json=at.json)


def _stdin() -> str:
    """All of stdin, without the line feed at its end."""
    try:
        return sys.stdin.buffer.read().decode("utf-8-sig").removesuffix("\n")
    except UnicodeDecodeError as bad:
        raise BadRecord(
            f"stdin is not UTF-8 (byte {bad.start})", hint="convert it to UTF-8 first", field="text"
        ) from None


# --- import -----------------------------------------------------------------------------------


@command(
    "import",
    "memoriter import notes.jsonl todo.txt",
    "memoriter import old.db --dry-run",
    "memoriter import conversations.json",
    "memoriter import backup.export --store new.db",
    lists={"format": complete_format},
)
def import_(
    files: Annotated[
        list[Path], CliArgument(metavar="FILE", help="Files, or folders of Markdown notes.")
    ],
    at: ScopedOptions,
    format: Annotated[
        str,
        CliOption(
            "--format",
            metavar="NAME",
            help="The format of the files; `auto` detects it.",
            autocompletion=complete_format,
        ),
    ] = "auto",
    *,
    dry_run: Annotated[
        bool, CliOption("--dry-run", help="Show what would be imported; write nothing.")
    ] = False,
) -> None:
    """Import memories from files; the store is made if there is none.

    The format is recognised by the content of a file: a database or an export of another system,
    chats, Markdown notes, JSON lines, plain lines, an export of memoriter. A bad row is reported
    and skipped. A row that was imported before is not written again.
    """
    from memoriter.imports.table import detect_format  # noqa: PLC0415  # loads the readers

    named = [(path, detect_format(path, format).format.name) for path in files]
    # A dry run must not create a store; without one there is nothing to compare with.
    if dry_run and not store_exists(at):
        at = replace(at, store=":memory:")
    with opened_memory(at, "read" if dry_run and store_exists(at) else "make") as memory:
        reports = [
            memory.import_file(path, name, dry_run=dry_run, progress=shows_progress())
            for path, name in named
        ]
        if not dry_run:
            memory.embedding.fill(progress=shows_progress())
        seq = memory.seq()
    if not any(report.records.written + report.records.already for report in reports):
        _fail_on_refused(reports)
    show(
        {"files": [report.to_dict() for report in reports], "seq": seq},
        lambda: render.reports.ImportReports(reports),
        as_json=at.json,
    )


def _fail_on_refused(reports: Sequence[Imported]) -> None:
    """Fail with the first refused row, if there is one."""
    refused = [row for report in reports for row in report.refused]
    if refused:
        more = f" (and {len(refused) - 1} more)" if len(refused) > 1 else ""
        first = refused[0]
        raise BadRecord(
            f"{first.where}: {first.reason}{more}; no row could be imported", hint=first.hint
        )


# --- update, link, expire ---------------------------------------------------------------------


def _owner(name: str) -> CliOption:
    return CliOption(f"--to-{name}", metavar="NAME", help=f"Move the memory to this {name}.")


@dataclass(frozen=True, slots=True)
class UpdateOptions:
    """New values of fields, a new owner, fields to remove."""

    changes: Annotated[dict[str, Any], Flags(options.UpdateKwargs, panel=_PANEL)]
    to_agent: Annotated[str | None, _owner("agent")] = None
    to_user: Annotated[str | None, _owner("user")] = None
    to_session: Annotated[str | None, _owner("session")] = None
    clear: Annotated[
        list[str] | None,
        CliOption(
            "--clear",
            metavar="FIELD",
            help="Remove the value of an optional field, such as title; may be repeated.",
        ),
    ] = None

    def fields(self) -> dict[str, Any]:
        """The changed fields; None for one that is removed."""
        owner = {"agent": self.to_agent, "user": self.to_user, "session": self.to_session}
        new = self.changes | {name: value for name, value in owner.items() if value is not None}
        cleared = [name.replace("-", "_") for name in self.clear or ()]
        if both := [name for name in cleared if name in new]:
            raise BadRecord(
                f"{both[0]}: cannot be set and cleared at once",
                hint="give one of the two",
                field=both[0],
            )
        return {**new, **dict.fromkeys(cleared)}


@command("update", "memoriter update ID --tag ops --tag ssh --clear expires")
def update(id: IdArgument, at: ScopedOptions, new: UpdateOptions) -> None:
    """Change fields of a memory; the old version stays in its history."""
    fields = new.fields()
    with opened_memory(at, "change") as memory:
        if isinstance(fields.get("source"), dict):  # the parts without a flag stay as they are
            fields["source"] = {**asdict(memory.get(id).source), **fields["source"]}
        commit = memory.update(id, **fields)
    show(commit.to_dict(), lambda: one_line(f"updated {id}"), as_json=at.json)


@dataclass(frozen=True, slots=True)
class LinkOptions:
    """The fields of a link."""

    declared: Annotated[dict[str, Any], Flags(options.LinkKwargs)]
    kind: Annotated[
        str,
        CliOption("--kind", metavar="KIND", help="How the first memory relates to the second."),
    ] = "related_to"


@command("link", "memoriter link SUMMARY_ID NOTE_ID --kind derived_from --weight 0.8")
def link(
    source: IdArgument,
    target: Annotated[
        str, CliArgument(metavar="ID", help="The id of the memory that the link points to.")
    ],
    at: ScopedOptions,
    new: LinkOptions,
) -> None:
    """Link two memories."""
    with opened_memory(at, "change") as memory:
        commit = memory.link(source, target, new.kind, **new.declared)
    line = one_line(f"linked {source} {new.kind} {target}")
    show(commit.to_dict(), lambda: line, as_json=at.json)


@command("expire", "memoriter expire ID --at 2027-01-01")
def expire(
    id: IdArgument,
    at: ScopedOptions,
    when: Annotated[
        str | None,
        CliOption("--at", metavar="TIME", help="When the memory expires (default: now)."),
    ] = None,
) -> None:
    """Make a memory expire: searches no longer return it. To undo: `update --clear expires`."""
    with opened_memory(at, "change") as memory:
        commit = memory.expire(id, when)
    show(commit.to_dict(), lambda: one_line(f"{id} expires"), as_json=at.json)


# --- reflect ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ReflectOptions:
    """How clusters are found."""

    declared: Annotated[dict[str, Any], Flags(writing_options.ReflectKwargs)]
    dry_run: Annotated[
        bool,
        CliOption("--dry-run", help="Show which reflections would be written; write nothing."),
    ] = False


@command(
    "reflect",
    "memoriter reflect --dry-run",
    "memoriter reflect --algorithm agglomerative --similarity 0.8",
)
def reflect(at: ScopedOptions, how: ReflectOptions) -> None:
    """Sum up clusters of related memories as reflections, without a language model."""
    with opened_memory(at, "read" if how.dry_run else "change") as memory:
        report = memory.reflect(dry_run=how.dry_run, **how.declared)
        members = [id for each in report.created for id in each.members]
        texts = {id: memory.get(id).text for id in members}
    show(report.to_dict(), lambda: render.reports.reflection_report(report, texts), as_json=at.json)


# --- forget -----------------------------------------------------------------------------------

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
        list[str] | None, CliArgument(metavar="ID", help="The ids of memories to forget.")
    ] = None,
) -> None:
    """Forget memories for good: hide them at once, then erase them from the files.

    Searches with --known-at no longer find them either. Reflections made from them are forgotten
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
        from typer import confirm  # noqa: PLC0415  # loaded only to ask

        return not records or confirm(f"forget {_counted(preview.count)} for good?", err=True)
    if records and not by_ids:
        raise InputError(
            f"forget: --where matches {_counted(len(records))}, and there is no terminal to ask"
            " for confirmation",
            hint="see the memories with --dry-run, then run the command again with --yes",
            field="where",
        )
    return True


def _counted(count: int) -> str:
    return f"{count} {'memory' if count == 1 else 'memories'}"
