"""The durable log: an ordered sequence of entries per tenant, and nothing that ranks.

Where a write becomes durable, in the order of the calls:

1. `Log.commit(batch)` (`port`) is the promise: all or nothing, on disk when it returns.
2. `group_commit.GroupCommit.commit` queues the batch; the first waiting thread commits
   everything that has gathered (group commit).
3. `sqlite.store.Sqlite._commit_all` runs `sequence.sequence_batch` on each batch (numbers,
   positions, idempotency keys, digests) and writes its rows, inside `_write_transaction`.
4. `_transaction`, inside it, executes `COMMIT`. SQLite appends to the write-ahead log and syncs it,
   because `sqlite.connect` sets WAL mode and `synchronous=FULL` (with `durability="fast"`, NORMAL,
   which does not). This is the moment.

Two syncs of our own come before `COMMIT` (`fsync`): the folder, once per write connection, so that
the name of a new WAL lasts; and the WAL, if a batch is only a retry and writes nothing.

`postgres` is the same log on a server: `postgres.store` commits behind a lock on the tenant's head,
and the server's own `COMMIT` is the moment. `ram` is the same log in memory, and the reference for
the others. `rows` has the row types and
their digests, `verify` checks a whole tenant.
"""
