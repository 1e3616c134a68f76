"""init, maintain, status: the store itself."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Final

import typer

from memoriter.doors.cli.opening import opened
from memoriter.doors.cli.options import Place
from memoriter.doors.cli.out import show
from memoriter.doors.cli.settings import setting
from memoriter.doors.cli.tree import command

_KILO: Final = 1000


@command("init", "memoriter init --store agent.db")
def init(at: Place) -> None:
    """Make an empty store; one that is there already is left as it is."""
    place = str(setting("store", at.store))
    path = Path(place).expanduser()
    fresh = not path.exists()
    with opened(at, "make"):
        pass
    line = f"made {path}" if fresh else f"{path} is there already, and fine"
    show({"store": str(path), "made": fresh}, lambda: line, as_json=at.json)


@command("maintain", "memoriter maintain")
def maintain(at: Place) -> None:
    """Pay what is owed: embed what lacks a vector, publish and merge the index."""
    with opened(at, "change") as memory:
        report = memory.maintain()
    published = "published a segment" if report.published else "nothing to publish"
    line = f"embedded {report.embedded}, still owed {report.owed}, {published}"
    show(report.to_dict(), lambda: line, as_json=at.json)


By = Annotated[
    str | None, typer.Option("--by", metavar="FIELD", help="Also count by this, such as agent.")
]


@command("status", "memoriter status --by agent", "memoriter status --json")
def status(at: Place, by: By = None) -> None:
    """Say how much there is: memories, tenants, sequence, debt, segments, sizes."""
    path = Path(str(setting("store", at.store))).expanduser()
    with opened(at, "read") as memory:
        found = memory.status(by)
    sizes = _sizes(path)
    data: dict[str, Any] = {"store": str(path), **found.to_dict(), "bytes": sizes}
    from memoriter.doors.render.ink import moment  # noqa: PLC0415  # loads the engine
    from memoriter.doors.render.plain import facts  # noqa: PLC0415  # as above

    told = {
        "store": path,
        "tenant": found.tenant,
        "all tenants": ", ".join(found.tenants) or "none yet",
        "memories": _counted(found.records, found.expired),
        **({f"by {by}": _listed(found.counts)} if found.counts is not None else {}),
        "sequence": found.seq,
        "last commit": moment(found.time) if found.time else "never",
        "debt": f"{found.debt} vectors owed" if found.debt else "none",
        "segments": f"{found.segments} published, {found.tail} rows in the tail",
        "size": ", ".join(f"{name} {_bytes(size)}" for name, size in sizes.items()),
    }
    show(data, lambda: facts(told), as_json=at.json)


def _listed(counts: dict[str, int]) -> str:
    return ", ".join(f"{value} {count}" for value, count in counts.items()) or "none"


def _counted(records: int, expired: int) -> str:
    return f"{records}, and {expired} expired" if expired else str(records)


def _sizes(path: Path) -> dict[str, int]:
    """Bytes of the file, of what waits beside it, and of the index."""
    path = path.resolve()
    folder = path.with_name(path.name + ".idx")
    segments = sum(each.stat().st_size for each in folder.iterdir()) if folder.is_dir() else 0
    wal = path.with_name(path.name + "-wal")
    return {
        "file": path.stat().st_size if path.exists() else 0,
        "wal": wal.stat().st_size if wal.exists() else 0,
        "index": segments,
    }


def _bytes(size: float) -> str:
    for unit in ("B", "kB", "MB", "GB"):
        if size < _KILO:
            return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
        size /= _KILO
    return f"{size:.1f} TB"
