"""The registry of agents of a tenant: it is read from the log again if it may have changed."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from memoriter.store.port import Delta
from memoriter.store.rows import AgentRow


class Registry:
    """Reads the registry as of a sequence number; what was read last is kept."""

    def __init__(self, read: Callable[[int], Sequence[AgentRow]]) -> None:
        self._read = read
        self._kept: tuple[int, Sequence[AgentRow]] = (-1, ())
        """(sequence number, the registry as of then)."""
        self._same = (0, 0)
        """No entry of the log in this range, (after, upto], is one of the registry."""

    def read_on(self, after: int, delta: Delta) -> None:
        """Note a part of the log that the index has read."""
        seqs = {
            *(record.row for record in delta.records),
            *(vector.seq for vector in delta.vectors),
            *(edge.seq for edge in delta.edges),
            *(tomb.seq for tomb in delta.tombs),
        }
        # An entry that is none of these may belong to the registry.
        if len(seqs) < delta.upto - after:
            self._same = (delta.upto, delta.upto)
        else:
            self._same = (self._same[0] if self._same[1] == after else after, delta.upto)

    def at(self, seq: int) -> Sequence[AgentRow]:
        """The registry as of an entry of the log."""
        (kept, rows), (after, upto) = self._kept, self._same
        if not after <= kept <= seq <= upto:
            rows = self._read(seq)
            self._kept = (seq, rows)
        return rows
