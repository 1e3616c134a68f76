"""Commands on the store: agents, status, calibration, and where a setting comes from."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.e2e.commands import Cli


def test_the_registry_of_agents(cli: Cli) -> None:
    cli(
        "agents",
        "upsert",
        "bot",
        "--name",
        "Bot",
        "--owner",
        "ana",
        "--description",
        "ships releases",
        ok=True,
    )
    cli("agents", "alias", "bot", "shipper", ok=True)
    assert cli("agents", "show", "bot", ok=True)["aliases"] == ["shipper"]
    assert cli("agents", "list", ok=True)["agents"][0]["owner"] == "ana"
    assert cli("agents", "search", "release", "--limit", "1", ok=True)["agents"][0]["score"] > 0
    for args in (["list"], ["show", "bot"], ["search", "release"]):
        assert "ships releases" in cli("agents", *args).stdout


def test_status_counts_what_is_there(cli: Cli) -> None:
    cli("init", ok=True)
    assert cli("init", ok=True)["made"] is False
    empty = cli("status", ok=True)
    assert (empty["records"], empty["seq"], empty["tenants"]) == (0, 0, [])
    cli("remember", "x")
    cli("remember", "y", "--tenant", "other")
    output = cli("status", ok=True)
    assert output["records"] == 1
    assert output["tenants"] == ["default", "other"]
    assert output["bytes"]["file"] > 0
    assert "last commit" in cli("status").stdout
    cli("remember", "z", "--expires", "2020-01-01")
    output = cli("status", ok=True)
    assert (output["records"], output["expired"]) == (1, 1)
    assert "1, and 1 expired" in cli("status").stdout
    assert cli("maintain", ok=True)["owed"] == 0


def test_a_space_is_calibrated_and_status_tells(cli: Cli) -> None:
    cli("remember", "x", ok=True)
    assert cli("calibrate", ok=True)["state"] == "packaged"
    assert "calibration static-en  packaged" in cli("status").stdout
    state = cli("calibrate", "--embedder", "hash", ok=True)
    assert (state["state"], state["compared"], state["texts"]) == ("committed", "probes", 150)
    assert "99.99% below" in cli("calibrate", "--embedder", "hash").stdout
    assert cli("status", "--embedder", "hash", ok=True)["calibrations"] == [state]
    assert cli("calibrate", "--space", "none such").exit_code != 0


def test_settings_come_from_flag_environment_file_and_default(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "config" / "memoriter"
    home.mkdir(parents=True)
    (home / "config.toml").write_text('store = "home.db"\nagent = "homer"\n')
    assert cli("config", "show", ok=True)["settings"]["store"]["value"] == "home.db"
    (tmp_path / "memoriter.toml").write_text('store = "here.db"\nrecipe = "lexical"\n')
    cli("remember", "kept by the settings", ok=True)
    assert (tmp_path / "here.db").exists()
    assert cli("recall", "settings", ok=True)["plan"]["recipe"] == "lexical"
    assert cli("browse", ok=True)["records"][0]["agent"] == "homer"
    monkeypatch.setenv("MEMORITER_STORE", "env.db")
    settings = cli("config", "show", "--tenant", "t", ok=True)["settings"]
    assert settings["store"] == {"value": "env.db", "origin": "MEMORITER_STORE"}
    assert settings["recipe"] == {"value": "lexical", "origin": "memoriter.toml"}
    assert settings["agent"]["origin"].endswith("config.toml")
    assert settings["tenant"] == {"value": "t", "origin": "--tenant"}
    assert settings["user"] == {"value": None, "origin": "default"}
    assert "MEMORITER_STORE" in cli("config", "show", "--origin").stdout


def test_a_reranker_comes_from_a_flag_the_environment_or_a_file(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cli("remember", "a red bird", ok=True)
    name = "http:bge@http://localhost:1"
    for verb in ("recall", "plan"):
        cli(verb, "bird", "--reranker", name, ok=True)
        result = cli(verb, "bird", "--reranker", "best")
        assert result.exit_code == 2
        assert "there is no reranker 'best'" in result.stderr
        assert "onnx:<folder>" in result.stderr
    (tmp_path / "memoriter.toml").write_text(f'reranker = "{name}#tei"\n')
    setting = cli("config", "show", ok=True)["settings"]["reranker"]
    assert setting == {"value": f"{name}#tei", "origin": "memoriter.toml"}
    monkeypatch.setenv("MEMORITER_RERANKER", "onnx:nowhere")
    assert cli("recall", "bird").exit_code == 3
    cli("browse", ok=True)  # what asks nothing needs no reranker


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('stor = "x"', "did you mean store?"),
        ("store = 7", "expected text"),
        ("store =", "not valid TOML"),
        ('store = "a\\u0000b"', "NUL"),
    ],
)
def test_a_bad_settings_file_is_named(text: str, message: str, cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "memoriter.toml").write_text(text)
    result = cli("status")
    assert result.exit_code == 2
    assert "memoriter.toml" in result.stderr
    assert message in result.stderr
