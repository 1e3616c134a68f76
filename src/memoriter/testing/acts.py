"""Small, complete acts for tests that speak to a store directly."""

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
    """Sixteen bytes that follow from a name."""
    return hashlib.sha256(seed.encode()).digest()[:16]


def key(name: str, asked: str = "") -> Key:
    """An idempotency key for a question that is told by a word."""
    return Key(name, hashlib.sha256(asked.encode()).digest())


def vector(*values: float, space: str = SPACE, form: str = "unit") -> Vector:
    """A vector of an embedder, or a caller's own one."""
    code = "d" if form == "f8" else "f"
    return Vector(space, 0, cast("Any", form), struct.pack(f"<{len(values)}{code}", *values))


def put(record_id: str, text: str = "", **more: Any) -> Put:
    """A new record, or with `replaces` a new version; fields of content or of `Put`."""
    beside = {
        name: more.pop(name)
        for name in ("replaces", "vectors", "owes", "ties", "key", "words")
        if name in more
    }
    told: dict[str, Any] = {"text": text or f"about {record_id}", "created": START, **more}
    content = Content(**told)
    beside.setdefault("words", ((WORDS, f"words of {content.text}".encode()),))
    body = encode(record_id, content)
    return Put(record_id, content, body, salt(f"{record_id}/{content.text}"), **beside)


def link(source: str, target: str, kind: str = "related_to", **more: Any) -> Link:
    """An edge; `key` goes to the act, the rest to the tie."""
    named = more.pop("key", None)
    return Link(source, NewEdge(target, kind, **more), salt(f"{source}>{target}"), named)


def forget(record_id: str, named: Key | None = None) -> Forget:
    """An erasure."""
    return Forget(record_id, salt(f"forget {record_id}"), named)


def enrol(agent: str, **state: object) -> RegisterAgent:
    """A state of an agent."""
    return RegisterAgent(agent, canonical({"agent": agent, "aliases": [], **state}), salt(agent))


def batch(*acts: Act, tenant: str = "default", now: int = START) -> Batch:
    """A batch at a moment."""
    return Batch(tenant, acts, now)
