"""`forget` by id and by filter: preview, states, everything of one user; upkeep beside users."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest
from tests.inside import engine_of, index_of, log_of
from typer.testing import CliRunner

import memoriter
from memoriter.core.errors import BadQuery, InputError, NotFound, Unavailable
from memoriter.doors.cli.main import app
from memoriter.index import cache, upkeep
from memoriter.index.background import Background
from memoriter.index.merge import merge
from memoriter.index.pace import Pace
from memoriter.memory.facade import Memory


@pytest.fixture(params=[":memory:", "m.db"])
def memory(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Memory]:
    place = request.param if request.param == ":memory:" else tmp_path / request.param
    with memoriter.open(place, embedder=None, flush_rows=3) as each:
        for n in range(6):
            user = "ann" if n % 2 else "bob"
            each.remember(f"zebra{n}x", id=f"r{n}", user=user, session="s")
        yield each


def test_a_preview_says_what_would_go_and_changes_nothing(memory: Memory) -> None:
    before = memory.status().seq
    preview = memory.forget(where={"user": "ann"}, dry_run=True)
    assert (preview.count, preview.ids, preview.state) == (3, ("r1", "r3", "r5"), "preview")
    assert preview.to_dict()["count"] == 3
    assert memory.forget(["r1", "r1"], dry_run=True).ids == ("r1",)
    with pytest.raises(NotFound):
        memory.forget("nobody", dry_run=True)
    assert (memory.count(), memory.status().seq) == (6, before)


def test_everything_of_one_user_goes(memory: Memory) -> None:
    ann = memory.scoped(user="ann")
    memory.expire("r1")
    assert sorted(ann.forget(where={}, dry_run=True).ids) == ["r1", "r3", "r5"]
    erasure = ann.forget(where={}, now=True)
    assert (erasure.count, erasure.state) == (3, "erased")
    assert {record.user for record in memory.browse(archived="show", expired="show").records} == {
        "bob"
    }
    assert memory.status().unerased == 0
    assert ann.forget(where={}).ids == ()


def test_an_empty_filter_without_a_scope_is_refused(memory: Memory) -> None:
    for options in ({}, {"dry_run": True}, {"now": True}):
        with pytest.raises(BadQuery, match="would forget every memory"):
            memory.forget(where={}, **options)  # type: ignore[arg-type]
        with pytest.raises(BadQuery, match="would forget every memory"):
            memory.forget(where={"all": [{}]}, **options)  # type: ignore[arg-type]
    for wrong in ({"now": "yes"}, {"dry_run": 1}):
        with pytest.raises(InputError, match=r"(?i)true or false"):
            memory.forget("r1", **wrong)  # type: ignore[arg-type]
    assert memory.count() == 6


def test_a_time_given_as_now_leads_to_expire() -> None:
    memory = memoriter.open(":memory:", embedder=None)
    memory.remember("x", id="x")
    with pytest.raises(InputError, match="now: expected True or False, not a time") as refused:
        memory.forget("x", now=cast("Any", "2030-01-01"))
    assert "expire(id, at)" in refused.value.hint
    assert memory.get("x").text == "x"


def test_a_retried_forget_returns_the_ids_that_it_names(memory: Memory) -> None:
    first = memory.forget(["r1", "r2"], key="k")
    again = memory.forget(["r1", "r2"], key="k")
    assert again.ids == first.ids == ("r1", "r2")
    assert memory.count() == 4


def cli(*words: str) -> Any:
    """What a command prints, as JSON."""
    result = CliRunner().invoke(app, list(words))
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def test_the_command_line_previews_and_waits(tmp_path: Path) -> None:
    path = tmp_path / "c.db"
    with memoriter.open(path, embedder=None) as memory:
        memory.remember("zebra1x", id="r1", user="ann")
        memory.remember("zebra2x", id="r2", user="bob")
    at = ["--store", str(path), "--json"]
    preview = cli("forget", "--user", "ann", "--where", "{}", "--dry-run", *at)
    assert (preview["ids"], preview["count"], preview["state"]) == (["r1"], 1, "preview")
    gone = cli("forget", "--user", "ann", "--where", "{}", "--now", "--yes", *at)
    assert (gone["ids"], gone["state"]) == (["r1"], "erased")
    assert cli("status", *at)["unerased"] == 0
    assert b"zebra1x" not in path.read_bytes()
    assert b"zebra2x" in path.read_bytes()


# -- upkeep beside users --------------------------------------------------------------------------


def test_closing_does_not_wait_for_upkeep_that_takes_long() -> None:
    begun, go_on = threading.Event(), threading.Event()

    def work(job: str) -> None:
        begun.set()
        go_on.wait(30)

    background = Background(work)
    background.ask("a")
    begun.wait(30)
    background.close(0.01)
    assert background.over, "it came back while the job was still running"
    go_on.set()


def test_closing_does_what_is_due_later() -> None:
    done: list[str] = []
    background = Background(done.append)
    background.ask("a", 3600)
    background.ask("b", 3600)
    background.close(30)
    assert sorted(done) == ["a", "b"]
    background.ask("c")
    assert sorted(done) == ["a", "b"], "nothing after closing"


def test_a_merge_ends_when_its_store_is_closed(memory: Memory) -> None:
    memory.recall("zebra1x")
    segments = index_of(memory).segments
    calls: list[int] = []
    merge(segments, 0, pace=lambda: calls.append(1))
    assert len(calls) > 20, "it is called often"
    with pytest.raises(Unavailable, match="closed"):
        merge(segments, 0, pace=Pace(lambda: True))


def test_searches_go_on_while_segments_are_merged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers: list[int] = []
    with memoriter.open(tmp_path / "m.db", embedder=None, maintenance="manual") as memory:
        memory.remember_many([f"port {n}" for n in range(9)])

        def ask() -> None:
            memory.remember("port again")
            answers.append(len(memory.recall("port", 20)))

        def merged(*given: Any, **more: Any) -> Any:
            thread = threading.Thread(target=ask)
            thread.start()
            thread.join(60)
            assert not thread.is_alive(), "a search waited for the merge"
            return merge(*given, **more)

        monkeypatch.setattr(upkeep, "merge", merged)
        assert engine_of(memory).index_cache.tidy("default", 1)
        assert answers == [10]
        assert memory.status().tail == 1, "what came meanwhile is in the tail"
        assert len(memory.recall("port", 20)) == 10


def _erased(memory: Memory, tenant: str) -> bool:
    """Whether nothing is left to erase; upkeep has some time for it."""
    for _ in range(3000):
        if not log_of(memory).unerased(tenant).count:
            return True
        time.sleep(0.02)
    return False


def test_what_another_process_forgot_is_erased_by_who_meets_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cache, "ERASE_AFTER_S", 0.0)
    path = tmp_path / "m.db"
    with memoriter.open(path, embedder=None) as stays:
        stays.remember("zebra crossing", id="z")
        stays.recall("zebra")
        with memoriter.open(path, embedder=None, maintenance="manual") as other:
            other.forget("z")
        assert log_of(stays).unerased("default").count == 1
        stays.recall("zebra")
        assert _erased(stays, "default")


def test_what_a_tenant_left_to_erase_is_erased_when_another_is_opened(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    with memoriter.open(path, "acme", embedder=None, maintenance="manual") as acme:
        acme.remember("zebra crossing", id="z")
        acme.forget("z")
    with memoriter.open(path, "other", embedder=None) as other:
        assert _erased(other, "acme")
        other.close(wait=30)
    assert b"zebra" not in b"".join(
        each.read_bytes() for each in tmp_path.glob("m.db*") if each.is_file()
    )
