"""The entry of an agent in the registry, as the log keeps it."""

from __future__ import annotations

import json
from collections.abc import Mapping

from memoriter.core.canonical import canonical
from memoriter.core.errors import BadRecord
from memoriter.core.names import names, text


def agent_body(agent: str, known: bytes | None, changes: Mapping[str, object]) -> bytes:
    """The new state of an agent, from its last one (None if it has none) with fields changed."""
    state: dict[str, object] = {"agent": agent, "aliases": []}
    if known is not None:
        state = json.loads(known)
    return canonical({**state, **_agent_fields(changes)})


def _agent_fields(changes: Mapping[str, object]) -> dict[str, object]:
    out: dict[str, object] = {}
    for key, value in changes.items():
        if value is None:
            continue
        if key == "aliases":
            out[key] = list(names(value, key))
        elif key in {"display_name", "owner", "description"}:
            out[key] = text(value, key, limit=65_536)
        else:
            known = "display_name, owner, description, aliases"
            raise BadRecord(f"{key}: an agent has no such field", hint=f"known: {known}", field=key)
    return out
