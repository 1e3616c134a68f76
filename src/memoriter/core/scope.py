"""The scope of a call: one tenant, and optionally an agent, a user or a session within it.

Tenants share nothing. Agent, user and session filter reads and are stamped on writes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, cast

from memoriter.core.errors import InputError
from memoriter.core.lazy_dataclass import dataclass
from memoriter.core.names import name
from memoriter.core.shown import named, shown

PARTS: Final = ("agent", "user", "session")


@dataclass(frozen=True, slots=True)
class Scope:
    """A tenant and the filters within it; every read and every write has one."""

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
        """A validated scope; raises InputError."""
        parts = {"agent": agent, "user": user, "session": session}
        clean = {k: v if v is None else name(v, k, InputError) for k, v in parts.items()}
        return cls(name(tenant, "tenant", InputError), **clean)

    def __repr__(self) -> str:
        parts = self.to_dict().items()
        return shown("Scope", ", ".join(f"{key} {named(value)}" for key, value in parts))

    def filters(self) -> dict[str, str]:
        """The values of agent, user and session that every record in scope has."""
        parts = {"agent": self.agent, "user": self.user, "session": self.session}
        return {key: value for key, value in parts.items() if value is not None}

    def to_dict(self) -> dict[str, str]:
        """The tenant, and agent, user and session where they are set, as plain data."""
        return {"tenant": self.tenant, **self.filters()}

    def contains(self, content: object) -> bool:
        """Whether a record, or the content of one, belongs to the agent, user and session."""
        return all(getattr(content, key) == value for key, value in self.filters().items())

    def narrowed(self, options: Mapping[str, object]) -> Scope:
        """The scope of one agent, user or session within this one; other keys are ignored.

        Raises InputError if it would leave this scope.
        """
        wanted = {key: options[key] for key in PARTS if options.get(key) is not None}
        if not wanted:
            return self
        filters = self.filters()
        for key, value in wanted.items():
            if filters.get(key, value) != value:
                raise InputError(
                    f"{key}: this memory is already limited to {key} {filters[key]!r}",
                    hint=f"for another {key}, start from the memory that open() returned",
                    field=key,
                )
        return Scope.of(self.tenant, **{**filters, **cast("dict[str, str]", wanted)})
