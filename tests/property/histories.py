"""Random histories of a memory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hypothesis import strategies as st
from tests.inside import clock_of
from tests.property.changes import change
from tests.property.strategies import (
    fields,
)
from tests.property.worlds import open_toy

from memoriter.memory.facade import Memory

changes = st.lists(
    st.tuples(
        st.sampled_from(["update", "forget", "link", "remember"]), st.integers(0, 7), fields(3)
    ),
    max_size=6,
)


def lived(place: Path, history: tuple[Any, Any, Any]) -> Memory:
    """A memory after some writes, upkeep, and more writes."""
    corpus, done, registry = history
    memory = open_toy(place / "m.db")
    ids = list(memory.remember_many(corpus).ids)
    memory.maintain()
    for agent, text in registry:
        memory.agents.describe(agent, text)
    change(memory, clock_of(memory), done, ids)
    return memory
