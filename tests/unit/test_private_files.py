"""Files that hold memories are readable by their owner alone."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

import memoriter
from memoriter.core.errors import InputError, StorageFull
from memoriter.core.private_file import replacing
from memoriter.doors.cli.main import app
from memoriter.write.transfer import write_lines


@pytest.fixture(autouse=True)
def usual_mask() -> Iterator[None]:
    """The mask with which others may read what a program writes."""
    before = os.umask(0o022)
    yield
    os.umask(before)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_everything_that_we_write_is_private(tmp_path: Path) -> None:
    store = tmp_path / "m.db"
    with memoriter.open(store) as memory:
        memory.remember("the ssh port is 49222")
        memory.export(tmp_path / "all.export")
        memory.export(tmp_path / "some.jsonl", where={"kind": "note"})
        memory.recall("ssh").receipt.save(tmp_path / "r.json")
        memory.backup(tmp_path / "b.db")
    run = CliRunner().invoke
    at = ["--store", str(store)]
    card, receipt = tmp_path / "card.html", tmp_path / "cli.json"
    done = run(app, ["recall", "ssh", "--html", str(card), "--receipt", str(receipt), *at])
    assert done.exit_code == 0, done.output
    assert run(app, ["export", str(tmp_path / "cli.export"), *at]).exit_code == 0
    assert run(app, ["backup", str(tmp_path / "cli.db"), *at]).exit_code == 0
    memoriter.restore(tmp_path / "b.db", tmp_path / "again.db")
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert {path.name for path in files} >= {"r.json", "card.html", "cli.export", "again.db"}
    assert {path.name: oct(mode(path)) for path in files if mode(path) != 0o600} == {}


def test_a_file_that_exists_keeps_its_mode(tmp_path: Path) -> None:
    with memoriter.open(tmp_path / "m.db") as memory:
        memory.remember("the ssh port is 49222")
        for name, write in {
            "r.json": memory.recall("ssh").receipt.save,
            "all.export": memory.export,
            "b.db": memory.backup,
        }.items():
            path = tmp_path / name
            path.touch()
            path.chmod(0o640)
            write(path)
            assert path.stat().st_size
            assert mode(path) == 0o640, name


def test_a_failed_export_leaves_the_file_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "all.export"
    path.write_bytes(b"before")

    def failing() -> Iterator[bytes]:
        yield b"half"
        raise OSError(28, "No space left on device")

    with pytest.raises(StorageFull):
        write_lines(path, failing())
    with pytest.raises(ZeroDivisionError), replacing(path) as out:
        out.write(b"%d" % (1 // 0))
    assert path.read_bytes() == b"before"
    assert [each.name for each in tmp_path.iterdir()] == ["all.export"]


def test_no_file_takes_the_place_of_a_folder_or_a_device(tmp_path: Path) -> None:
    pipe, folder = tmp_path / "pipe", tmp_path / "folder"
    os.mkfifo(pipe)
    folder.mkdir()
    store = tmp_path / "m.db"
    with memoriter.open(store, embedder=None) as memory:
        memory.remember("a note")
        for target in (pipe, folder):
            for write in (memory.export, memory.backup):
                with pytest.raises(InputError, match="not a file"):
                    write(target)
    for target in (pipe, folder):
        with pytest.raises(InputError, match="not a file"):
            memoriter.restore(store, target, force=True)
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert not list(tmp_path.glob("*.part"))


def test_a_receipt_takes_the_place_of_nothing_but_a_receipt(tmp_path: Path) -> None:
    store, receipt = tmp_path / "m.db", tmp_path / "r.json"
    with memoriter.open(store, embedder=None) as memory:
        memory.remember("the ssh port is 49222")
        answer = memory.recall("ssh")
        for _ in range(2):
            answer.receipt.save(receipt)
        with pytest.raises(InputError, match=r"m\.db exists and holds something else"):
            answer.receipt.save(store)
        memory.export(tmp_path / "all.export")
        with pytest.raises(InputError, match="holds something else"):
            answer.receipt.save(tmp_path / "all.export")
        (tmp_path / "link.json").symlink_to(receipt)
        (tmp_path / "r.json.part").write_text("somebody's")
        answer.receipt.save(tmp_path / "link.json")
        assert (tmp_path / "link.json").is_symlink()
        assert (tmp_path / "r.json.part").read_text() == "somebody's"
        os.mkfifo(tmp_path / "pipe")
        with pytest.raises(InputError, match="not a file"):
            answer.receipt.save(tmp_path / "pipe")
    done = CliRunner().invoke(app, ["recall", "ssh", "--store", str(store), "--html", str(store)])
    assert done.exit_code
    with memoriter.open(store, embedder=None) as memory:
        assert memory.verify_store().sound


def test_a_folder_with_the_name_of_an_unfinished_restore_prevents_no_erasure(
    tmp_path: Path,
) -> None:
    store = tmp_path / "m.db"
    (tmp_path / "m.db.restore").mkdir()
    with memoriter.open(store, embedder=None) as memory:
        known = memory.remember("the ssh port is 49222").id
        assert memory.forget(known, now=True).state == "erased"
        memory.maintain()
        assert memory.verify_store().sound
