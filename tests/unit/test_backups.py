"""A backup is the store at one moment; a restore gives it back, or changes nothing."""

from __future__ import annotations

import json
import shutil
import threading
from pathlib import Path

import pytest
from tests.unit.processes import python
from typer.testing import CliRunner

import memoriter
from memoriter import Conflict, Corrupt, InputError, NotFound, Unavailable, Unsupported
from memoriter.doors.cli.main import app
from memoriter.memory import backups
from memoriter.store.sqlite import backup as copying
from memoriter.write.doctor import Checkup

FEW = 200


def made(path: Path, count: int = 20, **options: object) -> Path:
    with memoriter.open(path, embedder=None, **options) as memory:  # type: ignore[arg-type]
        memory.remember_many([{"text": f"note {n}", "id": f"m{n}"} for n in range(count)])
    return path


def ids(path: Path) -> set[str]:
    with memoriter.open(path, embedder=None) as memory:
        assert not memory.verify_store().problems
        return {record.id for record in memory.browse(limit=10_000).records}


def test_a_backup_has_every_tenant_and_is_one_file(tmp_path: Path) -> None:
    store, copy = tmp_path / "m.db", tmp_path / "b" / "copy.db"
    copy.parent.mkdir()
    made(store)
    made(store, 5, tenant="other")
    with memoriter.open(store, embedder=None) as memory:
        pages: list[int] = []
        done = memory.backup(copy, verify=True, progress=pages.append)
        assert done.checkup is not None
        assert (done.checkup.tenants, done.checkup.sound) == (2, True)
        assert pages == sorted(pages)
        assert pages[-1] * 4096 == copy.stat().st_size
    assert [each.name for each in copy.parent.iterdir()] == ["copy.db"]
    assert ids(copy) == {f"m{n}" for n in range(20)}
    with memoriter.open(copy, "other", embedder=None) as memory:
        assert memory.count() == 5


