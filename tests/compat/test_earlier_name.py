"""What was written under the project's earlier name: one clear error, and a way over."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path

import apsw
import pytest
from tests.compat.make_v1 import FOLDER

import memoriter
from memoriter.core.errors import EARLIER_APPLICATION_ID


def as_of_the_earlier_name(export: bytes) -> bytes:
    """An export whose head says another name and whose digests were made with it."""
    *lines, _ = export.splitlines(keepends=True)
    first = json.loads(lines[0])
    first["once"] = first.pop("memoriter")
    first["head"]["link"] = "b64:AAAA"
    lines[0] = json.dumps(first, sort_keys=True, separators=(",", ":")).encode() + b"\n"
    for at, line in enumerate(lines):
        row = json.loads(line)
        if "chain" in row:
            row["chain"]["link"] = "b64:AAAA"
            lines[at] = json.dumps(row).encode() + b"\n"
    end = {"end": len(lines), "sha256": hashlib.sha256(b"".join(lines)).hexdigest()}
    return b"".join(lines) + json.dumps(end).encode() + b"\n"


def test_a_store_of_the_earlier_name_is_refused_with_the_way_to_bring_it_over(
    tmp_path: Path,
) -> None:
    path = tmp_path / "old.db"
    path.write_bytes((FOLDER / "store.db").read_bytes())
    connection = apsw.Connection(str(path))
    connection.pragma("application_id", EARLIER_APPLICATION_ID)
    connection.close()
    before = path.read_bytes()
    doors: list[Callable[[], object]] = [
        lambda: memoriter.open(path),
        lambda: memoriter.open().import_file(path),
        lambda: memoriter.open().import_file(path, format="engrava"),
    ]
    for door in doors:
        with pytest.raises(memoriter.Unsupported, match="earlier name") as caught:
            door()
        assert "export FILE" in caught.value.hint
        assert "memoriter import FILE" in caught.value.hint
        assert path.read_bytes() == before


@pytest.mark.parametrize("application", [EARLIER_APPLICATION_ID, 7])
def test_reading_a_file_of_another_name_or_program_leaves_nothing_beside_it(
    tmp_path: Path, application: int
) -> None:
    path = tmp_path / "old.db"
    path.write_bytes((FOLDER / "store.db").read_bytes())
    connection = apsw.Connection(str(path))
    connection.pragma("application_id", application)
    connection.close()
    with pytest.raises(memoriter.Unsupported):
        memoriter.open(path, read_only=True)
    assert [each.name for each in tmp_path.iterdir()] == ["old.db"]


def test_a_receipt_of_the_earlier_name_says_so() -> None:
    with pytest.raises(memoriter.BadQuery, match="earlier name"):
        memoriter.verify({"receipt": 1})
    with (
        memoriter.open(":memory:") as memory,
        pytest.raises(memoriter.BadQuery, match="earlier name"),
    ):
        memory.replay({"receipt": 1})


def test_an_export_of_the_earlier_name_comes_over_whole(tmp_path: Path) -> None:
    path = tmp_path / "old.jsonl"
    path.write_bytes(as_of_the_earlier_name((FOLDER / "store.jsonl").read_bytes()))
    with memoriter.open(tmp_path / "new.db", tenant="acme") as memory:
        memory.import_file(path)
        copy = Path(shutil.copy(FOLDER / "store.db", tmp_path / "first.db"))
        with memoriter.open(copy, tenant="acme") as first:
            assert memory.browse(limit=100).records == first.browse(limit=100).records
            assert memory.history("sea") == first.history("sea")
            assert memory.links("sea") == first.links("sea")
        assert memory.verify_store().sound
        memory.remember("and it goes on")


def test_a_damaged_export_of_the_earlier_name_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "old.jsonl"
    spoilt = as_of_the_earlier_name((FOLDER / "store.jsonl").read_bytes())
    path.write_bytes(spoilt.replace(b"sea", b"tea", 1))
    with (
        memoriter.open(tmp_path / "new.db", tenant="acme") as memory,
        pytest.raises(memoriter.Corrupt, match="checksum"),
    ):
        memory.import_file(path)
