"""The commands that administer a store: init, upkeep, copies, checks, analyzers, embedders."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from memoriter.core.errors import Conflict, Corrupt, InputError
from memoriter.core.shown import counted
from memoriter.doors import render
from memoriter.doors.cli.declare import command, where_of
from memoriter.doors.cli.options import (
    CliArgument,
    CliOption,
    PrintedOptions,
    ScopedOptions,
    WhereOption,
    opened_memory,
    store_path,
)
from memoriter.doors.cli.output import CommandExit, show, shows_progress

if TYPE_CHECKING:
    from memoriter.memory.backups import Backup
    from memoriter.write.doctor import Checkup


@command("maintain", "memoriter maintain")
def maintain(at: PrintedOptions) -> None:
    """Do pending work: compute missing vectors, write and merge the index, finish erasing.

    Run this command after an embedder failed or was changed. At other times it only makes later
    calls faster.
    """
    with opened_memory(at, "change") as memory:
        report = memory.maintain(progress=shows_progress())
    index = "the index was written" if report.published else "the index is up to date"
    line = f"{report.embedded} vectors computed, {report.owed} still missing; {index}"
    if report.unerased:
        line += f", {report.unerased} forgotten but not erased: another process reads the store"
    show(report.to_dict(), lambda: line, as_json=at.json)


@command("calibrate", "memoriter calibrate", "memoriter calibrate --space minilm")
def calibrate(
    at: PrintedOptions,
    space: Annotated[
        str | None,
        CliOption(
            "--space",
            metavar="NAME",
            help="The vector space to measure, or its embedder (default: the space in use).",
        ),
    ] = None,
) -> None:
    """Measure the cosines of unrelated texts, so that searches can tell which hits are relevant.

    Your memories are compared with questions that come with memoriter. If the store has too few
    memories, texts that come with memoriter are used instead. Only the cosines are stored.
    """
    with opened_memory(at, "change") as memory:
        state = memory.calibrate(space)
    show(state.to_dict(), lambda: render.reports.calibration_report(state), as_json=at.json)


@command(
    "export",
    "memoriter export backup.export",
    'memoriter export facts.jsonl --where \'{"kind": "fact"}\'',
)
def export(
    file: Annotated[Path, CliArgument(metavar="FILE", help="The file to write.")],
    at: ScopedOptions,
    where: WhereOption = None,
    *,
    force: Annotated[bool, CliOption("--force", help="Replace an existing file.")] = False,
) -> None:
    """Export a tenant to a file; `memoriter import` restores the tenant exactly.

    With --where, --agent, --user or --session, only matching memories are written, as JSON lines.
    """
    test = where_of(where)
    if file.exists() and not force:
        raise InputError(
            f"{file} exists already", hint="name another file, or replace this one with --force"
        )
    with opened_memory(at, "read") as memory:
        count = memory.export(file, where=test)
    line = f"wrote {count} lines to {file}"
    show({"file": str(file), "lines": count}, lambda: line, as_json=at.json)


# --- backups ----------------------------------------------------------------------------------


@command("backup", "memoriter backup agent-2026-11-17.db --verify")
def backup(
    file: Annotated[Path, CliArgument(metavar="FILE", help="The file to write.")],
    at: PrintedOptions,
    *,
    verify: Annotated[
        bool,
        CliOption(
            "--verify", help="Check every record of the copy; if one is damaged, delete the copy."
        ),
    ] = False,
    force: Annotated[bool, CliOption("--force", help="Replace an existing file.")] = False,
) -> None:
    """Copy the whole store, all its tenants, to one file; others may use the store meanwhile.

    The file appears when it is complete. `memoriter restore` makes a store from it.
    """
    if file.exists() and not force:
        raise Conflict(
            f"{file} exists already", hint="name another file, or replace this one with --force"
        )
    with opened_memory(at, "read") as memory:
        made = memory.backup(file, verify=verify, progress=not at.json)
    show(made.to_dict(), lambda: _backup_line("copied the store to", made), as_json=at.json)


@command("restore", "memoriter restore agent-2026-11-17.db --store agent.db")
def restore(
    file: Annotated[Path, CliArgument(metavar="FILE", help="A file that `backup` wrote.")],
    at: PrintedOptions,
    *,
    force: Annotated[bool, CliOption("--force", help="Replace an existing store.")] = False,
) -> None:
    """Check every record of a backup, then restore it.

    An existing store is replaced only with --force. If anything fails, that store stays as it is.
    """
    from memoriter.memory.backups import restore as restored  # noqa: PLC0415  # loads the engine

    try:
        made = restored(file, store_path(at), force=force, progress=not at.json)
    except Conflict as error:
        raise Conflict(
            error.message, hint="name another file with --store, or replace the store with --force"
        ) from None
    show(made.to_dict(), lambda: _backup_line("restored", made), as_json=at.json)


@command("copy", "memoriter copy agent.db postgresql://memoriter@db.example/agents")
def copy(
    source: Annotated[str, CliArgument(metavar="SOURCE", help="The store to read.")],
    target: Annotated[str, CliArgument(metavar="TARGET", help="The store to fill.")],
    *,
    tenant: Annotated[
        str | None,
        CliOption("--tenant", help="Copy only this tenant (default: all).", show_default=False),
    ] = None,
    as_json: Annotated[bool, CliOption("--json", help="Print JSON.")] = False,
) -> None:
    """Copy all tenants of a store into another store; a store is a file or a PostgreSQL database.

    Every entry is checked against the hash chain, and compared with its copy at the end. To
    continue a copy that was interrupted, give the same command again.
    """
    from memoriter.memory.copying import copy as copied  # noqa: PLC0415  # loads the engine

    made = copied(source, target, tenant=tenant, progress=not as_json)
    entries = counted(made.entries, "entry", "entries")
    line = (
        f"copied {made.source} to {made.target}: {entries} in {counted(made.tenants, 'tenant')}, "
        f"{made.already:,} of them by an earlier copy"
    )
    show(made.to_dict(), lambda: line, as_json=as_json)


def _backup_line(done: str, made: Backup) -> str:
    checked = made.checkup
    line = f"{done} {made.path}: {made.size:,} bytes"
    if checked is None:
        return line
    entries = counted(checked.entries, "entry", "entries")
    return f"{line}, {entries} in {counted(checked.tenants, 'tenant')}"


# --- checks -----------------------------------------------------------------------------------


@command("verify-store", "memoriter verify-store --json")
def verify_store(at: PrintedOptions) -> None:
    """Check every digest, link, checksum and segment of the store; nothing is changed.

    The exit code is 9 if something is damaged.
    """
    with opened_memory(at, "read") as memory:
        checkup = memory.verify_store()
    _print_checkup(checkup, as_json=at.json)


@command("doctor", "memoriter doctor")
def doctor(at: PrintedOptions) -> None:
    """Check the store and repair its indexes, words and vectors; records are never changed.

    The exit code is 9 if a record is damaged: only a backup can bring that record back.
    """
    with opened_memory(at, "change") as memory:
        checkup = memory.doctor()
    _print_checkup(checkup, as_json=at.json)


def _print_checkup(checkup: Checkup, *, as_json: bool) -> None:
    show(checkup.to_dict(), lambda: "\n".join(_lines(checkup)), as_json=as_json)
    if not checkup.sound:
        raise CommandExit(Corrupt.exit_code)


def _lines(checkup: Checkup) -> list[str]:
    lines = [f"{checkup.entries} entries of {checkup.tenants} tenants checked"]
    lines += [f"damaged: {problem}" for problem in checkup.problems]
    state = "mended" if checkup.mended else "damaged, but derived"
    lines += [f"{state}: {problem}" for problem in checkup.derived]
    if checkup.problems:
        lines.append("hint: records are damaged; restore a backup")
    elif not checkup.derived:
        lines.append("sound")
    elif not checkup.mended:
        lines.append("hint: memoriter doctor repairs what is derived")
    return lines


# --- analyzers --------------------------------------------------------------------------------

AnalyzerArgument = Annotated[
    str,
    CliArgument(
        metavar="NAME", help="The name of an analyzer; `memoriter analyzer list` shows all names."
    ),
]


@command("list", "memoriter analyzer list")
def analyzer_list(at: PrintedOptions) -> None:
    """List all analyzers, and how many memories each has analysed."""
    with opened_memory(at, "read") as memory:
        analyzers = memory.analyzers.list()
    heads = ("analyzer", "kept", "rows", "of")
    rows = [(a.name, "yes" if a.added else "no", f"{a.rows:,}", f"{a.of:,}") for a in analyzers]
    data = {"analyzers": [each.to_dict() for each in analyzers]}
    show(data, lambda: render.ink.TextColumns(heads, rows, wide=0), as_json=at.json)


@command("add", "memoriter analyzer add fts5-porter")
def analyzer_add(name: AnalyzerArgument, at: PrintedOptions) -> None:
    """Split every memory, existing and future, into words with an analyzer, and store the words.

    On a large store, recipes that use this analyzer need the stored words. An interrupted run can
    be continued.
    """
    with opened_memory(at, "change") as memory:
        kept = memory.analyzers.add(name, progress=True)
    show(kept.to_dict(), lambda: f"{name} has read {kept.rows:,} of {kept.of:,}", as_json=at.json)


@command("remove", "memoriter analyzer remove fts5-porter")
def analyzer_remove(name: AnalyzerArgument, at: PrintedOptions) -> None:
    """Delete the stored words of an analyzer; on a small store, recipes still work without them."""
    with opened_memory(at, "change") as memory:
        memory.analyzers.remove(name)
    show({"removed": name}, lambda: f"removed {name}", as_json=at.json)


# --- vectors ----------------------------------------------------------------------------------

EmbedderArgument = Annotated[
    str,
    CliArgument(
        metavar="EMBEDDER", help="An embedding model, for example table, hash or onnx:FOLDER."
    ),
]


@command("status", "memoriter embed status")
def embed_status(at: PrintedOptions) -> None:
    """List the embedders of the store: how many vectors each has, and which one is in use."""
    with opened_memory(at, "read") as memory:
        spaces = memory.embedding.status()
    heads = ("embedder", "serves", "rows", "of", "calibration", "space")
    rows = [
        (
            s.embedder or "",
            "yes" if s.serves else "no",
            f"{s.rows:,}",
            f"{s.of:,}",
            s.calibration.summary,
            s.space,
        )
        for s in spaces
    ]
    show(
        {"spaces": [space.to_dict() for space in spaces]},
        lambda: render.ink.TextColumns(heads, rows, wide=5) if rows else "no vectors",
        as_json=at.json,
    )


@command("migrate", "memoriter embed migrate memory-en --promote")
def embed_migrate(
    model: EmbedderArgument,
    at: PrintedOptions,
    *,
    promote: Annotated[
        bool, CliOption("--promote", help="Then switch to the model, as `embed promote` does.")
    ] = False,
) -> None:
    """Embed every memory with another model; the current model stays in use meanwhile.

    An interrupted run can be continued. `memoriter embed promote` then switches to the new model.
    """
    with opened_memory(at, "change") as memory:
        space = memory.embedding.migrate(model, progress=True)
        if promote:
            memory.embedding.promote(model)
    line = f"{space.rows:,} of {space.of:,} are embedded with {model}"
    line += ", which serves from now on" if promote else ""
    show(space.to_dict(), lambda: line, as_json=at.json)


@command("promote", "memoriter embed promote minilm")
def embed_promote(
    model: EmbedderArgument,
    at: PrintedOptions,
    *,
    partly: Annotated[
        bool,
        CliOption(
            "--partly", help="Switch even if some memories have no vector of this model yet."
        ),
    ] = False,
) -> None:
    """Switch to a model: it is used from now on whenever the store is opened without --embedder."""
    with opened_memory(at, "change") as memory:
        commit = memory.embedding.promote(model, partly=partly)
    show(commit.to_dict(), lambda: f"{model} serves from now on", as_json=at.json)


@command("rollback", "memoriter embed rollback")
def embed_rollback(at: PrintedOptions) -> None:
    """Switch back to the previous model, whose vectors are still stored."""
    with opened_memory(at, "change") as memory:
        commit = memory.embedding.rollback()
    show(commit.to_dict(), lambda: "the previous model serves again", as_json=at.json)
