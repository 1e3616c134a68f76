"""One of many processes on one file.

    python -m tests.crash.many write|read FILE NAME SECONDS

Waits for a line on its input, so that all begin at once; prints what it did as JSON.
"""

from __future__ import annotations

import json
import sys
import time

from tests.crash import plant

import recollect


def write(path: str, name: str, seconds: float) -> dict[str, object]:
    """Write for a while; what was acknowledged, and the longest wait."""
    with recollect.open(path, embedder=None, flush_rows=60) as memory:
        sys.stdin.readline()
        until, n, waits, errors = time.monotonic() + seconds, 0, [], []
        acked: list[tuple[str, int]] = []
        while time.monotonic() < until:
            began = time.monotonic()
            try:
                made = memory.remember(f"{name} {n} port", id=f"{name}-{n}", key=f"{name}-{n}")
                acked.append((f"{name}-{n}", made.seq))
                if n % 10 == 9:
                    memory.link(f"{name}-{n}", f"{name}-{n - 5}", key=f"l{name}-{n}")
            except recollect.RecollectError as error:
                errors.append(repr(error))
            waits.append(time.monotonic() - began)
            n += 1
    return {"acked": acked, "errors": errors, "worst": max(waits, default=0.0)}


def read(path: str, name: str, seconds: float) -> dict[str, object]:
    """Ask for a while: nothing breaks, and what was seen once stays."""
    with recollect.open(path, embedder=None, maintenance="manual") as memory:
        sys.stdin.readline()
        until, asked, errors, seen, worst = time.monotonic() + seconds, 0, [], 0, 0.0
        while time.monotonic() < until:
            began = time.monotonic()
            try:
                found = memory.keywords("port", 5)
                page = memory.browse(limit=3)
                differ = [r.id for r in page.records if memory.get(r.id) != r]
                errors += [f"{name} differs" for name in differ]
                if page.total < seen or (page.total and not memory.history(page.records[0].id)):
                    errors.append(f"saw {page.total} after {seen}")
                seen = page.total
                if found and found[0].record.text.split()[-1] != "port":
                    errors.append("a wrong answer")
            except recollect.RecollectError as error:
                errors.append(repr(error))
            worst = max(worst, time.monotonic() - began)
            asked += 1
    return {"name": name, "asked": asked, "errors": errors, "worst": worst, "seen": seen}


if __name__ == "__main__":
    plant.prepare()
    what = {"write": write, "read": read}[sys.argv[1]]
    sys.stdout.write(json.dumps(what(sys.argv[2], sys.argv[3], float(sys.argv[4]))))
