"""Who asks: the tenant is a wall; agent, user and session are filters."""

from __future__ import annotations

from dataclasses import dataclass

from memoriter.core.errors import InputError
from memoriter.core.names import name
from memoriter.core.shown import named, shown


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
