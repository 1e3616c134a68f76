"""What a dialect is, and what a recipe or a call may say about how a text is read."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, NamedTuple

from memoriter.text.port import Analyzer
from memoriter.text.tree import ParsedQuery


@dataclass(frozen=True, slots=True)
class Options:
    """How to read a text, apart from the dialect it is in."""

    expert: bool = True
    """Whether operators may be read at all; if not, every text is bare words."""
    stop: Literal["none", "latin"] = "none"
    """Which words the bare dialect leaves out; with a list it reads no operators."""
    aliases: Mapping[str, Sequence[str]] = field(default_factory=dict[str, Sequence[str]])
    """What to look for instead of a word, for dialects that look them up."""


NOTHING_SPECIAL: Final = Options()


class Dialect(NamedTuple):
    """One way to write a query."""

    about: str
    """How a text is read, in a line for people."""
    read: Callable[[str, Analyzer, Options], ParsedQuery]
    """What a text asks for. Total: a malformed text is read as its words, and the note says so."""
