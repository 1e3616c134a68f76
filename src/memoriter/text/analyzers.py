"""The analyzers that a recipe can name: ours, and those that come by `memoriter.analyzers`.

Such an entry point leads to a class like `Own`: called without arguments it makes an analyzer of
the entry point's name.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from functools import cache
from typing import Final

from memoriter.core import plugins
from memoriter.core.errors import BadRecipe
from memoriter.text.own import Own
from memoriter.text.port import Analyzer

_log: Final = logging.getLogger(__name__)
_GROUP: Final = "analyzers"
OWN: Final[Analyzer] = Own()
"""The analyzer whose words every store keeps."""
_MARK: Final = "-words/"
"""What parts the name of an analyzer from the rest of its fingerprint."""


def analyzer_names() -> tuple[str, ...]:
    """The names of all analyzers, ours first."""
    return (OWN.name, *(name for name in plugins.points(_GROUP) if name != OWN.name))


def analyzer(name: str) -> Analyzer:
    """The analyzer of that name, the same one for all who ask."""
    return OWN if name == OWN.name else _made(name)


@cache
def _made(name: str) -> Analyzer:
    if name not in plugins.points(_GROUP):
        hint = plugins.known(analyzer_names())
        raise BadRecipe(f"no analyzer is called {name!r}", hint=hint, field="analyzer")
    try:
        make: Callable[[], Analyzer] = plugins.load(_GROUP, name, type)
        return _checked(make(), name)
    except Exception as error:  # whatever another package raises when its analyzer is made
        hint = f"it is {plugins.points(_GROUP)[name].value}"
        raise BadRecipe(
            f"analyzer {name!r} cannot be loaded: {error}", hint=hint, field="analyzer"
        ) from error


def _checked(one: Analyzer, name: str) -> Analyzer:
    """The analyzer, if it is called as it was asked for and its fingerprint says so."""
    if one.name != name or not one.fingerprint.startswith(f"{name}{_MARK}"):
        raise plugins.CannotLoad(f"it is called {one.name!r}, by {one.fingerprint!r}")
    return one


def all_analyzers() -> Iterator[Analyzer]:
    """All analyzers, ours first; one that cannot be loaded is left out with a warning."""
    for name in analyzer_names():
        try:
            yield analyzer(name)
        except BadRecipe as error:
            _log.warning("%s", error.message)


def analyzer_by_fingerprint(fingerprint: str) -> Analyzer | None:
    """The analyzer that makes such words; None for one that is not here, or no analyzer's."""
    if fingerprint == OWN.fingerprint:
        return OWN
    name, mark, _ = fingerprint.partition(_MARK)
    if not mark or name not in analyzer_names():
        return None
    try:
        one = analyzer(name)
    except BadRecipe:
        return None
    return one if one.fingerprint == fingerprint else None
