"""What the servers need beside the engine, and what to say where it is not installed."""

from __future__ import annotations

import importlib
from typing import Final

from memoriter.core.errors import Unsupported, install_hint

HTTP: Final = ("starlette", "uvicorn", "mcp")
MCP: Final = ("mcp",)


def need(what: str, modules: tuple[str, ...]) -> None:
    """Refuse a command whose packages are not there."""
    for module in modules:
        try:
            importlib.import_module(module)
        except ImportError:
            raise Unsupported(
                f"{what} needs the package {module}, which is not installed",
                hint=install_hint("server"),
            ) from None
