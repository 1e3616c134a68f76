"""Idempotency keys: a request that is sent again is done once."""

from __future__ import annotations

from memoriter.core.batch import Key
from memoriter.core.canonical import canonical, digest
from memoriter.core.names import name


def idempotency_key(verb: str, key: str | None, request: object) -> Key | None:
    """The caller's key with the digest of the request; None without a key."""
    if key is None:
        return None
    return Key(name(key, "key"), digest("memoriter/asked/1", verb.encode(), canonical(request)))


def nth_key(key: Key | None, nth: int) -> Key | None:
    """The key of the nth act of a request: acts of one batch must not share a key."""
    return key if nth == 0 or key is None else Key(f"{key.name}\x1f{nth}", key.asked)
