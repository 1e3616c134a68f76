"""Who asks: the tenant is a wall; agent, user and session are filters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, cast

from memoriter.core.errors import InputError
from memoriter.core.names import name
from memoriter.core.shown import named, shown

PARTS: Final = ("agent", "user", "session")


@dataclass(frozen=True, slots=True)
class Scope:
    """Required on every read and every write."""

    tenant: str = "default"
    agent: str | None = None
    user: str | None = None
    session: str | None = None

    @classmethod
    def of(
        cls,
        tenant: str,
        agent: str | None = None,
        user: str | None = None,
        session: str | None = None,
    ) -> Scope:
        """A checked scope."""
        parts = {"agent": agent, "user": user, "session": session}
        clean = {k: v if v is None else name(v, k, InputError) for k, v in parts.items()}
        return cls(name(tenant, "tenant", InputError), **clean)

    def __repr__(self) -> str:
        told = {"tenant": self.tenant, **self.filters()}
        return shown("Scope", ", ".join(f"{key} {named(value)}" for key, value in told.items()))

    def filters(self) -> dict[str, str]:
        """The attributes that a record in scope has."""
        parts = {"agent": self.agent, "user": self.user, "session": self.session}
        return {key: value for key, value in parts.items() if value is not None}

    def narrowed(self, whose: Mapping[str, object]) -> Scope:
        """The scope of one agent, user or session within this one; other keys are left alone."""
        filters = self.filters()
        wanted = {key: whose[key] for key in PARTS if whose.get(key) is not None}
        for key, value in wanted.items():
            if filters.get(key, value) != value:
                raise InputError(
                    f"{key}: this memory is scoped to {key} {filters[key]!r} already",
                    hint="ask the memory that open gave you, or another scoped one",
                    field=key,
                )
        return Scope.of(self.tenant, **{**filters, **cast("dict[str, str]", wanted)})
