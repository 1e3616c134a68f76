"""The plugin files: they follow from one table, and the real validators accept them.

Checked by the hosts' own programs: Claude Code (plugin, marketplace), Gemini (extension), mcpb
(manifest). Agent Plugins and the registry publish schemas that no package brings along: their
rules are models in `schemas.py`. Cursor and Codex have no validator.
"""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel, ValidationError
from tests.hosts.schemas import AgentPlugin, AgentServers, RegistryEntry
from tests.hosts.test_programs import call, home, program
from tools.plugins import GITHUB, MARKER, ROOT, as_text, bundle, files, version

__all__ = ["home"]

MADE = files()


@pytest.mark.parametrize("name", MADE)
def test_a_file_is_as_the_table_says(name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    assert text == as_text(MADE[name]), "run: make format"


def test_every_version_is_that_of_the_package() -> None:
    assert all(
        each["version"] == version()
        for each in MADE.values()
        if "version" in each and isinstance(each, dict) and each.get("version") != 1
    )


def plain(name: str) -> dict[str, Any]:
    content = MADE[name]
    assert isinstance(content, dict)
    return content


AGENT = "plugins/agent-plugin"
SCHEMAS: list[tuple[str, type[BaseModel]]] = [
    (f"{AGENT}/plugin.json", AgentPlugin),
    (f"{AGENT}/mcp.json", AgentServers),
    ("server.json", RegistryEntry),
]


@pytest.mark.parametrize(("name", "schema"), SCHEMAS)
def test_a_file_follows_the_rules_of_its_published_schema(
    name: str, schema: type[BaseModel]
) -> None:
    schema.model_validate(plain(name))


@pytest.mark.parametrize(
    ("name", "schema", "wrong"),
    [
        (f"{AGENT}/plugin.json", AgentPlugin, {"hooks": "./hooks.json"}),
        (f"{AGENT}/plugin.json", AgentPlugin, {"name": "Memoriter"}),
        (f"{AGENT}/mcp.json", AgentServers, {"mcpServers": {"m": {"command": "uvx"}}}),
        ("server.json", RegistryEntry, {"description": "x" * 101}),
        ("server.json", RegistryEntry, {"name": "memoriter"}),
    ],
)
def test_a_wrong_file_breaks_the_rules(
    name: str, schema: type[BaseModel], wrong: dict[str, Any]
) -> None:
    with pytest.raises(ValidationError):
        schema.model_validate({**plain(name), **wrong})


def test_a_skill_has_the_name_of_its_folder() -> None:
    skills = [name for name in MADE if name.endswith("SKILL.md")]
    assert len(skills) == 5
    for name in skills:
        assert str(MADE[name]).startswith(f"---\nname: {Path(name).parent.name}\n")


def test_the_repository_is_named_in_one_place() -> None:
    """Everything that names it follows from `GITHUB`, the marker of the registry too."""
    owned = plain("server.json")
    assert owned["name"] == f"io.github.{GITHUB}"
    assert owned["packages"][0]["version"] == owned["version"]
    assert (ROOT / "README.md").read_text("utf-8").count(MARKER) == 1
    for name in MADE:
        text = as_text(MADE[name]).replace(f"https://github.com/{GITHUB}", "")
        assert "github.com" not in text, name


def test_hooks_and_server_of_a_plugin_use_one_store() -> None:
    for host in ("claude-code", "codex", "gemini", "cursor"):
        texts = [
            json.dumps(each) for name, each in MADE.items() if name.startswith(f"plugins/{host}/")
        ]
        assert sum(text.count("~/.memoriter.db") for text in texts) >= 3


def test_the_bundle_is_the_same_every_time(tmp_path: Path) -> None:
    for name in ("one.mcpb", "two.mcpb"):
        bundle(tmp_path / name)
    assert (tmp_path / "one.mcpb").read_bytes() == (tmp_path / "two.mcpb").read_bytes()
    with zipfile.ZipFile(tmp_path / "one.mcpb") as packed:
        assert packed.namelist() == ["manifest.json", "server/main.py"]


@pytest.mark.parametrize(
    ("name", "words", "says"),
    [
        ("claude", ("plugin", "validate", "plugins/claude-code"), "Validation passed"),
        ("claude", ("plugin", "validate", "."), "Validation passed"),
        ("gemini", ("extensions", "validate", "plugins/gemini"), "successfully validated"),
        ("mcpb", ("validate", "plugins/mcpb/manifest.json"), "validation passes"),
    ],
)
@pytest.mark.usefixtures("home")
def test_the_validator_of_a_host_accepts_it(
    name: str, words: tuple[str, ...], says: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    assert says in call(program(name), *words, errors=True)
