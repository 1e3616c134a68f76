"""The `Dialect` type that entry points provide, and the options of a call to it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
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


class LooserQuery(NamedTuple):
    """A query to try when those before it found nothing."""

    rung: int
    """Its number among the attempts; the query as asked is 0, misspelt words are 5."""
    name: str
    query: str | None
    """None if this attempt is only reported."""


class Dialect(NamedTuple):
    """One way to write a query."""

    about: str
    """One line for people: how a text is read."""
    parse: Callable[[str, Analyzer, Options], ParsedQuery]
    """Parse a text. Must not raise: a malformed text is read as bare words, with a note."""
    looser: Callable[[str, Callable[[str], int]], Iterator[LooserQuery]] | None = None
    """What the word lane tries before misspelt words if a text finds nothing: a function of the
    text and of the document frequency of a word."""
    literal: bool = False
    """Whether an expression is never loosened: one that matches nothing has an empty answer."""
    aliases: bool = False
    """Whether it replaces words by their aliases."""
