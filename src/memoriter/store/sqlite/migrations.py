"""Brings a store file of an earlier format forward, step by step, in one transaction.

A step is a function that takes a file of one format to the next; it is never changed after a
release. Files of a later format, and those too old for any step, are refused untouched.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import apsw

from memoriter.core.errors import Unsupported
from memoriter.store.sqlite.schema import FORMAT

MigrationStep = Callable[[apsw.Connection], None]
STEPS: Final[dict[int, MigrationStep]] = {}
"""By format: what makes the next format of it. There is one format so far, hence no step."""


def is_older(version: int, name: str) -> bool:
    """Whether a file of this format has to be brought forward; Unsupported if it cannot be."""
    if version > FORMAT:
        raise Unsupported(
            f"{name} has format {version}, this version reads {FORMAT}",
            hint="upgrade memoriter; the file was not touched",
        )
    if missing := [each for each in range(version, FORMAT) if each not in STEPS]:
        raise Unsupported(
            f"{name} has format {version}, and nothing here brings format {missing[0]} forward",
            hint="export it with the version that wrote it, and import that; it was not touched",
        )
    return version < FORMAT


def check_current(version: int, name: str) -> None:
    """Raise Unsupported for a file that has another format than this version writes."""
    if is_older(version, name):
        raise Unsupported(
            f"{name} has format {version}, which has to be brought to format {FORMAT} first",
            hint="open it once for writing; a backup before that is a good idea",
        )


def bring_forward(connection: apsw.Connection, name: str) -> None:
    """Run the missing steps in one transaction: all of them, or none. The caller holds the lease.

    Another process may have done it while we waited, so the format is read inside.
    """
    connection.execute("BEGIN IMMEDIATE")
    try:
        version = int(connection.pragma("user_version"))
        while is_older(version, name):
            STEPS[version](connection)
            version += 1
            connection.pragma("user_version", version)
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
