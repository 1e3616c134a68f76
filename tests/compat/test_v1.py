"""A store written by the first release opens, verifies and answers as it did."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import apsw
import pytest
from tests.compat.alike import alike
from tests.compat.make_v1 import FOLDER, answers
from tests.inside import log_of

import memoriter
from memoriter.core.canonical import canonical, checksum, digest
from memoriter.core.record import Content, Source, encode
from memoriter.core.times import to_datetime
from memoriter.core.words import RecordWords
from memoriter.store import rows
from memoriter.store.verify import verify_log
from memoriter.testing.whole import whole

EXPECTED: dict[str, Any] = json.loads((FOLDER / "expected.json").read_text(encoding="utf-8"))


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return Path(shutil.copy(FOLDER / "store.db", tmp_path / "store.db"))


def test_it_is_one_small_file() -> None:
    assert {p.name for p in FOLDER.iterdir()} == {"store.db", "store.jsonl", "expected.json"}
    assert (FOLDER / "store.db").stat().st_size < 200_000


def test_it_opens_and_verifies(store: Path) -> None:
    with memoriter.open(store, tenant="acme") as memory:
        dump = whole(log_of(memory), "acme")
        verify_log("acme", dump)
        head = dump.head
        assert (head.seq, head.positions, head.time, head.link.hex()) == (
            EXPECTED["seq"], EXPECTED["positions"], EXPECTED["time"], EXPECTED["link"],
        )  # fmt: skip
        for name in ("records", "vectors", "mentions", "edges", "agents", "tombs", "keys", "debts"):
            assert getattr(dump, name), f"{name} of the format are not covered"
        assert {v.form for v in dump.vectors} == {"unit", "f8"}
        assert memory.get("tokyo").metadata == {"deep": {"a": [1, True, None]}, "rating": 4.5}
        assert [r.summary for r in memory.history("sea")] == [None, "Ana, sea"]
        assert {(e.source, e.target, e.weight) for e in memory.links("sea")} == {
            ("sea", "tokyo", 0.75)
        }
        assert memory.agents.get("bot").aliases == ("deployer",)


def test_it_answers_as_it_did(store: Path) -> None:
    with memoriter.open(store, tenant="acme") as memory:
        assert alike(answers(memory), EXPECTED["answers"])


def test_it_is_read_without_being_brought_forward(store: Path) -> None:
    before = store.read_bytes()
    with memoriter.open(store, tenant="acme", read_only=True) as memory:
        assert alike(answers(memory), EXPECTED["answers"])
    assert store.read_bytes() == before
    memoriter.open(store, tenant="acme").close()
    db = apsw.Connection(str(store))
    assert db.pragma("user_version") == 2
    db.close()


def test_it_goes_on(store: Path) -> None:
    with memoriter.open(store, tenant="acme") as memory:
        again = memory.remember(
            "Prod SSH port is 22", id="old", kind="fact", tags=["ops"], key="first"
        )
        assert again.seq < EXPECTED["seq"]
        with pytest.raises(memoriter.Conflict):
            memory.remember("Another", key="first")
        assert memory.maintain().embedded == 2
        more = memory.remember("a new one")
        assert memory.get(more.id).position == EXPECTED["positions"]
        verify_log("acme", whole(log_of(memory), "acme"))


def test_its_export_loads(store: Path, tmp_path: Path) -> None:
    with (
        memoriter.open(store, tenant="acme") as original,
        memoriter.open(tmp_path / "copy.db", tenant="acme") as copy,
    ):
        copy.load(FOLDER / "store.jsonl")
        ours, theirs = whole(log_of(copy), "acme"), whole(log_of(original), "acme")
        assert replace(ours, words=[]) == replace(theirs, words=[])
        assert alike(answers(copy), EXPECTED["answers"])
        copy.export(tmp_path / "again.jsonl")
        lines = (tmp_path / "again.jsonl").read_bytes().splitlines()
        first, *rows, _ = (FOLDER / "store.jsonl").read_bytes().splitlines()
        assert lines[1:-1] == rows
        assert json.loads(lines[0]) == {**json.loads(first), "memoriter": 2}


def test_no_word_of_what_was_forgotten_is_left() -> None:
    for name in ("store.db", "store.jsonl"):
        content = (FOLDER / name).read_bytes()
        assert b"secret to be" not in content
        assert b"Eve" not in content


def test_the_header_of_the_file(store: Path) -> None:
    db = apsw.Connection(str(store))
    assert db.pragma("application_id") == 0x4D454D4F
    assert db.pragma("user_version") == 1
    assert db.pragma("integrity_check") == "ok"
    db.close()


@pytest.mark.parametrize("pragma", ["user_version", "application_id"])
def test_what_is_newer_or_not_ours_is_refused_untouched(store: Path, pragma: str) -> None:
    db = apsw.Connection(str(store))
    db.pragma("journal_mode", "delete")
    db.pragma(pragma, 3)
    db.close()
    before = store.read_bytes()
    with pytest.raises(memoriter.Unsupported):
        memoriter.open(store)
    assert store.read_bytes() == before


# --- bytes, written down once ----------------------------------------------------------------

SALT = bytes(range(16))


def test_bytes_of_values() -> None:
    assert (
        canonical({"é": [1, 2.5, None, True], "a": {}}) == '{"a":{},"é":[1,2.5,null,true]}'.encode()
    )
    assert digest("tag", b"one", b"").hex() == PINS["digest"]
    assert checksum(b"one", b"two").hex() == PINS["checksum"]
    content = Content(
        text="hi", tags=("a",), source=Source(path="p"), created=to_datetime(5), metadata={"x": 1}
    )
    assert encode("id", content).decode() == PINS["record"]
    words = RecordWords(("a", "b"), ("a", "bs"), (2, 1), ((0, 1), (1,)))
    assert words.encode().hex() == PINS["words"]
    placed = RecordWords(("a",), ("a",), (1, 0), ((0, 0), ()), ((0, 100), ()))
    assert placed.encode().hex() == PINS["placed words"]


def test_bytes_of_rows() -> None:
    record = rows.RecordRow(7, 3, "id", 9, SALT, b"{}")
    edge = rows.EdgeRow(8, 3, 4, SALT, b"{}")
    vector = rows.VectorRow(9, 7, 0, "given:1", "f8", b"\0" * 8, b"")
    bytes_of = {
        "record digest": rows.record_digest("acme", record),
        "edge digest": rows.edge_digest("acme", edge),
        "vector digest": rows.vector_digest("acme", vector, SALT),
        "agent digest": rows.agent_digest("acme", rows.AgentRow(1, "bot", SALT, b"{}")),
        "tomb digest": rows.tomb_digest("acme", rows.TombRow(1, SALT, b"{}")),
        "genesis": rows.genesis("acme"),
        "chain": rows.next_link(rows.genesis("acme"), 7, rows.RECORD, bytes(32)),
        "words sum": rows.words_sum("acme", 7, "w/1", b"body"),
        "vector sum": rows.vector_sum(
            "acme", rows.VectorRow(9, 7, 0, "given:1", "f8", b"body", b"")
        ),
        "mention sum": rows.mention_sum("acme", 9, 7, "Ana"),
    }
    assert {name: value.hex() for name, value in bytes_of.items()} == {
        name: PINS[name] for name in bytes_of
    }
    kinds = (rows.RECORD, rows.EDGE, rows.VECTOR, rows.TOMBSTONE, rows.AGENT)
    assert kinds == (1, 2, 3, 4, 5)


PINS = {
    "digest": "fff26561401cb4035199027609f321930facc42a6f2f4705f24166028f2f840a",
    "checksum": "25b6746d5172ed63",
    "record": (
        '{"created":5,"id":"id","metadata":{"x":1},"source":{"path":"p"},"tags":["a"],"text":"hi"}'
    ),
    "words": (
        "010002000200000002000000030000000400000002000000020000000100000001000000610a6261"
        "0a6273000001000100"
    ),
    "placed words": (
        "01020200010000000100000001000000010000000200000001000000000000000000000061610000"
        "000000006400"
    ),
    "record digest": "404120c45b903f89fa6053e72a8842cbcc290af635154f1c0d3c8d25f7df740f",
    "edge digest": "b954dec40c111f9e321685e6e99e25f63f8a57b79d2384df915924b899fec2b9",
    "vector digest": "95fbf10f8436dd5958e6c7b37a841ce348dfbdff250dd158732e87a5e522ff67",
    "agent digest": "ae3c449c75d668cb14ef7cea7579d6ee21176fece79db415170c6babfe0cda3f",
    "tomb digest": "95e956f8f64f47d5ebcd4c2806eb2374e0862e3becbbed2705b4294c3db12adb",
    "genesis": "b252f45572f0703c5cfca2aa299be1b2213d63ae304e05891b4063056290f516",
    "chain": "7ec58340ae379b3b3ba5e024be8bc1c67b43bfbef74b503189c340e453350885",
    "words sum": "d8649dac26618273",
    "vector sum": "02e417096ced95be",
    "mention sum": "0b0da3e1db325220",
}
