"""Runs where engrava is installed: makes a database of theirs, and tells what stands in it."""

from __future__ import annotations

import asyncio
import importlib
import json
import os
import sys
from typing import Any

engrava: Any = importlib.import_module("engrava")
aiosqlite: Any = importlib.import_module("aiosqlite")
Core: Any = importlib.import_module("engrava.infrastructure.sqlite.engrava_core").SqliteEngravaCore
TIMES = ("2026-01-01T00:00:00+00:00", "2026-07-01T00:00:00+00:00")


async def main(path: str) -> None:
    """Forty thoughts of every sort, with vectors and edges."""
    db = await aiosqlite.connect(path)
    db.row_factory = aiosqlite.Row
    core = Core(db)
    await core.ensure_schema()
    kinds = list(engrava.ThoughtType)
    for n in range(40):
        await core.create_thought(
            engrava.ThoughtRecord(
                thought_id=f"t{n:02}",
                thought_type=kinds[n % len(kinds)],
                essence=f"essence {n}",
                content=f"The content of thought {n} is about ports and prices",
                priority=list(engrava.Priority)[n % 4],
                lifecycle_status=engrava.LifecycleStatus["ARCHIVED" if n % 9 == 0 else "ACTIVE"],
                created_cycle=n,
                updated_cycle=2 * n,
                source="human",
                confidence=n / 40,
                valid_from=TIMES[0] if n % 3 == 0 else None,
                valid_until=TIMES[1] if n % 6 == 0 else None,
                metadata={"grp": "A" if n % 2 else "B"},
                pinned=n % 5 == 0,
            )
        )
        await core.store_embedding(f"t{n:02}", [float(n + 1), 1.0, 0.5], model_name="given")
    for n, kind in enumerate(engrava.EdgeType):
        await core.create_edge(
            engrava.EdgeRecord(
                edge_id=f"e{n}",
                from_thought_id=f"t{n:02}",
                to_thought_id=f"t{n + 1:02}",
                edge_type=kind,
                weight=0.25,
                created_cycle=0,
                source=engrava.KnowledgeSource.EXPERIENCE,
            )
        )
    await db.commit()
    rows = await (await db.execute("SELECT * FROM thought ORDER BY rowid")).fetchall()
    edges = await (await db.execute("SELECT * FROM edge ORDER BY rowid")).fetchall()
    await db.close()
    made = {"thoughts": [dict(row) for row in rows], "edges": [dict(row) for row in edges]}
    sys.stdout.write(json.dumps(made))
    sys.stdout.flush()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
    os._exit(0)  # its threads may never end
