"""How much a memory holds and where its log stands."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Final

from recollect.core.scope import Scope
from recollect.index.selection import Criteria, select
from recollect.memory.parts import Parts

DEBTS_COUNTED: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class Status:
    """One tenant at this moment. Counts are of the whole tenant, whatever the scope."""

    tenant: str
    records: int
    """Those that have not expired."""
    expired: int
    """Those that no answer shows any more, and that nobody has forgotten."""
    seq: int
    time: int
    """Of the last commit, in microseconds; 0 before the first."""
    debt: int
    """Vectors that are still owed."""
    segments: int
    """Published ones."""
    tail: int
    """Rows that are not published yet."""
    tenants: tuple[str, ...]
    """All tenants of the store, for its owner: a door that serves one tenant leaves this out."""

    def to_dict(self) -> dict[str, object]:
        """The status as plain data."""
        return {**asdict(self), "tenants": list(self.tenants)}


def status_of(parts: Parts, tenant: str) -> Status:
    """The status of a tenant."""
    index = parts.shelf.index(tenant)
    reading = index.reading()
    head = parts.log.head(tenant)
    lasting = Criteria(Scope.of(tenant), now=parts.clock.now(), expired="hide")
    records = select(reading, lasting, parts.fetch(tenant)).count
    return Status(
        tenant,
        records,
        reading.total - records,
        reading.seq,
        head.time,
        len(parts.log.debts(tenant, DEBTS_COUNTED)),
        len(index.manifest.segments),
        sum(map(len, index.tail)),
        tuple(parts.log.tenants()),
    )
