"""The rules of two published schemas, written as models: no package brings these schemas along.

Agent Plugins 1.0.0 (`plugin.schema.json`, `mcp.schema.json`) and the registry of MCP servers
(`server.schema.json` of 2025-12-11), with their required fields, closed objects, lengths and
patterns. Of the registry's schema only what our entry uses is here, and it is closed, so that a
field beyond that fails until its rules are added.
"""

from __future__ import annotations

import re
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel


def _fits(pattern: str) -> AfterValidator:
    # pydantic's own patterns know no lookahead.
    def check(text: str) -> str:
        assert re.search(pattern, text), f"{text!r} does not fit {pattern}"
        return text

    return AfterValidator(check)


class Closed(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, alias_generator=to_camel)


class Author(Closed):
    name: str | None = None
    email: str | None = None
    url: str | None = None


PluginName = Annotated[
    str,
    Field(min_length=1, max_length=64),
    _fits(r"^(?!.*(?:--|\.\.))[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?$"),
]


class AgentPlugin(Closed):
    """plugin.json of Agent Plugins 1.0.0."""

    schema_: Literal["https://agent-plugins.org/schemas/1.0.0/plugin.schema.json"] = Field(
        alias="$schema"
    )
    name: PluginName
    version: str | None = None
    description: str | None = None
    author: Author | None = None
    homepage: str | None = None
    repository: str | None = None
    license: str | None = None
    keywords: list[str] | None = None
    extensions: dict[str, dict[str, object]] | None = None


class StdioServer(Closed):
    type: Literal["stdio"]
    command: Annotated[str, Field(min_length=1), _fits(r"^\S+$")]
    """One token; no placeholder is expanded in it."""
    args: list[str] = []
    env: dict[Annotated[str, _fits(r"^(?!PLUGIN_(?:ROOT|DATA)$)")], str] = {}
    cwd: Annotated[str, _fits(r"^(?:\./|\$\{PLUGIN_(?:ROOT|DATA)\}(?:/|$))")] | None = None


class AgentServers(Closed):
    """mcp.json of Agent Plugins 1.0.0, with servers over stdin and stdout."""

    schema_: Literal["https://agent-plugins.org/schemas/1.0.0/mcp.schema.json"] = Field(
        alias="$schema"
    )
    mcp_servers: dict[str, StdioServer]


class Positional(Closed):
    type: Literal["positional"]
    value: str


class Flag(Closed):
    type: Literal["named"]
    name: str
    value: str


class Transport(Closed):
    type: Literal["stdio"]


class Package(Closed):
    registry_type: Literal["pypi"]
    identifier: str
    version: Annotated[str, Field(min_length=1), _fits(r"^\d+\.\d+\.\d+$")]
    """A version, no range."""
    runtime_hint: str
    runtime_arguments: list[Positional | Flag] = []
    package_arguments: list[Positional | Flag] = []
    transport: Transport


class Repository(Closed):
    url: Annotated[str, _fits(r"^https://")]
    source: str


class RegistryEntry(Closed):
    """server.json of the registry of MCP servers."""

    schema_: Annotated[
        str,
        _fits(
            r"^https://static\.modelcontextprotocol\.io/schemas/2025-12-11/server\.schema\.json$"
        ),
    ] = Field(alias="$schema")
    name: Annotated[
        str, Field(min_length=3, max_length=200), _fits(r"^[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+$")
    ]
    title: Annotated[str, Field(min_length=1, max_length=100)]
    description: Annotated[str, Field(min_length=1, max_length=100)]
    version: Annotated[str, Field(max_length=255)]
    repository: Repository
    packages: list[Package]
