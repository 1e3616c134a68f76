"""Faults of system calls in a process of their own (`faults.py`), and what came of each."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.crash import lab, work

FIRST, STEPS = 24, 36


def bench(tracer: Path, folder: Path, jobs: list[list[Any]], **more: Any) -> list[dict[str, Any]]:
    """What came of these faults, on a store that has lived some steps."""
    base, seed = folder / "base", f"{lab.SEED}/errors"
    if not base.exists():
        base.mkdir()
        work.live(str(base / "m.db"), str(folder / "acks"), seed, str(FIRST))
        (folder / "root").mkdir()
    output = lab.run(
        "faults", folder / "root", base, seed, FIRST, STEPS, tracer=tracer, limit=1800,
        MEMORITER_ROOT=folder / "root", stdin="".join(f"{json.dumps(j)}\n" for j in jobs), **more,
    )  # fmt: skip
    return [json.loads(line) for line in output.splitlines()]
