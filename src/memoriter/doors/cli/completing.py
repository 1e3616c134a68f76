"""What a shell offers for the value of an option; typer knows the argument by its name."""

from __future__ import annotations

from collections.abc import Callable, Iterable

Offer = Callable[[str], list[str]]


def words(*known: str) -> Offer:
    """A few words."""

    def offer(incomplete: str) -> list[str]:
        return _begun(known, incomplete)

    return offer


def recipes(incomplete: str) -> list[str]:
    """The recipes of the library."""
    from memoriter.pipeline.load import library  # noqa: PLC0415  # loads the engine

    return _begun(library(), incomplete)


def formats(incomplete: str) -> list[str]:
    """The formats that files can be imported from."""
    from memoriter.imports.table import format_names  # noqa: PLC0415  # loads the readers

    return _begun(format_names(), incomplete)


def protocols(incomplete: str) -> list[str]:
    """The ways to ask a data set."""
    from memoriter.evaluate.protocols import protocol_names  # noqa: PLC0415  # loads the engine

    return _begun(protocol_names(), incomplete)


def _begun(known: Iterable[str], incomplete: str) -> list[str]:
    return [word for word in known if word.startswith(incomplete)]
