"""A hostile world around the store: forks, strangers, signals, locks, links, lost files."""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import gc
import os
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import apsw
import pytest

import memoriter
from memoriter import Unavailable, Unsupported
from memoriter.aio import aopen
from memoriter.store import lease
from memoriter.store.sqlite import connect, store
from memoriter.store.sqlite.group import Job
from memoriter.testing import acts

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="a POSIX system is needed")


def python(script: str, *given: object) -> str:
    """What a script prints, in a process of its own."""
    done = subprocess.run(  # noqa: S603  # our own interpreter
        [sys.executable, "-W", "ignore", "-c", f"import os, sys\nimport memoriter\n{script}"]
        + [str(each) for each in given],
        check=False, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


# -- the lease between writers -----------------------------------------------------------------


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


def test_a_writer_that_waits_for_a_stopped_one_gives_up_and_can_try_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lease, "WAIT_LIMIT_S", 0.05)
    with memoriter.open(tmp_path / "m.db", embedder=None) as memory:
        memory.remember("first")
        stopped = os.open(tmp_path / "m.db.lock", os.O_RDWR)
        fcntl.flock(stopped, fcntl.LOCK_EX)
        for _ in range(2):
            with pytest.raises(Unavailable, match="another process holds the write lock") as told:
                memory.remember("second")
            assert told.value.retryable
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


# -- forks -------------------------------------------------------------------------------------


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
            with memoriter.open(place, embedder=None) as mine:
                mine.remember("child")
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


# -- strangers on the file ---------------------------------------------------------------------

OTHER = 'with memoriter.open(sys.argv[1], embedder=None) as m: m.remember("other", id="other")'


