"""One server for all tests that do not need one of their own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.http.live import TENANT, Live, live


@pytest.fixture(scope="session")
def site() -> Iterator[Live]:
    """A server with a few memories in it; tests may add to them."""
    with live() as made:
        memory = made.server_state.tenants.memory(TENANT)
        memory.remember("Prod SSH port is 49222", id="port", tags=["ops"])
        memory.remember("The cache is flushed at dawn", id="cache")
        memory.link("port", "cache")
        made.server_state.tenants.memory("other").remember("A secret of others", id="secret")
        yield made
