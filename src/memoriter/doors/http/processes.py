"""Several processes behind one socket, and the receipts that they ask of one another.

A process is forked before it opens the store. All of them accept from the same listening socket, so
any may get the next request of a caller. What a request needs is in the store, tokens included;
only the answers of late are kept in the process that gave them. A process that is asked for the
receipt of an answer that another one gave asks it through a socket in a private folder.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import socket
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from memoriter.core.errors import InputError, Unsupported
from memoriter.core.names import integer
from memoriter.kernel.turns import TURNS

MOST: Final = 64
_ASK_S: Final = 10.0
"""How long a process waits for the receipt of another."""
_AGAIN_S: Final = 1.0
"""After how long a process that ended by itself is started anew."""
Find = Callable[[str, str], bytes | None]
"""From a tenant and a handle to the JSON of the receipt; None if it is not kept here."""


class Siblings:
    """The processes of one server, each with a socket in a folder that only its user may read."""

    def __init__(self, folder: Path, number: int) -> None:
        self._folder = folder
        self._own = folder / str(number)

    @property
    def is_first(self) -> bool:
        """Whether this is the process that speaks for all."""
        return self._own.name == "0"

    def listen(self, find: Find) -> None:
        """Answer the others, on a thread that ends with the process."""
        self._own.unlink(missing_ok=True)
        listening = socket.socket(socket.AF_UNIX)
        listening.bind(str(self._own))
        listening.listen()
        threading.Thread(
            target=self._answer, args=(listening, find), name="memoriter-siblings", daemon=True
        ).start()

    def _answer(self, listening: socket.socket, find: Find) -> None:
        while True:
            asking, _ = listening.accept()
            with contextlib.suppress(OSError, ValueError), asking, asking.makefile("rwb") as stream:
                tenant, handle = json.loads(stream.readline())
                stream.write(find(tenant, handle) or b"")

    def ask(self, tenant: str, handle: str) -> dict[str, Any] | None:
        """The receipt that another process keeps under a handle; None if none does."""
        for path in sorted(self._folder.iterdir()):
            if path == self._own:
                continue
            with contextlib.suppress(OSError, ValueError), socket.socket(socket.AF_UNIX) as asked:
                asked.settimeout(_ASK_S)
                asked.connect(str(path))
                asked.sendall(json.dumps([tenant, handle]).encode() + b"\n")
                with asked.makefile("rb") as stream:
                    if reply := stream.read():
                        return json.loads(reply)
        return None


def run_processes(count: int, work: Callable[[Siblings | None], None]) -> None:
    """Do some work in several processes until a signal ends them; in this one if `count` is 1."""
    integer(count, "processes", 1, MOST, InputError)
    if count == 1:
        work(None)
        return
    if not hasattr(os, "fork"):
        raise Unsupported(
            "processes: this system cannot start several processes, because it has no fork",
            hint="leave --processes out",
        )
    folder = Path(tempfile.mkdtemp(prefix="memoriter-"))
    try:
        _Parent(count, folder, work).run()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1


class _Parent:
    """Starts the processes, starts one anew that ended by itself, and passes signals on."""

    def __init__(self, count: int, folder: Path, work: Callable[[Siblings | None], None]) -> None:
        self._folder, self._work = folder, work
        self._running: dict[int, int] = {}
        """By process id: the number of a process."""
        self._count = count
        self._stopping = False
        # Nothing is ever written: its end is seen by the children when this process is gone.
        self._alive = os.pipe()

    def run(self) -> None:
        for sign in (signal.SIGTERM, signal.SIGINT):
            signal.signal(sign, self._stop)
        for number in range(self._count):
            self._start(number)
        while self._running:
            pid, status = os.wait()
            number = self._running.pop(pid, None)
            if number is not None and not self._stopping:
                if os.waitstatus_to_exitcode(status) == 0:
                    self._stop(signal.SIGTERM, None)
                else:
                    time.sleep(_AGAIN_S)
                    self._start(number)

    def _stop(self, sign: int, frame: object) -> None:
        del sign, frame
        self._stopping = True
        for pid in list(self._running):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGTERM)

    def _start(self, number: int) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # no thread of ours runs yet
            pid = os.fork()
        if pid:
            self._running[pid] = number
            return
        code = 1
        try:
            signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent hears it and tells us
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            os.close(self._alive[1])
            if 2 * self._count > _cores():
                TURNS.leave_cores()
            threading.Thread(target=self._watch, daemon=True).start()
            self._work(Siblings(self._folder, number))
            code = 0
        except SystemExit as ended:
            code = ended.code if isinstance(ended.code, int) else 1
        except BaseException as error:  # nothing may run on in a forked child
            print(f"memoriter: {error}", file=sys.stderr)
        finally:
            os._exit(code)

    def _watch(self) -> None:
        """In a child: end when the parent is gone, however it went."""
        os.read(self._alive[0], 1)
        os.kill(os.getpid(), signal.SIGTERM)
