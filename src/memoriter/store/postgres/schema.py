"""The tables of a store on PostgreSQL: those of format 1, and what each later format adds.

Every key begins with the tenant. Row-level security is a second fence behind the `WHERE tenant=`
of every statement: without the setting `memoriter.tenant` of its transaction a role sees no row,
and with it those of one tenant. It is forced, so that it binds the owner of the tables too; only
superusers and roles with BYPASSRLS are not bound. `notes` belongs to the store (the list of tokens,
which is asked before the tenant is known) and is seen in transactions that say so. Two tables have
no fence, and nothing of a tenant: `format`, and `spaces`, the analyzers and embedders of the store.
"""

from __future__ import annotations

from typing import Final

FORMAT: Final = 4

COLUMNS: Final[dict[str, tuple[tuple[str, str], ...]]] = {
    "commits": (("seq", "bigint"), ("time", "bigint"), ("sum", "bytea")),
    "chain": (("seq", "bigint"), ("kind", "bigint"), ("digest", "bytea"), ("link", "bytea")),
    "records": (
        ("row", "bigint"),
        ("position", "bigint"),
        ("id", "text"),
        ("committed", "bigint"),
        ("salt", "bytea"),
        ("body", "bytea"),
    ),
    "words": (("row", "bigint"), ("generation", "text"), ("body", "bytea"), ("sum", "bytea")),
    "vectors": (
        ("seq", "bigint"),
        ("row", "bigint"),
        ("part", "bigint"),
        ("generation", "text"),
        ("form", "text"),
        ("body", "bytea"),
        ("sum", "bytea"),
    ),
    "mentions": (("seq", "bigint"), ("row", "bigint"), ("name", "text"), ("sum", "bytea")),
    "edges": (
        ("seq", "bigint"),
        ("source", "bigint"),
        ("target", "bigint"),
        ("salt", "bytea"),
        ("body", "bytea"),
    ),
    "agents": (("seq", "bigint"), ("agent", "text"), ("salt", "bytea"), ("body", "bytea")),
    "tombs": (("seq", "bigint"), ("salt", "bytea"), ("body", "bytea")),
    "keys": (
        ("key", "text"),
        ("asked", "bytea"),
        ("seq", "bigint"),
        ("time", "bigint"),
        ("id", "text"),
        ("debt", "bigint"),
        ("sum", "bytea"),
    ),
    "debts": (("row", "bigint"), ("generation", "text"), ("sum", "bytea")),
    "manifests": (
        ("fingerprint", "text"),
        ("floor", "bigint"),
        ("segments", "text"),
        ("sum", "bytea"),
    ),
    "erasures": (("upto", "bigint"), ("sum", "bytea")),
    "segments": (("name", "text"), ("size", "bigint")),
    "chunks": (("name", "text"), ("number", "bigint"), ("body", "bytea")),
}
"""The tables whose rows belong to a tenant, with their columns after `tenant`."""

_KEYS: Final = {
    "records": "row",
    "words": "row, generation",
    "keys": "key",
    "debts": "row, generation",
    "manifests": "fingerprint",
    "erasures": "",
    "segments": "name",
    "chunks": "name, number",
}
"""The primary key of a table after `tenant`; `seq` where it is not named."""

_INDEXES: Final = (
    ("commits", "time, seq"),
    ("records", "id, row"),
    ("records", "position, row"),
    ("vectors", "row"),
    ("mentions", "row"),
    ("edges", "source"),
    ("edges", "target"),
    ("keys", "id"),
)

_OWN: Final = "tenant = current_setting('memoriter.tenant', true)"
_EVERY: Final = "current_setting('memoriter.every_head', true) = 'on'"
_NOTES: Final = "current_setting('memoriter.every_note', true) = 'on'"


def _typed(name: str, kind: str) -> str:
    return f'{name} text COLLATE "C" NOT NULL' if kind == "text" else f"{name} {kind} NOT NULL"


def _table(name: str) -> list[str]:
    columns = [_typed("tenant", "text"), *(_typed(*column) for column in COLUMNS[name])]
    after = _KEYS.get(name, "seq")
    key = f"tenant, {after}" if after else "tenant"
    return [
        f"CREATE TABLE memoriter.{name} ({', '.join(columns)}, PRIMARY KEY ({key}))",
        *_fenced(name),
    ]


def _fenced(name: str, allowed: str = _OWN) -> list[str]:
    """Statements that let only some rows be read and written: as a rule those of one tenant."""
    return [
        f"ALTER TABLE memoriter.{name} ENABLE ROW LEVEL SECURITY",
        f"ALTER TABLE memoriter.{name} FORCE ROW LEVEL SECURITY",
        f"CREATE POLICY own ON memoriter.{name} USING ({allowed}) WITH CHECK ({allowed})",
    ]


TABLES: Final[tuple[str, ...]] = (
    "CREATE TABLE memoriter.format (version integer NOT NULL)",
    # Half of each page stays free: the head changes with every commit, in place.
    """CREATE TABLE memoriter.heads (
      tenant text COLLATE "C" PRIMARY KEY, seq bigint NOT NULL, time bigint NOT NULL,
      positions bigint NOT NULL, link bytea NOT NULL, published bigint NOT NULL,
      fence bigint NOT NULL DEFAULT 0
    ) WITH (fillfactor = 50)""",
    *_fenced("heads"),
    f"CREATE POLICY every ON memoriter.heads FOR SELECT USING ({_EVERY})",
    'CREATE TABLE memoriter.spaces (fingerprint text COLLATE "C" PRIMARY KEY)',
    """CREATE TABLE memoriter.notes (
      name text COLLATE "C" PRIMARY KEY, changed bigint NOT NULL, body bytea NOT NULL
    )""",
    *(statement for name in COLUMNS for statement in _table(name)),
    *(f"CREATE INDEX ON memoriter.{table} (tenant, {on})" for table, on in _INDEXES),
    # Vectors and segments do not shrink: the server must not try to compress them.
    *(
        f"ALTER TABLE memoriter.{table} ALTER COLUMN body SET STORAGE EXTERNAL"
        for table in ("vectors", "chunks")
    ),
    "INSERT INTO memoriter.format VALUES (1)",
)
"""The statements that make an empty store of format 1, in the schema `memoriter`."""

STEPS: Final[dict[int, tuple[str, ...]]] = {
    1: (
        # Not in the write-ahead log: what is kept there may be lost, and no write waits for a disk.
        """CREATE UNLOGGED TABLE memoriter.answers (
          tenant text COLLATE "C" NOT NULL, handle text COLLATE "C" NOT NULL,
          kept timestamptz NOT NULL, body bytea NOT NULL, PRIMARY KEY (tenant, handle)
        )""",
        *_fenced("answers"),
        "CREATE INDEX ON memoriter.answers (tenant, kept)",
        # Roles that may write records may keep answers: what was granted on the one is granted on
        # the other.
        """DO $$ DECLARE each record; BEGIN
          FOR each IN
            SELECT DISTINCT grantee, privilege_type FROM information_schema.table_privileges
            WHERE table_schema='memoriter' AND table_name='records'
              AND grantee NOT IN (current_user, 'PUBLIC')
              AND privilege_type IN ('SELECT', 'INSERT', 'UPDATE', 'DELETE')
          LOOP EXECUTE format('GRANT %%s ON memoriter.answers TO %%I', each.privilege_type,
            each.grantee); END LOOP; END $$""",
    ),
    2: tuple(_fenced("notes", _NOTES)),
    3: (),  # an embedder's vector may be in bytes (`core.batch`)
}
"""By format: the statements that make the next format of it; none if it can be read as that."""
