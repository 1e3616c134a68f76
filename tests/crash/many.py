"""One of many processes on one file.

    python -m tests.crash.many write|read|hold|look|merge FILE NAME UPTO

Says when it is ready and waits for a line on its input, so that all begin at once; goes on until
the file has so many entries, however long that takes; prints what it did as JSON.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

from tests.crash import plant
from tests.inside import view_of

import memoriter

GIVE_UP = 5
"""After so many errors a role ends: they are told, and fail the test."""


def begin() -> float:
    """Say that the file is open, and wait for the others; when it began."""
    sys.stdout.write("holding\n")
    sys.stdout.flush()
    sys.stdin.readline()
    return time.monotonic()


def write(path: str, name: str, upto: int) -> dict[str, object]:
    """Write until the file has so many entries; what was acknowledged, and the longest wait."""
    with memoriter.open(path, embedder=None, flush_rows=60) as memory:
        start, seq, n, waits, errors = begin(), 0, 0, [], []
        acked: list[tuple[str, int]] = []
        while seq < upto and len(errors) < GIVE_UP:
            began = time.monotonic()
            try:
                made = memory.remember(f"{name} {n} port", id=f"{name}-{n}", key=f"{name}-{n}")
                seq = made.seq
                acked.append((f"{name}-{n}", seq))
                if n % 10 == 9:
                    memory.link(f"{name}-{n}", f"{name}-{n - 5}", key=f"l{name}-{n}")
            except memoriter.MemoriterError as error:
                errors.append(repr(error))
            waits.append(time.monotonic() - began)
            n += 1
        took = time.monotonic() - start
    return {"acked": acked, "errors": errors, "worst": max(waits, default=0.0), "took": took}


def read(path: str, name: str, upto: int) -> dict[str, object]:
    """Ask while most of them are written: nothing breaks, and what was seen once stays."""
    with memoriter.open(path, embedder=None, maintenance="manual") as memory:
        memory.keywords("port", 5)  # the first question loads much, and the writer would not wait
        begin()
        asked, errors, seen, worst = 0, [], 0, 0.0
        while seen < upto * 4 // 5 and len(errors) < GIVE_UP:  # links are entries, and not seen
            began = time.monotonic()
            try:
                result = memory.keywords("port", 5)
                page = memory.browse(limit=3)
                differ = [r.id for r in page.records if memory.get(r.id) != r]
                errors += [f"{name} differs" for name in differ]
                if page.total < seen or (page.total and not memory.history(page.records[0].id)):
                    errors.append(f"saw {page.total} after {seen}")
                seen = page.total
                if result and result[0].record.text.split()[-1] != "port":
                    errors.append("a wrong answer")
            except memoriter.MemoriterError as error:
                errors.append(repr(error))
            worst = max(worst, time.monotonic() - began)
            asked += 1
    return {"name": name, "asked": asked, "errors": errors, "worst": worst, "seen": seen}


def hold(path: str, name: str, upto: int) -> dict[str, object]:
    """Hold a view while others merge, then count in it what was counted before."""
    del name, upto
    with memoriter.open(path, embedder=None, maintenance="manual") as memory:
        view = view_of(memory)
        begin()
        arrays = [each for segment in view.segments for each in segment.arrays.values()]
        return {"bytes": sum(len(each.tobytes()) for each in arrays), "errors": []}


def look(path: str, name: str, upto: int) -> dict[str, object]:
    """Keep a store open to read, until told to let go."""
    del name, upto
    with memoriter.open(path, embedder=None, read_only=True) as memory:
        seq = memory.status().seq
        begin()
    return {"seq": seq}


def merge(path: str, name: str, upto: int) -> dict[str, object]:
    """Write and keep up until no file is left that was there before."""
    del upto
    folder, n = Path(path + ".idx"), 0
    before = set(folder.glob("*.seg"))
    with memoriter.open(path, embedder=None, maintenance="manual", flush_rows=5) as memory:
        while before & set(folder.glob("*.seg")):
            memory.remember_many([f"{name} {n} {m} port" for m in range(5)])
            memory.maintain()
            n += 1
    return {"merged": len(before), "errors": []}


if __name__ == "__main__":
    plant.prepare()
    what = {"write": write, "read": read, "hold": hold, "look": look, "merge": merge}[sys.argv[1]]
    sys.stdout.write(json.dumps(what(sys.argv[2], sys.argv[3], int(sys.argv[4]))))