def test_a_stranger_that_comes_later_stops_the_next_write(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    with memoriter.open(path, embedder=None) as memory:
        for _ in range(5):  # threads come and go, and leave handles to SQLite
            thread = threading.Thread(target=memory.browse)
            thread.start()
            thread.join()
        memory.remember("first")
        with path.open("rb"), pytest.raises(Unsupported, match="something else"):
            memory.remember("second")
        memory.remember("third")
        assert memory.browse().total == 2


def test_a_write_into_a_log_that_was_thrown_away_is_not_acknowledged(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    memory = memoriter.open(path, embedder=None)
    memory.remember("first", id="first")
    stranger = sqlite3.connect(path)
    stranger.execute("SELECT count(*) FROM records").fetchone()
    stranger.close()  # and with it go our locks
    python(OTHER, path)  # which throws the log away when it closes
    assert not path.with_name("m.db-wal").exists()
    for _ in range(2):
        with pytest.raises(Unavailable, match="moved, replaced or removed") as told:
            memory.remember("second", key="k")
        assert "open it again" in told.value.hint
    memory.close()
    with memoriter.open(path, embedder=None) as again:
        again.remember("second", key="k")
        assert {record.text for record in again.browse().records} == {"first", "other", "second"}
        assert again.verify_store().sound


def test_a_log_that_vanishes_during_a_write_is_noticed_before_it_is_acknowledged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "m.db"
    memory = memoriter.open(path, embedder=None)
    memory.remember("first")
    read = store.head_of

    def removed(*given: object) -> object:
        path.with_name("m.db-wal").unlink()
        return read(*given)  # type: ignore[arg-type]  # passed on

    with monkeypatch.context() as patched:
        patched.setattr(store, "head_of", removed)
        with pytest.raises(Unavailable, match="moved, replaced or removed"):
            memory.remember("second")
    memory.close()
    memory.close()


def test_what_other_memories_of_this_process_do_is_no_stranger(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    failed: list[BaseException] = []
    memoriter.open(path, embedder=None).close()

    def come_and_go(*, close: bool) -> None:
        try:
            for _ in range(25):
                memory = memoriter.open(path, embedder=None)
                memory.remember("x")
                if close:
                    memory.close()
                del memory
        except BaseException as error:
            failed.append(error)

    running = [
        threading.Thread(target=come_and_go, kwargs={"close": bool(n % 2)}) for n in range(4)
    ]
    for thread in running:
        thread.start()
    for thread in running:
        thread.join()
    assert not failed, failed
    with memoriter.open(path, embedder=None) as memory:
        assert memory.browse().total == 100


# -- names of the file -------------------------------------------------------------------------


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    """A store that holds one memory."""
    path = tmp_path / "kept" / "m.db"
    path.parent.mkdir()
    with memoriter.open(path, embedder=None) as memory:
        memory.remember("first", id="first")
    return path


def test_a_file_with_two_names_is_refused_until_it_has_one(kept: Path) -> None:
    other = kept.with_name("other.db")
    other.hardlink_to(kept)
    for path in (kept, other):
        with pytest.raises(Unsupported, match="more than one name") as told:
            memoriter.open(path, embedder=None)
        assert "remove the other names" in told.value.hint
    other.unlink()
    with memoriter.open(kept, embedder=None) as memory:
        assert memory.browse().total == 1


def test_a_symbolic_link_leads_to_the_file_and_all_that_lies_beside_it(
    kept: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "links"
    folder.mkdir()
    link = folder / "current.db"
    link.symlink_to(kept)
    with memoriter.open(link, embedder=None, flush_rows=1, maintenance="manual") as memory:
        memory.remember("second")
        memory.maintain()
        assert memory.status().segments == 1
        with pytest.raises(memoriter.InputError, match="belongs to the store"):
            memory.export(kept)
    (tmp_path / "folder").symlink_to(kept.parent)
    with memoriter.open(tmp_path / "folder" / "m.db", embedder=None) as memory:
        assert memory.status().segments == 1
        with pytest.raises(memoriter.InputError, match="belongs to the store"):
            memory.export(tmp_path / "folder" / "m.db")
    assert [path.name for path in folder.iterdir()] == ["current.db"]
    assert {path.name for path in kept.parent.iterdir()} == {"m.db", "m.db.idx", "m.db.lock"}


def test_the_network_is_seen_behind_a_symbolic_link(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    far = tmp_path / "far"
    far.mkdir()
    (tmp_path / "near.db").symlink_to(far / "m.db")
    monkeypatch.setattr(connect, "filesystem", lambda at: "nfs" if at == far else "ext4")
    with pytest.raises(Unsupported, match="network"):
        memoriter.open(tmp_path / "near.db", embedder=None)


@pytest.mark.parametrize("read_only", [False, True])
@pytest.mark.parametrize("missing", [False, True])
def test_a_log_without_its_file_is_damage_and_stays(
    tmp_path: Path, *, missing: bool, read_only: bool
) -> None:
    path, wal = tmp_path / "m.db", tmp_path / "m.db-wal"
    python(
        "m = memoriter.open(sys.argv[1], embedder=None); m.remember('kept')\n"
        "sys.stdout.flush(); os._exit(0)",
        path,
    )
    whole, log = path.read_bytes(), wal.read_bytes()
    if missing:
        path.unlink()
    else:
        os.truncate(path, 0)
    with pytest.raises(
        memoriter.Corrupt, match=r"m\.db is missing or empty, while m\.db-wal"
    ) as told:
        memoriter.open(path, embedder=None, read_only=read_only)
    assert "m.db-wal" in told.value.hint
    assert wal.read_bytes() == log
    path.write_bytes(whole)
    with memoriter.open(path, embedder=None) as memory:
        assert memory.browse().total == 1


def test_a_limit_on_the_size_of_files_is_a_full_disk_at_birth_too(tmp_path: Path) -> None:
    script = """
import resource
for limit in (0, 20_000, 40_000, 100_000):
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
    try:
        memoriter.open(sys.argv[1], embedder=None).close()
    except memoriter.MemoriterError as error:
        print(type(error).__name__)
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
with memoriter.open(sys.argv[1], embedder=None) as memory:
    memory.remember("and then it fits")
"""
    assert set(python(script, tmp_path / "m.db").split()) == {"StorageFull"}


def test_a_store_that_was_taken_out_of_wal_mode_is_put_back(kept: Path) -> None:
    script = """
import sqlite3
print(*sqlite3.connect(sys.argv[1]).execute("PRAGMA journal_mode=delete").fetchone())
"""
    assert python(script, kept) == "delete\n"
    with pytest.raises(Unsupported, match="out of WAL mode") as told:
        memoriter.open(kept, embedder=None, read_only=True)
    assert "for writing" in told.value.hint
    with memoriter.open(kept, embedder=None) as memory:
        memory.remember("second")
        assert kept.with_name("m.db-wal").exists()
    with memoriter.open(kept, embedder=None, read_only=True) as memory:
        assert memory.browse().total == 2


# -- signals -----------------------------------------------------------------------------------


def test_a_signal_at_any_step_of_a_snapshot_leaves_no_transaction_open(
    kept: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain: Any = apsw.Connection
    doomed = ""

    class Interrupted(plain):
        def execute(self, statements: str, *given: Any, **more: Any) -> Any:
            done = super().execute(statements, *given, **more)
            if statements == doomed:
                raise KeyboardInterrupt
            return done

    monkeypatch.setattr(apsw, "Connection", Interrupted)
    with memoriter.open(kept, embedder=None) as memory:
        log: Any = memory._parts.log
        for doomed in ("BEGIN", "ROLLBACK"):
            with contextlib.suppress(KeyboardInterrupt):
                memory.export(kept.with_name("out.jsonl"))
            assert not log._reader().in_transaction, doomed
        doomed = ""
        python(OTHER, kept)
        assert memory.get("other").text == "other"


# -- a reader that may not write ---------------------------------------------------------------

_BARRED = """
import time
with memoriter.open(":memory:", embedder=None) as warm:  # loads everything before rights are gone
    warm.remember("x"); warm.recall("x")
if os.geteuid() == 0:
    os.setgroups([]); os.setgid(65534); os.setuid(65534)
memory = memoriter.open(sys.argv[1], embedder=None)
print("ready", flush=True)
for line in sys.stdin:
    try:
        total = memory.browse().total
        print(total, len(memory.recall("note", 1000).hits), memory.verify_store().sound, flush=True)
    except memoriter.MemoriterError as error:
        print(type(error).__name__, error, flush=True)
"""


@contextlib.contextmanager
def barred(path: Path) -> Iterator[Callable[[], str]]:
    """A reader who may not write to the folder; yields how to ask it."""
    with subprocess.Popen(  # noqa: S603  # our own interpreter
        [sys.executable, "-c", f"import os, sys\nimport memoriter\n{_BARRED}", str(path)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    ) as reader:  # fmt: skip
        assert reader.stdin is not None
        assert reader.stdout is not None
        told, asked = reader.stdout, reader.stdin
        assert told.readline() == "ready\n"

        def ask() -> str:
            asked.write("ask\n")
            asked.flush()
            return told.readline().strip()

        yield ask


def test_a_reader_beside_no_writer_sees_what_a_later_writer_wrote() -> None:
    with tempfile.TemporaryDirectory() as name:  # pytest's own folders are closed to other users
        folder, path = Path(name), Path(name) / "m.db"
        with memoriter.open(path, embedder=None) as memory:
            memory.remember_many({"text": f"note {n} " * 30, "id": f"n{n}"} for n in range(300))
        folder.chmod(0o555)
        path.chmod(0o444)
        with barred(path) as ask:
            assert ask() == "300 300 True"
            folder.chmod(0o755)
            path.chmod(0o644)
            with memoriter.open(path, embedder=None) as memory:
                memory.forget([f"n{n}" for n in range(0, 300, 2)])
                memory.remember_many([f"note again {n} " * 30 for n in range(400)])
                folder.chmod(0o555)
                beside = ask()
                assert beside == "550 550 True" or beside.startswith("Unavailable")
                folder.chmod(0o755)
            folder.chmod(0o555)
            assert ask() == "550 550 True"
        folder.chmod(0o755)


def test_the_connection_of_a_thread_goes_with_the_thread(tmp_path: Path) -> None:
    with memoriter.open(tmp_path / "m.db", embedder=None) as memory:
        log: Any = memory._parts.log
        gc.disable()
        try:
            for _ in range(5):
                thread = threading.Thread(target=memory.browse)
                thread.start()
                thread.join()
            assert len(log._open) == 1
        finally:
            gc.enable()


# -- one caller's trouble ----------------------------------------------------------------------


def test_damage_of_one_tenant_fails_no_write_of_another(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    for tenant in ("a", "b"):
        with memoriter.open(path, tenant, embedder=None) as memory:
            memory.remember_many([f"note {n}" for n in range(70)])
    db = apsw.Connection(str(path))
    db.execute("UPDATE tenants SET seq=seq-64 WHERE name='a'")  # one flipped bit
    db.close()
    with memoriter.open(path, "a", embedder=None) as memory:
        log: Any = memory._parts.log
        jobs = [Job(acts.batch(acts.put("new" + at), tenant=at[0])) for at in ("b1", "a", "b2")]
        log._commit_all(jobs)
        assert [type(job.refused) for job in jobs] == [type(None), memoriter.Corrupt, type(None)]
        assert "'a'" in str(jobs[1].refused)
        assert log.head("b").positions == 72


def test_use_after_fork_is_refused_though_every_lock_was_held_at_the_fork(tmp_path: Path) -> None:
    script = """
import signal
memory = memoriter.open(sys.argv[1], embedder=None)
memory.remember("x", id="x")
memory.recall("x")
log, shelf = memory._parts.log, memory._parts.shelf
old = log.manifest("default", "none")
acts = (
    lambda: memory.recall("x"), lambda: memory.browse(), lambda: memory.get("x"),
    lambda: memory.remember("y"), lambda: memory.forget("x"), lambda: memory.status(),
    lambda: memory.verify_store(), lambda: memory.maintain(),
    lambda: log.publish("default", "none", old, old), lambda: log.mend("default", (), ()),
)
with log._mutex, log._queue._gate, log._queue._leading, shelf._lock:
    child = os.fork()
    if not child:
        signal.alarm(20)
        told = []
        for act in acts:
            try:
                act()
            except memoriter.Unsupported as error:
                told.append("fork" in str(error))
        memory.close()
        os._exit(0 if told == [True] * len(acts) else 1)
    _, status = os.waitpid(child, 0)
memory.close()
sys.exit(os.waitstatus_to_exitcode(status) and 1)
"""
    python(script, tmp_path / "m.db")


# -- closing -----------------------------------------------------------------------------------


def test_close_ends_what_other_threads_do_and_they_are_told(tmp_path: Path) -> None:
    path, told, acked = tmp_path / "m.db", list[BaseException](), list[str]()
    memory = memoriter.open(path, embedder=None)
    memory.remember_many([f"note {n} " * 20 for n in range(1000)])

    def until_closed(act: Callable[[], object]) -> None:
        try:
            while True:
                act()
        except BaseException as error:
            told.append(error)

    acts = (
        lambda: acked.append(memory.remember("one more").id),
        memory.verify_store,
        lambda: memory.recall("note"),
        lambda: list(memory._parts.log.words("default")),
    )
    running = [threading.Thread(target=until_closed, args=(act,)) for act in acts]
    for thread in running:
        thread.start()
    time.sleep(0.3)
    memory.close()
    memory.close()
    for thread in running:
        thread.join(60)
    assert [type(error) for error in told] == [Unsupported] * len(acts), told
    assert all("closed" in str(error) for error in told)
    assert is_free(path)
    with memoriter.open(path, embedder=None) as again:
        assert again.browse().total >= 1000 + len(acked)
        assert again.verify_store().sound


def test_an_awaited_verb_after_close_says_that_the_memory_is_closed(tmp_path: Path) -> None:
    async def use() -> None:
        memory = await aopen(tmp_path / "m.db", embedder=None)
        view = memory.scoped(agent="bot")
        await memory.close()
        await memory.close()
        for each in (memory, view):
            with pytest.raises(Unavailable, match="this memory is closed"):
                await each.remember("late")

    asyncio.run(use())


# -- the log stays small -----------------------------------------------------------------------


def test_reads_that_overlap_without_a_pause_do_not_let_the_log_grow(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "LOG_LIMIT", 6_000_000)
    path = tmp_path / "m.db"
    with memoriter.open(path, embedder=None, durability="fast", maintenance="manual") as memory:
        log: Any = memory._parts.log
        memory.remember("first")
        done = threading.Event()
        turn = threading.Barrier(2)

        def read(me: int) -> None:
            """Begin to read, and end only after the other one has begun."""
            for n in range(10**9):
                if n or me:
                    turn.wait()
                with log._snapshot() as db:
                    db.execute("SELECT count(*) FROM records").fetchall()
                    turn.wait()
                    time.sleep(0.005)
                if done.is_set():
                    turn.abort()
                    return

        def reader(me: int) -> None:
            with contextlib.suppress(threading.BrokenBarrierError):
                read(me)

        running = [threading.Thread(target=reader, args=(me,)) for me in (0, 1)]
        for thread in running:
            thread.start()
        largest = 0
        for _ in range(120):
            memory.remember("x" * 60_000)
            largest = max(largest, path.with_name("m.db-wal").stat().st_size)
        done.set()
        for thread in running:
            thread.join()
        assert 3_000_000 < largest < 14_000_000  # a try that meets a reader waits for the next


def test_a_log_that_a_reader_holds_back_fails_no_write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "LOG_LIMIT", 100_000)
    monkeypatch.setattr(store, "SHRINK_WAIT_S", 0.01)
    path = tmp_path / "m.db"
    with memoriter.open(path, embedder=None) as memory:
        memory.remember("first")
        held: Any = memory._parts.log
        with held._snapshot() as db:
            db.execute("SELECT count(*) FROM records").fetchall()
            for _ in range(20):
                memory.remember("x" * 20_000)
        assert path.with_name("m.db-wal").stat().st_size > 400_000
        memory.remember("x" * 50_000)
        assert path.with_name("m.db-wal").stat().st_size == 0
        assert memory.verify_store().sound
