"""A tool of another system, under its name and with its fields."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from memoriter.doors.desk import Desk
from memoriter.doors.replies import Reply
from memoriter.doors.requests import Request, parsed


@dataclass(frozen=True, slots=True)
class Compat:
    """One such tool. All of them read."""

    name: str
    recipe: str
    request: type[Request]
    reply: type[Reply]
    act: Callable[[Desk, Any], dict[str, Any]]
    summary: str

    def run(self, desk: Desk, data: object) -> dict[str, Any]:
        """Check what is asked, do it, answer."""
        return self.act(desk, parsed(self.request, data))
