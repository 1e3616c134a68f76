"""The plugin files: they follow from one table, and the real validators accept them.

Checked with copies of the published schemas: Agent Plugins, the registry of MCP servers, mcpb
(`schemas/`, whose README has origin and licence). By the hosts' own programs: Claude Code (plugin,
marketplace), Gemini (extension), mcpb (manifest). Cursor and Codex publish neither.
"""

from __future__ import annotations

import hashlib
import json
import zipfile
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from tests.hosts.programs import call, program
from tools.plugins import GITHUB, MARKER, ROOT, as_text, bundle, files, version

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
SCHEMAS = {
    f"{AGENT}/plugin.json": "agent-plugins-1.0.0/plugin.schema.json",
    f"{AGENT}/mcp.json": "agent-plugins-1.0.0/mcp.schema.json",
    "server.json": "mcp-registry-2025-12-11/server.schema.json",
    "plugins/mcpb/manifest.json": "mcpb-0.4/manifest.schema.json",
}
DIGESTS = {
    "agent-plugins-1.0.0/mcp.schema.json": "6539175bfcdf4308",
    "agent-plugins-1.0.0/plugin.schema.json": "0a4aad95ce337878",
    "mcp-registry-2025-12-11/server.schema.json": "3fba09590c99f617",
    "mcpb-0.4/manifest.schema.json": "068557824c651d6d",
}
"""How the SHA-256 of each published file begins."""


def errors(name: str, content: dict[str, Any]) -> list[str]:
    """What a published schema says against a file's content."""
    text = (Path(__file__).parent / "schemas" / SCHEMAS[name]).read_text(encoding="utf-8")
    schema = json.loads(text)
    validator = jsonschema.validators.validator_for(schema)
    validator.check_schema(schema)
    return [each.message for each in validator(schema).iter_errors(content)]


@pytest.mark.parametrize("name", DIGESTS)
def test_a_schema_is_the_published_one(name: str) -> None:
    content = (Path(__file__).parent / "schemas" / name).read_bytes()
    assert hashlib.sha256(content).hexdigest().startswith(DIGESTS[name])


@pytest.mark.parametrize("name", SCHEMAS)
def test_a_file_follows_its_published_schema(name: str) -> None:
    assert errors(name, plain(name)) == []


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        (f"{AGENT}/plugin.json", {"hooks": "./hooks.json"}),
        (f"{AGENT}/plugin.json", {"name": "Memoriter"}),
        (f"{AGENT}/mcp.json", {"mcpServers": {"m": {"command": "uvx"}}}),
        ("server.json", {"description": "x" * 101}),
        ("server.json", {"name": "memoriter"}),
        ("server.json", {"packages": [{"registryType": "pypi"}]}),
        ("plugins/mcpb/manifest.json", {"server": {"type": "ruby"}}),
        ("plugins/mcpb/manifest.json", {"author": "us"}),
    ],
)
def test_a_wrong_file_breaks_its_schema(name: str, wrong: dict[str, Any]) -> None:
    assert errors(name, {**plain(name), **wrong})


def test_what_the_text_of_agent_plugins_asks_beyond_its_schema() -> None:
    """The command is one token, and no placeholder is expanded in it."""
    for server in plain(f"{AGENT}/mcp.json")["mcpServers"].values():
        assert server["command"].split() == [server["command"]]
        assert "$" not in server["command"]


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
