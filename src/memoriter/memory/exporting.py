"""Runs `Memory.export`: a whole tenant, or the records that pass a filter, as lines of a file."""

from __future__ import annotations

import json
from pathlib import Path

from memoriter.core.errors import Corrupt, InputError
from memoriter.core.record import content_data
from memoriter.core.scope import Scope
from memoriter.core.shown import counted
from memoriter.memory.browsing import matching_records
from memoriter.memory.engine import Engine
from memoriter.write.transfer import export_lines, write_lines


def export_file(engine: Engine, scope: Scope, path: Path, where: object) -> int:
    """Export a tenant, or the records in scope that pass a filter; returns the number of lines.

    Raises InputError for a file of the store itself, and Corrupt if something is damaged, after
    what can be read was written.
    """
    target = path.absolute()
    # An export must not overwrite the store, its write-ahead log or its lock.
    own = engine.index_cache.path
    inside = own is not None and target.parent.resolve() == own.parent
    if own is not None and inside and target.name.startswith(own.name):
        raise InputError(
            f"{target.name}: names that begin with {own.name} are reserved for the store",
            hint="choose another name or folder",
        )
    damage: list[str] = []
    if where is None and not scope.filters():
        with engine.log.snapshot(scope.tenant) as everything:
            count = write_lines(target, export_lines(scope.tenant, everything, damage))
    else:
        records = matching_records(engine, scope, where, damage)
        rows = ({"id": r.id, **content_data(r)} for r in records)
        lines = (json.dumps(row, ensure_ascii=False).encode() + b"\n" for row in rows)
        count = write_lines(target, lines)
    if damage:
        raise Corrupt(
            f"the store is damaged, and {target.name} has only what could be read"
            f" ({counted(count, 'line')}): {damage[0]}",
            hint="run `memoriter doctor` for details; restore a backup",
        )
    return count
