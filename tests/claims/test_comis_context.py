"""What Comis promises of the text it puts before a model: CO-37."""

from __future__ import annotations

from tests.claims.corpus import open_empty

from memoriter.memory.facade import Memory

TEXT = "deadline on friday"


def three() -> Memory:
    memory = open_empty()
    for trust in ("system", "learned", "external"):
        memory.remember(TEXT, id=trust, trust=trust, created="2026-01-01")
    return memory


def test_co_37_system_stands_bare_others_fenced_external_untrusted() -> None:
    block = three().recall("deadline", recipe="lexical").context()
    assert f"[1] system, 2026-01-01\n{TEXT}\n\n" in block
    assert f"[2] learned, 2026-01-01\n```memory\n{TEXT}\n```\n\n" in block
    assert block.endswith(f"[3] external (untrusted), 2026-01-01\n```untrusted\n{TEXT}\n```")


def test_co_37_whole_entries_up_to_the_budget() -> None:
    result = three().recall("deadline", recipe="lexical")
    whole = result.context()
    for room in range(1, len(whole) + 1):
        block = result.context(budget_chars=room)
        assert len(block) <= room
        assert block.count(TEXT) == len(block.citations)
        assert "deadline" not in block.replace(TEXT, "")


def test_co_37_two_that_contradict_each_other_both_stay() -> None:
    memory = open_empty()
    memory.remember("the deadline is friday", id="a")
    memory.remember("the deadline is monday", id="b")
    block = memory.recall("deadline", recipe="lexical", budget_chars=1000).context()
    assert set(block.citations.values()) == {"a", "b"}
