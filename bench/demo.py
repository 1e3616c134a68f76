"""Seconds of `memoriter demo` in a fresh process (row 1: at most 5, goal 2)."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time

from bench.tools import Options, table

COMMAND = "from memoriter.doors.cli.main import run; run()"


def run(options: Options) -> None:
    seconds: list[float] = []
    for _ in range(1 if options.small else 5):
        start = time.perf_counter()
        done = subprocess.run(  # noqa: S603  # our own interpreter
            [sys.executable, "-c", COMMAND, "demo"], capture_output=True, text=True, check=False
        )
        seconds.append(time.perf_counter() - start)
        if done.returncode:
            last = (done.stderr.strip().splitlines() or ["it said nothing"])[-1]
            print(f"`memoriter demo` did not work (exit {done.returncode}): {last}")
            return
    table(
        ["memoriter demo", "seconds", "least"],
        [(f"median of {len(seconds)}", f"{statistics.median(seconds):.2f}", f"{min(seconds):.2f}")],
    )
