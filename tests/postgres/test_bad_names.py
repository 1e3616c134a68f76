"""Names that cannot be stored are refused alike in memory and on PostgreSQL."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import memoriter
from memoriter.doors.tenant_session import TenantSession
from memoriter.memory.facade import Memory

VERBS: tuple[Callable[[Memory, str], object], ...] = (
    lambda m, bad: m.forget(bad),
    lambda m, bad: m.forget(["a", bad]),
    lambda m, bad: m.forget(bad, dry_run=True),
    lambda m, bad: m.forget("a", key=bad),
    lambda m, bad: m.get(bad),
    lambda m, bad: m.history(bad),
    lambda m, bad: m.links(bad),
    lambda m, bad: m.update(bad, text="x"),
    lambda m, bad: m.expire(bad),
    lambda m, bad: m.link("a", bad),
    lambda m, bad: m.remember("x", id=bad),
    lambda m, bad: m.remember("x", key=bad),
    lambda m, bad: m.decide("a", bad, accept=True),
    lambda m, bad: m.recall("x", where={"id": bad}),
    lambda m, bad: m.recall("x", agent=bad),
    lambda m, bad: m.why_not(m.recall("x").receipt, bad),
    lambda m, bad: m.replay(bad),
    lambda m, bad: TenantSession(m).receipt(bad),
)


def outcome(verb: Callable[[Memory, str], object], memory: Memory, bad: str) -> tuple[str, str]:
    """The kind of error and its message, the same whatever the store."""
    try:
        return type(verb(memory, bad)).__name__, ""
    except memoriter.MemoriterError as refused:
        return type(refused).__name__, str(refused)


@pytest.mark.parametrize("bad", ["\ud800", "a\0b", "", "x" * 4000])
def test_a_name_that_cannot_be_stored_is_refused_as_in_memory(memory: Memory, bad: str) -> None:
    with memoriter.open(maintenance="manual") as plain:
        for each in (memory, plain):
            each.remember("port", id="a")
        for at, verb in enumerate(VERBS):
            assert (at, outcome(verb, memory, bad)) == (at, outcome(verb, plain, bad))
        assert [each.count() for each in (memory, plain)] == [1, 1]


@pytest.mark.parametrize("seq", ["x", None, 1.5, -1, True])
def test_what_cannot_be_waited_for_is_refused(seq: int) -> None:
    with memoriter.open() as memory:
        with pytest.raises(memoriter.InputError, match="seq"):
            memory.wait_for(seq)
        with pytest.raises(memoriter.InputError, match="timeout"):
            memory.wait_for(0, timeout=float("nan"))


def test_an_id_in_another_normal_form_takes_its_reflections_along() -> None:
    with memoriter.open(embedder=None) as memory:
        memory.remember("port", id="k\u00f6ln")
        memory.remember("about the port", id="later")
        memory.link("later", "k\u00f6ln", "derived_from")
        assert memory.forget("ko\u0308ln", dry_run=True).derived == ("later",)
