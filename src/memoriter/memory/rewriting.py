"""Writes records of a memory by a function of their current version, beside other writers.

For the adapters of other frameworks (`integrations`), whose writes never fail because somebody else
writes the same key.
"""

from __future__ import annotations

from collections.abc import Sequence

from memoriter.core.errors import NotFound
from memoriter.memory.facade import Memory
from memoriter.write.rewrite import FieldsOf, rewrite


def write_records(memory: Memory, ids: Sequence[str], change: FieldsOf) -> None:
    """Write records, new or as new versions; none if one of them is refused (see `rewrite`)."""
    for commit in rewrite(memory._writer, ids, change):  # pyright: ignore[reportPrivateUsage]  # of the same room
        memory._wrote(commit)  # pyright: ignore[reportPrivateUsage]  # as above


def forget_records(memory: Memory, ids: Sequence[str]) -> None:
    """Forget those of these records that are there, also if others forget them meanwhile."""
    left = list(ids)
    while left := [id for id in left if _is_there(memory, id)]:
        try:
            memory.forget(left)
        except NotFound:
            continue
        return


def _is_there(memory: Memory, id: str) -> bool:
    try:
        memory.get(id)
    except NotFound:
        return False
    return True
