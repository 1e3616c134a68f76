"""Large segments are checked on first use: damage is seen, and the log answers instead."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.inside import view_of

import memoriter
from memoriter.core.errors import Corrupt
from memoriter.index import file
from memoriter.index.checked import BLOCK, VECTORS

TEXTS = [f"note {n}: the port of service{n} is {n * 7}, nobody may change it" for n in range(400)]
QUESTION = "port of service17"


@pytest.fixture(autouse=True)
def _as_if_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file, "CHECKED_AT_ONCE", 0)


@pytest.fixture
def store(tmp_path: Path) -> Path:
    with memoriter.open(tmp_path / "m.db", maintenance="manual", flush_rows=1) as memory:
        memory.remember_many([{"text": text, "id": f"n{n}"} for n, text in enumerate(TEXTS)])
        memory.maintain()
    return tmp_path / "m.db"


def opened(store: Path) -> memoriter.Memory:
    return memoriter.open(store, maintenance="manual", flush_rows=1)


def answers(memory: memoriter.Memory) -> list[tuple[str, float]]:
    return [(hit.id, hit.score) for hit in memory.recall(QUESTION)]


def damage(store: Path, name: str, at: int = 0) -> None:
    """Flip one bit of an array of the only segment."""
    (path,) = Path(f"{store}.idx").glob("*.seg")
    content = bytearray(path.read_bytes())
    size = int.from_bytes(content[8:16], "little")
    header: dict[str, Any] = json.loads(bytes(content[24 : 24 + size]))
    content[header["arrays"][name]["offset"] + at] ^= 1
    path.write_bytes(bytes(content))


@pytest.mark.parametrize(
    "name", ["postings.docs", "terms.blob", "lengths", "kin.windows", "rows", VECTORS]
)
def test_damage_that_a_recall_meets_changes_no_answer(
    store: Path, name: str, caplog: pytest.LogCaptureFixture
) -> None:
    with opened(store) as memory:
        expected = answers(memory)
    damage(store, name)
    with caplog.at_level(logging.WARNING), opened(store) as memory:
        assert answers(memory) == expected
        assert "answering from the log instead" in caplog.text
        memory.maintain()
        assert memory.verify_store().derived == ()
        assert answers(memory) == expected


def test_damage_that_nobody_reads_is_found_by_verify_store(store: Path) -> None:
    damage(store, "surfaces.docs")
    with opened(store) as memory:
        assert answers(memory)
        (problem,) = memory.verify_store().derived
        assert "surfaces.docs" in problem
        assert memory.doctor().mended
        assert memory.verify_store().derived == ()


def test_only_the_blocks_of_the_vectors_that_are_read_are_checked(store: Path) -> None:
    damage(store, VECTORS, at=3 * BLOCK)
    with opened(store) as memory:
        (segment,) = view_of(memory).segments
        rows = BLOCK // (4 * segment.width)
        assert segment.vectors_at(np.array([0, rows])).shape == (2, segment.width)
        with pytest.raises(Corrupt, match="vectors"):
            segment.vectors_at(np.array([3 * rows]))
        with pytest.raises(Corrupt, match="vectors"):
            _ = segment.arrays[VECTORS]
