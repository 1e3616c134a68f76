"""The plugin files: they follow from one table, and the real validators accept them.

Checked by the hosts' own programs: Claude Code (plugin, marketplace), Gemini (extension), mcpb
(manifest). Agent Plugins and the registry publish schemas that no package brings along: their
fields are compared with the specification's lists here. Cursor and Codex have no validator.
"""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
from tests.hosts.test_programs import call, home, program
from tools.plugins import ABOUT, ROOT, as_text, bundle, files, version

__all__ = ["home"]

MADE = files()
AGENT_PLUGIN = {
    "$schema", "name", "version", "description", "author", "homepage", "repository", "license",
    "keywords", "extensions",
}  # fmt: skip
"""All fields of plugin.json in Agent Plugins 1.0: the schema is closed."""


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


def test_the_agent_plugin_has_the_fields_of_its_specification() -> None:
    folder = "plugins/agent-plugin"
    assert set(plain(f"{folder}/plugin.json")) <= AGENT_PLUGIN
    (server,) = plain(f"{folder}/mcp.json")["mcpServers"].values()
    assert set(server) == {"type", "command", "args"}
    assert " " not in server["command"]
    skill = str(MADE[f"{folder}/skills/memory/SKILL.md"])
    assert skill.startswith("---\nname: memory\n")


def test_the_registry_entry_has_the_fields_of_its_schema() -> None:
    entry = plain("server.json")
    assert set(entry) == {
        "$schema", "name", "title", "description", "version", "repository", "packages",
    }  # fmt: skip
    assert len(ABOUT) <= 100
    assert entry["name"].startswith("io.github.")
    assert entry["packages"][0]["version"] == entry["version"]


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
