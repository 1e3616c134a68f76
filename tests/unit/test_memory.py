"""The façade where it touches the world: pages, scopes, async code, files, exports."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.inside import log_of

import memoriter
from memoriter import Conflict, Forbidden, Memory, NotFound
from memoriter.core.errors import BadQuery, MemoriterError, TooCostly
from memoriter.core.record import Record
from memoriter.embed.port import Side
from memoriter.memory import browsing
from memoriter.memory.build_query import build_query
from memoriter.testing.fakes import CountedEntropy, HandClock


def test_pages_are_stable_while_others_write(memory: Memory, clock: HandClock) -> None:
    for n in range(7):
        memory.remember(f"text {n}", id=str(n))
        clock.move(1)
    first = memory.browse(limit=3)
    assert [r.id for r in first.records] == ["6", "5", "4"]
    assert first.total == 7
    memory.remember("later", id="later")
    memory.update("3", text="changed")
    memory.forget("2")
    second = memory.browse(limit=3, cursor=first.cursor)
    assert [(r.id, r.text) for r in second.records] == [
        ("3", "text 3"),
        ("1", "text 1"),
        ("0", "text 0"),
    ]
    assert (second.cursor, second.total) == (None, 6)
    assert memory.browse(limit=3).records[0].id == "later"


def test_a_page_of_large_records_has_fewer_and_the_cursor_goes_on(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory.remember_many([{"id": f"r{n}", "text": f"port {n} " * 100} for n in range(5)])
    monkeypatch.setattr(browsing, "PAGE_BYTES", 2_000)  # two of some 800 bytes fit
    first = memory.browse("oldest", limit=1000)
    second = memory.browse("oldest", limit=1000, cursor=first.cursor)
    last = memory.browse("oldest", limit=1000, cursor=second.cursor)
    assert [[r.id for r in page] for page in (first, second, last)] == [
        ["r0", "r1"], ["r2", "r3"], ["r4"]
    ]  # fmt: skip
    assert (first.total, last.cursor) == (5, None)
    with pytest.raises(TooCostly, match="larger than a page"):  # places would be skipped
        memory.browse(limit=3, offset=0)
    assert len(memory.browse(limit=2, offset=1).records) == 2
    monkeypatch.setattr(browsing, "PAGE_BYTES", 1)
    assert len(memory.browse(limit=1000)) == 1, "a page has at least one"


def test_what_passes_a_filter_is_read_in_parts(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory.remember_many([{"id": f"r{n}", "text": f"port {n} " * 100} for n in range(7)])
    monkeypatch.setattr(browsing, "PAGE_BYTES", 2_000)  # two of some 800 bytes fit
    sizes: list[int] = []
    log = log_of(memory)
    read = log.records

    def counted(tenant: str, rows: Sequence[int]) -> Sequence[Record | None]:
        sizes.append(len(rows))
        return read(tenant, rows)

    monkeypatch.setattr(log, "records", counted)
    ids = memory.forget(where={"kind": "note"}, dry_run=True).ids
    assert sorted(ids) == [f"r{n}" for n in range(7)]
    assert max(sizes) == 2


def test_a_history_returns_the_newest_versions_and_goes_on_with_earlier_ones(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory.remember("port 0 " * 100, id="x")
    for n in range(1, 5):
        memory.update("x", text=f"port {n} " * 100)
    whole = memory.history("x")
    assert [each.text[5] for each in whole] == list("01234")
    assert memory.history("x", limit=2) == whole[3:]
    assert memory.history("x", limit=2, upto=whole[3].row - 1) == whole[1:3]
    assert memory.history("x", upto=whole[0].row - 1) == ()
    monkeypatch.setattr(browsing, "PAGE_BYTES", 2_000)  # two of some 800 bytes fit
    assert memory.history("x") == whole[3:]
    monkeypatch.setattr(browsing, "PAGE_BYTES", 1)
    assert memory.history("x") == whole[4:], "at least one"
    for wrong in ({"limit": 0}, {"limit": 10_001}, {"upto": -1}):
        with pytest.raises(BadQuery):
            memory.history("x", **wrong)


def test_a_cursor_keeps_its_now(memory: Memory, clock: HandClock) -> None:
    memory.remember_many([{"text": f"t{n}", "expires": clock.now() + 10} for n in range(4)])
    page = memory.browse(limit=2)
    clock.move(3600)
    assert memory.browse().total == 0
    assert len(memory.browse(limit=2, cursor=page.cursor).records) == 2


def test_every_verb_once(memory: Memory, tmp_path: Path) -> None:
    a = memory.remember("Prod SSH port is 49222", tags=["ops"], key="k")
    assert memory.remember("Prod SSH port is 49222", tags=["ops"], key="k") == a
    with pytest.raises(Conflict):
        memory.remember("something else", key="k")
    b = memory.remember("Prod SSH port is 50022", supersedes=a.id)
    assert [hit.id for hit in memory.recall("ssh port")] == [b.id]
    memory.update(b.id, title="ssh")
    assert [r.title for r in memory.history(b.id)] == [None, "ssh"]
    memory.link(a.id, b.id, "derived_from", weight=0.5)
    assert {e.kind for e in memory.links(a.id)} == {"supersedes", "derived_from"}
    memory.expire(b.id)
    assert len(memory.recall("ssh port")) == 0
    memory.update(b.id, expires=None)
    assert len(memory.recall("ssh port")) == 1
    assert memory.export(tmp_path / "part.jsonl", where={"tags": {"any": ["ops"]}}) == 1
    memory.agents.upsert("bot", description="deploys")
    assert memory.agents.search("who deploys?")[0][0].agent == "bot"
    assert memory.forget([a.id, b.id]).ids == (a.id, b.id)
    with pytest.raises(NotFound):
        memory.get(a.id)
    assert memory.browse().total == 0


def test_scopes_filter_and_stamp(memory: Memory) -> None:
    ours, theirs = memory.scoped(agent="a", session="s"), memory.scoped(agent="b")
    one = ours.remember("my port").id
    theirs.remember("their port")
    assert (memory.get(one).agent, memory.get(one).session) == ("a", "s")
    assert [hit.id for hit in ours.recall("port")] == [one]
    assert len(memory.recall("port")) == 2
    assert ours.browse().total == 1
    for verb in (theirs.get, theirs.history, theirs.update, theirs.links, theirs.forget):
        with pytest.raises(NotFound):
            verb(one)
    with pytest.raises(NotFound):
        theirs.link(one, one)


def test_a_scoped_batch_may_link_to_its_own_earlier_records(memory: Memory) -> None:
    scoped = memory.scoped("agent-a", "ann")
    scoped.remember_many(
        [
            {"id": "old", "text": "The port is 22"},
            {"id": "new", "text": "The port is 23", "supersedes": "old"},
        ]
    )
    assert [hit.id for hit in scoped.recall("port")] == ["new"]
    memory.remember("The port is 24", id="theirs")
    with pytest.raises(memoriter.NotFound, match="theirs"):
        scoped.remember_many([{"text": "The port is 25", "supersedes": "theirs"}])


def test_a_scope_cannot_reach_out_by_ties(tmp_path: Path) -> None:
    with memoriter.open(tmp_path / "m.db", embedder=None) as memory:
        memory.remember("theirs", id="b1", agent="b")
        scoped = memory.scoped(agent="a")
        with pytest.raises(memoriter.NotFound):
            scoped.remember("x", supersedes="b1")
        with pytest.raises(memoriter.NotFound):
            scoped.remember("x", links=[{"target": "b1", "kind": "supports"}])


def test_async_verbs() -> None:
    async def story() -> None:
        async with await memoriter.aopen(":memory:") as memory:
            many = await asyncio.gather(*(memory.remember(f"port {n}") for n in range(20)))
            assert sorted(c.seq for c in many) == list(range(2, 41, 2))
            assert len(await memory.recall("port", 50)) == 20
            scoped = memory.scoped(agent="bot")
            await scoped.remember("port of the bot")
            assert len(await scoped.recall("port")) == 1
            with pytest.raises(NotFound):
                await memory.get("nobody")
        with pytest.raises(memoriter.Unavailable, match="closed"):
            await memory.recall("port")

    asyncio.run(story())


def test_cancelling_never_cancels_a_commit(tmp_path: Path) -> None:
    begun, go_on = threading.Event(), threading.Event()

    def embed(texts: list[str]) -> list[list[float]]:
        if any("port" in text for text in texts):  # not the texts that are tried on opening
            begun.set()
            go_on.wait(60)
        return [[1.0, 0.0] for _ in texts]

    async def story() -> None:
        memory = await memoriter.aopen(tmp_path / "m.db", embedder=embed)
        task = asyncio.ensure_future(memory.remember_many([f"port {n}" for n in range(500)]))
        assert await asyncio.to_thread(begun.wait, 60)
        task.cancel()
        go_on.set()
        with pytest.raises(asyncio.CancelledError):
            await task
        await memory.close()

    asyncio.run(story())
    with memoriter.open(tmp_path / "m.db", embedder=None) as memory:
        assert memory.browse().total in (0, 500)
        memory.remember("still fine")


def test_many_threads_share_a_memory(tmp_path: Path) -> None:
    memory = memoriter.open(tmp_path / "m.db", flush_rows=20)
    failures: list[BaseException] = []

    def work(thread: int) -> None:
        try:
            for n in range(25):
                memory.remember(f"port {n} of thread {thread}", id=f"{thread}-{n}")
                result = memory.keywords(f"thread {thread}", 100)
                assert f"{thread}-{n}" in {hit.id for hit in result}
        except BaseException as error:  # told by the main thread
            failures.append(error)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert memory.browse().total == 100
    memory.close()


_READER = """
import os, sys
from tests.inside import log_of

