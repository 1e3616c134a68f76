"""What installed packages add by entry points: recipes, importers, dialects, lanes and more.

Each sort of thing has a group, `memoriter.recipes` for example, and an entry point of it is named
as what it adds. The recipes, importers and dialects of the five systems come this way too. The
installed packages are scanned once in a process, and only when a name is asked for that the core
does not have itself; nothing is imported before somebody asks for it by name.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable, Mapping
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from types import MappingProxyType
from typing import Any, Final, TypeVar

from memoriter.core.errors import message_of

_log: Final = logging.getLogger(__name__)
_OWN: Final = "memoriter."
"""How the place of an entry point of this package begins."""
_NOT_INSTALLED: Final = (
    "; this copy of Memoriter is not installed, so what comes by entry points is missing:"
    " `pip install` it"
)
_T = TypeVar("_T")


class CannotLoad(Exception):
    """An entry point leads to nothing that can be used; the message says why."""


@cache
def _installed() -> Any:
    """All entry points of all installed packages."""
    return entry_points()


@cache
def points(group: str) -> Mapping[str, EntryPoint]:
    """The entry points of a group by name, in the order of their names.

    Of two with one name this package's own stays, else the first that the path leads to.
    """
    each: list[EntryPoint] = list(_installed().select(group=f"memoriter.{group}"))
    by_name: dict[str, EntryPoint] = {}
    for point in sorted(each, key=lambda one: (one.name, not one.value.startswith(_OWN))):
        kept = by_name.setdefault(point.name, point)
        if kept.value != point.value:
            _log.warning("%s %r of %s is taken by %s", group, point.name, point.value, kept.value)
    return MappingProxyType(by_name)


def load(group: str, name: str, kind: type[_T]) -> _T:
    """What an entry point leads to; `CannotLoad` where it fails or is not of that kind."""
    point = points(group)[name]
    try:
        value = point.load()
    except Exception as error:  # whatever another package raises when it is imported
        raise CannotLoad(f"{type(error).__name__}: {message_of(error)}") from error
    if not isinstance(value, kind):
        raise CannotLoad(f"{point.value} is no {kind.__module__}.{kind.__qualname__}")
    return value


def load_all(group: str, kind: type[_T], taken: Collection[str] = ()) -> dict[str, _T]:
    """All of a group by name, without those that cannot be loaded or are taken: logged instead."""
    out: dict[str, _T] = {}
    for name in points(group):
        if name in taken:
            _log.warning("%s %r is left out: there is one of this name already", group, name)
            continue
        try:
            out[name] = load(group, name, kind)
        except CannotLoad as error:
            _log.warning("%s %r cannot be loaded: %s", group, name, error)
    return out


def known(names: Iterable[str]) -> str:
    """The hint of an error about an unknown name: those that there are.

    It also says when this package has no metadata, as in a bare copy of its folder.
    """
    listed = f"known: {', '.join(names)}"
    return (
        listed
        if any(_is_own(point) for point in points("recipes").values())
        else (listed + _NOT_INSTALLED)
    )


def _is_own(point: EntryPoint) -> bool:
    return point.value.startswith(_OWN)
