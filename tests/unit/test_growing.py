"""Records that are written one by one share a segment, which is built anew with each of them."""

from __future__ import annotations

from pathlib import Path

from tests.inside import index_of, keeps_texts, view_of

import memoriter
from memoriter.index.build import MOST, PartArrays
from memoriter.memory.facade import Memory
from memoriter.testing.fakes import CountedEntropy, HandClock

QUESTION = "where is the green kettle?"


def opened() -> Memory:
    return memoriter.open(":memory:", clock=HandClock(), entropy=CountedEntropy())


def text(n: int) -> str:
    return f"The kettle number {n} is {('green', 'blue')[n % 2]} and stands in room {n % 5}"


def answers(memory: Memory) -> list[object]:
    made = memory.recall(QUESTION, now="2026-01-01")
    return [(hit.id, hit.score, hit.relevance) for hit in made]


def test_one_by_one_gives_the_answers_of_all_at_once() -> None:
    texts = [text(n) for n in range(MOST)]
    with opened() as single, opened() as together:
        most = 0
        for n, each in enumerate(texts):
            single.remember(each, id=f"k{n}")
            most = max(most, len(view_of(single).segments))
        together.remember_many([{"text": each, "id": f"k{n}"} for n, each in enumerate(texts)])
        assert answers(single) == answers(together)
        assert most < 4
        (segment, *_) = view_of(together).segments
        assert sum(map(len, view_of(single).segments)) == len(segment) == MOST


def test_updates_and_links_end_and_join_rows_of_the_growing_segment() -> None:
    with opened() as memory:
        memory.remember("The kettle is green", id="old")
        memory.recall(QUESTION)
        memory.update("old", text="The kettle is red")
        memory.recall(QUESTION)
        memory.remember("The kettle is blue", id="new", supersedes="old")
        view = view_of(memory)
        assert [len(segment) for segment in view.segments] == [3]
        assert view.total == 2, "the first version has ended"
        assert [hit.id for hit in memory.recall(QUESTION)] == ["new"]


def test_what_is_forgotten_leaves_open_views_and_is_not_kept() -> None:
    with opened() as memory:
        memory.remember("The kettle is green", id="a")
        memory.remember("The kettle is blue", id="b")
        before = view_of(memory)
        memory.remember("The kettle is red", id="c")
        between = view_of(memory)
        memory.forget("a")
        after = view_of(memory)
        memory.remember("The kettle is white", id="d")
        assert (after.total, view_of(memory).total) == (2, 3)
        # The segments that these views read were built anew since, and end the row all the same.
        assert before.segments[-1] is not between.segments[-1]
        for view in (before, between):
            assert not view.segments[-1].seen(view.seq).mask[0]
        assert [hit.id for hit in memory.recall("kettle green")][-1] != "a"
        assert len(view_of(memory).segments) == 2, "growth ends with a forget"


def test_the_tail_of_single_writes_stays_a_few_segments() -> None:
    with opened() as memory:
        most = 0
        for n in range(10 * MOST // 2):
            memory.remember(text(n))
            most = max(most, len(view_of(memory).segments))
        assert most <= 4
        assert view_of(memory).total == 10 * MOST // 2


def test_texts_are_kept_only_for_the_segment_that_grows() -> None:
    with opened() as memory:
        view = view_of(memory)
        for n in range(MOST // 2 + 1):
            memory.remember(text(n))
            view = view_of(memory)
        assert [keeps_texts(segment) for segment in view.segments] == [False, True]
        memory.forget(memory.remember("a tin kettle").id)
        segments = (*view.segments, *view_of(memory).segments)
        assert not any(map(keeps_texts, segments)), "also of those that open views read"


def test_every_array_is_the_same_whenever_it_is_made() -> None:
    with opened() as one, opened() as other:
        for n in range(5):
            for memory in (one, other):
                memory.remember(text(n), id=f"k{n}", tags=["kitchen"])
            one.recall(QUESTION)
        made, whole = (view_of(memory).segments[-1].arrays for memory in (one, other))
        assert isinstance(made, PartArrays)
        assert isinstance(whole, PartArrays)
        counts = len(whole), len(made)
        for arrays in (made, whole):
            arrays.complete()
        assert made.keys() == whole.keys()
        assert counts[0] < counts[1] < len(whole), "only what searches read was made before"
        for name, array in made.items():
            same = whole[name]
            assert (array.dtype, array.shape) == (same.dtype, same.shape)
            assert array.tobytes() == same.tobytes(), name


def test_a_write_is_read_at_once_if_somebody_searched_since_the_last_one(tmp_path: Path) -> None:
    with memoriter.open(tmp_path / "m.db") as memory:
        memory.remember("The kettle is green")
        assert index_of(memory).seq == 0, "nobody has asked yet"
        memory.recall(QUESTION)
        first = memory.remember("The kettle is red")
        assert index_of(memory).seq == first.seq
        memory.remember("The kettle is blue")
        assert index_of(memory).seq == first.seq, "nobody asked in between"
        assert len(memory.recall(QUESTION)) == 3


def test_a_write_does_not_wait_for_what_another_process_loaded(tmp_path: Path) -> None:
    with memoriter.open(tmp_path / "m.db") as memory, memoriter.open(tmp_path / "m.db") as other:
        memory.remember("The kettle is green")
        memory.recall(QUESTION)
        before = index_of(memory).seq
        other.remember_many([text(n) for n in range(MOST)])
        memory.remember("The kettle is red")
        assert index_of(memory).seq == before
        assert len(memory.recall(QUESTION, limit=200)) > 2
