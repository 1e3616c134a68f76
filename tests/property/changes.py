"""Random changes to a memory: written, linked, forgotten, maintained."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st
from tests.property.strategies import drafts, fields

from memoriter.core.errors import MemoriterError
from memoriter.memory.facade import Memory
from memoriter.testing.fakes import HandClock

corpora = st.lists(drafts(), min_size=1, max_size=8)

Corpus = list[Any]

Change = tuple[str, int, dict[str, Any]]

changes = st.lists(
    st.tuples(
        st.sampled_from(["update", "forget", "link", "remember"]), st.integers(0, 7), fields(3)
    ),
    max_size=8,
)


def change(memory: Memory, clock: HandClock, done: list[Change], ids: list[str]) -> None:
    """Apply changes to the records that are still there."""
    for verb, at, details in done:
        clock.move(1)
        one, other = ids[at % len(ids)], ids[(at + 1) % len(ids)]
        try:
            match verb:
                case "update":
                    memory.update(one, **details)
                case "forget":
                    memory.forget(one)
                case "link":
                    memory.link(one, other, "supersedes")
                case _:
                    memory.remember("port ssh cache", **details)
        except MemoriterError:
            continue
