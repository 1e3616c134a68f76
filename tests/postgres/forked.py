"""Children that write and read at once, made by fork: a process costs no import, so many can die.

A child tells its parent one line per acknowledged write, through a pipe, before it writes the next.
"""

from __future__ import annotations

import os
import signal
import traceback
import warnings
from collections.abc import Callable
from typing import TextIO

import memoriter
from memoriter.core.errors import Unavailable
from memoriter.memory.facade import Memory


class Child:
    """A forked process that runs some work, and what it told."""

    def __init__(self, work: Callable[[TextIO], None]) -> None:
        read, write = os.pipe()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # threads of the parent wait only
            self.pid = os.fork()
        if self.pid == 0:
            os.close(read)
            code = 1
            try:
                with os.fdopen(write, "w", buffering=1) as out:
                    work(out)
                code = 0
            except BaseException:  # whatever it is, the parent must see it
                traceback.print_exc()
            finally:
                os._exit(code)
        os.close(write)
        self._out = os.fdopen(read)
        self.lines: list[str] = []

    def wait_for(self, lines: int) -> None:
        """Read until the child has told so many lines, or has ended."""
        while len(self.lines) < lines and (line := self._out.readline()):
            if line.endswith("\n"):
                self.lines.append(line.rstrip("\n"))

    def kill(self) -> None:
        """End it as the kernel would, and read what it still told."""
        os.kill(self.pid, signal.SIGKILL)
        self.join()

    def join(self) -> int:
        """Wait for its end; returns its exit code, negative for a signal."""
        self.wait_for(2**62)
        self._out.close()
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


def opened(url: str) -> Memory:
    """A memory that neither embeds nor publishes: what is tested is the log."""
    return memoriter.open(url, embedder=None, maintenance="manual")


def write_on(memory: Memory, name: str, first: int, count: int, out: TextIO) -> None:
    """Write records under keys; what fails is repeated under the same key until it is known."""
    for n in range(first, first + count):
        record_id = f"{name}-{n}"
        while True:
            try:
                memory.remember(f"port {n} of {name}", id=record_id, key=record_id)
                break
            except Unavailable:
                continue
        out.write(f"{record_id}\n")
