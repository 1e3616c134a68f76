"""A memory with something of everything, to be copied."""

from __future__ import annotations

from memoriter.memory.facade import Memory


def fill(memory: Memory, count: int = 40) -> None:
    memory.remember_many(
        {"text": f"port {n} of ssh", "id": f"r{n}", "key": f"k{n}"} for n in range(count)
    )
    for n in range(0, count, 5):
        memory.update(f"r{n}", text=f"harbour {n}")
        memory.link(f"r{n}", f"r{n + 1}", "supersedes")
    memory.forget("r3")
