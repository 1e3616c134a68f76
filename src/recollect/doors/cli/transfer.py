"""import, export: many memories in, many out."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from recollect.core.errors import BadRecord, InputError
from recollect.doors.cli.lines import Bad, Good, read_lines
from recollect.doors.cli.opening import opened
from recollect.doors.cli.options import Scoped, Where
from recollect.doors.cli.out import note, show, watched
from recollect.doors.cli.tree import command
from recollect.doors.cli.values import where_of

if TYPE_CHECKING:
    from recollect.memory.facade import Memory

Files = Annotated[
    list[Path],
    typer.Argument(
        metavar="FILE...",
        help="JSON lines, a plain text, or an export of ours.",
        show_default=False,
    ),
]
SkipBad = Annotated[
    bool, typer.Option("--skip-bad", help="Write the good lines and report the others.")
]


@command(
    "import",
    "recollect import notes.jsonl todo.txt",
    "recollect import backup.export --store new.db",
)
def import_(files: Files, at: Scoped, *, skip_bad: SkipBad = False) -> None:
    """Remember what stands in files; the store is made if it is not there.

    In a .jsonl or .json file each line is a text or an object with the fields of a memory. In any
    other file each line that is not empty is a text. An export of ours is restored whole into an
    empty tenant. Every line is checked before the first one is written.
    """
    from recollect.write.transfer import is_export  # noqa: PLC0415  # loads the engine

    exports = [path for path in files if is_export(path)]
    lines = [line for path in files if path not in exports for line in read_lines(path)]
    bad = [line for line in lines if isinstance(line, Bad)]
    if bad and not skip_bad:
        raise _refused(bad)
    with opened(at, "make") as memory:
        restored = sum(memory.load(path) for path in exports)
        ids = _written(memory, [line for line in lines if isinstance(line, Good)])
    for line in bad:
        note(f"skipped {line.where}: {line.reason}")
    data = {
        "restored": restored,
        "remembered": len(ids),
        "ids": ids,
        "skipped": [{"at": line.where, "reason": line.reason} for line in bad],
    }
    show(data, lambda: _summary(restored, len(ids), len(bad)), as_json=at.json)


def _refused(bad: list[Bad]) -> BadRecord:
    first = bad[0]
    more = f" (and {len(bad) - 1} more bad lines)" if len(bad) > 1 else ""
    return BadRecord(
        f"{first.where}: {first.reason}{more}; nothing was written",
        hint=first.hint or "mend the line, or leave bad lines out with --skip-bad",
        field=first.field,
    )


def _written(memory: Memory, lines: list[Good]) -> list[str]:
    if not lines:
        return []
    scope: dict[str, Any] = memory.scope.filters()
    for line in lines:
        for key, value in scope.items():
            if line.data.get(key, value) != value:
                raise BadRecord(
                    f"{line.where}: {key} {line.data[key]!r} lies outside the scope;"
                    " nothing was written",
                    hint=f"import without --{key}",
                    field=key,
                )
    return list(memory.remember_many([line.data for line in lines], progress=watched()).ids)


def _summary(restored: int, remembered: int, skipped: int) -> str:
    told = {"restored": restored, "remembered": remembered, "skipped": skipped}
    return (
        ", ".join(f"{what} {count}" for what, count in told.items() if count) or "nothing to import"
    )


Target = Annotated[
    Path, typer.Argument(metavar="FILE", help="The file to write.", show_default=False)
]
Force = Annotated[bool, typer.Option("--force", help="Replace a file that is there.")]


@command(
    "export",
    "recollect export backup.export",
    'recollect export facts.jsonl --where \'{"kind": "fact"}\'',
)
def export(file: Target, at: Scoped, where: Where = None, *, force: Force = False) -> None:
    """Write a tenant to a file, whole, so that import restores it exactly.

    With --where, or for one agent, user or session, the memories are written as plain JSON lines.
    """
    test = where_of(where)
    if file.exists() and not force:
        raise InputError(f"{file} is there already", hint="name another file, or give --force")
    with opened(at, "read") as memory:
        count = _exported(memory, file, test)
    show(
        {"file": str(file), "lines": count},
        lambda: f"wrote {count} lines to {file}",
        as_json=at.json,
    )


def _exported(memory: Memory, file: Path, where: object) -> int:
    """Write beside the target first, so that a failure leaves no half of a file."""
    part = file.with_name(file.name + ".part")
    try:
        count = memory.export(part, where=where)
        part.replace(file)
    except OSError as error:
        raise InputError(
            f"{file}: {error.strerror}", hint="name a file that can be written"
        ) from None
    finally:
        part.unlink(missing_ok=True)
    return count
