"""What engrava writes beside its database: a snapshot, line by line, and an export."""

from __future__ import annotations

import base64
import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.imports import files

import memoriter
from memoriter.core.errors import InputError, Unsupported
from memoriter.core.times import to_datetime
from memoriter.memory.facade import Memory
from memoriter.memory.importing import Imported

TABLES = ("thought", "edge", "embedding", "action")


@pytest.fixture
def memory() -> Iterator[Memory]:
    with memoriter.open(":memory:", embedder="given:3") as opened:
        yield opened


def rows(place: Path, table: str) -> list[dict[str, Any]]:
    """The rows of a table as its snapshot spells them."""
    with sqlite3.connect(place) as db:
        cursor = db.execute(f"SELECT * FROM {table}")  # noqa: S608  # ours
        names = [column[0] for column in cursor.description]
        dicts = [dict(zip(names, row, strict=True)) for row in cursor]
    db.close()
    return [
        {k: base64.b64encode(v).decode() if isinstance(v, bytes) else v for k, v in row.items()}
        for row in dicts
    ]


def snapshot(place: Path, name: str = "_type", version: int = 21) -> Path:
    lines: list[Any] = [{name: "metadata", "schema_version": version}]
    lines += [{name: table, "data": row} for table in TABLES for row in rows(place, table)]
    return files.write(place.with_suffix(".snapshot.jsonl"), lines)


def export(place: Path) -> Path:
    data = {"thoughts": rows(place, "thought"), "edges": rows(place, "edge"), "stats": {}}
    whole = {"format": "engrava-export", "version": "0.1.0", **data}
    path = place.with_suffix(".export.json")
    path.write_text(json.dumps(whole, indent=2), encoding="utf-8")
    return path


def held(memory: Memory) -> list[Any]:
    """Every record and edge, but for when they came here."""
    records = sorted(memory.browse(archived="show", limit=99).records, key=lambda r: r.id)
    data = [{**r.to_dict(), "created": r.id == "t-1" and r.created} for r in records]
    own = [
        {key: value for key, value in row.items() if key not in ("committed", "seq", "row")}
        for row in data
    ]
    edges = [(e.source, e.target, e.kind, e.weight) for r in records for e in memory.links(r.id)]
    return [own, sorted(edges)]


def summary(done: Imported) -> tuple[Any, ...]:
    return (
        done.format, done.records, done.links,
        sorted((one.field, one.count, one.became) for one in done.left.values()),
    )  # fmt: skip


@pytest.mark.parametrize("name", ["_type", "table"])
def test_a_snapshot_brings_what_its_database_brings(
    name: str, tmp_path: Path, memory: Memory
) -> None:
    place = files.engrava(tmp_path / "theirs.db")
    done = memory.import_file(snapshot(place, name))
    with memoriter.open(":memory:", embedder="given:3") as other:
        assert summary(done) == summary(other.import_file(place))
        assert held(memory) == held(other)
    assert [hit.id for hit in memory.recall("", recipe="semantic", vector=[1, 0.5, 0])] == ["t-1"]
    assert memory.import_file(place.with_suffix(".snapshot.jsonl")).records.already == 2


def test_an_export_is_theirs_and_no_chain_of_mentisdb(tmp_path: Path, memory: Memory) -> None:
    place = files.engrava(tmp_path / "theirs.db")
    done = memory.import_file(export(place))
    assert (done.format, done.records.written, done.links.written) == ("engrava", 2, 2)
    one = memory.get("t-1")
    assert (one.priority, one.cycle, one.session, one.created) == (
        "P1", 7, "s-1", to_datetime(1774000800000000),
    )  # fmt: skip
    with memoriter.open(":memory:", embedder="given:3") as other:
        other.import_file(place)
        assert held(memory)[1] == held(other)[1]
    again = memory.import_file(place).records
    assert (again.already, again.refused) == (1, 2)  # the database adds a vector to t-1


def test_of_several_vectors_the_serving_model_s_comes_and_the_others_are_told(
    tmp_path: Path, memory: Memory
) -> None:
    place = files.engrava(tmp_path / "theirs.db")
    with sqlite3.connect(place) as db:
        blob = sqlite3.Binary(bytes.fromhex("0000000000000000" + "0000803f"))
        row = ("v-new", "THOUGHT", "t-1", "other", 3, blob, "2027-01-01")
        db.execute("INSERT INTO embedding VALUES (?,?,?,?,?,?,?)", row)
    db.close()
    lines = snapshot(place).read_text().splitlines()
    head = {"_type": "metadata", "schema_version": 21, "embedding_model_name": "mini"}
    path = tmp_path / "serving.jsonl"
    path.write_text("\n".join([json.dumps(head), *lines[1:]]))
    for nth, (source, near) in enumerate(((place, "0 0 1"), (path, "1 0.5 0"))):
        with memoriter.open(":memory:", embedder="given:3") as opened:
            done = opened.import_file(source)
            left = {one.field: one.count for one in done.left.values()}
            assert left["further vectors of a thought"] == 1, nth
            vector = [float(number) for number in near.split()]
            (hit,) = opened.recall("", 1, recipe="semantic", vector=vector)
            assert (hit.id, hit.lanes["meaning"].score) == ("t-1", pytest.approx(1.0, abs=1e-6))


def test_rows_that_lack_something_are_refused_one_by_one(tmp_path: Path, memory: Memory) -> None:
    thought = {"thought_id": "a", "thought_type": "NOTE", "content": "here"}
    lines: list[Any] = [
        {"_type": "thought", "data": thought},
        {"_type": "thought", "data": {"thought_type": "NOTE", "content": "no id"}},
        {"_type": "thought", "data": [1]},
        {"_type": "thought", "data": {**thought, "thought_id": "b", "content": 7}},
        {"_type": "edge", "data": {"edge_id": "e", "from_thought_id": "a"}},
        {"_type": "embedding", "data": {"owner_id": "a", "vector_blob": "!!"}},
        {"_type": "dream", "data": {}},
        [1],
    ]
    done = memory.import_file(files.write(tmp_path / "some.jsonl", lines))
    assert (done.format, done.records.written, done.records.refused) == ("engrava", 1, 5)
    reasons = [row.reason for row in done.refused]
    assert reasons[0] == "thought_id: is missing"
    assert "to_thought_id: is missing" in reasons
    left = {one.field: one.became for one in done.left.values()}
    assert left == {"table dream": "left out", "vector": "left out"}


def test_a_reflection_that_is_not_in_use_is_archived(tmp_path: Path, memory: Memory) -> None:
    lines = [
        {"_type": "thought", "data": {
            "thought_id": f"{kind} {status}", "thought_type": kind, "content": "x",
            "lifecycle_status": status,
        }}
        for kind in ("REFLECTION", "NOTE") for status in ("ACTIVE", "DONE", "ARCHIVED")
    ]  # fmt: skip
    memory.import_file(files.write(tmp_path / "some.jsonl", lines))
    shown = {record.id for record in memory.browse().records}
    assert shown == {"REFLECTION ACTIVE", "NOTE ACTIVE", "NOTE DONE"}


def test_a_newer_schema_and_a_wrong_name_are_refused(tmp_path: Path, memory: Memory) -> None:
    place = files.engrava(tmp_path / "theirs.db")
    with pytest.raises(Unsupported, match="schema 99"):
        memory.import_file(snapshot(place, version=99))
    other = files.write(tmp_path / "notes.jsonl", [{"text": "a note"}])
    with pytest.raises(InputError, match="is not a file of the format engrava"):
        memory.import_file(other, "engrava")
