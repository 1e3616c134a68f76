"""The segment files of this format: read as they are, and written byte for byte the same."""

from __future__ import annotations

import json
import logging
import shutil
from pathlib import Path

import pytest
from tests.compat.alike import alike
from tests.compat.make_segments import FOLDER, publish, segments
from tests.compat.make_v1 import answers

import memoriter
from memoriter.index.spaces import SEGMENT_FORMAT


def test_the_number_of_the_format() -> None:
    assert SEGMENT_FORMAT == 9, "add a folder for the new format, and keep the earlier ones"


def test_it_is_read_and_answers_as_it_did(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    shutil.copytree(FOLDER, tmp_path, dirs_exist_ok=True)
    expected = json.loads((FOLDER / "expected.json").read_text(encoding="utf-8"))
    with (
        caplog.at_level(logging.WARNING),
        memoriter.open(tmp_path / "store.db", tenant="acme", read_only=True) as memory,
    ):
        assert memory.status().segments == 2
        assert alike(answers(memory), expected)
    assert caplog.records == []  # a segment that cannot be read is named, and the log read instead


def test_the_same_log_gives_the_same_bytes(tmp_path: Path) -> None:
    publish(tmp_path / "store.db")
    assert segments(tmp_path / "store.db") == segments(FOLDER / "store.db")
    assert len(segments(FOLDER / "store.db")) == 2


def test_an_index_of_an_earlier_format_is_built_again_from_the_log(tmp_path: Path) -> None:
    for earlier in set(FOLDER.parent.iterdir()) - {FOLDER}:
        shutil.copytree(earlier, tmp_path / earlier.name)
        store = tmp_path / earlier.name / "store.db"
        expected = json.loads((FOLDER / "expected.json").read_text(encoding="utf-8"))
        for read_only in (True, False):
            with memoriter.open(store, tenant="acme", read_only=read_only) as memory:
                assert alike(answers(memory), expected)
