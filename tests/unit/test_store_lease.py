"""The lease between writers: who waits gives up in time, and nobody keeps it by accident."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.unit.processes import is_free

import memoriter
from memoriter import Unavailable
from memoriter.store import lease

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="a POSIX system is needed")


def test_a_writer_that_waits_for_a_stopped_one_gives_up_and_can_try_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lease, "WAIT_LIMIT_S", 0.05)
    with memoriter.open(tmp_path / "m.db", embedder=None) as memory:
        memory.remember("first")
        stopped = os.open(tmp_path / "m.db.lock", os.O_RDWR)
        fcntl.flock(stopped, fcntl.LOCK_EX)
        for _ in range(2):
            with pytest.raises(Unavailable, match="another process holds the write lock") as caught:
                memory.remember("second")
            assert caught.value.retryable
        os.close(stopped)
        # Those who gave up stand in the queue until their threads run again.
        monkeypatch.setattr(lease, "WAIT_LIMIT_S", 60.0)
        memory.remember("third")
        assert memory.browse().total == 2
        assert is_free(tmp_path / "m.db")


def test_a_signal_right_after_the_lock_was_taken_leaves_it_free(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with memoriter.open(tmp_path / "m.db", embedder=None) as memory:
        memory.remember("first")

        def taken(handle: int, how: int) -> None:
            fcntl.flock(handle, how)
            if how & fcntl.LOCK_EX:
                raise KeyboardInterrupt

        class Interrupted:
            LOCK_EX, LOCK_NB, LOCK_UN = fcntl.LOCK_EX, fcntl.LOCK_NB, fcntl.LOCK_UN
            flock = staticmethod(taken)

        with monkeypatch.context() as patched:
            patched.setattr(lease, "fcntl", Interrupted)
            with pytest.raises(KeyboardInterrupt):
                memory.remember("second")
        assert is_free(tmp_path / "m.db")
        memory.remember("third")


def test_a_forked_child_does_not_keep_the_lock_of_its_parent(tmp_path: Path) -> None:
    script = """
from memoriter.store.lease import Lease
from pathlib import Path
from typing import Any
path = Path(sys.argv[1] + ".lock")
held = Lease(path)
with held.held():
    child = os.fork()
    if not child:
        sys.stdout.close(); os.close(1); os.close(2)
        import time; time.sleep(600)  # it is killed long before
    print(child, flush=True)
    os.kill(os.getpid(), 9)
"""
    done = subprocess.run(  # noqa: S603  # our own interpreter
        [sys.executable, "-c", f"import os, sys\n{script}", str(tmp_path / "m.db")],
        check=False, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    try:
        assert is_free(tmp_path / "m.db")
    finally:
        os.kill(int(done.stdout), 9)
