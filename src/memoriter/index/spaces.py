"""What the arrays of an index depend on, and the name under which its segments are published."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from memoriter.embed.port import Deriver, Kindred
from memoriter.text.port import Analyzer

SEGMENT_FORMAT: Final = 9
"""Version of the segment files; with another one they are built again from the log."""


@dataclass(frozen=True, slots=True)
class IndexSpaces:
    """What the arrays of an index depend on: analyzer, vector space and kin table."""

    analyzer: Analyzer
    vectors: str
    kin: Kindred | None
    deriver: Deriver | None = None
    """What computes the vectors that the log only notes; None if nothing here does."""

    @property
    def name(self) -> str:
        """A fingerprint of all of them, and of the segment format."""
        return _name(self.analyzer.fingerprint, self.vectors, self._kin)

    @property
    def _kin(self) -> str:
        return "none" if self.kin is None else self.kin.fingerprint

    def differs_only_in_analyzer(self, other: IndexSpaces) -> bool:
        """Whether vector space and kin table are those of another."""
        return (self.vectors, self._kin) == (other.vectors, other._kin)


@lru_cache(maxsize=256)
def _name(*parts: str) -> str:
    text = "\n".join((str(SEGMENT_FORMAT), *parts))
    return hashlib.sha256(text.encode()).hexdigest()[:16]
