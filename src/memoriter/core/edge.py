"""Typed, weighted links between records."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from memoriter.core.names import Json
from memoriter.core.shown import named, plain, shown

EDGE_KINDS: Final = (
    "references", "summarizes", "corrects", "invalidates", "caused_by", "supports",
    "contradicts", "derived_from", "continues_from", "branches_from", "related_to", "supersedes",
)  # fmt: skip
"""The typed kinds. Any other name is a custom kind; `consolidated_from` marks a reflection."""
REPLACING: Final = ("supersedes", "corrects", "invalidates")
"""Kinds whose target no longer stands."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Edge:
    """One link, valid over a half-open interval; a later one of the same key replaces it.

    The key is (source, target, kind, valid_from).
    """

    source: str
    target: str
    kind: str
    weight: float = 1.0
    valid_from: int | None = None
    valid_until: int | None = None
    metadata: dict[str, Json] = field(default_factory=dict[str, Json])
    seq: int

    def __repr__(self) -> str:
        ends = f"{named(self.source)} {plain(self.kind, 24)} {named(self.target)}"
        return shown(f"Edge {ends}", f"weight {self.weight:g}")

    def to_dict(self) -> dict[str, object]:
        """The edge as plain data."""
        out: dict[str, object] = {
            "source": self.source,
            "target": self.target,
            "kind": self.kind,
            "weight": self.weight,
            "seq": self.seq,
        }
        for key in ("valid_from", "valid_until"):
            if (value := getattr(self, key)) is not None:
                out[key] = value
        return {**out, "metadata": self.metadata} if self.metadata else out
