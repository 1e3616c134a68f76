"""The plug-in port of the servers: MCP tools and JSON-RPC methods of other packages.

An entry point of the group `memoriter.tools` leads to a tuple of `ForeignTool`, one of the group
`memoriter.rpc` to a tuple of `Invocable`. The entry point is named after the system whose tools
they are. A name that the core or an earlier package uses already is skipped with a warning.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterator
from typing import Any, Final, Literal, Protocol, cast, runtime_checkable

from memoriter.core import plugins
from memoriter.core.lazy_dataclass import dataclass
from memoriter.doors.replies import Reply
from memoriter.doors.requests import Request, parse_request
from memoriter.doors.tenant_session import TenantSession

Right = Literal["read", "write", "admin"]
RIGHTS: Final[tuple[Right, ...]] = ("read", "write", "admin")
"""What a credential allows; each right includes those before it."""
_log: Final = logging.getLogger(__name__)
_TUPLE: Final = cast("type[tuple[Any, ...]]", tuple)
"""What an entry point leads to; `isinstance` does not accept `tuple[Any, ...]` itself."""


@runtime_checkable
class Invocable(Protocol):
    """What the servers can run: an `Operation`, an MCP tool, or a method of another package."""

    @property
    def name(self) -> str:
        """The name that callers use."""
        ...

    @property
    def right(self) -> Right:
        """The right that a caller needs."""
        ...

    def run(
        self, tenant_session: TenantSession, data: object, *, spelled: bool = False
    ) -> dict[str, Any]:
        """Parse the data, do the work, return the reply as plain data.

        `spelled` says that all values are text, as in the query string of a URL.
        """
        ...


@dataclass(frozen=True, slots=True)
class ForeignTool:
    """A tool with the name and the fields it has in another system. It only reads."""

    name: str
    recipe: str
    request: type[Request]
    reply: type[Reply]
    handler: Callable[[TenantSession, Any], dict[str, Any]]
    summary: str

    def run(self, tenant_session: TenantSession, data: object) -> dict[str, Any]:
        """Parse the data, call the function, return its reply."""
        return self.handler(tenant_session, parse_request(self.request, data))


def foreign_tools(taken: Collection[str]) -> tuple[ForeignTool, ...]:
    """The MCP tools of other packages whose names are not among `taken`."""
    return tuple(_offers("tools", ForeignTool, taken))


def foreign_methods(taken: Collection[str]) -> tuple[Invocable, ...]:
    """The JSON-RPC methods of other packages whose names are not among `taken`."""
    return tuple(_offers("rpc", Invocable, taken))


def _offers(group: str, kind: Any, taken: Collection[str]) -> Iterator[Any]:
    """What the entry points of a group offer, each name once; `kind` is a class or a protocol."""
    seen = set(taken)
    for system, offers in plugins.load_all(group, _TUPLE).items():
        for each in offers:
            if not isinstance(each, kind) or each.name in seen:
                # One bad or clashing entry must not take the others of its package with it.
                _log.warning("%s of %s: %r is left out", group, system, each)
                continue
            seen.add(each.name)
            yield each
