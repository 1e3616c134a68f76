"""Make the published index that later versions must read: `python -m tests.compat.make_segments`.

It is that of the store of `make_v1`, published as two segments, the second with vectors that were
owed, in the segment format of this version. A later version that changes the format gives it
another number, adds a folder and keeps this one: it then builds the index of such a store again
from the log.
"""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

from tests.compat import make_v1

import memoriter
from memoriter.index.spaces import SEGMENT_FORMAT
from memoriter.testing.fakes import CountedEntropy, HandClock

FOLDER = Path(__file__).parent / "segments" / f"format-{SEGMENT_FORMAT}"


def publish(path: Path) -> None:
    """Write the store of `make_v1` and publish its index."""
    clock, embedder = HandClock(), make_v1.Moody()
    with memoriter.open(
        path, tenant="acme", clock=clock, entropy=CountedEntropy("v1"), embedder=embedder,
        flush_rows=1, maintenance="manual",
    ) as memory:  # fmt: skip
        make_v1.write(memory, clock, embedder)
        embedder.failing = False
        memory.maintain()


def segments(store: Path) -> dict[str, bytes]:
    """The published segments of a store, by name."""
    folder = store.with_name(store.name + ".idx")
    return {each.name: each.read_bytes() for each in folder.glob("*.seg")}


def main() -> None:
    """Write the store with its index, and what they answer."""
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True)
    publish(FOLDER / "store.db")
    for beside in ("store.db.lock", "store.db.reserve", "store.db.idx/upkeep.lock"):
        (FOLDER / beside).unlink(missing_ok=True)
    with memoriter.open(FOLDER / "store.db", tenant="acme", read_only=True) as memory:
        expected = make_v1.answers(memory)
    for beside in ("store.db-wal", "store.db-shm"):
        (FOLDER / beside).unlink(missing_ok=True)
    save_expected(FOLDER, expected)


def save_expected(folder: Path, expected: object) -> None:
    """Write what a store answers beside it, and print the sizes of all files."""
    (folder / "expected.json").write_text(json.dumps(expected, indent=1, ensure_ascii=False) + "\n")
    files = [p for p in sorted(folder.rglob("*")) if p.is_file()]
    sys.stdout.write(f"{[(p.name, p.stat().st_size) for p in files]}\n")


if __name__ == "__main__":
    main()
