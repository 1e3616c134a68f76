"""A tool for models and a method of JSON-RPC: how much lies on the desk."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from memoriter.doors.port import ForeignTool, Right
from memoriter.doors.replies import Reply
from memoriter.doors.requests import EmptyRequest
from memoriter.doors.tenant_session import TenantSession


class Height(Reply):
    """How many notes there are."""

    notes: int


def height(tenant_session: TenantSession, request: Any) -> dict[str, Any]:
    """Count them."""
    return {"notes": tenant_session.memory(request).status().records}


@dataclass(frozen=True)
class Method:
    """A method of JSON-RPC."""

    name: str
    right: Right = "read"

    def run(
        self, tenant_session: TenantSession, data: object, *, spelled: bool = False
    ) -> dict[str, Any]:
        """Count them."""
        del data, spelled
        return height(tenant_session, EmptyRequest())


TOOLS = (
    ForeignTool("desk_height", "desk", EmptyRequest, Height, height, "How much lies on the desk."),
    ForeignTool("recall", "desk", EmptyRequest, Height, height, "A name that is taken."),
)
METHODS = (Method("desk.height"), Method("status"), "no method")