def test_a_backup_of_a_busy_store_is_one_moment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Writers go on between its steps, and whatever was there before it began is in it."""
    monkeypatch.setattr(copying, "PAGES", 4)
    store, copy = made(tmp_path / "m.db", FEW), tmp_path / "copy.db"
    with memoriter.open(store, embedder=None) as memory:
        late: list[str] = []

        def write_more(_: int) -> None:
            late.extend(memory.remember(f"late {len(late)}").ids)

        memory.backup(copy, verify=True, progress=write_more)
        assert len(late) > 5
        assert memory.count() == FEW + len(late)
    assert ids(copy) == {f"m{n}" for n in range(FEW)}


def test_writers_in_other_threads_do_not_hold_a_backup_up(tmp_path: Path) -> None:
    store = made(tmp_path / "m.db", FEW)
    with memoriter.open(store, embedder=None) as memory:
        stop = threading.Event()
        acknowledged: list[str] = []

        def write() -> None:
            while not stop.is_set():
                acknowledged.extend(memory.remember("more").ids)

        thread = threading.Thread(target=write)
        thread.start()
        for n in range(3):
            before = set(acknowledged)
            memory.backup(tmp_path / f"copy{n}.db", verify=True)
            assert before <= ids(tmp_path / f"copy{n}.db")
        stop.set()
        thread.join()


def test_a_backup_holds_no_list_of_segments_that_it_does_not_have(tmp_path: Path) -> None:
    store = made(tmp_path / "m.db", 50, flush_rows=10)
    with memoriter.open(store, embedder=None, flush_rows=10) as memory:
        memory.maintain()
        answer = [hit.id for hit in memory.recall("note 7")]
        memory.backup(tmp_path / "copy.db")
    assert any((tmp_path / "m.db.idx").glob("*.seg"))
    memoriter.restore(tmp_path / "copy.db", store, force=True)
    assert not (tmp_path / "m.db.idx").exists()
    with memoriter.open(store, embedder=None, flush_rows=10) as memory:
        assert memory.verify_store().sound
        assert [hit.id for hit in memory.recall("note 7")] == answer


def test_what_has_no_file_or_is_a_file_of_the_store_is_refused(tmp_path: Path) -> None:
    with memoriter.open(":memory:", embedder=None) as memory, pytest.raises(Unsupported):
        memory.backup(tmp_path / "copy.db")
    store = made(tmp_path / "m.db")
    with memoriter.open(store, embedder=None) as memory:
        for name in ("m.db", "m.db-wal", "m.db.lock"):
            with pytest.raises(InputError, match="reserved for the store"):
                memory.backup(tmp_path / name)
        with pytest.raises(NotFound):
            memory.backup(tmp_path / "nowhere" / "copy.db")
    assert len(ids(store)) == 20


def test_a_restore_refuses_to_replace_a_store(tmp_path: Path) -> None:
    copy, store = made(tmp_path / "copy.db", 5), made(tmp_path / "m.db", 7)
    with pytest.raises(Conflict, match="exists already"):
        memoriter.restore(copy, store)
    assert len(ids(store)) == 7
    assert memoriter.restore(copy, store, force=True).to_dict()["verified"]
    assert len(ids(store)) == 5
    with pytest.raises(NotFound, match="no backup"):
        memoriter.restore(tmp_path / "none.db", store)
    with pytest.raises(InputError, match="same file"):
        memoriter.restore(store, store, force=True)
    with pytest.raises(NotFound, match="no folder"):
        memoriter.restore(copy, tmp_path / "nowhere" / "m.db")


def damage(path: Path) -> None:
    """Change a byte inside a record; SQLite itself does not notice."""
    body = path.read_bytes()
    assert b"note 3" in body
    path.write_bytes(body.replace(b"note 3", b"nose 3"))


def test_a_damaged_backup_is_refused_and_the_store_stays(tmp_path: Path) -> None:
    copy, store = made(tmp_path / "copy.db", 5), made(tmp_path / "m.db", 7)
    damage(copy)
    with pytest.raises(Corrupt, match="damaged"):
        memoriter.restore(copy, store, force=True)
    copy.write_bytes(b"no store at all" * 100)
    with pytest.raises(Unsupported):
        memoriter.restore(copy, store, force=True)
    assert len(ids(store)) == 7
    assert not [each for each in tmp_path.iterdir() if ".restore" in each.name]


def test_a_backup_of_a_damaged_store_is_not_kept_when_verified(tmp_path: Path) -> None:
    store, copy = made(tmp_path / "m.db", 7), tmp_path / "copy.db"
    copy.write_bytes(b"an earlier backup")
    damage(store)
    with memoriter.open(store, embedder=None) as memory, pytest.raises(Corrupt):
        memory.backup(copy, verify=True)
    assert copy.read_bytes() == b"an earlier backup"


def test_a_store_that_cannot_be_opened_is_put_aside(tmp_path: Path) -> None:
    copy, store = made(tmp_path / "copy.db", 5), tmp_path / "m.db"
    store.write_bytes(b"ruined" * 1000)
    memoriter.restore(copy, store, force=True)
    assert len(ids(store)) == 5
    (aside,) = tmp_path.glob("m.db.damaged-*")
    assert aside.read_bytes() == b"ruined" * 1000


def test_a_store_that_is_open_elsewhere_is_not_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memoriter.store.sqlite.connect.BUSY_LIMIT_S", 0.2)
    copy, store = made(tmp_path / "copy.db", 5), made(tmp_path / "m.db", 7)
    with memoriter.open(store, embedder=None) as memory:
        assert memory.count() == 7
        with pytest.raises(Unavailable):
            memoriter.restore(copy, store, force=True)
        memory.remember("one more")
        assert memory.count() == 8
    assert len(ids(store)) == 8


@pytest.mark.parametrize("step", ["copy", "verify", "fsync", "replace"])
def test_whatever_fails_the_old_store_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    copy, store = made(tmp_path / "copy.db", 5), made(tmp_path / "m.db", 7)

    def fail(*_: object, **__: object) -> None:
        raise OSError(5, "Input/output error")

    with monkeypatch.context() as patch:
        match step:
            case "copy":
                patch.setattr(copying, "fsync_folder", fail)
            case "verify":
                patch.setattr(backups, "verified_copy", fail)
            case "fsync":
                patch.setattr(copying, "keep_mode", fail)
            case _:
                patch.setattr(Path, "replace", fail)
        with pytest.raises((Unavailable, OSError)):
            memoriter.restore(copy, store, force=True)
    assert len(ids(store)) == 7
    with memoriter.open(store, embedder=None, read_only=True) as memory:
        assert memory.count() == 7


KILLED = """
from memoriter.memory import backups
from memoriter.store.sqlite import backup
backup.PAGES = 4
what, at, copy, store = sys.argv[1], int(sys.argv[2]), sys.argv[3], sys.argv[4]
seen = 0
def pages(_):
    global seen
    seen += 1
    if seen == at:
        os.kill(os.getpid(), 9)
def die(event, arguments):
    # Every call of ours that changes a file or its folder is a place to die at.
    if event in ("os.rename", "os.remove", "os.chmod", "open", "shutil.rmtree"):
        if os.path.dirname(store) in str(arguments[0]):
            pages(0)
sys.addaudithook(die)
if what == "backup":
    with memoriter.open(store, embedder=None) as memory:
        memory.backup(copy, verify=True, progress=pages)
else:
    memoriter.restore(copy, store, force=True, progress=pages)
