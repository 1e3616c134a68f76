"""The `Dialect` type that entry points provide, and the options of a call to it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import Final, Literal, NamedTuple

from memoriter.core.lazy_dataclass import dataclass
from memoriter.text.port import Analyzer
from memoriter.text.tree import ParsedQuery


@dataclass(frozen=True, slots=True)
class Options:
    """Options of reading a query that do not depend on its dialect."""

    expert: bool = True
    """Whether operators are allowed; if not, every text is bare words."""
    stop: Literal["none", "latin"] = "none"
    """The stop words that the bare dialect drops, outside quotes."""
    aliases: Mapping[str, Sequence[str]] = field(default_factory=dict[str, Sequence[str]])
    """Replacements of words, for dialects that support them."""


NOTHING_SPECIAL: Final = Options()


class Dialect(NamedTuple):
    """One way to write a query."""

    about: str
    """One line for people: how a text is read."""
    parse: Callable[[str, Analyzer, Options], ParsedQuery]
    """Parse a text. Must not raise: a malformed text is read as bare words, with a note."""
    idle_rung: str | None = None
    """A retry of another system that finds nothing here; it is reported as rung 2.

    With such a name, the ladder of the word lane tries looser queries before misspelt words.
    """
    aliases: bool = False
    """Whether it replaces words by their aliases."""
