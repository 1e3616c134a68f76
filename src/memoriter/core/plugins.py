"""Plugins of installed packages, by entry points: recipes, importers, dialects, lanes and more.

Each sort has an entry point group, `memoriter.recipes` for example; the entry point has the name of
what it adds. The five systems are plugins too. The installed packages are scanned once per process,
and only when a name is needed that is not built in; a plugin is imported when it is first used.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable, Mapping
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, TypeVar

from memoriter.core.errors import MemoriterError, message_of

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

_log: Final = logging.getLogger(__name__)
_OWN: Final = "memoriter."
"""Entry points of this package lead to modules with this prefix."""
_NOT_INSTALLED: Final = (
    "; this copy of Memoriter is not installed, so what comes by entry points is missing:"
    " in the clone, `pip install .`"
)
_T = TypeVar("_T")
_E = TypeVar("_E", bound=MemoriterError)


class CannotLoad(Exception):
    """An entry point cannot be loaded, or is of the wrong type; the message says why."""


@cache
def _installed() -> Any:
    """All entry points of all installed packages."""
    from importlib.metadata import entry_points  # noqa: PLC0415  # most searches need none

    return entry_points()


@cache
def points(group: str) -> Mapping[str, EntryPoint]:
    """The entry points of a group by name, sorted.

    If two have the same name, this package's own wins, else the first on the import path.
    """
    each: list[EntryPoint] = list(_installed().select(group=f"memoriter.{group}"))
    by_name: dict[str, EntryPoint] = {}
    for point in sorted(each, key=lambda one: (one.name, not one.value.startswith(_OWN))):
        kept = by_name.setdefault(point.name, point)
        if kept.value != point.value:
            _log.warning("%s %r of %s is taken by %s", group, point.name, point.value, kept.value)
    return MappingProxyType(by_name)


def load(group: str, name: str, kind: type[_T]) -> _T:
    """Load one plugin; raises CannotLoad if the import fails or it is not of that type."""
    point = points(group)[name]
    try:
        value = point.load()
    except Exception as error:  # whatever another package raises when it is imported
        raise CannotLoad(f"{type(error).__name__}: {message_of(error)}") from error
    if not isinstance(value, kind):
        raise CannotLoad(
            f"{point.value} is not an instance of {kind.__module__}.{kind.__qualname__}"
        )
    return value


def load_all(group: str, kind: type[_T], taken: Collection[str] = ()) -> dict[str, _T]:
    """Load all plugins of a group by name; log and skip those that fail or are `taken`."""
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
    """The hint for an unknown name: the list of known names.

    It adds a note if this package is not installed (no metadata), since plugins are missing then.
    """
    listed = f"known: {', '.join(names)}"
    return (
        listed
        if any(_is_own(point) for point in points("recipes").values())
        else (listed + _NOT_INSTALLED)
    )


def unknown(what: str, name: str, names: Iterable[str], error: type[_E]) -> _E:
    """The error for a name that no plugin has: `there is no dialect 'x'`, and the known names."""
    return error(f"there is no {what} {name!r}", hint=known(names), field=what)


def unusable(what: str, name: str, reason: Exception, error: type[_E]) -> _E:
    """The error for a plugin that cannot be loaded: why, and where it comes from."""
    point = points(f"{what}s")[name]
    message = f"{what} {name!r} cannot be loaded: {reason}"
    return error(
        message,
        hint=f"repair or uninstall the package; its entry point is {point.value}",
        field=what,
    )


def _is_own(point: EntryPoint) -> bool:
    return point.value.startswith(_OWN)