print(seen)
"""


def kills(tmp_path: Path, what: str, every: int) -> None:
    """Kill a process at places of a backup or a restore: both stores are whole afterwards."""
    template = tmp_path / "whole"
    template.mkdir()
    made(template / "copy.db", 5)
    made(template / "m.db", 7)
    whole = tmp_path / "probe"
    shutil.copytree(template, whole)
    places = int(python(KILLED, what, 0, whole / "copy.db", whole / "m.db"))
    assert places > 10
    for at in range(places, 0, -every):
        work = tmp_path / f"{what}{at}"
        shutil.copytree(template, work)
        python(KILLED, what, at, work / "copy.db", work / "m.db", killed=True)
        store, copy = ids(work / "m.db"), ids(work / "copy.db")
        if what == "backup":
            assert (len(store), len(copy) in (5, 7)) == (7, True), at
        else:
            assert (len(copy), len(store) in (5, 7)) == (5, True), at
        memoriter.restore(work / "copy.db", work / "m.db", force=True)  # what is left is no hurdle
        assert ids(work / "m.db") == ids(work / "copy.db")
        shutil.rmtree(work)


@pytest.mark.parametrize("what", ["backup", "restore"])
def test_a_kill_loses_nothing(tmp_path: Path, what: str) -> None:
    kills(tmp_path, what, 20)


@pytest.mark.night
@pytest.mark.parametrize("what", ["backup", "restore"])
def test_a_kill_at_every_place_loses_nothing(tmp_path: Path, what: str) -> None:
    kills(tmp_path, what, 1)


def killed_restore(tmp_path: Path) -> tuple[Path, Path]:
    """A store beside which a restore was killed while it copied; the store, and what is left."""
    store, copy = made(tmp_path / "m.db", 7), made(tmp_path / "copy.db", 5)
    python(KILLED, "restore", 10, copy, store, killed=True)
    left = tmp_path / "m.db.restore"
    assert left.exists()
    return store, left


def test_what_a_killed_restore_left_is_named_and_removed(tmp_path: Path) -> None:
    store, left = killed_restore(tmp_path)
    with memoriter.open(store, embedder=None) as memory:
        report = memory.verify_store()
        assert (report.sound, left.exists()) == (False, True)
        assert report.derived == ("m.db.restore was left by a restore that did not finish",)
        assert memory.doctor().mended
        assert not list(tmp_path.glob("*.restore*"))
        assert memory.verify_store().sound
        left.write_bytes(b"left again")
        memory.maintain()
        assert not left.exists()


def test_forgetting_leaves_nothing_in_what_a_killed_restore_left(tmp_path: Path) -> None:
    store, left = killed_restore(tmp_path)
    with memoriter.open(store, embedder=None) as memory:
        assert memory.forget("m3", now=True).state == "erased"
        assert not left.exists()


def test_a_restore_whose_copy_was_removed_by_upkeep_says_so(tmp_path: Path) -> None:
    store, copy = made(tmp_path / "m.db", 7), made(tmp_path / "copy.db", 5)

    def checked(path: Path) -> Checkup:
        path.unlink()
        return Checkup(1, 1)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(backups, "verified_copy", checked)
        with pytest.raises(Unavailable, match="in use"):
            memoriter.restore(copy, store, force=True)
    assert len(ids(store)) == 7


def test_the_commands_do_the_same(tmp_path: Path) -> None:
    store, copy = made(tmp_path / "m.db"), tmp_path / "copy.db"
    run = CliRunner().invoke
    done = run(app, ["backup", str(copy), "--verify", "--store", str(store), "--json"])
    assert done.exit_code == 0, done.output
    report = json.loads(done.stdout)
    assert (report["verified"], report["tenants"], report["path"]) == (True, 1, str(copy))
    again = run(app, ["backup", str(copy), "--store", str(store)])
    assert (again.exit_code, "--force" in again.stderr) == (4, True)
    refused = run(app, ["restore", str(copy), "--store", str(store)])
    assert (refused.exit_code, "--force" in refused.stderr) == (4, True)
    restored = run(app, ["restore", str(copy), "--store", str(store), "--force"])
    assert (restored.exit_code, "restored" in restored.stdout) == (0, True)
    new = tmp_path / "new.db"
    assert run(app, ["restore", str(copy), "--store", str(new)]).exit_code == 0
    assert ids(new) == ids(store)


def test_doctor_mends_a_store_whose_index_was_deleted(tmp_path: Path) -> None:
    store = made(tmp_path / "m.db", 50, flush_rows=10)
    with memoriter.open(store, embedder=None, flush_rows=10) as memory:
        memory.maintain()
        answer = [hit.id for hit in memory.recall("note 7")]
    shutil.rmtree(tmp_path / "m.db.idx")
    with memoriter.open(store, embedder=None) as memory:
        assert [hit.id for hit in memory.recall("note 7")] == answer
        damaged = memory.verify_store()
        assert (damaged.sound, damaged.problems, len(damaged.derived)) == (False, (), 1)
        mended = memory.doctor()
        assert (mended.sound, mended.mended) == (True, True)
        assert memory.verify_store().sound
    run = CliRunner().invoke(app, ["verify-store", "--store", str(store)])
    assert (run.exit_code, "sound" in run.stdout) == (0, True)