import memoriter
with memoriter.open(":memory:") as warm:  # loads everything before the rights are gone
    warm.remember("x")
    warm.recall("x")
if os.geteuid() == 0:
    os.setgroups([]); os.setgid(65534); os.setuid(65534)
memory = memoriter.open(sys.argv[1])
assert [hit.id for hit in memory.keywords("ssh port")] == ["a"], "reads"
assert memory.browse().total == 30
assert memory.get("a").text == "ssh port"
for act in (lambda: memory.remember("x"), lambda: memory.update("a", title="t"),
            lambda: memory.forget("a"), lambda: memory.agents.upsert("x")):
    try:
        act()
    except memoriter.Forbidden:
        pass
    else:
        raise AssertionError("it was written")
try:
    memory.maintain()
except memoriter.Forbidden:
    pass
memory.close()
print("fine")
"""


@pytest.mark.parametrize("kind", ["file", "folder", "both"])
def test_what_may_only_be_read(kind: str) -> None:
    with tempfile.TemporaryDirectory() as name:  # pytest's own folders are closed to other users
        folder = Path(name) / "data"
        folder.mkdir()
        path = folder / "m.db"
        with memoriter.open(path, flush_rows=5, maintenance="manual") as memory:
            memory.remember("ssh port", id="a")
            memory.remember_many(f"other {n}" for n in range(29))
            memory.maintain()
        for each in (Path(name), folder, path, *folder.rglob("*")):
            if os.geteuid() == 0:
                os.chown(each, 65534, 65534)
        if kind != "folder":
            for each in folder.rglob("*"):
                each.chmod(0o555 if each.is_dir() else 0o444)
        if kind != "file":
            folder.chmod(0o555)
        before = {p.name: p.read_bytes() for p in folder.rglob("*") if p.is_file()}
        done = subprocess.run(  # noqa: S603  # our own interpreter
            [sys.executable, "-W", "ignore", "-c", _READER, str(path)],
            check=False, capture_output=True, text=True,
            env={**os.environ, "PYTHONPATH": str(Path(memoriter.__file__).parents[1])},
        )  # fmt: skip
        folder.chmod(0o755)
        assert done.stdout == "fine\n", done.stderr
        after = {p.name: p.read_bytes() for p in folder.rglob("*") if p.is_file()}
        assert {n: after[n] for n in before if n.startswith("m.db") and "shm" not in n} == {
            n: b for n, b in before.items() if n.startswith("m.db") and "shm" not in n
        }


def test_opened_to_read_only(tmp_path: Path) -> None:
    with memoriter.open(tmp_path / "m.db") as memory:
        memory.remember("ssh port")
        reader = memoriter.open(tmp_path / "m.db", read_only=True)
        assert len(reader.recall("port")) == 1
        memory.remember("another port")
        assert len(reader.recall("port")) == 2
        for act in (lambda: reader.remember("x"), lambda: reader.forget(where={"kind": "note"})):
            with pytest.raises(Forbidden):
                act()
        reader.close()


def test_a_failing_embedder_never_loses_a_write(memory: Memory) -> None:
    class Broken:
        name = fingerprint = "broken/1"
        dimension = 2

        def embed(self, texts: Sequence[str], side: Side) -> list[NDArray[np.float32] | None]:
            raise TimeoutError("no answer")

    opened = memoriter.open(
        ":memory:", embedder=Broken(), clock=HandClock(), entropy=CountedEntropy()
    )
    commit = opened.remember("ssh port")
    assert commit.debt == 1
    result = opened.recall("port")
    assert (result.status, result.used, len(result)) == ("degraded", ("words", "kin"), 1)
    assert "no answer" in result.skipped["meaning"]
    assert opened.maintain().owed == 1
    with pytest.raises(MemoriterError):
        opened.recall("port", require={"meaning"})


def test_an_export_never_harms_a_file(tmp_path: Path) -> None:
    with memoriter.open(tmp_path / "m.db", embedder=None) as memory:
        memory.remember("kept")
        kept = tmp_path / "keep.jsonl"
        kept.write_text("mine")
        with pytest.raises(memoriter.BadFilter):
            memory.export(kept, where={"nope": 1})
        assert kept.read_text() == "mine"
        with pytest.raises(memoriter.InputError, match="reserved for the store"):
            memory.export(tmp_path / "m.db")
        with pytest.raises(memoriter.MemoriterError):
            memory.export(tmp_path / "nowhere" / "x")
        assert memory.verify_store().sound


@pytest.mark.parametrize("limit", [None, 3])
def test_a_call_without_options_asks_the_same_as_one_whose_options_are_none(
    memory: Memory, limit: int | None
) -> None:
    without = build_query("which port?", limit, {}, memory.scope, lambda: 5)
    assert without == build_query("which port?", limit, {"mode": None}, memory.scope, lambda: 5)


def test_questions_of_one_view_keep_their_own_scope_and_options(memory: Memory) -> None:
    ours, theirs = memory.scoped(agent="a"), memory.scoped(agent="b")
    ours.remember("port 22", id="ours")
    theirs.remember("port 443", id="theirs")
    memory.remember("port 80", id="old", archived=True)
    scopes = [ours, theirs, memory, ours]
    assert [sorted(hit.id for hit in each.recall("port")) for each in scopes] == [
        ["ours"],
        ["theirs"],
        ["ours", "theirs"],
        ["ours"],
    ]
    shown = memory.recall("port", overrides={"select.archived": "show"})
    assert sorted(hit.id for hit in shown) == ["old", "ours", "theirs"]
