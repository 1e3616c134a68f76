"""agents: who writes here."""

from __future__ import annotations

from typing import Annotated

import typer

from memoriter.doors.cli.opening import opened
from memoriter.doors.cli.options import Key, Place
from memoriter.doors.cli.out import show
from memoriter.doors.cli.tree import branch, command

agents = branch("agents", "The registry of agents: who writes here, in words that can be searched.")
Agent = Annotated[
    str, typer.Argument(metavar="AGENT", help="The name of an agent.", show_default=False)
]


@command("list", "memoriter agents list", under=agents)
def list_(at: Place) -> None:
    """List all registered agents."""
    with opened(at, "read") as memory:
        found = memory.agents.list()
    from memoriter.doors.render.columns import Columns  # noqa: PLC0415  # loads the engine

    rows = [(a.agent, a.display_name or "", a.owner or "", a.description or "") for a in found]
    heads = ("agent", "name", "owner", "description")
    data = {"agents": [agent.to_dict() for agent in found]}
    show(
        data,
        lambda: Columns(heads, rows, wide=len(heads) - 1) if rows else "no agents",
        as_json=at.json,
    )


@command("show", "memoriter agents show deploy-bot", under=agents)
def show_(agent: Agent, at: Place) -> None:
    """Show what is known of an agent."""
    with opened(at, "read") as memory:
        found = memory.agents.get(agent)
    from memoriter.doors.render.plain import facts  # noqa: PLC0415  # as above

    told = {**found.to_dict(), "aliases": ", ".join(found.aliases)}
    show(found.to_dict(), lambda: facts(told), as_json=at.json)


Name = Annotated[str | None, typer.Option("--name", help="The name that people read.")]
OwnerName = Annotated[str | None, typer.Option("--owner", help="Who answers for it.")]
About = Annotated[str | None, typer.Option("--description", help="What it does.")]


@command(
    "upsert",
    'memoriter agents upsert deploy-bot --owner ana --description "ships releases"',
    under=agents,
)
def upsert(
    agent: Agent,
    at: Place,
    name: Name = None,
    owner: OwnerName = None,
    description: About = None,
    key: Key = None,
) -> None:
    """Register an agent, or change what is known of it."""
    with opened(at, "make") as memory:
        commit = memory.agents.upsert(
            agent, key=key, display_name=name, owner=owner, description=description
        )
    show(commit.to_dict(), lambda: f"registered {agent}", as_json=at.json)


Alias = Annotated[
    str, typer.Argument(metavar="ALIAS", help="Another name of it.", show_default=False)
]


@command("alias", "memoriter agents alias deploy-bot shipper", under=agents)
def alias(agent: Agent, other: Alias, at: Place, key: Key = None) -> None:
    """Add another name of a registered agent."""
    with opened(at, "change") as memory:
        memory.agents.get(agent)
        commit = memory.agents.alias(agent, other, key=key)
    show(commit.to_dict(), lambda: f"{agent} is also {other}", as_json=at.json)


Words = Annotated[
    str, typer.Argument(metavar="WORDS", help="What to look for.", show_default=False)
]
Limit = Annotated[int, typer.Option("--limit", "-n", min=1, help="How many at most.")]


@command("search", 'memoriter agents search "who ships releases"', under=agents)
def search(words: Words, at: Place, limit: Limit = 10) -> None:
    """Find agents by the words of their registry entry."""
    with opened(at, "read") as memory:
        found = memory.agents.search(words, limit)
    from memoriter.doors.render.columns import Columns  # noqa: PLC0415  # as above
    from memoriter.why.figures import figure  # noqa: PLC0415  # as above

    data = {"agents": [{**agent.to_dict(), "score": score} for agent, score in found]}
    rows = [(figure(score), agent.agent, agent.description or "") for agent, score in found]
    heads = ("score", "agent", "description")
    show(
        data,
        lambda: Columns(heads, rows, wide=len(heads) - 1) if rows else "no agents",
        as_json=at.json,
    )
