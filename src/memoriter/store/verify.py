"""Checks a whole tenant: every digest, chain link, number and checksum.

Called by the doctor, by load and by the contract tests, on a `Dump` of any store.
"""

from __future__ import annotations

import json
import struct
from bisect import bisect_left
from itertools import pairwise

from memoriter.core.errors import Corrupt
from memoriter.store import rows as kinds
from memoriter.store.port import Dump


def verify_log(tenant: str, dump: Dump) -> None:
    """Check a whole tenant; raises Corrupt with the first bad sequence number."""
    try:
        _chain(tenant, dump)
        _head(tenant, dump)
        _positions(tenant, dump)
        for vector in dump.vectors:
            kinds.check_vector(tenant, vector)
        _mentions(tenant, dump)
        require_undamaged(dump)
    except (TypeError, ValueError, AttributeError, LookupError, struct.error) as error:
        raise Corrupt(
            f"tenant {tenant!r}: a row cannot be read: {error}", hint="restore a backup"
        ) from error


def require_undamaged(dump: Dump) -> Dump:
    """The dump itself; Corrupt if a commit, key or debt does not match its checksum."""
    if dump.damaged:
        raise Corrupt(dump.damaged[0], hint="restore a backup")
    return dump


def _chain(tenant: str, dump: Dump) -> None:
    """Every entry is in the chain, and every link has its entry or a tombstone that erased it."""
    computed = entry_digests(tenant, dump)
    erasures = [kinds.read_tomb(tomb) for tomb in dump.tombs]
    gone = {seq for tomb in erasures for seq in (*tomb.rows, *tomb.edges, *tomb.vectors)}
    strays = {*computed, *gone}.difference(entry.seq for entry in dump.chain)
    stray = min(strays, default=2**63)
    link = kinds.genesis(tenant)
    for entry in dump.chain:
        # The link of `stray` was deleted, so the next one cannot match: report the stray instead.
        if stray < entry.seq:
            break
        link = kinds.next_link(link, entry.seq, entry.kind, entry.digest)
        if link != entry.link:
            raise _broken(tenant, entry.seq, "the chain is broken")
        here = computed.get(entry.seq)
        if here is None and entry.seq not in gone:
            raise _broken(tenant, entry.seq, "an entry is missing")
        if here is not None and here != (entry.kind, entry.digest):
            raise _broken(tenant, entry.seq, "an entry does not match its digest")
    if strays:
        raise _broken(tenant, stray, "an entry is not in the chain")
    if dump.chain and link != dump.head.link:
        raise _broken(tenant, dump.head.seq, "the chain does not end where the log says")


def _head(tenant: str, dump: Dump) -> None:
    """The last commit is the head, times never run backwards, records have their commit's."""
    last = dump.commits[-1] if dump.commits else kinds.CommitRow(0, 0)
    if last != (dump.head.seq, dump.head.time):
        raise _broken(tenant, dump.head.seq, "the last commit is not where the log says")
    for before, after in pairwise(dump.commits):
        if after.seq <= before.seq or after.time < before.time:
            raise _broken(tenant, after.seq, "commits are out of order")
    at = {commit.seq: commit.time for commit in dump.commits}
    ends = sorted(at)
    for record in dump.records:
        if at[ends[bisect_left(ends, record.row)]] != record.committed:
            raise _broken(tenant, record.row, "a record has another time than its commit")


def entry_digests(tenant: str, dump: Dump) -> dict[int, tuple[int, bytes]]:
    """(kind, digest) of every sequenced entry of the dump, by sequence number."""
    salts = {record.row: record.salt for record in dump.records}
    out = {r.row: (kinds.RECORD, kinds.record_digest(tenant, r)) for r in dump.records}
    out |= {e.seq: (kinds.EDGE, kinds.edge_digest(tenant, e)) for e in dump.edges}
    out |= {a.seq: (kinds.AGENT, kinds.agent_digest(tenant, a)) for a in dump.agents}
    out |= {t.seq: (kinds.TOMBSTONE, kinds.tomb_digest(tenant, t)) for t in dump.tombs}
    for v in dump.vectors:
        if v.form != "unit" and v.row in salts:
            out[v.seq] = (kinds.VECTOR, kinds.vector_digest(tenant, v, salts[v.row]))
    return out


def _mentions(tenant: str, dump: Dump) -> None:
    """The mentions of each record are its entities, in order; no other mentions exist."""
    named: dict[int, list[str]] = {}
    for mention in dump.mentions:
        if kinds.mention_sum(tenant, mention.seq, mention.row, mention.name) != mention.sum:
            raise _broken(tenant, mention.seq, "an indexed entity is damaged")
        named.setdefault(mention.row, []).append(mention.name)
    for record in dump.records:
        if named.pop(record.row, []) != json.loads(record.body).get("entities", []):
            raise _broken(
                tenant,
                record.row,
                "the entities indexed for this record differ from those stored in it",
            )
    if named:
        raise _broken(tenant, min(named), "an entity is indexed for a record that does not exist")


def _positions(tenant: str, dump: Dump) -> None:
    """Each position has one id, and the head counts one more than the last position."""
    owner: dict[int, str] = {}
    for agent in dump.agents:
        if json.loads(agent.body)["agent"] != agent.agent:
            raise _broken(tenant, agent.seq, "an agent is filed under a wrong name")
    for record in dump.records:
        if json.loads(record.body)["id"] != record.id:
            raise _broken(tenant, record.row, "a record is filed under a wrong id")
        if owner.setdefault(record.position, record.id) != record.id:
            raise _broken(tenant, record.row, "a position has two records")
    assigned = [*owner, *(kinds.read_tomb(tomb).position for tomb in dump.tombs)]
    if dump.head.positions != max(assigned, default=-1) + 1:
        raise _broken(tenant, dump.head.seq, "the count of positions is wrong")


def _broken(tenant: str, seq: int, what: str) -> Corrupt:
    return Corrupt(
        f"tenant {tenant!r}, entry {seq}: {what}",
        hint="restore a backup that was made before the damage",
    )
