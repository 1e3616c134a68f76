"""What the demo remembers: a few weeks of a coding assistant called Scout."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

_SCOUT: Final = {"agent": "scout", "user": "ana"}


def _said(name: str, text: str, created: str, *tags: str, **more: object) -> Mapping[str, object]:
    return {"id": name, "text": text, "created": created, "tags": tags, **_SCOUT, **more}


MEMORIES: Final[tuple[Mapping[str, object], ...]] = (
    _said("port-old", "Prod SSH listens on port 22", "2026-03-02", "ops", kind="fact"),
    _said(
        "small-prs",
        "Ana prefers small pull requests, one reason each",
        "2026-03-03",
        "style",
        kind="preference",
    ),
    _said(
        "ledger",
        "The billing service is called Ledger and belongs to the payments team",
        "2026-03-05",
        "teams",
        kind="fact",
        entities=["Ledger"],
        entity_type="service",
    ),
    _said(
        "postgres",
        "We chose PostgreSQL over MySQL because of partial indexes",
        "2026-03-09",
        "database",
        kind="decision",
    ),
    _said(
        "roll-back",
        "To roll back a release, run tools/release.sh --back and post in #deploys",
        "2026-03-11",
        "ops",
        "release",
        kind="procedure",
        memory_type="procedural",
        importance=0.9,
    ),
    _said(
        "friday-release",
        "The release of Ledger on Friday failed: the migration held a lock",
        "2026-03-13",
        "release",
        kind="event",
        memory_type="episodic",
        occurred="2026-03-13",
        entities=["Ledger"],
        session="s-31",
    ),
    _said(
        "slow-lookups",
        "Memory lookups are slow when the index is cold",
        "2026-03-16",
        "speed",
        kind="finding",
        session="s-31",
    ),
    _said(
        "warm-index",
        "Warm the index after every restart, before the service takes traffic",
        "2026-03-16",
        "speed",
        kind="decision",
        session="s-31",
    ),
    _said(
        "port-new",
        "Prod SSH moved to port 49222 with the new firewall",
        "2026-03-20",
        "ops",
        "security",
        kind="fact",
        supersedes="port-old",
        importance=0.8,
    ),
    _said(
        "staging",
        "Staging uses the same firewall rules as production",
        "2026-03-20",
        "ops",
        kind="fact",
    ),
    _said(
        "fixtures",
        "Tests of the importer need the fixture folder from the nightly build",
        "2026-03-23",
        "tests",
    ),
    _said(
        "flaky-retry",
        "Flaky: test_retry_backoff fails when the machine is under load",
        "2026-03-24",
        "tests",
        kind="finding",
    ),
    _said(
        "auth-review",
        "Ben reviews everything under src/auth",
        "2026-03-25",
        "teams",
        entities=["Ben"],
        entity_type="person",
    ),
    _said(
        "token-life",
        "Tokens expire after 15 minutes, refresh tokens after 30 days",
        "2026-03-26",
        "auth",
        kind="fact",
    ),
    _said(
        "export-formats",
        "The customer asked for exports as CSV and as Parquet",
        "2026-03-30",
        "product",
        kind="request",
    ),
    _said(
        "parquet-waits",
        "Parquet exports wait for the upgrade of the data pipeline",
        "2026-03-31",
        "product",
        kind="plan",
    ),
    _said(
        "no-bodies",
        "Never log request bodies: they may hold card numbers",
        "2026-04-01",
        "security",
        kind="rule",
        importance=1.0,
        pinned=True,
    ),
    _said(
        "own-fonts",
        "The dashboard loads fonts from our own server, never from a CDN",
        "2026-04-02",
        "frontend",
        kind="rule",
    ),
    _said(
        "ana-away",
        "Ana is on holiday from 13 to 24 April; Ben decides meanwhile",
        "2026-04-03",
        "teams",
        kind="fact",
        valid_from="2026-04-13",
        valid_until="2026-04-25",
        entities=["Ana", "Ben"],
    ),
    _said(
        "backups",
        "Backups run at 02:00 UTC and are restored into staging every Sunday",
        "2026-04-06",
        "ops",
        kind="fact",
    ),
)
"""As drafts: the second port supersedes the first."""

EDGES: Final = (
    ("warm-index", "slow-lookups", "caused_by"),
    ("parquet-waits", "export-formats", "references"),
)
"""(source, target, kind)"""
