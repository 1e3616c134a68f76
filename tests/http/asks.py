"""One request for every operation, which a server with the memories `port` and `cache` can do."""

from __future__ import annotations

from typing import Any, Final

from memoriter.doors.operations import BY_NAME, Operation

FIELDS: Final[dict[str, dict[str, Any]]] = {
    "recall": {"query": "ssh"},
    "context": {"query": "ssh", "budget_tokens": 200},
    "keywords": {"query": "ssh"},
    "bundles": {"query": "ssh"},
    "reflections": {"query": "ssh"},
    "plan": {"query": "ssh"},
    "explain": {"receipt": "feed", "id": "port"},
    "why_not": {"receipt": "feed", "id": "cache"},
    "what_if": {"receipt": "feed", "overrides": {}},
    "receipt": {"receipt": "feed"},
    "verify": {"receipt": "feed"},
    "replay": {"receipt": "feed"},
    "diff": {"before": "feed", "after": "feed"},
    "browse": {},
    "get": {"id": "port"},
    "history": {"id": "port"},
    "links": {"id": "port"},
    "agents": {},
    "recipes": {},
    "recipe": {"recipe": "comis"},
    "status": {},
    "remember": {"text": "new"},
    "similar": {"text": "Prod SSH port is 22"},
    "remember_many": {"memories": [{"text": "newer"}]},
    "remember_messages": {"messages": [{"role": "user", "content": "newest", "id": "m1"}]},
    "update": {"id": "port", "kind": "fact"},
    "expire": {"id": "cache", "at": "2099-01-01"},
    "link": {"source": "port", "target": "cache"},
    "forget": {"id": "nothing"},
    "reflect": {"dry_run": True},
    "review": {},
    "decide": {"source": "port", "target": "cache", "accept": False},
    "agent": {"agent": "bot", "description": "deploys"},
    "maintain": {},
    "calibrate": {},
}
HANDLES: Final = ("explain", "why_not", "what_if", "receipt", "verify", "replay", "diff")
"""Operations whose request here names a receipt that is not kept."""


def asked(operation: Operation, fields: dict[str, Any]) -> dict[str, Any]:
    """The fields as a request of httpx: path, then address or body."""
    left = dict(fields)
    path = operation.path
    for name in list(left):
        if f"{{{name}}}" in path:
            path = path.replace(f"{{{name}}}", str(left.pop(name)))
    place = "params" if operation.method == "GET" else "json"
    return {"method": operation.method, "url": path, place: left}


def request(name: str) -> dict[str, Any]:
    """The request of an operation."""
    return asked(BY_NAME[name], FIELDS[name])
