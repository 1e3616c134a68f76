"""Is a tenant's log what was written? Every digest, every link, every number."""

from __future__ import annotations

from recollect.core.errors import Corrupt
from recollect.store import rows as kinds
from recollect.store.port import Dump


def verify(tenant: str, dump: Dump) -> None:
    """Check a whole tenant; Corrupt names the first bad sequence number."""
    found = digests(tenant, dump)
    gone = {seq for tomb in dump.tombs for part in kinds.erased(tomb)[1:] for seq in part}
    rows = set(gone)
    link = kinds.genesis(tenant)
    for entry in dump.chain:
        link = kinds.chained(link, entry.seq, entry.kind, entry.digest)
        if link != entry.link:
            raise _broken(tenant, entry.seq, "the chain is broken")
        here = found.pop(entry.seq, None)
        if here is None and entry.seq not in rows and entry.kind != kinds.VECTOR:
            raise _broken(tenant, entry.seq, "an entry is missing")
        if here is not None and here != (entry.kind, entry.digest):
            raise _broken(tenant, entry.seq, "an entry does not match its digest")
    if found:
        raise _broken(tenant, min(found), "an entry is not in the chain")
    if dump.chain and link != dump.head.link:
        raise _broken(tenant, dump.head.seq, "the chain does not end where the log says")
    _positions(tenant, dump)
    for vector in dump.vectors:
        kinds.check_vector(tenant, vector)


def digests(tenant: str, dump: Dump) -> dict[int, tuple[int, bytes]]:
    """(kind, digest) of every sequenced entry that is still there, by sequence number."""
    salts = {record.row: record.salt for record in dump.records}
    out = {r.row: (kinds.RECORD, kinds.record_digest(tenant, r)) for r in dump.records}
    out |= {e.seq: (kinds.EDGE, kinds.edge_digest(tenant, e)) for e in dump.edges}
    out |= {a.seq: (kinds.AGENT, kinds.agent_digest(tenant, a)) for a in dump.agents}
    out |= {t.seq: (kinds.TOMBSTONE, kinds.tomb_digest(tenant, t)) for t in dump.tombs}
    for v in dump.vectors:
        if v.form != "unit" and v.row in salts:
            out[v.seq] = (kinds.VECTOR, kinds.vector_digest(tenant, v, salts[v.row]))
    return out


def _positions(tenant: str, dump: Dump) -> None:
    """Ids and positions belong together, and no position lies beyond the count."""
    owner: dict[int, str] = {}
    for record in dump.records:
        if owner.setdefault(record.position, record.id) != record.id:
            raise _broken(tenant, record.row, "a position has two records")
        if record.position >= dump.head.positions:
            raise _broken(tenant, record.row, "a position lies beyond the count")


def _broken(tenant: str, seq: int, what: str) -> Corrupt:
    return Corrupt(f"tenant {tenant!r}, entry {seq}: {what}", hint="restore a backup from before")
