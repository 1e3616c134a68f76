"""Damage by hand, row by row: each is seen where it is read, told by verify, and told truly."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import apsw
import pytest
from tests.crash.damages import (
    a_damaged_head_is_not_believed,
    a_segment_of_another_is_not_served,
    dumped,
    filled,
    hurt,
    opened,
    published,
    the_doctor_keeps_what_it_cannot_make,
    the_doctor_mends_derived_data_only,
    with_words,
)
from tests.inside import commit_together, log_of
from typer.testing import CliRunner

import memoriter
from memoriter.doors.cli.main import app
from memoriter.memory.facade import Memory
from memoriter.store.group_commit import PendingBatch
from memoriter.testing import acts

# -- where a tenant stands ---------------------------------------------------------------------


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE tenants SET seq=seq-1",
        "UPDATE tenants SET seq=seq+8",
        "UPDATE tenants SET time=time+1",
        "UPDATE tenants SET link=zeroblob(32)",
        "UPDATE tenants SET link=x''",
        "UPDATE commits SET time=time+1 WHERE seq=(SELECT max(seq) FROM commits)",
        "DELETE FROM commits WHERE seq=(SELECT max(seq) FROM commits)",
        "DELETE FROM commits",
        "DELETE FROM chain WHERE seq=(SELECT max(seq) FROM chain)",
        "UPDATE chain SET seq=seq+1024 WHERE seq=5",
    ],
)
def test_a_head_that_does_not_fit_its_log_is_neither_read_nor_written_on(
    damage: str, tmp_path: Path
) -> None:
    a_damaged_head_is_not_believed(tmp_path / "m.db", damage)


def test_a_position_is_not_given_twice_when_the_count_is_damaged(tmp_path: Path) -> None:
    path = filled(tmp_path / "m.db")
    hurt(path, "UPDATE tenants SET positions=3")
    with opened(path) as memory:
        with pytest.raises(memoriter.Corrupt, match="position 3"):
            memory.remember("more")
        assert "count of positions" in memory.verify_store().problems[0]


# -- lost links --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("seq", "ask"),
    [
        (5, lambda memory: memory.get("n4")),
        (5, lambda memory: memory.keywords("note")),
        (11, lambda memory: memory.links("n1")),
    ],
)
def test_an_entry_whose_link_is_gone_is_damage_and_not_missing(
    seq: int, ask: Callable[[Memory], object], tmp_path: Path
) -> None:
    path = filled(tmp_path / "m.db")
    with opened(path) as memory:  # the damage is not at the end of the chain
        memory.remember("the last one")
    hurt(path, f"DELETE FROM chain WHERE seq={seq}")  # noqa: S608  # our own number
    with opened(path) as memory, pytest.raises(memoriter.Corrupt, match=f"{seq} of tenant"):
        ask(memory)


# -- what verify names -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("damages", "expected"),
    [
        (["DELETE FROM chain WHERE seq=5"], ["entry 5: an entry is not in the chain"]),
        (["DELETE FROM chain WHERE seq>4"], ["entry 5: an entry is not in the chain"]),
        (["DELETE FROM records WHERE row=5"], ["entry 5: an entry is missing"]),
        (
            ["UPDATE keys SET seq=seq+1 WHERE key='k8'", "UPDATE records SET salt=x'' WHERE row=3"],
            ["'default' is damaged: KeyRow(", "entry 3: an entry does not match"],
        ),
        (
            ["UPDATE commits SET time=time+1 WHERE seq=4", "DELETE FROM chain WHERE seq=7"],
            ["'default' is damaged: CommitRow(", "entry 7: an entry is not in the chain"],
        ),
    ],
)
def test_verify_names_the_first_bad_entry_beside_all_damaged_bookkeeping(
    damages: list[str], expected: list[str], tmp_path: Path
) -> None:
    path = filled(tmp_path / "m.db")
    hurt(path, *damages)
    with opened(path) as memory:
        problems = memory.verify_store().problems
        assert len(problems) == len(expected)
        for words, problem in zip(expected, problems, strict=True):
            assert words in problem


def test_a_forgotten_entry_whose_link_is_gone_is_named(tmp_path: Path) -> None:
    path = filled(tmp_path / "m.db")
    with opened(path) as memory:
        memory.forget("n4")
    hurt(path, "DELETE FROM chain WHERE seq=5")
    with opened(path) as memory:
        assert "entry 5: an entry is not in the chain" in memory.verify_store().problems[0]


@pytest.mark.parametrize(
    ("damage", "reason"),
    [
        ("UPDATE keys SET seq=seq+1 WHERE key='k8'", "KeyRow"),
        ("UPDATE records SET salt=x'' WHERE row=3", "entry 3: an entry does not match"),
        ("DELETE FROM records WHERE row=3", "entry 3: an entry is missing"),
    ],
)
def test_an_export_of_a_damaged_store_has_what_can_be_read_and_tells_the_damage(
    damage: str, reason: str, tmp_path: Path
) -> None:
    path, out = filled(tmp_path / "m.db"), tmp_path / "out.export"
    hurt(path, damage)
    with opened(path) as memory, pytest.raises(memoriter.Corrupt, match=reason):
        memory.export(out)
    assert b'"n7"' in out.read_bytes()
    with opened(tmp_path / "new.db") as memory, pytest.raises(memoriter.Corrupt, match=reason):
        memory.load(out)
    out.unlink()
    run = CliRunner().invoke(app, ["export", str(out), "--store", str(path)])
    assert (run.exit_code, reason in run.stderr, out.exists()) == (9, True, True)
    assert "Traceback" not in run.output


@pytest.mark.parametrize("where", [{}, {"text": {"prefix": "note"}}])
def test_lines_of_a_damaged_store_are_those_of_readable_memories(
    where: dict[str, object], tmp_path: Path
) -> None:
    path, out = filled(tmp_path / "m.db"), tmp_path / "out.jsonl"
    with opened(path, flush_rows=2) as memory:
        memory.maintain()
    hurt(path, "UPDATE records SET salt=x'' WHERE row=3")
    with opened(path) as memory, pytest.raises(memoriter.Corrupt, match=r"9 lines.*entry 3"):
        memory.export(out, where=where)
    assert len(out.read_bytes().splitlines()) == 9


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE records SET id='zzz'",
        "UPDATE agents SET agent='zzz'",
        "DELETE FROM records",
        "DELETE FROM agents",
        "DELETE FROM edges",
        "DELETE FROM commits WHERE seq=3",
        "DELETE FROM chain WHERE seq=1",
        "DELETE FROM mentions WHERE name='Ada'",
        "DELETE FROM tenants",
        "DELETE FROM generations",
    ],
)
def test_a_row_that_was_changed_or_taken_away_is_seen(sql: str, tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    with opened(path) as memory:
        memory.remember("x", id="a", entities=["Ada", "Grace"])
        memory.remember("y", id="b")
        memory.link("a", "b")
        memory.agents.upsert("bot", description="deploys")
    with_words(path)
    with opened(path) as memory:
        assert memory.verify_store().sound
    hurt(path, sql)
    with opened(path) as memory:
        assert not memory.verify_store().sound


def test_damage_of_one_tenant_fails_no_write_of_another(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    for tenant in ("a", "b"):
        with memoriter.open(path, tenant, embedder=None) as memory:
            memory.remember_many([f"note {n}" for n in range(70)])
    db = apsw.Connection(str(path))
    db.execute("UPDATE tenants SET seq=seq-64 WHERE name='a'")  # one flipped bit
    db.close()
    with memoriter.open(path, "a", embedder=None) as memory:
        jobs = [
            PendingBatch(acts.batch(acts.put("new" + at), tenant=at[0])) for at in ("b1", "a", "b2")
        ]
        commit_together(memory, jobs)
        assert [type(job.refused) for job in jobs] == [type(None), memoriter.Corrupt, type(None)]
        assert "'a'" in str(jobs[1].refused)
        assert log_of(memory).head("b").positions == 72


# -- what the doctor may touch -----------------------------------------------------------------


def flip_generation(path: Path, pattern: bytes) -> None:
    """One bit in the name of a generation, in the table and in its index."""
    content = bytearray(path.read_bytes())
    places = [match.start() for match in re.finditer(pattern, bytes(content))]
    assert len(places) == 2
    for at in places:
        content[at + 2] ^= 1
    path.write_bytes(content)


def test_the_doctor_throws_no_vector_away_that_it_cannot_make_again(tmp_path: Path) -> None:
    path = filled(tmp_path / "m.db", embedder="table")
    flip_generation(path, rb"static-en/1:[0-9a-f]{16}\+title")
    with opened(path, embedder="table") as memory:
        before = dumped(memory)
        report = memory.doctor()
        assert not report.mended
        assert not report.sound
        assert len(report.problems) == 1
        assert "cannot be made again here: 10, the first of row 1" in report.problems[0]
        assert dumped(memory) == before
        assert memory.verify_store() == report


@pytest.mark.parametrize("row", [900, 3])
def test_a_vector_that_names_a_wrong_row_is_a_problem(row: int, tmp_path: Path) -> None:
    path = filled(tmp_path / "m.db", embedder="table")
    hurt(path, f"UPDATE vectors SET row={row} WHERE row=1")  # noqa: S608  # our own number
    with opened(path, embedder="table") as memory:
        before = dumped(memory)
        assert not memory.doctor().sound
        assert dumped(memory) == before


def test_words_of_an_unknown_analyzer_are_told_and_left(tmp_path: Path) -> None:
    path = filled(tmp_path / "m.db")
    flip_generation(path, re.escape(with_words(path).encode()))
    with opened(path) as memory:
        report = memory.doctor()
        assert not report.mended
        assert not report.sound
        assert not report.problems
        assert "which is not known here" in report.derived[0]
        assert len(memory.keywords("note", 50)) == 10, "answers come from the records"


def test_words_of_an_analyzer_that_was_added_are_made_again(tmp_path: Path) -> None:
    path = filled(tmp_path / "m.db")
    with_words(path)
    hurt(path, "UPDATE words SET body=zeroblob(4) WHERE row=1")
    with opened(path) as memory:
        assert len(memory.verify_store().derived) == 1
        assert memory.doctor().mended
        assert memory.verify_store().sound


def test_the_doctor_mends_what_it_can_beside_a_record_that_is_lost(tmp_path: Path) -> None:
    path = filled(tmp_path / "m.db")
    with_words(path)
    hurt(
        path,
        "UPDATE words SET body=zeroblob(4) WHERE row IN (2, 3)",
        "UPDATE records SET salt=x'' WHERE row=3",
    )
    with opened(path) as memory:
        report = memory.doctor()
        assert not report.mended, "the words of row 3 cannot be made again"
        assert len(report.derived) == 2
        assert len(memory.verify_store().derived) == 1


@pytest.mark.parametrize(
    "check", [the_doctor_mends_derived_data_only, the_doctor_keeps_what_it_cannot_make]
)
def test_the_doctor_is_careful(check: Callable[[Path], None], tmp_path: Path) -> None:
    check(tmp_path / "m.db")


def test_the_doctor_mends_vectors_of_this_space(tmp_path: Path) -> None:
    path = filled(tmp_path / "m.db", embedder="table")
    hurt(path, "UPDATE vectors SET body=zeroblob(length(body)) WHERE row=1")
    with opened(path, embedder="table") as memory:
        assert memory.doctor().mended
        assert memory.verify_store().sound
        assert (memory.maintain().embedded, memory.status().debt) == (1, 0)


# -- segments of others ------------------------------------------------------------------------


@pytest.mark.parametrize("whose", ["another tenant", "another store"])
def test_a_segment_of_another_is_not_served(whose: str, tmp_path: Path) -> None:
    a_segment_of_another_is_not_served(tmp_path / "m.db", whose)


@pytest.mark.parametrize("verb", ["verify-store", "doctor"])
def test_damage_in_the_segments_of_another_application_is_seen(verb: str, tmp_path: Path) -> None:
    (segment,) = published(tmp_path / "m.db", "default", "apples")
    content = bytearray(segment.read_bytes())
    content[len(content) // 2] ^= 1
    segment.write_bytes(content)
    with memoriter.open(tmp_path / "m.db", embedder="table", flush_rows=5) as memory:
        report = memory.verify_store() if verb == "verify-store" else memory.doctor()
        assert segment.name in report.derived[0]
        assert report.mended == (verb == "doctor")
        assert memory.verify_store().sound == report.mended
    assert segment.exists() != report.mended
    with memoriter.open(tmp_path / "m.db", embedder=None) as memory:
        assert len(memory.keywords("apples", 50)) == 6
