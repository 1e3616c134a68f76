"""Our `dataclass` against that of the standard library, on the same classes."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
import threading
from dataclasses import field
from typing import Any

import pytest

from memoriter.core.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Point:
    """Two numbers and a list."""

    x: int
    y: int = 0
    more: list[int] = field(default_factory=list[int], compare=False)


@dataclasses.dataclass(frozen=True, slots=True)
class Standard:
    """The same, by the standard decorator."""

    x: int
    y: int = 0
    more: list[int] = field(default_factory=list[int], compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Named(Point):
    """A field by name, of a class that has two by place."""

    name: str = "a"

    def __post_init__(self) -> None:
        if not self.name:
            raise ValueError("no name")


@dataclass()
class Open:
    """One that may be changed."""

    x: int


@dataclass(frozen=True, slots=True, eq=False)
class Same:
    """One that equals only itself."""

    x: int


def test_it_takes_and_shows_what_the_standard_one_does() -> None:
    ours, theirs = Point(1, more=[3]), Standard(1, more=[3])
    assert repr(ours) == repr(theirs).replace("Standard", "Point")
    assert (ours == Point(1), ours == Point(2), ours == theirs) == (True, False, False)
    assert hash(ours) == hash(theirs)
    assert dataclasses.astuple(ours) == dataclasses.astuple(theirs)
    assert (
        inspect.signature(Point).parameters.keys() == inspect.signature(Standard).parameters.keys()
    )
    assert Point.__match_args__ == Standard.__match_args__


@pytest.mark.parametrize("wrong", [{}, {"x": 1, "z": 2}])
def test_it_refuses_what_the_standard_one_does(wrong: dict[str, Any]) -> None:
    with pytest.raises(TypeError) as theirs:
        Standard(**wrong)
    with pytest.raises(TypeError) as ours:
        Point(**wrong)
    assert str(ours.value) == str(theirs.value).replace("Standard", "Point")


def test_a_frozen_one_cannot_be_changed() -> None:
    point: Any = Point(1)
    with pytest.raises(dataclasses.FrozenInstanceError, match="cannot assign to field 'x'"):
        point.x = 2
    with pytest.raises(dataclasses.FrozenInstanceError, match="cannot delete field 'x'"):
        del point.x
    assert Point(1).more is not Point(1).more


def test_copies_and_pickles_are_equal() -> None:
    named = Named(1, 2, name="b")
    assert copy.deepcopy(named) == pickle.loads(pickle.dumps(named)) == named  # noqa: S301  # our own
    assert dataclasses.replace(named, y=5) == Named(1, 5, name="b")
    with pytest.raises(ValueError, match="no name"):
        dataclasses.replace(named, name="")


def test_what_may_change_has_no_hash_and_what_equals_itself_has_one() -> None:
    changed = Open(1)
    changed.x = 2
    assert changed == Open(2)
    assert Open.__hash__ is None
    assert Same(1) != Same(1)
    assert len({Same(1), Same(1)}) == 2


def test_threads_that_come_first_together_all_get_an_instance() -> None:
    @dataclass(frozen=True, slots=True)
    class Fresh:
        x: int

    made: list[Fresh] = []
    begin = threading.Barrier(8)

    def make(n: int) -> None:
        begin.wait()
        made.append(Fresh(n))

    threads = [threading.Thread(target=make, args=(n,)) for n in range(8)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert sorted(each.x for each in made) == list(range(8))
