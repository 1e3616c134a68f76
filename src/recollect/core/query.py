"""What is asked, complete and checked: the answer is a function of this, a view and a recipe."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from recollect.core.names import Json
from recollect.core.scope import Scope
from recollect.core.times import iso
from recollect.core.where import EVERYTHING, Where, to_data

TEXT_LIMIT: Final = 65_536
LIMIT_LIMIT: Final = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """One search."""

    text: str
    scope: Scope
    now: int
    limit: int
    where: Where = EVERYTHING
    as_of: int | None = None
    known_at: int | None = None
    overrides: dict[str, Json] = field(default_factory=dict[str, Json])
    require: frozenset[str] = frozenset()
    given: tuple[float, ...] | None = None
    """The caller's own query vector."""

    def to_dict(self) -> dict[str, object]:
        """The query as plain data, times in ISO 8601."""
        out: dict[str, object] = {
            "text": self.text,
            "tenant": self.scope.tenant,
            "scope": self.scope.filters(),
            "now": iso(self.now),
            "limit": self.limit,
            "where": to_data(self.where),
        }
        if self.as_of is not None:
            out["as_of"] = iso(self.as_of)
        if self.known_at is not None:
            out["known_at"] = iso(self.known_at)
        if self.overrides:
            out["overrides"] = dict(self.overrides)
        if self.require:
            out["require"] = sorted(self.require)
        return out
