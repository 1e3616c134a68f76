"""The log on a PostgreSQL server, for memories that several machines share.

`store` writes (start at `Postgres.commit`), `reader` reads, `ledger` turns sequenced batches into
SQL, `sessions` has the transactions and `connections` what they run on, `in_doubt` finds out what
became of a write whose answer was lost, `schema` and `migrations` make the tables, `segments` keeps
the published index beside the log.

Rows, digests, checksums and the chain are the same bytes as in the other stores, and the numbers
come from the same `sequence.sequence_batch`; so answers are the same bits. ADR 0064 has the
reasons.
"""
