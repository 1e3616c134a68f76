"""The SQL schema of a store file, format 2, and how files of other formats come to it.

Rows are only inserted; only a forget deletes. Words of added analyzers and vectors of other
embedders than the packaged table are derived, but kept, so that no text is analysed or embedded
twice; everything else that ranks lives in the index.

A schema does not change. A file of an earlier format is brought forward step by step, in one
transaction; a step is never changed after a release. Files of a later format, and those too old for
any step, are refused untouched. In format 2 an embedder's vector may be in bytes (`core.batch`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import apsw

from memoriter.core.errors import Unsupported

APPLICATION_ID: Final = 0x4D454D4F
"""Spells MEMO."""
FORMAT: Final = 2

TABLES: Final = """
CREATE TABLE tenants (
  tenant INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE,
  seq INTEGER NOT NULL, time INTEGER NOT NULL, positions INTEGER NOT NULL,
  link BLOB NOT NULL, published INTEGER NOT NULL
) STRICT;
CREATE TABLE generations (generation INTEGER PRIMARY KEY, fingerprint TEXT NOT NULL UNIQUE) STRICT;
CREATE TABLE commits (
  tenant INTEGER NOT NULL, seq INTEGER NOT NULL, time INTEGER NOT NULL, sum BLOB NOT NULL,
  PRIMARY KEY (tenant, seq)
) STRICT, WITHOUT ROWID;
CREATE INDEX commits_time ON commits (tenant, time, seq);
CREATE TABLE chain (
  tenant INTEGER NOT NULL, seq INTEGER NOT NULL, kind INTEGER NOT NULL,
  digest BLOB NOT NULL, link BLOB NOT NULL,
  PRIMARY KEY (tenant, seq)
) STRICT, WITHOUT ROWID;
CREATE TABLE records (
  tenant INTEGER NOT NULL, row INTEGER NOT NULL, position INTEGER NOT NULL, id TEXT NOT NULL,
  committed INTEGER NOT NULL, salt BLOB NOT NULL, body BLOB NOT NULL
) STRICT;
CREATE UNIQUE INDEX records_row ON records (tenant, row);
CREATE INDEX records_id ON records (tenant, id, row, position);
CREATE INDEX records_position ON records (tenant, position, row);
CREATE TABLE words (
  tenant INTEGER NOT NULL, generation INTEGER NOT NULL, row INTEGER NOT NULL,
  body BLOB NOT NULL, sum BLOB NOT NULL
) STRICT;
CREATE UNIQUE INDEX words_row ON words (tenant, row, generation);
CREATE TABLE vectors (
  tenant INTEGER NOT NULL, seq INTEGER NOT NULL, row INTEGER NOT NULL, part INTEGER NOT NULL,
  generation INTEGER NOT NULL, form TEXT NOT NULL, body BLOB NOT NULL, sum BLOB NOT NULL
) STRICT;
CREATE UNIQUE INDEX vectors_seq ON vectors (tenant, generation, seq);
CREATE INDEX vectors_row ON vectors (tenant, row);
CREATE TABLE mentions (
  tenant INTEGER NOT NULL, seq INTEGER NOT NULL, row INTEGER NOT NULL, name TEXT NOT NULL,
  sum BLOB NOT NULL,
  PRIMARY KEY (tenant, seq)
) STRICT, WITHOUT ROWID;
CREATE INDEX mentions_row ON mentions (tenant, row);
CREATE TABLE edges (
  tenant INTEGER NOT NULL, seq INTEGER NOT NULL, source INTEGER NOT NULL, target INTEGER NOT NULL,
  salt BLOB NOT NULL, body BLOB NOT NULL,
  PRIMARY KEY (tenant, seq)
) STRICT, WITHOUT ROWID;
CREATE INDEX edges_source ON edges (tenant, source);
CREATE INDEX edges_target ON edges (tenant, target);
CREATE TABLE agents (
  tenant INTEGER NOT NULL, seq INTEGER NOT NULL, agent TEXT NOT NULL,
  salt BLOB NOT NULL, body BLOB NOT NULL,
  PRIMARY KEY (tenant, seq)
) STRICT, WITHOUT ROWID;
CREATE TABLE tombs (
  tenant INTEGER NOT NULL, seq INTEGER NOT NULL, salt BLOB NOT NULL, body BLOB NOT NULL,
  PRIMARY KEY (tenant, seq)
) STRICT, WITHOUT ROWID;
CREATE TABLE keys (
  tenant INTEGER NOT NULL, key TEXT NOT NULL, asked BLOB NOT NULL, seq INTEGER NOT NULL,
  time INTEGER NOT NULL, id TEXT NOT NULL, debt INTEGER NOT NULL, sum BLOB NOT NULL,
  PRIMARY KEY (tenant, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX keys_id ON keys (tenant, id);
CREATE TABLE debts (
  tenant INTEGER NOT NULL, row INTEGER NOT NULL, generation INTEGER NOT NULL,
  sum BLOB NOT NULL,
  PRIMARY KEY (tenant, row, generation)
) STRICT, WITHOUT ROWID;
CREATE TABLE manifests (
  tenant INTEGER NOT NULL, fingerprint TEXT NOT NULL, floor INTEGER NOT NULL,
  segments TEXT NOT NULL, sum BLOB NOT NULL,
  PRIMARY KEY (tenant, fingerprint)
) STRICT, WITHOUT ROWID;
"""

ERASURES: Final = """
CREATE TABLE IF NOT EXISTS erasures (
  tenant INTEGER PRIMARY KEY, upto INTEGER NOT NULL, sum BLOB NOT NULL
) STRICT;
"""
"""Up to where forgotten records are erased from the files; made when the first is."""

OWNED: Final = (
    "commits", "chain", "records", "words", "vectors", "mentions",
    "edges", "agents", "tombs", "keys", "debts", "manifests",
)  # fmt: skip
"""The tables whose rows belong to a tenant."""


MigrationStep = Callable[[apsw.Connection], None]
STEPS: Final[dict[int, MigrationStep | None]] = {1: None}
"""By format: what makes the next format of it; None where it can be read as the next one."""


def is_older(version: int, name: str) -> bool:
    """Whether a file of this format has to be brought forward; Unsupported if it cannot be."""
    if version > FORMAT:
        raise Unsupported(
            f"{name} has format {version}, but this version of memoriter reads format {FORMAT}",
            hint="upgrade memoriter; the file was not changed",
        )
    if missing := [each for each in range(version, FORMAT) if each not in STEPS]:
        raise Unsupported(
            f"{name} has format {version}, and this version of memoriter cannot upgrade format"
            f" {missing[0]}",
            hint="export the store with the version that wrote it, then import the export; the file"
            " was not changed",
        )
    return version < FORMAT


def check_current(version: int, name: str) -> None:
    """Raise Unsupported for a file that cannot be read before it is brought forward."""
    if is_older(version, name) and any(STEPS[each] for each in range(version, FORMAT)):
        raise Unsupported(
            f"{name} has format {version}, and must be upgraded to format {FORMAT} first",
            hint="make a backup, then open the store once without `read_only`: that upgrades it",
        )


def bring_forward(connection: apsw.Connection, name: str) -> None:
    """Run the missing steps in one transaction: all of them, or none. The caller holds the lease.

    Another process may have done it while we waited, so the format is read inside.
    """
    connection.execute("BEGIN IMMEDIATE")
    try:
        version = int(connection.pragma("user_version"))
        while is_older(version, name):
            if (step := STEPS[version]) is not None:
                step(connection)
            version += 1
            connection.pragma("user_version", version)
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
