"""Records written by a function of their current version, beside other writers."""

from __future__ import annotations

import pytest

import memoriter
from memoriter.core.record import Record
from memoriter.memory.rewriting import forget_records, write_records


def test_a_change_is_made_again_on_what_a_faster_writer_wrote() -> None:
    memory = memoriter.open()
    memory.remember("0", id="n")
    tries: list[str] = []

    def appended(id: str, old: Record | None) -> dict[str, object]:
        assert old is not None
        tries.append(old.text)
        if len(tries) <= 3:
            memory.update(id, text=f"{old.text} other")
        return {"text": f"{old.text} mine"}

    write_records(memory, ["n"], appended)
    assert tries == ["0", "0 other", "0 other other", "0 other other other"]
    assert memory.get("n").text == "0 other other other mine"


def test_a_record_that_comes_or_goes_meanwhile_is_written_all_the_same() -> None:
    memory = memoriter.open()
    seen: list[bool] = []

    def fields(id: str, old: Record | None) -> dict[str, object]:
        seen.append(old is not None)
        if len(seen) == 1:
            memory.remember("another", id=id)
        elif len(seen) == 2:
            memory.forget(id)
        return {"text": "mine"}

    write_records(memory, ["n"], fields)
    assert (seen, memory.get("n").text) == ([False, True, False], "mine")


def test_of_several_records_none_is_written_if_one_is_refused() -> None:
    memory = memoriter.open()
    memory.remember("old", id="a")
    memory.remember("old", id="b")
    with pytest.raises(memoriter.BadRecord):
        write_records(memory, ["a", "new", "b"], lambda id, _: {"text": "" if id == "b" else "new"})
    assert [each.text for each in memory.browse().records] == ["old", "old"]


def test_more_records_than_one_transaction_takes() -> None:
    memory = memoriter.open()
    ids = [f"r{n}" for n in range(1001)]
    memory.remember("old", id="r1000")
    write_records(memory, ids, lambda id, _: {"text": id})
    assert len(memory) == 1001
    assert memory.get("r1000").text == "r1000"


def test_forgetting_what_others_forget_is_no_error() -> None:
    memory = memoriter.open()
    memory.remember_many([{"text": id, "id": id} for id in "abc"])
    memory.forget("b")
    forget_records(memory, ["a", "b", "nobody"])
    forget_records(memory, [])
    assert [each.id for each in memory.browse().records] == ["c"]
