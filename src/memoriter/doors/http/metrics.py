"""Counters for Prometheus, per tenant: a tenant sees its own numbers only."""

from __future__ import annotations

import threading
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import field
from typing import Any, Final

from memoriter.core.lazy_dataclass import dataclass

MEDIA: Final = "text/plain; version=0.0.4; charset=utf-8"
BUCKETS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.0, 5.0)
"""Upper bounds of the histogram of durations, in seconds."""
_GAUGES: Final = {
    "records": "Memories that have not expired.",
    "expired": "Memories that have expired and were not forgotten.",
    "debt": "Vectors that are still missing.",
    "seq": "The sequence number of the last entry of the log.",
}


@dataclass(slots=True)
class _Counts:
    """The counters of one tenant."""

    requests: Counter[tuple[str, int]] = field(default_factory=Counter[tuple[str, int]])
    seconds: dict[str, list[float]] = field(default_factory=dict[str, list[float]])
    """By operation: the count of each bucket (the last is +Inf), then the sum of the seconds."""
    degraded: Counter[str] = field(default_factory=Counter[str])
    unranked: int = 0


class Metrics:
    """Counters of every tenant. Safe to share between threads."""

    def __init__(self) -> None:
        self._of: dict[str, _Counts] = {}
        self._lock = threading.Lock()

    def count_request(self, tenant: str, operation: str, status: int, seconds: float) -> None:
        """Count a request, its status and its duration."""
        with self._lock:
            counts = self._counts(tenant)
            counts.requests[operation, status] += 1
            spent = counts.seconds.get(operation)
            if spent is None:
                spent = counts.seconds[operation] = [0.0] * (len(BUCKETS) + 2)
            spent[bisect_left(BUCKETS, seconds)] += 1
            spent[-1] += seconds

    def count_reply(self, tenant: str, operation: str, reply: Mapping[str, Any]) -> None:
        """Count a reply that is degraded: a lane or the reranker did not run."""
        if reply.get("status") != "degraded":
            return
        with self._lock:
            counts = self._counts(tenant)
            counts.degraded[operation] += 1
            counts.unranked += "rerank" in reply.get("skipped", {})

    def _counts(self, tenant: str) -> _Counts:
        """The counters of a tenant; the lock is held."""
        counts = self._of.get(tenant)
        if counts is None:
            counts = self._of[tenant] = _Counts()
        return counts

    def text(self, tenant: str, status: Mapping[str, Any]) -> str:
        """The metrics of one tenant in the text format; `status` has the values of the gauges."""
        with self._lock:
            lines = list(_lines(self._of.get(tenant, _Counts()), status))
        return "\n".join(lines) + "\n"


def _lines(counts: _Counts, status: Mapping[str, Any]) -> Iterator[str]:
    yield from _head("requests_total", "counter", "Requests by operation and status.")
    for (operation, code), count in sorted(counts.requests.items()):
        yield f'memoriter_requests_total{{operation="{operation}",status="{code}"}} {count}'
    yield from _head("request_seconds", "histogram", "How long requests took.")
    for operation, spent in sorted(counts.seconds.items()):
        yield from _histogram(operation, spent)
    yield from _head("degraded_total", "counter", "Answers from which a lane was missing.")
    for operation, count in sorted(counts.degraded.items()):
        yield f'memoriter_degraded_total{{operation="{operation}"}} {count}'
    yield from _head("rerank_failures_total", "counter", "Answers whose reranker did not run.")
    yield f"memoriter_rerank_failures_total {counts.unranked}"
    for name, about in _GAUGES.items():
        yield from _head(name, "gauge", about)
        yield f"memoriter_{name} {status[name]}"


def _head(name: str, kind: str, about: str) -> Iterator[str]:
    yield f"# HELP memoriter_{name} {about}"
    yield f"# TYPE memoriter_{name} {kind}"


def _histogram(operation: str, spent: list[float]) -> Iterator[str]:
    # Buckets of Prometheus are cumulative: each counts all requests up to its bound.
    label, upto = f'operation="{operation}"', 0
    for bound, count in zip((*map(str, BUCKETS), "+Inf"), spent[:-1], strict=True):
        upto += int(count)
        yield f'memoriter_request_seconds_bucket{{{label},le="{bound}"}} {upto}'
    yield f"memoriter_request_seconds_sum{{{label}}} {spent[-1]:.6f}"
    yield f"memoriter_request_seconds_count{{{label}}} {upto}"
