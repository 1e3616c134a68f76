"""Threads that search take turns."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable

import pytest

from memoriter.kernel.turns import NoTurns, ThreadTurns

LONG = 60.0
"""Seconds that no thread of these tests really waits."""


def in_thread(work: Callable[[], None]) -> threading.Thread:
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    return thread


def test_a_second_thread_gets_its_turn_when_the_first_is_done() -> None:
    turns = ThreadTurns(LONG)
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


def test_others_compute_during_a_long_call() -> None:
    turns = ThreadTurns(LONG)
    seen: list[bool] = []

    def other() -> None:
        with turns.turn():
            seen.append(turns.has_turn)

    with turns.turn():
        turns.beside(lambda: in_thread(other).join(LONG))
        assert turns.has_turn
    assert seen == [True]


def test_a_thread_goes_on_without_a_turn_after_a_while_and_does_not_wait_again() -> None:
    turns = ThreadTurns(0.001)
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


def test_a_turn_that_was_never_passed_on_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memoriter.kernel.turns.LOST_S", -1.0)
    turns, seen = ThreadTurns(0.001), list[bool]()

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


def test_a_search_inside_of_a_search_keeps_the_turn() -> None:
    turns = ThreadTurns(LONG)
    with turns.turn():
        with turns.turn():
            assert turns.has_turn
        assert turns.has_turn
    assert not turns.has_turn


def test_an_error_ends_the_turn() -> None:
    turns = ThreadTurns(LONG)

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
