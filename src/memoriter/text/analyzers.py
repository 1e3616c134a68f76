"""The registry of analyzers: the default one, and those of the `memoriter.analyzers` entry points.

An entry point names a class that is called without arguments and makes an analyzer with the entry
point's name. Recipes look analyzers up by name, stores by the fingerprint kept with their words.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from functools import cache
from typing import Final

from memoriter.core import plugins
from memoriter.core.errors import BadRecipe
from memoriter.text.default import DefaultAnalyzer
from memoriter.text.port import Analyzer

_log: Final = logging.getLogger(__name__)
_GROUP: Final = "analyzers"
DEFAULT_ANALYZER: Final[Analyzer] = DefaultAnalyzer()
"""The default analyzer: every store keeps its words."""
_MARK: Final = "-words/"
"""Separates the name of an analyzer from the rest of its fingerprint."""


def analyzer_names() -> tuple[str, ...]:
    """The names of all analyzers, the default one first."""
    return (
        DEFAULT_ANALYZER.name,
        *(name for name in plugins.points(_GROUP) if name != DEFAULT_ANALYZER.name),
    )


def analyzer(name: str) -> Analyzer:
    """The analyzer of that name: one shared instance. Raises `BadRecipe` if there is none."""
    return DEFAULT_ANALYZER if name == DEFAULT_ANALYZER.name else _made(name)


@cache
def _made(name: str) -> Analyzer:
    if name not in plugins.points(_GROUP):
        raise plugins.unknown("analyzer", name, analyzer_names(), BadRecipe)
    try:
        make: Callable[[], Analyzer] = plugins.load(_GROUP, name, type)
        return _checked(make(), name)
    except Exception as error:  # code of another package may raise anything
        raise plugins.unusable("analyzer", name, error, BadRecipe) from error


def _checked(one: Analyzer, name: str) -> Analyzer:
    """The analyzer, if its name and its fingerprint agree with its entry point.

    Stores find an analyzer by the name in the fingerprint, so a mismatch would lose their words.
    """
    if one.name != name or not one.fingerprint.startswith(f"{name}{_MARK}"):
        raise plugins.CannotLoad(
            f"the entry point {name!r} has an analyzer named {one.name!r} with the fingerprint"
            f" {one.fingerprint!r}; expected the name {name!r} and a fingerprint that begins"
            f" with '{name}{_MARK}'"
        )
    return one


def all_analyzers() -> Iterator[Analyzer]:
    """All analyzers, the default one first; one that cannot be loaded is skipped with a warning."""
    for name in analyzer_names():
        try:
            yield analyzer(name)
        except BadRecipe as error:
            _log.warning("%s", error.message)


def analyzer_by_fingerprint(fingerprint: str) -> Analyzer | None:
    """The installed analyzer with exactly this fingerprint; None if there is none."""
    if fingerprint == DEFAULT_ANALYZER.fingerprint:
        return DEFAULT_ANALYZER
    name, mark, _ = fingerprint.partition(_MARK)
    if not mark or name not in analyzer_names():
        return None
    try:
        one = analyzer(name)
    except BadRecipe:
        return None
    return one if one.fingerprint == fingerprint else None
