"""The base classes of everything that a recipe declares: frozen values with checked options.

An option is a class attribute with a type and a description (`option`), which plans, docs and
comparisons of recipes print. `core/validation.py` reads data as such types.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from functools import cache, cached_property
from typing import Any, ClassVar, Final, Self, cast, get_origin

from memoriter.core.explanation import Explanation
from memoriter.core.lazy_dataclass import dataclass
from memoriter.core.shown import plain, shown
from memoriter.core.validation import Bounds, DataMistake, Read, checked, given, reader, under
from memoriter.text.figures import NodeText, node_text

_REQUIRED: Final = object()
_GIVEN: Final = "_given"


@dataclass(frozen=True, slots=True)
class SpecOption:
    """What `option` declares."""

    about: str
    default: Any
    """The default, or `_REQUIRED`."""
    make: Callable[[], Any] | None
    """Makes the default, where each value needs its own."""
    key: str | None
    """Its name in a recipe, if it is another one."""
    values: Mapping[Any, str] | Callable[[str], str]
    always: bool
    bounds: Bounds


@dataclass(frozen=True, slots=True)
class SpecField:
    """An option of a class, with its type."""

    name: str
    key: str
    """Its name in a recipe."""
    hint: Any
    option: SpecOption
    read: Read

    @property
    def required(self) -> bool:
        """Whether it has no default."""
        return self.option.make is None and self.option.default is _REQUIRED

    def default(self) -> Any:
        """The default, which it must have."""
        return self.option.default if self.option.make is None else self.option.make()


class Spec:
    """A frozen value of checked options; an unknown one is a mistake that names its path."""

    def __init__(self, /, **options: Any) -> None:
        """Raises DataMistake for a wrong option."""
        values, known, names = vars(self), fields_of(type(self)).values(), set[str]()
        for each in known:
            if each.key in options:
                values[each.name] = under(each.key, each.read, options[each.key])
                names.add(each.name)
            elif each.required:
                raise DataMistake("is required", "missing").under(each.key)
            else:
                values[each.name] = each.default()
        if len(names) < len(options):
            keys = {each.key for each in known}
            first = next(key for key in options if key not in keys)
            raise DataMistake("there is no such option", "unknown").under(first)
        values[_GIVEN] = names
        checked(type(self).check, self)

    @classmethod
    def read(cls, data: object) -> Self:
        """The value that a table describes; raises DataMistake."""
        if isinstance(data, cls):
            return data
        if not isinstance(data, dict):
            raise DataMistake(f"expected a table, not {given(data)}")
        return cls(**cast("dict[str, Any]", data))

    def check(self) -> None:
        """Raise ValueError if the options do not go together."""

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(
            f"{type(self).__name__} cannot be changed: use with_options(…), which returns a"
            " changed copy"
        )

    def __delattr__(self, name: str) -> None:
        raise AttributeError(
            f"{type(self).__name__} cannot be changed: use with_options(…), which returns a"
            " changed copy"
        )

    def __iter__(self) -> Iterator[tuple[str, Any]]:
        return ((name, getattr(self, name)) for name in fields_of(type(self)))

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and list(self) == list(cast("Spec", other))

    def __hash__(self) -> int:
        return hash((type(self), *(value for _, value in self)))

    def __repr__(self) -> str:
        pairs = ", ".join(f"{key} {value}" for key, value in self)
        return shown(type(self).__name__, plain(pairs, 100))

    def __str__(self) -> str:
        return repr(self)

    def shows(self) -> dict[str, object]:
        """What plans print of it: every option with a value."""
        return dict(self._shown)

    @cached_property
    def _shown(self) -> dict[str, object]:
        options = self.to_data()
        return {
            key: value
            for key, value in options.items()
            if value is not None and key not in ("kind", "enabled")
        }

    def with_options(self, **options: Any) -> Self:
        """A copy with other options, which are not checked."""
        copied = object.__new__(type(self))
        vars(copied).update(list(self), **options)  # a list: an option may be called `keys`
        vars(copied)[_GIVEN] = vars(self)[_GIVEN] | options.keys()
        return copied

    def to_data(self) -> dict[str, Any]:
        """All options as plain data, complete: every default written out."""
        return self.dumped(complete=True)

    def spelled_out(self) -> dict[str, Any]:
        """The explicitly given options as plain data, without the defaults."""
        return self.dumped(complete=False)

    def dumped(self, *, complete: bool) -> dict[str, Any]:
        """The options as plain data: all, or those that were given."""
        return {
            each.key: _plain_data(getattr(self, each.name), complete=complete)
            for each in fields_of(type(self)).values()
            if complete or each.name in vars(self)[_GIVEN]
        }


def _plain_data(value: object, *, complete: bool) -> object:
    if isinstance(value, Spec):
        return value.dumped(complete=complete)
    if isinstance(value, tuple):
        entries = cast("tuple[object, ...]", value)
        return [_plain_data(each, complete=complete) for each in entries]
    if isinstance(value, dict):
        table = cast("dict[str, object]", value)
        return {key: _plain_data(each, complete=complete) for key, each in table.items()}
    return value


class RecipePart(Spec):
    """A part of a recipe that is selected by `kind`: a lane, a fusion, a boost, an ordering."""

    about: ClassVar[str] = ""
    """What it does, in one line for people."""
    row_details: ClassVar[tuple[str, ...]] = ()
    """Those of its `details` that are rows: an explanation has the ids of their records."""
    whole_details: ClassVar[tuple[str, ...]] = ()
    """Those of its `details` that are integers."""
    fact_words: ClassVar[Mapping[str, str]] = {}
    """What each fact, and each number without facts, of its explanations means, in plain words."""

    @property
    def takes(self) -> tuple[str, ...]:
        """Those of `aliases` and `cycle` that it reads of a query; the others are refused."""
        return ()

    @classmethod
    @cache
    def kind_name(cls) -> str:
        """The only value that its field `kind` accepts."""
        return str(fields_of(cls)["kind"].hint.__args__[0])

    def node_text(self, node: Explanation) -> NodeText:
        """A node of its explanations as text: by default the label and all facts."""
        return node_text(node)

    def picture(self, node: Explanation) -> Mapping[str, object]:
        """What a drawing shows beside a number, in a shape of `core.picture`; empty if nothing."""
        del node
        return {}


def option(
    about: str,
    default: Any = _REQUIRED,
    *,
    values: Mapping[Any, str] | Callable[[str], str] | None = None,
    always: bool = False,
    make: Callable[[], Any] | None = None,
    key: str | None = None,
    **bounds: Any,
) -> Any:
    """An option of a recipe part, with its description.

    `values` describes single values: a table, or a function if other packages can add values. With
    `always`, recipe texts show the option even if it has its default. `make` makes the default;
    `key` is its name in a recipe, if that is another one. `bounds` are those of `Bounds`.
    """
    return SpecOption(
        about=about,
        default=default,
        make=make,
        key=key,
        values=values or {},
        always=always,
        bounds=Bounds(**bounds),
    )


@cache
def fields_of(part: type[Spec]) -> Mapping[str, SpecField]:
    """The options of a class by name, those of its bases first."""
    fields: dict[str, SpecField] = {}
    for base in reversed(part.__mro__):
        if base is not Spec and issubclass(base, Spec):
            fields |= _own(base)
    return fields


@cache
def _own(base: type[Spec]) -> dict[str, SpecField]:
    """The options that a class declares itself; its annotations are evaluated only here."""
    names = vars(sys.modules[base.__module__])
    fields: dict[str, SpecField] = {}
    for name, hint in base.__annotations__.items():
        if _is_class_variable(hint):
            continue
        own = vars(base).get(name, _REQUIRED)
        each = own if isinstance(own, SpecOption) else cast("SpecOption", option("", own))
        kind: Any = eval(hint, names) if isinstance(hint, str) else hint  # noqa: S307  # our source
        fields[name] = SpecField(name, each.key or name, kind, each, reader(kind, each.bounds))
    return fields


def _is_class_variable(hint: object) -> bool:
    if isinstance(hint, str):
        return hint.startswith(("ClassVar", "typing.ClassVar"))
    return hint is ClassVar or get_origin(hint) is ClassVar


def options_of(part: type[Spec]) -> dict[str, SpecField]:
    """The options of a part, by the name that a recipe gives them."""
    return {each.key: each for each in fields_of(part).values() if each.name != "kind"}


def meaning_of(part: type[Spec] | None, key: str) -> str:
    """The description of an option; its name if it has none."""
    each = _option(part, key)
    return (each.about if each is not None else "") or key.replace("_", " ")


def worded(part: type[Spec] | None, key: str, value: object = None) -> Mapping[object, str]:
    """Descriptions of an option's values; if a function gives them, of `value` only."""
    each = _option(part, key)
    if each is None:
        return {}
    values = each.values
    if callable(values):
        return {value: str(values(value))} if isinstance(value, str) else {}
    return values


def always_shown(part: type[Spec] | None, key: str) -> bool:
    """Whether recipe texts show an option even if it has its default."""
    each = _option(part, key)
    return each is not None and each.always


def _option(part: type[Spec] | None, key: str) -> SpecOption | None:
    each = None if part is None else options_of(part).get(key)
    return None if each is None else each.option
