"""The registry of agents (`memory.agents`): names, owners, descriptions, and a search over them."""

from __future__ import annotations

import json
from typing import Any, Unpack

import numpy as np

from memoriter.core.batch import Commit
from memoriter.core.errors import BadRecord, NotFound
from memoriter.core.lazy_dataclass import dataclass
from memoriter.core.names import name
from memoriter.core.options import check_known, explained, takes
from memoriter.core.other_words import Hinting
from memoriter.core.shown import named, quoted, shown
from memoriter.memory.engine import Engine
from memoriter.memory.options import AGENT_ARGUMENTS, AgentFields
from memoriter.rank.bm25 import Bm25Params, bm25_contribution, idf
from memoriter.store.rows import RESERVED
from memoriter.write.keys import idempotency_key
from memoriter.write.writer import Writer


@dataclass(frozen=True, slots=True)
class Agent:
    """One registered agent."""

    agent: str
    display_name: str | None = None
    owner: str | None = None
    description: str | None = None
    aliases: tuple[str, ...] = ()

    def __repr__(self) -> str:
        about = quoted(self.description) if self.description else ""
        return shown(f"Agent {named(self.agent)}", about)

    @property
    def text(self) -> str:
        """All fields of the entry as one text, for the search."""
        parts = (self.agent, self.display_name, self.owner, self.description, *self.aliases)
        return " ".join(part for part in parts if part)

    def to_dict(self) -> dict[str, object]:
        """The agent as plain data."""
        out: dict[str, object] = {"agent": self.agent, "aliases": list(self.aliases)}
        for key in ("display_name", "owner", "description"):
            if (value := getattr(self, key)) is not None:
                out[key] = value
        return out


@explained(AGENT_ARGUMENTS)
class Agents(Hinting):
    """The registry of one tenant."""

    def __init__(self, engine: Engine, writer: Writer, tenant: str) -> None:
        self._engine = engine
        self._writer = writer
        self._tenant = tenant

    def __repr__(self) -> str:
        return shown(f"Agents of tenant {named(self._tenant)}")

    @takes(AgentFields)
    def upsert(self, agent: str, **options: Unpack[AgentFields]) -> Commit:
        """Register an agent, or change fields of its entry."""
        check_known(options, AgentFields, BadRecord, "agent")
        fields: dict[str, object] = {k: v for k, v in options.items() if k != "key"}
        request = [name(agent, "agent"), {field: str(value) for field, value in fields.items()}]
        key = idempotency_key("enrol", options.get("key"), request)
        return self._writer.enrol(agent, fields, key)

    def describe(self, agent: str, description: str, *, key: str | None = None) -> Commit:
        """Set the description of an agent."""
        return self.upsert(agent, key=key, description=description)

    def alias(self, agent: str, alias: str, *, key: str | None = None) -> Commit:
        """Add another name of an agent."""
        clean = name(agent, "agent")
        request_key = idempotency_key("alias", key, [clean, name(alias, "aliases")])
        known = [a for a in self.list() if a.agent == clean]
        aliases = (*(known[0].aliases if known else ()), alias)
        return self._writer.enrol(clean, {"aliases": list(dict.fromkeys(aliases))}, request_key)

    def get(self, agent: str) -> Agent:
        """The entry of one agent; raises NotFound."""
        for known in self.list():
            if known.agent == agent:
                return known
        raise NotFound(
            f"agent {agent!r} is not registered",
            hint="register it with `agents.upsert`",
            field="agent",
        )

    def list(self) -> list[Agent]:
        """All registered agents, by name."""
        # Settings of the tenant are kept in the same table, under reserved names.
        rows = self._engine.log.agents(self._tenant, 2**62)
        entries = [row for row in rows if not row.agent.startswith(RESERVED)]
        return [_agent(json.loads(row.body)) for row in entries]

    def search(self, text: str, limit: int = 10) -> list[tuple[Agent, float]]:
        """Agents whose entry shares words with the text, as (agent, BM25 score), best first."""
        analyzer = self._engine.analyzer
        agents = self.list()
        bags = [analyzer.analyse({"text": (agent.text,)}) for agent in agents]
        counts = [{term: tf for term, _, tf in bag.counts()} for bag in bags]
        lengths = [sum(bag.lengths) for bag in bags]
        mean = sum(lengths) / len(lengths) if lengths else 0.0
        scores = [0.0] * len(agents)
        for term in analyzer.terms(text):
            holders = [at for at, count in enumerate(counts) if term in count]
            for at in holders:
                tf, length = np.array([float(counts[at][term])]), np.array([float(lengths[at])])
                weight = idf(len(agents), len(holders))
                scores[at] += float(
                    bm25_contribution(tf, length, max(mean, 1.0), weight, Bm25Params())[0]
                )
        ranked = sorted((-score, agents[at].agent, at) for at, score in enumerate(scores) if score)
        return [(agents[at], -score) for score, _, at in ranked[:limit]]


def _agent(body: dict[str, Any]) -> Agent:
    return Agent(
        body["agent"],
        body.get("display_name"),
        body.get("owner"),
        body.get("description"),
        tuple(body["aliases"]),
    )
