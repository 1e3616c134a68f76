"""Reading a store leaves no file beside it, whatever is wrong with it, and takes none away."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.unit.processes import ROOT, python
from typer.testing import CliRunner

import memoriter
from memoriter.doors.cli.main import app


def made(path: Path, count: int = 60) -> bytes:
    with memoriter.open(path, embedder=None) as memory:
        memory.remember_many([{"text": f"note {n} " * 20, "id": f"m{n}"} for n in range(count)])
    return path.read_bytes()


@pytest.fixture(scope="module")
def whole() -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        return made(Path(folder) / "m.db")


HARM: dict[str, Callable[[bytes], bytes]] = {
    "nothing": lambda body: body,
    "cut inside the header": lambda body: body[:100],
    "cut after a page": lambda body: body[:4096],
    "cut in the middle": lambda body: body[: len(body) // 2],
    "one byte short": lambda body: body[:-1],
    "first page emptied": lambda body: body[:100] + bytes(3996) + body[4096:],
    "second page emptied": lambda body: body[:4096] + bytes(4096) + body[8192:],
    "a changed record": lambda body: body.replace(b"note 3 ", b"nose 3 "),
    "a later format": lambda body: body[:60] + (9999).to_bytes(4, "big") + body[64:],
    "a wrong page size": lambda body: body[:16] + b"\0\7" + body[18:],
    "no store": lambda _: b"no store at all" * 1000,
    "empty": lambda _: b"",
}


def read(path: Path) -> None:
    with memoriter.open(path, embedder=None, read_only=True) as memory:
        memory.recall("note 3")


def verify(path: Path) -> None:
    with memoriter.open(path, embedder=None, read_only=True) as memory:
        memory.verify_store()


def copied(path: Path) -> None:
    with memoriter.open(path, embedder=None, read_only=True) as memory:
        memory.backup(path.with_name("result"), verify=True)


def restored(path: Path) -> None:
    memoriter.restore(path, path.with_name("result"))


@pytest.mark.parametrize("harm", HARM)
def test_whoever_only_reads_leaves_no_file(tmp_path: Path, whole: bytes, harm: str) -> None:
    path = tmp_path / "m.db"
    path.write_bytes(HARM[harm](whole))
    for act in (read, verify, copied, restored):
        fails = False
        try:
            act(path)
        except memoriter.MemoriterError:
            fails = True
        left = {each.name for each in tmp_path.iterdir()} - {"m.db"}
        assert left <= (set() if fails else {"result", "result.lock"}), act
        for name in left:
            (tmp_path / name).unlink()
    for command in (["verify-store"], ["recall", "note"]):
        CliRunner().invoke(app, [*command, "--store", str(path)])
    assert [each.name for each in tmp_path.iterdir()] == ["m.db"]
    assert path.read_bytes() == HARM[harm](whole)


_WRITER = """
import sys, memoriter
memory = memoriter.open(sys.argv[1], embedder=None)
memory.remember("written while it was copied", id="early")
print("ready", flush=True)
sys.stdin.readline()
memory.remember("written after it was copied", id="late")
memory.close()
"""


def test_a_copy_takes_no_log_from_a_writer_who_came_meanwhile(tmp_path: Path, whole: bytes) -> None:
    source = tmp_path / "m.db"
    source.write_bytes(whole)
    writers: list[subprocess.Popen[str]] = []

    def come(_: int) -> None:
        if not writers:
            command = [sys.executable, "-c", _WRITER, str(source)]
            environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
            pipe = subprocess.PIPE
            writers.append(
                subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, env=environment)  # noqa: S603  # our own interpreter
            )
            assert writers[0].stdout is not None
            assert writers[0].stdout.readline() == "ready\n"

    memoriter.restore(source, tmp_path / "new.db", progress=come)
    (writer,) = writers
    writer.communicate("go on\n", timeout=60)
    assert writer.returncode == 0
    with memoriter.open(source, embedder=None) as memory:
        assert (memory.get("early").id, memory.get("late").id) == ("early", "late")
        assert memory.verify_store().sound


_READER = """
import importlib.metadata
if os.geteuid() == 0:
    with memoriter.open(":memory:", embedder=None) as warm:
        warm.remember("x"); warm.recall("x")
    os.setgroups([]); os.setgid(65534); os.setuid(65534)
with memoriter.open(sys.argv[1], embedder=None, read_only=True) as memory:
    print(memory.count(), len(memory.recall("note", 3)))
"""


def test_a_reader_who_may_not_write_the_file_makes_none_in_its_folder(whole: bytes) -> None:
    """Else the log would belong to the reader, and the writer might not be able to write to it."""
    with tempfile.TemporaryDirectory() as name:  # pytest's own folders are closed to other users
        folder, path = Path(name), Path(name) / "m.db"
        path.write_bytes(whole)
        path.chmod(0o444)
        folder.chmod(0o777)
        assert python(_READER, path) == "60 3\n"
        assert [each.name for each in folder.iterdir()] == ["m.db"]
