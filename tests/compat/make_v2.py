"""Make the store of format 2 that every later version must open: `python -m tests.compat.make_v2`.

Its vectors are bytes: in the log, in the export, and in two published segments, the second with
vectors that were owed. Once released, `v2/` is kept as it is and this script is history.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from tests.compat import make_v1
from tests.compat.make_segments import save_expected
from tests.in_bytes import ByteEmbedder

import memoriter
from memoriter.memory.facade import Memory
from memoriter.testing.fakes import CountedEntropy, HandClock

FOLDER = Path(__file__).parent / "v2"


def publish(path: Path) -> Memory:
    """Write the memories of `make_v1` and publish their index."""
    clock, embedder = HandClock(), ByteEmbedder()
    memory = memoriter.open(
        path, tenant="acme", clock=clock, entropy=CountedEntropy("v1"), embedder=embedder,
        flush_rows=1, maintenance="manual",
    )  # fmt: skip
    make_v1.write(memory, clock, embedder)
    embedder.failing = False
    memory.maintain()
    return memory


def main() -> None:
    """Write the store with its index, its export, and what they answer."""
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir()
    with publish(FOLDER / "store.db") as memory:
        memory.export(FOLDER / "store.jsonl")
        expected = make_v1.answers(memory)
    for beside in ("store.db.lock", "store.db.reserve", "store.db.idx/upkeep.lock"):
        (FOLDER / beside).unlink(missing_ok=True)
    save_expected(FOLDER, expected)


if __name__ == "__main__":
    main()
