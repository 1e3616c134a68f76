"""demo: makes a small memory, asks it three questions and explains the answers."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Generator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, cast

import memoriter
from memoriter.core.errors import Conflict
from memoriter.doors import render
from memoriter.doors.cli.declare import command
from memoriter.doors.cli.options import JsonOption
from memoriter.doors.cli.output import console, print_json
from memoriter.doors.cli.params import CliOption

if TYPE_CHECKING:
    from rich.console import Console

    from memoriter.memory.facade import Memory
    from memoriter.memory.options import DraftFields
    from memoriter.why.result import Result

_QUESTIONS: Final = (
    ("how do we roll back a release?", "a question in words of the memory"),
    ("cache latency", "no word in common: found by meaning alone"),
    ("which port for ssh?", "the old port was superseded: only the new one comes"),
)
_SHOWN: Final = 3


@command("demo", "memoriter demo", "memoriter demo --keep demo.db")
def demo(
    keep: Annotated[
        Path | None,
        CliOption("--keep", metavar="PATH", help="Keep the store of the demo in this file."),
    ] = None,
    *,
    as_json: JsonOption = False,
) -> None:
    """Create a small store, ask it three questions and explain the answers; works offline."""
    with _place(keep) as path, memoriter.open(path) as memory:
        _fill(memory)
        results = [memory.recall(text, _SHOWN) for text, _ in _QUESTIONS]
    if as_json:
        store = None if keep is None else str(keep)
        print_json({"store": store, "results": [result.to_dict() for result in results]})
    else:
        _draw(console(), results, keep)


@contextlib.contextmanager
def _place(keep: Path | None) -> Generator[Path]:
    if keep is not None:
        if keep.exists():
            raise Conflict(f"{keep} exists already", hint="name another file")
        yield keep
        return
    with tempfile.TemporaryDirectory(prefix="memoriter-demo-") as folder:
        yield Path(folder) / "demo.db"


def _fill(memory: Memory) -> None:
    memory.remember_many(_MEMORIES)
    for source, target, kind in _EDGES:
        memory.link(source, target, kind)
    memory.agents.upsert(
        "scout", display_name="Scout", owner="ana", description="a coding assistant"
    )


def _draw(out: Console, results: list[Result], keep: Path | None) -> None:
    count = len(_MEMORIES)
    out.print(
        f"{count} memories of a coding assistant, in one file; no key, no server.", style="dim"
    )
    for (text, about), result in zip(_QUESTIONS, results, strict=True):
        out.print()
        out.rule(style="dim")
        out.print(f"# {about}", style="dim")
        out.print(f'$ memoriter recall "{text}"', style="bold")
        out.print(render.hits.HitTable(result, every=True))
    last = results[-1]
    out.print()
    out.print("Why is that first? Every number adds up:", style="bold")
    out.print(render.tree.hit_tree(last[0], render.ink.inks_of(last.plan.recipe)))
    out.print()
    out.print("And what ran to find it:", style="bold")
    out.print(render.tree.plan_tree(last.plan))
    out.print()
    out.print("Now yours:", style="bold")
    option = "" if keep is None else f" --store {keep}"
    for line in (
        f'memoriter remember "The standup is at 9:30 on weekdays" --tag team{option}',
        f'memoriter recall "when is the standup?" --explain{option}',
        f"memoriter browse{option}",
        "memoriter --help",
    ):
        out.print(f"  {line}", soft_wrap=True)


# --- the memories: a few weeks of a coding assistant called Scout -----------------------------


_SCOUT: Final = {"agent": "scout", "user": "ana"}


def _memory(id: str, text: str, created: str, *tags: str, **more: object) -> DraftFields:
    made = {"id": id, "text": text, "created": created, "tags": tags, **_SCOUT, **more}
    return cast("DraftFields", made)


_MEMORIES: Final[tuple[DraftFields, ...]] = (
    _memory("port-old", "Prod SSH listens on port 22", "2026-03-02", "ops", kind="fact"),
    _memory(
        "small-prs",
        "Ana prefers small pull requests, one reason each",
        "2026-03-03",
        "style",
        kind="preference",
    ),
    _memory(
        "ledger",
        "The billing service is called Ledger and belongs to the payments team",
        "2026-03-05",
        "teams",
        kind="fact",
        entities=["Ledger"],
        entity_type="service",
    ),
    _memory(
        "postgres",
        "We chose PostgreSQL over MySQL because of partial indexes",
        "2026-03-09",
        "database",
        kind="decision",
    ),
    _memory(
        "roll-back",
        "To roll back a release, run tools/release.sh --back and post in #deploys",
        "2026-03-11",
        "ops",
        "release",
        kind="procedure",
        memory_type="procedural",
        importance=0.9,
    ),
    _memory(
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
    _memory(
        "slow-lookups",
        "Memory lookups are slow when the index is cold",
        "2026-03-16",
        "speed",
        kind="finding",
        session="s-31",
    ),
    _memory(
        "warm-index",
        "Warm the index after every restart, before the service takes traffic",
        "2026-03-16",
        "speed",
        kind="decision",
        session="s-31",
    ),
    _memory(
        "port-new",
        "Prod SSH moved to port 49222 with the new firewall",
        "2026-03-20",
        "ops",
        "security",
        kind="fact",
        supersedes="port-old",
        importance=0.8,
    ),
    _memory(
        "staging",
        "Staging uses the same firewall rules as production",
        "2026-03-20",
        "ops",
        kind="fact",
    ),
    _memory(
        "fixtures",
        "Tests of the importer need the fixture folder from the nightly build",
        "2026-03-23",
        "tests",
    ),
    _memory(
        "flaky-retry",
        "Flaky: test_retry_backoff fails when the machine is under load",
        "2026-03-24",
        "tests",
        kind="finding",
    ),
    _memory(
        "auth-review",
        "Ben reviews everything under src/auth",
        "2026-03-25",
        "teams",
        entities=["Ben"],
        entity_type="person",
    ),
    _memory(
        "token-life",
        "Tokens expire after 15 minutes, refresh tokens after 30 days",
        "2026-03-26",
        "auth",
        kind="fact",
    ),
    _memory(
        "export-formats",
        "The customer asked for exports as CSV and as Parquet",
        "2026-03-30",
        "product",
        kind="request",
    ),
    _memory(
        "parquet-waits",
        "Parquet exports wait for the upgrade of the data pipeline",
        "2026-03-31",
        "product",
        kind="plan",
    ),
    _memory(
        "no-bodies",
        "Never log request bodies: they may hold card numbers",
        "2026-04-01",
        "security",
        kind="rule",
        importance=1.0,
        pinned=True,
    ),
    _memory(
        "own-fonts",
        "The dashboard loads fonts from our own server, never from a CDN",
        "2026-04-02",
        "frontend",
        kind="rule",
    ),
    _memory(
        "ana-away",
        "Ana is on holiday from 13 to 24 April; Ben decides meanwhile",
        "2026-04-03",
        "teams",
        kind="fact",
        valid_from="2026-04-13",
        valid_until="2026-04-25",
        entities=["Ana", "Ben"],
    ),
    _memory(
        "backups",
        "Backups run at 02:00 UTC and are restored into staging every Sunday",
        "2026-04-06",
        "ops",
        kind="fact",
    ),
)
"""The fields of each memory; `port-new` supersedes `port-old`."""

_EDGES: Final = (
    ("warm-index", "slow-lookups", "caused_by"),
    ("parquet-waits", "export-formats", "references"),
)
"""(source, target, kind)"""
