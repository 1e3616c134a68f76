"""The command line inside the process of the test; `test_cli.py` has it as a process of its own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.e2e.commands import Cli
from typer.testing import CliRunner

from memoriter.doors.cli.main import app


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cli:
    """Runs a command in an empty folder; with `ok` it must succeed and its JSON comes back."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    for name in ("STORE", "TENANT", "RECIPE", "RERANKER", "AGENT", "USER", "SESSION", "DEBUG"):
        monkeypatch.delenv(f"MEMORITER_{name}", raising=False)

    def call(*args: str, ok: bool = False, stdin: str | bytes | None = None) -> Any:
        result = CliRunner().invoke(app, [*args, "--json"] if ok else list(args), input=stdin)
        if not ok:
            return result
        assert result.exit_code == 0, result.stderr
        return json.loads(result.stdout)

    return call
