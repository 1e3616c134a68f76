"""A receipt binds everything that made an answer."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from memoriter.core.canonical import canonical, digest
from memoriter.core.errors import BadQuery, Corrupt
from memoriter.memory.facade import Memory
from memoriter.why.read_receipt import read_receipt
from memoriter.why.receipt import sealed


def test_the_envelope(memory: Memory) -> None:
    memory.remember("ssh port", id="a")
    memory.remember("a port of call", id="b")
    result = memory.recall("port", limit=1, where={"kind": "note"}, as_of="2026-10-01")
    body = json.loads(result.receipt.to_bytes())
    assert set(body) >= {
        "receipt",
        "recipe",
        "query",
        "view",
        "digest",
        "outcomes",
        "slate",
        "hits",
    }
    assert body["receipt"] == 2
    assert body["view"] == {"tenant": "default", "seq": result.plan.seq}
    assert body["recipe"]["fingerprint"] == result.plan.recipe.fingerprint
    assert body["query"]["where"] == {"kind": {"eq": "note"}}
    assert body["query"]["as_of"] == "2026-10-01T00:00:00Z"
    assert body["hits"] == [result[0].id]
    assert sorted(body["slate"]["ids"]) == ["a", "b"]
    assert len(body["outcomes"]["vector"]) > 100
    assert result.receipt.to_bytes() == canonical(body)


def test_the_digest_covers_all_the_rest(memory: Memory) -> None:
    memory.remember("ssh port")
    body = dict(memory.recall("port").receipt.body)
    sealed_as = body.pop("digest")
    assert sealed_as == digest("memoriter/receipt/2", canonical(body)).hex()
    pinned = "bc5c7c6b3c8ddf87c3f0397648d1aba238496e405e73d196a866065e7adeb962"
    assert sealed({"a": 1}).digest == pinned
    for key in body:
        assert sealed({**body, key: "changed"}).digest != sealed_as


def test_a_receipt_survives_its_file(memory: Memory, tmp_path: Path) -> None:
    memory.remember("ssh port 東京")
    receipt = memory.recall("port 東京").receipt
    receipt.save(tmp_path / "r.json")
    again = read_receipt(tmp_path / "r.json")
    assert again.to_bytes() == receipt.to_bytes()
    assert again.digest == receipt.digest


@pytest.mark.parametrize("path", ["query.text", "view.seq", "hits", "slate.rows", "digest"])
def test_tampering_is_noticed(memory: Memory, tmp_path: Path, path: str) -> None:
    memory.remember("ssh port")
    body = json.loads(memory.recall("port").receipt.to_bytes())
    holder = body
    *keys, last = path.split(".")
    for key in keys:
        holder = holder[key]
    holder[last] = "changed"
    (tmp_path / "r.json").write_bytes(canonical(body))
    with pytest.raises(Corrupt):
        read_receipt(tmp_path / "r.json")


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"[]",
        b"5",
        b"{}",
        b'{"receipt": 1}',
        b"\xff\xfe",
        b'{"receipt":1,"x":NaN}',
        b"[" * 99_999,
    ],
)
def test_what_is_no_receipt(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "r.json").write_bytes(content)
    with pytest.raises(BadQuery):
        read_receipt(tmp_path / "r.json")
    with pytest.raises(BadQuery):
        read_receipt(tmp_path / "nothing.json")
