"""A store whose vectors are bytes opens, verifies and answers as it did."""

from __future__ import annotations

import json
import logging
import shutil
from pathlib import Path

import numpy as np
import pytest
from tests.compat.alike import alike
from tests.compat.make_segments import segments
from tests.compat.make_v1 import answers
from tests.compat.make_v2 import FOLDER, publish
from tests.in_bytes import ByteEmbedder
from tests.inside import log_of, view_of

import memoriter
from memoriter.core.batch import IN_BYTES
from memoriter.store.verify import verify_log
from memoriter.testing.whole import whole

EXPECTED = json.loads((FOLDER / "expected.json").read_text(encoding="utf-8"))


def test_it_answers_from_its_log_and_its_segments_as_it_did(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    shutil.copytree(FOLDER, tmp_path, dirs_exist_ok=True)
    with (
        caplog.at_level(logging.WARNING),
        memoriter.open(
            tmp_path / "store.db", tenant="acme", embedder=ByteEmbedder(), read_only=True
        ) as memory,
    ):
        assert memory.status().segments == 2
        assert [s.arrays["vectors.matrix"].dtype for s in view_of(memory).segments] == [np.int8] * 2
        assert alike(answers(memory), EXPECTED)
        bodies = [v.body for v in whole(log_of(memory), "acme").vectors if v.form == "unit"]
        assert {each[:1] for each in bodies} == {IN_BYTES}
    assert caplog.records == []
    shutil.rmtree(tmp_path / "store.db.idx")
    with memoriter.open(tmp_path / "store.db", tenant="acme", embedder=ByteEmbedder()) as memory:
        assert alike(answers(memory), EXPECTED)
        verify_log("acme", whole(log_of(memory), "acme"))


def test_the_same_log_gives_the_same_bytes(tmp_path: Path) -> None:
    publish(tmp_path / "store.db").close()
    assert segments(tmp_path / "store.db") == segments(FOLDER / "store.db")
    assert {each[:8] for each in segments(FOLDER / "store.db").values()} == {b"MEMOSEG3"}


def test_its_export_loads_and_is_written_again_byte_for_byte(tmp_path: Path) -> None:
    with memoriter.open(tmp_path / "copy.db", tenant="acme", embedder=ByteEmbedder()) as copy:
        copy.load(FOLDER / "store.jsonl")
        assert alike(answers(copy), EXPECTED)
        copy.export(tmp_path / "again.jsonl")
    assert (tmp_path / "again.jsonl").read_bytes() == (FOLDER / "store.jsonl").read_bytes()


def test_the_header_of_the_file() -> None:
    assert int.from_bytes((FOLDER / "store.db").read_bytes()[60:64], "big") == 2  # user_version
