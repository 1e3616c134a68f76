"""Requests that cost a server much if it works before it looks: each a path and a body."""

from __future__ import annotations

import functools
import json
from typing import Any

import memoriter

ROWS = 3_000
_UNIT = "AACAPw=="
"""A vector of one number, 1.0."""


def long_mmr(rows: int = ROWS, tenant: str = "default") -> dict[str, Any]:
    """A receipt whose `mmr` compares all of its rows with each other; its digest is wrong."""
    with memoriter.open(":memory:", embedder="given:2", tenant=tenant) as memory:
        memory.remember("port", vector=[1.0, 0.0])
        order = {"order": [{"kind": "mmr", "head": 10_000}]}
        result = memory.recall("port", 1, vector=[1.0, 0.0], overrides=order)
        body: dict[str, Any] = json.loads(result.receipt.to_bytes())
    slate, move = body["slate"], body["moves"][0]
    slate["rows"] = list(range(1, rows + 1))
    slate["ids"] = [str(row) for row in slate["rows"]]
    for column in (*slate["columns"].values(), *move["beside"].values()):
        ((unit, values),) = column.items()
        column[unit] = values * rows
    move["kept"] = list(range(rows))
    body["vectors"]["units"] = dict.fromkeys(slate["ids"], _UNIT)
    body["query"]["limit"] = 1
    return body


def many_hits(hits: int = 100_000) -> dict[str, Any]:
    """A receipt with so many hits that are no candidates, under its right digest."""
    with memoriter.open(":memory:") as memory:
        memory.remember("port")
        body: dict[str, Any] = json.loads(memory.recall("port", 1).receipt.to_bytes())
    body["hits"] = [str(n) for n in range(hits)]
    return _sealed(body)


def _sealed(body: dict[str, Any]) -> dict[str, Any]:
    from memoriter.why.receipt import sealed  # noqa: PLC0415  # as a forger would, by hand

    return sealed({key: value for key, value in body.items() if key != "digest"}).to_dict()


@functools.cache
def bodies() -> dict[str, tuple[str, bytes]]:
    """By name: the path and the body of a hostile request, each below four mebibytes."""
    of: dict[str, tuple[str, Any]] = {
        "a receipt with a long mmr": ("/v1/verify", {"receipt": long_mmr()}),
        "receipts with 100,000 hits": (
            "/v1/diff",
            {"before": many_hits(), "after": many_hits(99_999)},
        ),
        "a vector of 300,000 texts": ("/v1/recall", {"query": "x", "vector": ["a"] * 300_000}),
        "200,000 unknown fields": (
            "/v1/recall",
            {"query": "x", **{f"k{n}": 0 for n in range(200_000)}},
        ),
        "100,000 seeds": (
            "/v1/recall",
            {"query": "x", "recipe": "linked", "seeds": [f"s{n}" for n in range(100_000)]},
        ),
        "100,000 tests of the wrong type": (
            "/v1/recall",
            {"query": "x", "where": {"any": [1] * 100_000}},
        ),
        "memories of the wrong type": ("/v1/memories/batch", {"memories": [1] * 300_000}),
        "ids of the wrong type": ("/v1/forget", {"id": [1] * 300_000}),
    }
    return {
        name: (path, json.dumps(body, separators=(",", ":")).encode())
        for name, (path, body) in of.items()
    }
