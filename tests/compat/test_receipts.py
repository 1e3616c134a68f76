"""Receipts saved by the first release verify in every later one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.compat.make_receipts import ASKS, FOLDER, receipts

import memoriter
from memoriter.pipeline.load import library

SAVED = sorted(FOLDER.glob("*.json"))


def test_there_is_one_for_each_recipe_and_each_kind_of_fusion() -> None:
    assert {path.stem for path in SAVED} >= {f"v2-{name}" for name in ASKS}
    assert set(library()) <= set(ASKS)


@pytest.mark.parametrize("path", SAVED, ids=lambda path: path.stem)
def test_a_saved_receipt_verifies(path: Path) -> None:
    report = memoriter.verify(path)
    assert report.ok, report.problems
    assert report.checked


@pytest.mark.parametrize("path", SAVED, ids=lambda path: path.stem)
def test_a_saved_receipt_with_one_hit_less_does_not(path: Path) -> None:
    body = json.loads(path.read_bytes())
    body["hits"].pop()
    assert not memoriter.verify(body).ok


def test_what_is_made_today_verifies_too() -> None:
    assert all(memoriter.verify(body).ok for body in receipts().values())
