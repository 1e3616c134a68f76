"""The log in one SQLite file, safe against crashes and shared between processes.

`store` writes (start at `Sqlite.commit`), `reader` reads, `connect` opens the file, `group_commit`
gathers batches, `ledger` turns sequenced batches into SQL, `openers` guards SQLite's file locks.
"""
