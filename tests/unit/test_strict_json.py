"""A key that comes twice in an object is refused wherever JSON of others is read."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

import memoriter
from memoriter.core.errors import InputError
from memoriter.core.strict_json import DuplicateKey, strict_json
from memoriter.doors.cli.main import app
from memoriter.doors.mcp.stdio import LINE_LIMIT, parse_line

TWICE = '{"text": "one", "id": "a", "text": "two"}'


@pytest.mark.parametrize(
    "text", ['{"a": 1, "a": 1}', '[{"a": {"b": 1, "b": 2}}]', '{"\\u0061": 1, "a": 2}']
)
def test_the_key_is_named(text: str) -> None:
    with pytest.raises(DuplicateKey, match=r'the key "[ab]" comes twice'):
        strict_json(text)
    with pytest.raises(ValueError, match="nested"):
        strict_json("[" * 100_000)


@pytest.mark.parametrize("ending", [".jsonl", ".json"])
def test_an_import_names_the_row_and_keeps_the_others(tmp_path: Path, ending: str) -> None:
    file = tmp_path / f"rows{ending}"
    rows = [json.dumps({"text": "fine"}), TWICE]
    file.write_text("\n".join(rows) if ending == ".jsonl" else f"[{', '.join(rows)}]")
    with memoriter.open(tmp_path / "m.db") as memory:
        if ending == ".json":  # one value: it is read whole or not at all
            with pytest.raises(InputError, match="comes twice"):
                memory.import_file(file)
            assert memory.status().records == 0
            return
        imported = memory.import_file(file)
        assert memory.status().records == 1
        assert "comes twice" in str(imported.to_dict())


def test_the_command_line_refuses_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMORITER_STORE", str(tmp_path / "m.db"))
    run = CliRunner().invoke
    assert run(app, ["remember", "the ssh port"]).exit_code == 0
    for options in (
        ["--where", '{"kind": "a", "kind": "b"}'],
        ["--override", 'lanes.words={"k1": 1, "k1": 2}'],
    ):
        done = run(app, ["recall", "ssh", *options])
        assert (done.exit_code, "comes twice" in done.stderr) == (2, True), done.stderr


def test_a_line_of_mcp_is_refused() -> None:
    line = b'{"jsonrpc": "2.0", "id": 1, "method": "ping", "method": "tools/list"}\n'
    refused = parse_line(line, LINE_LIMIT)
    assert refused is not None
    assert "comes twice" in refused.model_dump_json()
    fine = parse_line(b'{"jsonrpc": "2.0", "id": 1, "method": "ping"}\n', LINE_LIMIT)
    assert fine is not None
    assert "error" not in fine.model_dump()


def test_the_hook_refuses_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMORITER_STORE", str(tmp_path / "m.db"))
    done = CliRunner().invoke(app, ["hooks", "recall"], input='{"prompt": "a", "prompt": "b"}')
    assert "comes twice" in done.stderr
