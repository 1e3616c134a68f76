"""Scripts in a process of their own, and the lock that a process may leave behind."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
OTHER = 'with memoriter.open(sys.argv[1], embedder=None) as m: m.remember("other", id="other")'
"""A script that opens a store and writes one record."""


def python(script: str, *given: object, killed: bool = False) -> str:
    """What a script prints, in a process of its own; `killed` says that it may be killed."""
    done = subprocess.run(  # noqa: S603  # our own interpreter
        [sys.executable, "-W", "ignore", "-c", f"import os, sys\nimport memoriter\n{script}"]
        + [str(each) for each in given],
        check=False, capture_output=True, text=True, timeout=120,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, (ROOT, ROOT / "src")))},
    )  # fmt: skip
    assert done.returncode == 0 or (killed and done.returncode == -9), done.stderr
    return done.stdout


def is_free(path: Path) -> bool:
    """Whether another process could write."""
    handle = os.open(path.with_name(path.name + ".lock"), os.O_RDWR)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    finally:
        os.close(handle)
    return True
