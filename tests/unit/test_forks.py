"""A store that is open at a fork belongs to the parent; the child is refused."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from tests.unit.processes import python

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="a POSIX system is needed")


def test_a_store_is_not_used_after_fork(tmp_path: Path) -> None:
    script = """
memory = memoriter.open(sys.argv[1])
memory.remember("x")
child = os.fork()
if not child:
    refused = []
    for act in (lambda: memory.recall("x"), lambda: memory.remember("y")):
        try:
            act()
        except memoriter.Unsupported as error:
            refused.append("fork" in str(error))
    memory.close()
    os._exit(0 if refused == [True, True] else 1)
_, status = os.waitpid(child, 0)
memory.remember("z")
assert memory.browse().total == 2
sys.exit(os.waitstatus_to_exitcode(status))
"""
    python(script, tmp_path / "m.db")


def test_a_file_that_was_open_at_the_fork_is_not_opened_in_the_child(tmp_path: Path) -> None:
    script = """
path, other, closed = sys.argv[1:]
memoriter.open(closed, embedder=None).close()
memory = memoriter.open(path, embedder=None)
memory.remember("parent")
child = os.fork()
if not child:
    for place in (path, closed, other):
        try:
            with memoriter.open(place, embedder=None) as own:
                own.remember("child")
                print("wrote")
        except memoriter.Unsupported as error:
            print(error.message, "|", error.hint)
    sys.stdout.flush()
    os._exit(0)
_, status = os.waitpid(child, 0)
memory.remember("parent again")
memory.close()
with memoriter.open(path, embedder=None) as memory:
    print(memory.browse().total)
sys.exit(os.waitstatus_to_exitcode(status))
"""
    refused, *rest = python(
        script, tmp_path / "m.db", tmp_path / "other.db", tmp_path / "closed.db"
    ).splitlines()
    assert "was open when this process was forked" in refused
    assert "close it before forking" in refused
    assert "spawn" in refused
    assert rest == ["wrote", "wrote", "2"]


def test_use_after_fork_is_refused_though_every_lock_was_held_at_the_fork(tmp_path: Path) -> None:
    script = """
import signal
from tests.inside import every_lock, log_of
memory = memoriter.open(sys.argv[1], embedder=None)
memory.remember("x", id="x")
memory.recall("x")
log = log_of(memory)
old = log.manifest("default", "none")
acts = (
    lambda: memory.recall("x"), lambda: memory.browse(), lambda: memory.get("x"),
    lambda: memory.remember("y"), lambda: memory.forget("x"), lambda: memory.status(),
    lambda: memory.verify_store(), lambda: memory.maintain(),
    lambda: log.publish("default", "none", old, old), lambda: log.mend("default", (), ()),
)
with every_lock(memory):
    child = os.fork()
    if not child:
        signal.alarm(20)
        refused = []
        for act in acts:
            try:
                act()
            except memoriter.Unsupported as error:
                refused.append("fork" in str(error))
        memory.close()
        os._exit(0 if refused == [True] * len(acts) else 1)
    _, status = os.waitpid(child, 0)
memory.close()
sys.exit(os.waitstatus_to_exitcode(status) and 1)
"""
    python(script, tmp_path / "m.db")
