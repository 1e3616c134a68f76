"""Builders of small, complete acts and batches, for tests that call a store directly."""

from __future__ import annotations

import hashlib
import struct
from typing import Any, Final, cast

from memoriter.core.batch import Act, Batch, Forget, Key, Link, NewEdge, Put, RegisterAgent, Vector
from memoriter.core.canonical import canonical
from memoriter.core.record import Content, encode
from memoriter.testing.fakes import START

WORDS: Final = "words/1"
SPACE: Final = "toy/1"


def salt(seed: str) -> bytes:
    """Sixteen bytes derived from a name, the same in every run."""
    return hashlib.sha256(seed.encode()).digest()[:16]


def make_key(name: str, request: str = "") -> Key:
    """An idempotency key; requests with the same text have the same digest."""
    return Key(name, hashlib.sha256(request.encode()).digest())


def vector(*values: float, space: str = SPACE, form: str = "unit") -> Vector:
    """A vector of an embedder; with form "f8", a caller's own."""
    code = "d" if form == "f8" else "f"
    return Vector(space, 0, cast("Any", form), struct.pack(f"<{len(values)}{code}", *values))


def put(record_id: str, text: str = "", **more: Any) -> Put:
    """A new record, or with `replaces` a new version; `more` are fields of Content or of Put."""
    put_fields = {
        name: more.pop(name)
        for name in ("replaces", "vectors", "owes", "edges", "key", "words")
        if name in more
    }
    fields: dict[str, Any] = {"text": text or f"about {record_id}", "created": START, **more}
    content = Content(**fields)
    put_fields.setdefault("words", ((WORDS, f"words of {content.text}".encode()),))
    body = encode(record_id, content)
    return Put(record_id, content, body, salt(f"{record_id}/{content.text}"), **put_fields)


def link_act(source: str, target: str, kind: str = "related_to", **more: Any) -> Link:
    """An edge between existing records; `key` is the key of the act, the rest are its fields."""
    key = more.pop("key", None)
    return Link(source, NewEdge(target, kind, **more), salt(f"{source}>{target}"), key)


def forget_act(record_id: str, key: Key | None = None) -> Forget:
    """An erasure of a record."""
    return Forget(record_id, salt(f"forget {record_id}"), key)


def enrol(agent: str, **state: object) -> RegisterAgent:
    """A new state of an agent."""
    return RegisterAgent(agent, canonical({"agent": agent, "aliases": [], **state}), salt(agent))


def batch(*acts: Act, tenant: str = "default", now: int = START) -> Batch:
    """A batch of acts, committed at a moment."""
    return Batch(tenant, acts, now)
