"""The bench of the laboratory: the tracer, child processes, and a folder that is quick to write."""

from __future__ import annotations

import ctypes
import errno
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.night import NIGHT

import memoriter

ROOT = Path(__file__).parents[2]
SOURCE = Path(memoriter.__file__).parents[1]
SEED = os.environ.get("MEMORITER_SEED", os.urandom(4).hex() if NIGHT else "ci")
"""Every failure names it; set it to see the same run again."""
ACTIONS = {
    "EIO": errno.EIO,
    "ENOSPC": errno.ENOSPC,
    "EINTR": errno.EINTR,
    "SHORT": -1,
    "KILL_BEFORE": -2,
    "KILL_AFTER": -3,
}


def compiler() -> str | None:
    return next(filter(None, map(shutil.which, ("cc", "gcc", "clang"))), None)


def build(folder: Path) -> Path:
    """The tracer, compiled; without a compiler the test is skipped, and says so."""
    program = compiler()
    if program is None or not sys.platform.startswith("linux"):
        pytest.skip("NO POWER-CUT TESTS: they need Linux and a C compiler (cc, gcc or clang)")
    made = folder / "tracer.so"
    source = Path(__file__).with_name("tracer.c")
    asked = [program, "-O2", "-shared", "-fPIC", "-o", str(made), str(source), "-ldl", "-lpthread"]
    subprocess.run(asked, check=True)  # noqa: S603  # the contributor's own compiler
    return made


def environment(tracer: Path | None = None, **more: object) -> dict[str, str]:
    """What a child process needs to find us, and the tracer in front of its libc."""
    variables = {**os.environ, "PYTHONPATH": f"{SOURCE}{os.pathsep}{ROOT}"}
    variables |= {key: str(value) for key, value in more.items()}
    return variables | ({"LD_PRELOAD": str(tracer)} if tracer else {})


def command(module: str, *given: object) -> list[str]:
    return [sys.executable, "-W", "error", "-m", f"tests.crash.{module}", *map(str, given)]


def run(
    module: str, *given: object, limit: float = 600, stdin: str | None = None, **more: Any
) -> str:
    """Run a module of the laboratory as a process of its own; what it printed."""
    done = subprocess.run(  # noqa: S603  # our own interpreter
        command(module, *given), env=environment(**more), cwd=ROOT, timeout=limit, check=False,
        capture_output=True, text=True, input=stdin,
    )  # fmt: skip
    assert done.returncode == 0, f"exit {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@contextmanager
def quick_folder() -> Iterator[Path]:
    """A folder in memory where the system has one: images need no disk of their own."""
    memory = Path("/dev/shm")  # noqa: S108  # made with a random name
    base = memory if os.access(memory, os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="memoriter-", dir=base) as name:
        yield Path(name)


class Faults:
    """The tracer's switch, inside a process that runs under it."""

    def __init__(self) -> None:
        self._library = ctypes.CDLL(os.environ["LD_PRELOAD"])
        self._library.memoriter_fault.argtypes = [
            ctypes.c_char_p, ctypes.c_int, ctypes.c_long, ctypes.c_long,
        ]  # fmt: skip
        self._library.memoriter_calls.restype = ctypes.c_long

    def arm(self, kinds: str, action: str, n: int, times: int = 1) -> None:
        """Let the n-th call of these kinds, and so many after it, come to this."""
        self._library.memoriter_fault(kinds.encode(), ACTIONS[action], n, times)

    def disarm(self) -> int:
        """Let everything work again; how many calls of those kinds there were."""
        calls = int(self._library.memoriter_calls())
        self._library.memoriter_fault(b"", 0, 0, 0)
        return calls
