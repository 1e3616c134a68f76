"""Threads that search take turns."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable

import pytest

from memoriter.kernel.library import native_library
from memoriter.kernel.turn_lock import NativeLock
from memoriter.kernel.turns import NoTurns, ThreadTurns, TurnLock, python_lock

LONG = 60.0
"""Seconds that no thread of these tests really waits."""
NewLock = Callable[[object], TurnLock]


def native_lock(_: object = None) -> NativeLock:
    fast = native_library()
    made = None if fast is None else fast.turn_lock()
    if made is None:
        pytest.skip("there is no native kernel here, or none with a lock")
    return made


@pytest.fixture(params=[python_lock, native_lock], ids=["python", "native"])
def new_lock(request: pytest.FixtureRequest) -> NewLock:
    request.param(None)  # skips
    return request.param


def in_thread(work: Callable[[], None]) -> threading.Thread:
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    return thread


def test_a_second_thread_gets_its_turn_when_the_first_is_done(new_lock: NewLock) -> None:
    turns = ThreadTurns(LONG, new_lock)
    first_computes, second_began = threading.Event(), threading.Event()
    order: list[str] = []

    def second() -> None:
        first_computes.wait(LONG)
        second_began.set()
        with turns.turn():
            order.append("second" if turns.has_turn else "second, without a turn")

    thread = in_thread(second)
    with turns.turn():
        first_computes.set()
        second_began.wait(LONG)
        order.append("first")
    thread.join(LONG)
    assert order == ["first", "second"]


def test_others_compute_during_a_long_call(new_lock: NewLock) -> None:
    turns = ThreadTurns(LONG, new_lock)
    seen: list[bool] = []

    def other() -> None:
        with turns.turn():
            seen.append(turns.has_turn)

    with turns.turn():
        turns.beside(lambda: in_thread(other).join(LONG))
        assert turns.has_turn
    assert seen == [True]


def test_a_thread_goes_on_without_a_turn_after_a_while_and_does_not_wait_again(
    new_lock: NewLock,
) -> None:
    turns = ThreadTurns(0.001, new_lock)
    seen: list[bool] = []

    def other() -> None:
        with turns.turn():
            seen.append(turns.has_turn)
            turns.beside(lambda: None)
            seen.append(turns.has_turn)

    with turns.turn():
        in_thread(other).join(LONG)
        assert turns.has_turn
    assert seen == [False, False]
    with turns.turn():  # the thread that had none released none
        assert turns.has_turn


def test_a_turn_that_was_never_passed_on_is_given_up(
    monkeypatch: pytest.MonkeyPatch, new_lock: NewLock
) -> None:
    monkeypatch.setattr("memoriter.kernel.turns.LOST_S", -1.0)
    turns, seen = ThreadTurns(0.001, new_lock), list[bool]()

    def other() -> None:
        for _ in range(2):
            with turns.turn():
                seen.append(turns.has_turn)

    taken, done = threading.Event(), threading.Event()

    def first() -> None:
        with turns.turn():
            taken.set()
            done.wait(LONG)

    thread = in_thread(first)
    taken.wait(LONG)
    in_thread(other).join(LONG)
    done.set()
    thread.join(LONG)
    assert seen == [False, True]
    with turns.turn():
        assert turns.has_turn, "who lost its turn gives back none of another"


def test_a_search_inside_of_a_search_keeps_the_turn(new_lock: NewLock) -> None:
    turns = ThreadTurns(LONG, new_lock)
    with turns.turn():
        with turns.turn():
            assert turns.has_turn
        assert turns.has_turn
    assert not turns.has_turn


def test_an_error_ends_the_turn(new_lock: NewLock) -> None:
    turns = ThreadTurns(LONG, new_lock)

    def fails() -> None:
        raise ValueError

    with pytest.raises(ValueError), turns.turn():  # noqa: PT011  # any
        turns.beside(fails)
    assert not turns.has_turn
    with turns.turn():
        assert turns.has_turn


def test_without_a_lock_of_the_interpreter_nobody_waits() -> None:
    turns = NoTurns(LONG)
    with turns.turn():
        in_thread(lambda: turns.turn().__enter__()).join(LONG)
        assert not turns.has_turn


def test_only_who_has_the_native_lock_releases_it() -> None:
    lock = native_lock()
    assert lock.acquire(0.0)
    in_thread(lock.release).join(LONG)
    got: list[bool] = []
    in_thread(lambda: got.append(lock.acquire(0.0))).join(LONG)
    lock.release()
    in_thread(lambda: got.append(lock.acquire(0.0))).join(LONG)
    assert got == [False, True]


def test_one_thread_at_a_time_has_the_native_lock() -> None:
    lock, inside, most, lost = native_lock(), list[int](), list[int](), list[bool]()

    def take() -> None:
        for _ in range(300):
            if not lock.acquire(LONG):
                lost.append(True)
                return
            inside.append(1)
            most.append(len(inside))
            os.sched_yield()
            inside.pop()
            lock.release()

    threads = [in_thread(take) for _ in range(6)]
    for thread in threads:
        thread.join(LONG)
    assert len(most) == 6 * 300
    assert max(most) == 1
    assert not lost


def test_jobs_of_the_native_kernel_run_while_others_have_their_turns() -> None:
    turns, seen = ThreadTurns(LONG, native_lock), list[tuple[str, bool]]()
    with turns.turn():
        turns.run_jobs(_no_call, 0, 0)  # no jobs: the lock is released and taken again
        seen.append(("after", turns.has_turn))
    with turns.turn():
        seen.append(("next", turns.has_turn))
    assert seen == [("after", True), ("next", True)]


def test_processes_that_share_cores_use_the_lock_of_python() -> None:
    turns, called = ThreadTurns(LONG, native_lock), list[tuple[int, int]]()
    turns.leave_cores()
    with turns.turn():
        turns.run_jobs(lambda *jobs: called.append(jobs), 3, 4)  # not by the lock of the kernel
        assert turns.has_turn
    assert called == [(3, 4)]


def _no_call(jobs: int, count: int) -> None:
    raise AssertionError("the lock runs the jobs itself")


@pytest.mark.parametrize("most", [1, 1000])
def test_threads_have_the_cores_that_they_had_after_turns(most: int) -> None:
    native_lock()  # skips
    turns, had = ThreadTurns(LONG, native_lock), os.sched_getaffinity(0)
    wanted = set(sorted(had)[:most])
    after: list[set[int]] = []

    def search() -> None:
        os.sched_setaffinity(0, wanted)
        for _ in range(200):
            with turns.turn():
                turns.run_jobs(_no_call, 0, 0)
        after.append(os.sched_getaffinity(0))

    threads = [in_thread(search) for _ in range(4)]
    for thread in threads:
        thread.join(LONG)
    assert after == [wanted] * 4
    assert os.sched_getaffinity(0) == had


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_child_process_does_not_wait_for_a_thread_of_its_parent() -> None:
    from memoriter.kernel.turns import TURNS  # noqa: PLC0415  # the one that a fork renews

    child = -1
    with TURNS.turn():
        child = os.fork()
        if not child:
            with TURNS.turn():
                if not TURNS.has_turn:
                    os._exit(1)
    if not child:  # the turn of the parent ended in the child too
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
