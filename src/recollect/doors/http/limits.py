"""How much a server takes on."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """Every limit that holds before work begins."""

    body: int = 4 * 1024 * 1024
    """Bytes of a request."""
    depth: int = 64
    """How deeply JSON may be nested."""
    batch: int = 100
    """Calls in one JSON-RPC request."""
    arrive_s: float = 10.0
    """Seconds within which the head of a request has to be there, and then its body."""
    answer_s: float = 2.0
    """Seconds that a question may take; writes are always finished."""
    threads: int = 8
    """Requests that are worked on at the same time."""
    waiting: int = 64
    """Requests that may wait for a thread."""
    rate: float = 200.0
    """Requests per second and token, in the long run."""
    burst: int = 400
    """Requests of a token that may come at once."""
    connections: int = 1000
    """Open connections."""
    stop_s: float = 30.0
    """Seconds that open requests get to end when the server stops."""
