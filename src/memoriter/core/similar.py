"""A stored memory that a new one may copy, contradict or replace, and why."""

from __future__ import annotations

from typing import Final, Literal

from memoriter.core.lazy_dataclass import dataclass
from memoriter.core.record import Record
from memoriter.core.shown import named, quoted, shown

OnSimilar = Literal["keep", "skip", "supersede", "report"]
"""What `remember` does about memories that are near to a new one."""
TOOL_ROLE: Final = "memory-tool"
"""The role of files that a memory tool keeps; `on_similar` leaves them alone."""


@dataclass(frozen=True, slots=True)
class SimilarRecord:
    """A memory near to a new text; nothing was changed because of it."""

    record: Record
    relation: str
    """`copy`; `other value`: the same statement with another value; `may replace`: it is about the
    same thing, and this one names another value or announces a change."""
    shared: tuple[str, ...]
    """The words that matter and that both have."""
    here: str
    """What only the new text says."""
    there: str
    """What only the stored one says."""
    attribute: str = "value"
    """What of it differs: a kind of value such as `day`, `price` or `name`; `statement` for a
    clause as a whole."""

    @property
    def id(self) -> str:
        """The id of the stored memory."""
        return self.record.id

    @property
    def why(self) -> str:
        """The reason, as a sentence."""
        if self.relation == "copy":
            return "it says the same"
        if not self.here and not self.there:
            return f"it says the same, but {self.attribute} differs"
        here, there = self.here or "nothing", self.there or "no such thing"
        about = f"both are about {', '.join(self.shared)}" if self.shared else "nearly the same"
        return f"{about} ({self.attribute}): it says {there!r}, this says {here!r}"

    def __repr__(self) -> str:
        return shown(
            f"SimilarRecord {named(self.id)} {self.relation}", quoted(self.record.text, 48)
        )

    def to_dict(self) -> dict[str, object]:
        """The memory and the reason as plain data."""
        return {
            "id": self.id,
            "relation": self.relation,
            "why": self.why,
            "shared": list(self.shared),
            "attribute": self.attribute,
            "here": self.here,
            "there": self.there,
            "text": self.record.text,
        }
