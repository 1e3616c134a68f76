"""Vectors in one byte a number are stored and searched on a server as elsewhere."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.in_bytes import ByteEmbedder
from tests.inside import log_of, view_of

import memoriter
from memoriter.testing.fakes import CountedEntropy, HandClock


def test_a_server_keeps_them_in_bytes_and_answers_as_a_file_does(url: str, tmp_path: Path) -> None:
    out = list[Any]()
    for place in (url, tmp_path / "m.db"):
        with memoriter.open(
            place, embedder=ByteEmbedder(), clock=HandClock(), entropy=CountedEntropy(),
            maintenance="manual", flush_rows=8,
        ) as memory:  # fmt: skip
            for n in range(40):
                memory.remember(f"note {n} about the port {n % 7} of the sea", id=f"r{n}")
            memory.maintain()
            memory.remember("the last port", id="last")
            made = [memory.recall(text, 30, now="2026-10-01") for text in ("port of the sea", "3")]
            matrices = [s.arrays["vectors.matrix"].dtype.str for s in view_of(memory).segments]
            bodies = [v.body for row in range(100) for v in log_of(memory).vectors("default", row)]
            out.append((matrices, bodies, [each.receipt.to_dict() for each in made]))
    assert out[0] == out[1]
    assert set(out[0][0]) == {"|i1"}
    assert {len(body) for body in out[0][1]} == {65}
