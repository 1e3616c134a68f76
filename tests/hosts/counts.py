"""Which hosts are installed here, and how many steps a comparison takes by day and by night."""

from __future__ import annotations

import importlib.util
import os
import re

import pytest
from tests.night import NIGHT
from tests.pages import DOCS, blocks

PACKAGES = {"anthropic": "anthropic", "langchain": "langchain_core", "langgraph": "langgraph"}
"""The package that an adapter of this name imports."""


def host(package: str) -> None:
    """Skip the module unless the package of its host is installed."""
    if importlib.util.find_spec(package) is None:
        pytest.skip(f"{package} is not installed; `make hosts` runs this", allow_module_level=True)


def count(whole: int) -> int:
    """All steps by night and in `make hosts`, a twentieth by day."""
    wanted = os.environ.get("MEMORITER_HOST_STEPS")
    if wanted:
        return int(wanted)
    return whole if NIGHT else whole // 20


def host_of_block(text: str) -> str | None:
    """The package that an example of the docs needs and that is not installed; else None."""
    match = re.search(r"from memoriter\.integrations\.([a-z0-9]+)", text)
    needed = PACKAGES.get(match[1]) if match else None
    missing = needed is not None and importlib.util.find_spec(needed) is None
    return needed if missing else None


def run_page(name: str) -> None:
    """Run every example of a page on an adapter, each alone."""
    examples = list(blocks(DOCS / "integrations" / f"{name}.md", "python"))
    assert examples
    for block in examples:
        exec(compile(block.text, str(block), "exec", dont_inherit=True), {"__name__": "__main__"})  # noqa: S102  # our own page
