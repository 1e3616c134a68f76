"""A store moves from a file to PostgreSQL and back, the same bytes all the way."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import psycopg
import pytest
from tests.inside import log_of
from tests.postgres.filling import fill
from tests.property.worlds import dump_of, open_toy
from typer.testing import CliRunner

import memoriter
from memoriter.doors.cli.main import app
from memoriter.memory import copying
from memoriter.memory.facade import Memory
from memoriter.store.sqlite.store import Sqlite
from memoriter.testing.fakes import CountedEntropy, HandClock
from memoriter.testing.whole import whole


def answer(memory: Memory) -> bytes:
    return memory.recall("port of ssh", 20).receipt.to_bytes()


def test_a_store_moves_to_the_server_and_back_bit_for_bit(url: str, tmp_path: Path) -> None:
    here, there, clock = tmp_path / "a.db", tmp_path / "b.db", HandClock()
    with open_toy(here, clock) as memory, open_toy(here, clock, tenant="other") as other:
        fill(memory)
        fill(other, 10)
        memory.maintain()
        dump, receipt = dump_of(memory), answer(memory)
        words = sorted(log_of(memory).words("default"))
    out = memoriter.copy(here, url)
    assert (out.tenants, out.already) == (2, 0)
    assert out.links["default"] == dump.head.link.hex()
    with open_toy(url, clock) as memory:
        assert dump_of(memory) == dump
        assert (answer(memory), sorted(log_of(memory).words("default"))) == (receipt, words)
        assert memory.replay(json.loads(receipt)).same
        assert memory.verify_store().sound
    back = memoriter.copy(url, there)
    assert back.links == out.links
    with open_toy(there, clock) as memory:
        assert (dump_of(memory), answer(memory)) == (dump, receipt)
        assert memory.status().unerased == 0


def test_a_copy_goes_on_where_it_stopped(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(copying, "STRETCH", 5)
    here, clock = tmp_path / "a.db", HandClock()
    with open_toy(here, clock) as memory:
        for n in range(40):
            memory.remember(f"port {n}", id=f"r{n}", key=f"k{n}")

        def stop(entries: int) -> None:
            if entries > 20:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            memoriter.copy(here, url, progress=stop)
        memory.forget("r2")  # which the target has already
        memory.remember("later", id="last")
        seen: list[int] = []
        out = memoriter.copy(here, url, progress=seen.append)
        assert 20 < out.already < 40
        assert seen[0] == out.already
        assert seen == sorted(seen)
        with open_toy(url, clock) as copied:
            assert dump_of(copied) == dump_of(memory)
            assert [row.id for row in whole(log_of(copied), "default").keys if not row.id] == [""]
        again = memoriter.copy(here, url)
        assert again.already == again.entries


def test_a_target_with_another_log_is_refused_and_not_touched(url: str, tmp_path: Path) -> None:
    here = tmp_path / "a.db"
    with open_toy(here, HandClock()) as memory:
        fill(memory)
    with open_toy(url, HandClock(), CountedEntropy("other")) as other:
        other.remember("something else")
        before = dump_of(other)
        with pytest.raises(memoriter.Conflict, match="already holds other entries"):
            memoriter.copy(here, url)
        assert dump_of(other) == before
    with pytest.raises(memoriter.NotFound):
        memoriter.copy(tmp_path / "none.db", url)
    with pytest.raises(memoriter.InputError):
        memoriter.copy(here, here)


def bytes_at(place: str | Path) -> bytes:
    """All that a store keeps of segments."""
    if isinstance(place, Path):
        return b"".join(each.read_bytes() for each in place.parent.glob(f"{place.name}.idx/**/*.*"))
    with psycopg.connect(place.replace("keeper@", "postgres@")) as db:
        return b"".join(body for (body,) in db.execute("SELECT body FROM memoriter.chunks"))


@pytest.mark.parametrize("to", ["server", "file"])
def test_what_is_forgotten_after_a_copy_leaves_the_segments_of_the_target(
    url: str, tmp_path: Path, to: str
) -> None:
    here, clock = tmp_path / "a.db", HandClock()
    there: str | Path = url if to == "server" else tmp_path / "b.db"
    with open_toy(here, clock) as memory:
        fill(memory)
        memory.remember("the word is quokkasecret", id="s")
        memoriter.copy(here, there)
        with open_toy(there, clock, flush_rows=1) as copied:
            copied.maintain()
        assert b"quokkasecret" in bytes_at(there)
        memory.forget("s", now=True)
    memoriter.copy(here, there)
    with open_toy(there, clock) as copied:
        assert copied.status().unerased == 0
        assert copied.verify_store().sound
    assert bytes_at(there)
    assert b"quokkasecret" not in bytes_at(there)


def test_a_store_is_not_copied_into_itself_under_another_name(url: str, tmp_path: Path) -> None:
    here = tmp_path / "a.db"
    with open_toy(here, HandClock()) as memory, open_toy(url, HandClock()) as served:
        for each in (memory, served):
            fill(each)
        (tmp_path / "link.db").symlink_to(here)
        unerased = memory.status().unerased
        assert unerased
        for name in ("link.db", f"../{tmp_path.name}/a.db"):
            with pytest.raises(memoriter.InputError, match="are the same store"):
                memoriter.copy(here, tmp_path / name)
        with pytest.raises(memoriter.InputError, match="are the same store"):
            memoriter.copy(url, f"{url}&connections=3")
        assert [each.status().unerased for each in (memory, served)] == [unerased, unerased]


def test_damage_in_the_source_is_not_copied(url: str, tmp_path: Path) -> None:
    here = tmp_path / "a.db"
    with open_toy(here, HandClock()) as memory:
        fill(memory)
    log = Sqlite(here)
    part = log.stretch("default", 0, 9)
    log.close()
    bad = replace(part, records=[part.records[0]._replace(body=b"{}"), *part.records[1:]])
    with pytest.raises(memoriter.Corrupt, match="digest"):
        copying.verify_stretch("default", bad, type(part.head)())


def test_the_command_copies(url: str, tmp_path: Path) -> None:
    here = tmp_path / "a.db"
    with open_toy(here, HandClock()) as memory:
        fill(memory)
    command = ["copy", str(here), url]
    run = CliRunner().invoke(app, [*command, "--json"])
    assert json.loads(run.stdout)["tenants"] == 1
    run = CliRunner().invoke(app, command)
    assert "by an earlier copy" in run.stdout
    assert "keeper" in run.stdout
