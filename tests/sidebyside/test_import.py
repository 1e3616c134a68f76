"""Files that the real programs made, imported. Opt-in, as its neighbour: MEMORITER_SIDEBYSIDE=1."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any, Final

import pytest
from tests.sidebyside.installed import asked_for

import memoriter
from memoriter.core.times import micros, to_datetime

_HERE: Final = Path(__file__).parent


def made(python: Path, name: str, path: Path) -> str:
    """What the script of a program prints while it makes a file."""
    call = [str(python), str(_HERE / f"made_{name}.py"), str(path)]
    done = subprocess.run(call, text=True, capture_output=True, check=False, timeout=600)  # noqa: S603  # our own script
    assert path.exists(), done.stderr[-2000:]
    return done.stdout


@asked_for
def test_a_database_that_engrava_made_comes_whole(python: Path, tmp_path: Path) -> None:
    path = tmp_path / "theirs.db"
    made_rows = json.loads(made(python, "engrava", path))
    before = path.read_bytes()
    with memoriter.open(tmp_path / "ours.db", embedder="given:3") as memory:
        done = memory.import_file(path)
        assert (done.format, done.records.written, done.records.refused) == ("engrava", 40, 0)
        assert (done.links.written, done.links.refused) == (len(made_rows["edges"]), 0)
        for row in made_rows["thoughts"]:
            record = memory.get(row["thought_id"])
            assert (record.text, record.summary) == (row["content"], row["essence"])
            assert (record.priority, record.cycle) == (row["priority"], row["updated_cycle"])
            assert (record.kind, record.confidence) == (
                row["thought_type"].lower(), row["confidence"],
            )  # fmt: skip
            assert record.archived is (row["lifecycle_status"] == "ARCHIVED")
            assert record.pinned is bool(row["pinned"])
            assert record.created == to_datetime(micros(row["created_at"], "created_at"))
            for field in ("valid_from", "valid_until"):
                since: Any = row[field]
                assert getattr(record, field) == (since and to_datetime(micros(since, field)))
            assert record.metadata["grp"] == json.loads(row["metadata_json"])["grp"]
        kinds = {edge.kind for n in range(8) for edge in memory.links(f"t{n:02}")}
        assert {"consolidated_from", "derived_from", "related_to"} <= kinds
        result = memory.recall("ports", 5, recipe="engrava", vector=[40.0, 1.0, 0.5], cycle=80)
        assert {"fts5", "vector", "recency", "priority"} <= set(result.signals)
        assert memory.import_file(path).records.already == 40
    assert path.read_bytes() == before


@asked_for
@pytest.mark.parametrize("command", ["snapshot", "export"])
def test_what_engrava_writes_comes_as_its_database_does(
    python: Path, tmp_path: Path, command: str
) -> None:
    path, written = tmp_path / "theirs.db", tmp_path / "written"
    made(python, "engrava", path)
    program = str(python.parent / "engrava")
    call = [program, "--db", str(path), command, "-o", str(written)]
    subprocess.run(call, check=True, capture_output=True, timeout=600)  # noqa: S603  # as pinned
    with memoriter.open(":memory:", embedder="given:3") as memory:
        done = memory.import_file(written)
        assert (done.format, done.records.written, done.records.refused) == ("engrava", 40, 0)
        assert (done.links.written, done.links.refused) == (7, 0)
        again = memory.import_file(path).records
        known = {"snapshot": 40, "export": 0}[command]  # an export leaves the vectors out
        assert (again.already, again.refused) == (known, 40 - known)


@asked_for
def test_relations_that_mnestic_exported_come_whole(python: Path, tmp_path: Path) -> None:
    path = tmp_path / "dump.json"
    made(python, "mnestic", path)
    with memoriter.open(":memory:", embedder="given:3") as memory:
        done = memory.import_file(path)
        assert (done.format, done.records.written, done.records.refused) == ("mnestic", 21, 0)
        assert (done.links.written, done.links.refused) == (20, 0)
        assert memory.get("m7").metadata["n"] == 7
        assert memory.get("m7").tags == ("x",)
        assert memory.get("m0@1700000000000000").valid_until == to_datetime(1770000000000000)
        result = memory.recall("", recipe="semantic", vector=[20.0, 1.0, 0.0])
        assert result[0].id == "m19"
