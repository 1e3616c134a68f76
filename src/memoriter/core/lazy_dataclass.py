"""`dataclass`, as in the standard library, whose methods are made when they are first needed.

The standard decorator compiles up to six methods for every class at import, which takes about a
millisecond, and most processes never make an instance of most classes. Here `__init__`, `__repr__`,
`__eq__` and `__hash__` are placeholders; the first access to one of them has the standard decorator
make that method and puts it in its place. From then on nothing is different.

>>> @dataclass(frozen=True, slots=True)
... class Point:
...     x: int
...     y: int = 0
>>> Point(1), Point(1) == Point(1, 0), hash(Point(2)) == hash(Point(2))
(Point(x=1, y=0), True, True)
>>> Point(1).x = 5
Traceback (most recent call last):
dataclasses.FrozenInstanceError: cannot assign to field 'x'
"""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable
from dataclasses import MISSING, Field, FrozenInstanceError, field, fields
from typing import Any, Final, NoReturn, TypeVar, cast, dataclass_transform

T = TypeVar("T")

_COMPARED: Final = ("__eq__", "__hash__")


@dataclass_transform(field_specifiers=(field, Field))
def dataclass(
    *, frozen: bool = False, slots: bool = False, eq: bool = True, kw_only: bool = False
) -> Callable[[type[T]], type[T]]:
    """The decorator of the standard library, with those of its options that we use."""

    def decorate(cls: type[T]) -> type[T]:
        own = vars(cls)
        later = ["__init__", "__repr__", *(_COMPARED if eq else ())]
        later = [name for name in later if own.get(name) is None]
        derived = hasattr(cls, "__dataclass_params__")  # then the standard decorator compares both
        made: Any = dataclasses.dataclass(
            init=False,
            repr=False,
            eq=False,
            frozen=frozen and derived,
            slots=slots,
            kw_only=kw_only,
        )(cls)
        made.__dataclass_params__.frozen = frozen
        if frozen:
            made.__setattr__, made.__delattr__ = _refuse_set, _refuse_delete
            if slots and "__getstate__" not in own:
                made.__getstate__, made.__setstate__ = _state, _restore
        elif "__hash__" in later:
            later.remove("__hash__")
            made.__hash__ = None
        for name in later:
            setattr(made, name, _Later(made, name))
        return made

    return decorate


class _Later:
    """Stands for a method of a class until somebody asks for it."""

    __slots__ = ("cls", "name")

    def __init__(self, cls: type, name: str) -> None:
        self.cls, self.name = cls, name

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        method = vars(self.cls)[self.name]
        if method is self:  # else another thread was first
            method = self._made()
            setattr(self.cls, self.name, method)
        return method if instance is None else method.__get__(instance, owner)

    def _made(self) -> Any:
        """The method: `__init__` from its source, others as the standard decorator makes them."""
        if self.name == "__init__":
            return _init_of(self.cls)
        cls: Any = self.cls
        twin = type(cls)(cls.__name__, (cls,), {"__module__": cls.__module__, "__doc__": ""})
        dataclasses.dataclass(
            init=False,
            repr=self.name == "__repr__",
            eq=self.name in _COMPARED,
            frozen=cls.__dataclass_params__.frozen,
            match_args=False,
        )(twin)
        method: Any = vars(cast("type", twin))[self.name]
        method.__qualname__ = f"{cls.__qualname__}.{self.name}"
        return method


def _init_of(cls: Any) -> Any:
    """`__init__` of a dataclass, all of whose fields it takes.

    The standard decorator would compile two more methods with it, before the first search.
    """
    names: dict[str, object] = {"MISSING": MISSING}
    ordered, by_name, body = ["self"], list[str](), list[str]()
    for each in fields(cls):
        given, value = each.name, each.name
        if each.default_factory is not MISSING:
            names[f"make_{each.name}"] = each.default_factory
            given += "=MISSING"
            value = f"make_{each.name}() if {each.name} is MISSING else {each.name}"
        elif each.default is not MISSING:
            names[f"default_{each.name}"] = each.default
            given += f"=default_{each.name}"
        (by_name if each.kw_only else ordered).append(given)
        slot: Any = inspect.getattr_static(cls, each.name, None)
        if not cls.__dataclass_params__.frozen:
            body.append(f"self.{each.name} = {value}")
        elif inspect.ismemberdescriptor(slot):  # takes half the time of `object.__setattr__`
            names[f"set_{each.name}"] = slot.__set__
            body.append(f"set_{each.name}(self, {value})")
        else:
            body.append(f"self.__dict__[{each.name!r}] = {value}")
    if hasattr(cls, "__post_init__"):
        body.append("self.__post_init__()")
    params = ", ".join([*ordered, *(["*", *by_name] if by_name else [])])
    source = f"def __init__({params}):\n " + "\n ".join(body or ["pass"])
    exec(source, names)  # noqa: S102  # made of the names of fields, as the standard library does
    init: Any = names["__init__"]
    init.__annotations__ = {**{each.name: each.type for each in fields(cls)}, "return": None}
    init.__qualname__, init.__module__ = f"{cls.__qualname__}.__init__", cls.__module__
    return init


def _refuse_set(self: object, name: str, value: object) -> NoReturn:
    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _refuse_delete(self: object, name: str) -> NoReturn:
    raise FrozenInstanceError(f"cannot delete field {name!r}")


def _state(self: Any) -> list[object]:
    return [getattr(self, each.name) for each in fields(self)]


def _restore(self: Any, state: list[object]) -> None:
    for each, value in zip(fields(self), state, strict=True):
        object.__setattr__(self, each.name, value)
