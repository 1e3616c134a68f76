"""Records: one, a page of them, its versions, its links; the agents that write them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime

from rich.console import Group, RenderableType
from rich.text import Text

from memoriter.core.edge import Edge
from memoriter.core.record import Record, content_data
from memoriter.core.times import iso, to_micros
from memoriter.doors.render.ink import DIM, STRONG, TextColumns, date_text, fact_table, time_text
from memoriter.memory.agents import Agent
from memoriter.memory.reviewing import Claim
from memoriter.text.figures import figure, short
from memoriter.text.safe import one_line, safe

_QUIET: Mapping[str, object] = {
    "kind": "note", "role": "memory", "memory_type": "semantic", "importance": 0.5,
    "priority": "P3", "trust": "learned", "agent": "default", "archived": False, "pinned": False,
}  # fmt: skip
"""Default values: a field that has its default is not printed."""


def record_card(record: Record) -> RenderableType:
    """One memory with all its fields."""
    fields = {k: v for k, v in content_data(record).items() if k != "text" and _QUIET.get(k) != v}
    fields |= {
        "version": f"row {record.row}",
        "position": record.position,
        "committed": record.committed,
    }
    parts: list[RenderableType] = [
        Text(one_line(record.id), STRONG),
        Text(safe(record.text)),
        Text(),
    ]
    return Group(*parts, fact_table({name: _value(name, value) for name, value in fields.items()}))


def _value(name: str, value: object) -> str:
    if isinstance(value, datetime):
        return iso(to_micros(value))
    if name == "metadata":
        return json.dumps(value, ensure_ascii=False)
    return ", ".join(map(str, value)) if isinstance(value, list) else short(value)  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]  # printed as it is


def page_list(records: Sequence[Record], total: int, cursor: str | None) -> RenderableType:
    """Records of a page, one line each, and how to get the next page."""
    noun = "memory" if total == 1 else "memories"
    head = Text(
        f"{len(records)} of {total} {noun}" if len(records) != total else f"{total} {noun}", STRONG
    )
    rows = [(date_text(r.created), r.id, r.text) for r in records]
    parts: list[RenderableType] = [head]
    if rows:
        parts.append(TextColumns(("date", "id", "text"), rows, wide=2))
    if cursor is not None:
        parts += [
            Text(),
            Text(f"next page: --cursor {cursor}", DIM, no_wrap=True, overflow="ignore"),
        ]
    return Group(*parts)


def erasure_list(records: Sequence[Record], total: int, remarks: Sequence[str]) -> RenderableType:
    """Records that would be forgotten, and remarks on what was made from them."""
    return Group(page_list(records, total, None), *map(Text, remarks))


def history_list(versions: Sequence[Record]) -> RenderableType:
    """Versions of a memory, and which fields each one changed."""
    if not versions:
        return Text("no earlier versions", DIM)
    parts: list[RenderableType] = [Text(one_line(versions[-1].id), STRONG)]
    before: Record | None = None
    for version in versions:
        # Without a number: earlier versions may have been left out.
        parts.append(Text(f"version of {time_text(version.committed)} · row {version.row}", DIM))
        changes = content_data(version) if before is None else _changed(before, version)
        shown = {"text": version.text} if before is None else changes
        parts.append(fact_table({name: _value(name, value) for name, value in shown.items()}))
        before = version
    return Group(*parts)


def _changed(before: Record, after: Record) -> dict[str, object]:
    """The fields that differ, with their new value; a dash where a field went away."""
    old, new = content_data(before), content_data(after)
    names = [name for name in {**old, **new} if old.get(name) != new.get(name)]
    return {name: new.get(name, "—") for name in names} or {"nothing": "changed"}


def edge_list(edges: Sequence[Edge], at: str) -> RenderableType:
    """The links of a memory, one line each, with an arrow away from it or towards it."""
    if not edges:
        return Text("no links", DIM)
    rows = [
        (
            "→" if e.source == at else "←",
            e.kind,
            e.target if e.source == at else e.source,
            f"{e.weight:g}",
        )
        for e in edges
    ]
    return TextColumns(("", "kind", "memory", "weight"), rows, wide=1)


def claim_list(claims: Sequence[Claim]) -> RenderableType:
    """The claims that wait for a decision: what the less trusted memory says, and what stands."""
    if not claims:
        return Text("nothing to review", DIM)
    parts: list[RenderableType] = []
    for claim in claims:
        source, target = claim.source, claim.target
        head = f"{source.id} ({source.trust}) {claim.kind} {target.id} ({target.trust})"
        parts += [
            Text(one_line(head), STRONG),
            Text(f"  says:   {one_line(source.text)}", no_wrap=True, overflow="ellipsis"),
            Text(f"  stands: {one_line(target.text)}", no_wrap=True, overflow="ellipsis"),
        ]
    parts.append(Text("\ndecide with: memoriter decide ID ID --accept, or --reject", DIM))
    return Group(*parts)


def agent_list(agents: Sequence[Agent]) -> RenderableType:
    """The registered agents, one line each."""
    rows = [(a.agent, a.display_name or "", a.owner or "", a.description or "") for a in agents]
    heads = ("agent", "name", "owner", "description")
    return TextColumns(heads, rows, wide=3) if rows else "no agents"


def agent_hits(hits: Sequence[tuple[Agent, float]]) -> RenderableType:
    """The agents that a search found, one line each, the best first."""
    rows = [(figure(score), agent.agent, agent.description or "") for agent, score in hits]
    return TextColumns(("score", "agent", "description"), rows, wide=2) if rows else "no agents"
