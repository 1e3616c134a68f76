"""Edges: typed, weighted links between records, as `Memory.links` returns them."""

from __future__ import annotations

from dataclasses import field
from datetime import datetime
from typing import Any, Final

from memoriter.core.lazy_dataclass import dataclass
from memoriter.core.names import Json
from memoriter.core.other_words import Hinting
from memoriter.core.shown import named, plain, shown
from memoriter.core.times import iso, to_datetime

EDGE_KINDS: Final = (
    "references", "summarizes", "corrects", "invalidates", "caused_by", "supports",
    "contradicts", "derived_from", "continues_from", "branches_from", "related_to", "supersedes",
)  # fmt: skip
"""The typed kinds. Any other name is a custom kind; `consolidated_from` marks a reflection."""
REPLACING: Final = ("supersedes", "corrects", "invalidates")
"""Kinds whose target is superseded: recalls leave it out unless a recipe shows it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Edge(Hinting):
    """One link, valid over a half-open interval; a later one with the same key replaces it.

    The key is (source, target, kind, valid_from).
    """

    source: str
    target: str
    kind: str
    weight: float = 1.0
    valid_from: datetime | None = None
    valid_until: datetime | None = None
    metadata: dict[str, Json] = field(default_factory=dict[str, Json])
    seq: int

    def __repr__(self) -> str:
        ends = f"{named(self.source)} {plain(self.kind, 24)} {named(self.target)}"
        return shown(f"Edge {ends}", f"weight {self.weight:g}")

    def to_dict(self) -> dict[str, object]:
        """The edge as plain data, times in ISO 8601."""
        out: dict[str, object] = {
            "source": self.source,
            "target": self.target,
            "kind": self.kind,
            "weight": self.weight,
            "seq": self.seq,
        }
        for key in ("valid_from", "valid_until"):
            if (value := getattr(self, key)) is not None:
                out[key] = iso(value)
        return {**out, "metadata": self.metadata} if self.metadata else out


def edge_of(seq: int, body: dict[str, Any]) -> Edge:
    """Decode an edge of the log; its times are stored as microseconds."""
    times = {
        k: to_datetime(v) for k in ("valid_from", "valid_until") if (v := body.get(k)) is not None
    }
    return Edge(seq=seq, **body | times)  # pyright: ignore[reportArgumentType]  # checked when it was written
