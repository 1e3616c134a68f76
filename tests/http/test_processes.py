"""Processes of one server ask one another for receipts, and are started anew when they die."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import memoriter
from memoriter.doors.http.processes import Siblings, run_processes
from memoriter.doors.tenant_session import Receipts, TenantSession
from memoriter.testing.fakes import CountedEntropy, HandClock


def test_a_receipt_is_asked_of_the_process_that_keeps_it(tmp_path: Path) -> None:
    kept = {("acme", "h1"): b'{"a": 1}', ("acme", "h2"): b'{"b": 2}'}
    for number in range(3):
        own = {key: body for at, (key, body) in enumerate(kept.items()) if at == number}
        Siblings(tmp_path, number).listen(lambda t, h, own=own: own.get((t, h)))
    asking = Siblings(tmp_path, 2)
    assert asking.ask("acme", "h1") == {"a": 1}
    assert asking.ask("acme", "h2") == {"b": 2}
    assert asking.ask("other", "h1") is None
    (tmp_path / "9").touch()  # of a process that is gone
    assert asking.ask("acme", "h3") is None


def test_an_answer_that_another_process_gave_is_run_again_by_its_receipt() -> None:
    with memoriter.open(clock=HandClock(), entropy=CountedEntropy()) as memory:
        memory.remember("the port of the cache", id="a")
        here = TenantSession(memory)
        handle = here.handle(result := memory.recall("cache"))
        elsewhere = {handle: result.receipt.to_dict()}
        there = TenantSession(memory, Receipts(elsewhere=elsewhere.get))
        assert there.receipts.find(handle).digest == result.receipt.digest
        assert [(h.id, h.score) for h in there.answer(handle)] == [(h.id, h.score) for h in result]
        with pytest.raises(memoriter.NotFound, match="no receipt is kept"):
            there.answer("nothing")


_SERVER = """
import os, sys, time
from memoriter.doors.http.processes import run_processes
def work(siblings):
    os.write(1, f"{os.getpid()}\\n".encode())  # one line at once: two processes write
    time.sleep(600)
run_processes(2, work)
"""


def test_a_process_that_dies_is_started_anew_and_all_end_with_the_parent() -> None:
    command = [sys.executable, "-c", _SERVER]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as run:  # noqa: S603  # ours
        assert run.stdout is not None
        try:
            first, second = (int(run.stdout.readline()) for _ in range(2))
            os.kill(first, signal.SIGKILL)
            third = int(run.stdout.readline())
            assert third not in (first, second)
        finally:
            run.kill()  # the parent cannot tell them any more: they see it themselves
        assert run.stdout.read() == ""
    until = time.monotonic() + 60
    while any(_alive(pid) for pid in (second, third)):
        assert time.monotonic() < until
        time.sleep(0.02)


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return "Z" not in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


def test_a_wrong_number_of_processes_is_refused() -> None:
    for count in (0, 1000):
        with pytest.raises(memoriter.InputError, match="processes"):
            run_processes(count, lambda _: None)
