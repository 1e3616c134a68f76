"""`memoriter verify`: a receipt at the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

import memoriter
from memoriter.doors.cli.main import app


@pytest.fixture
def receipt(tmp_path: Path) -> Path:
    with memoriter.open(":memory:") as memory:
        memory.remember("Prod SSH port is 49222")
        memory.recall("ssh port").receipt.save(tmp_path / "receipt.json")
    return tmp_path / "receipt.json"


def test_a_receipt_that_follows_ends_with_0(receipt: Path) -> None:
    done = CliRunner().invoke(app, ["verify", str(receipt)])
    assert done.exit_code == 0, done.stderr
    assert done.stdout.splitlines()[0] == "verified"
    every = CliRunner().invoke(app, ["verify", str(receipt), "--all"]).stdout
    assert "  slate/columns/fuse.words" in every.splitlines()


def test_one_that_does_not_ends_with_9_and_says_where(receipt: Path) -> None:
    body = json.loads(receipt.read_bytes())
    body["hits"] = ["somebody else"]
    receipt.write_text(json.dumps(body))
    done = CliRunner().invoke(app, ["verify", str(receipt)])
    assert done.exit_code == 9
    assert done.stdout.splitlines()[0] == "NOT verified"
    assert "wrong: hits: is ['somebody else']" in done.stdout
    as_json = CliRunner().invoke(app, ["verify", str(receipt), "--json"])
    assert as_json.exit_code == 9
    assert json.loads(as_json.stdout)["ok"] is False


def test_json_lists_what_was_derived_and_what_is_attested(receipt: Path) -> None:
    answer = json.loads(CliRunner().invoke(app, ["verify", str(receipt), "--json"]).stdout)
    assert answer["ok"] is True
    assert "digest" in answer["checked"]
    assert "view" in answer["attested"]


def test_what_is_no_receipt_ends_with_2_and_a_hint(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text("{}")
    for name in ("x.json", "nothing.json"):
        done = CliRunner().invoke(app, ["verify", str(tmp_path / name)])
        assert done.exit_code == 2
        assert "hint: " in done.stderr
        assert "Traceback" not in done.output
