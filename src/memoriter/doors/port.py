"""What another package may offer through the doors: tools for models, methods of JSON-RPC.

An entry point of the group `memoriter.tools` leads to a tuple of `ForeignTool`, one of the group
`memoriter.rpc` to a tuple of things that can be asked for (`Offered`). Each is named as the system
whose words they are. A name that the core has itself, or that an earlier package took, stays.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from typing import Any, Final, Protocol, cast, runtime_checkable

from memoriter.core import plugins
from memoriter.doors.operations import Right
from memoriter.doors.replies import Reply
from memoriter.doors.requests import Request, parsed
from memoriter.doors.tenant_session import TenantSession

_log: Final = logging.getLogger(__name__)
_TUPLE: Final = cast("type[tuple[Any, ...]]", tuple)
"""What an entry point leads to; `tuple[Any, ...]` itself is no class that `isinstance` takes."""


@runtime_checkable
class Offered(Protocol):
    """Something that can be asked for: an operation of the table, or one in other words."""

    @property
    def name(self) -> str:
        """How it is called."""
        ...

    @property
    def right(self) -> Right:
        """What it needs."""
        ...

    def run(
        self, tenant_session: TenantSession, data: object, *, spelled: bool = False
    ) -> dict[str, Any]:
        """Check what is asked, do it, answer."""
        ...


@dataclass(frozen=True, slots=True)
class ForeignTool:
    """A tool of another system, under its name and with its fields. All of them read."""

    name: str
    recipe: str
    request: type[Request]
    reply: type[Reply]
    act: Callable[[TenantSession, Any], dict[str, Any]]
    summary: str

    def run(self, tenant_session: TenantSession, data: object) -> dict[str, Any]:
        """Check what is asked, do it, answer."""
        return self.act(tenant_session, parsed(self.request, data))


def foreign_tools(taken: Collection[str]) -> tuple[ForeignTool, ...]:
    """The tools that other packages offer, system by system."""
    return tuple(_offers("tools", ForeignTool, taken))


def foreign_methods(taken: Collection[str]) -> tuple[Offered, ...]:
    """The methods of JSON-RPC that other packages offer."""
    return tuple(_offers("rpc", Offered, taken))


def _offers(group: str, kind: Any, taken: Collection[str]) -> Iterator[Any]:
    """All of a kind whose names are free; `kind` is a class or a protocol."""
    seen = set(taken)
    for system, offers in plugins.load_all(group, _TUPLE).items():
        for each in offers:
            if not isinstance(each, kind) or each.name in seen:
                _log.warning("%s of %s: %r is left out", group, system, each)
                continue
            seen.add(each.name)
            yield each
