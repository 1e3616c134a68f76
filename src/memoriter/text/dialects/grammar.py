"""The `Grammar` of a dialect with operators, and the tokenizer that all such dialects share."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Final, Literal, NamedTuple, TypeAlias

from memoriter.core.lazy_dataclass import dataclass

OPERATORS: Final = frozenset({"AND", "OR", "NOT"})
_NEVER: Final = r"(?!)"
"""Matches nothing: the pattern of what a dialect does not have."""
_HELD: Final = {"near": "distance", "column": "names", "boost": "number"}
"""The named group of a pattern whose text becomes the token."""

Operator: TypeAlias = Literal["AND", "OR", "NOT"]


class Malformed(Exception):
    """The text is no expression of the grammar. `note` says where and why, for people."""

    def __init__(self, at: int, what: str) -> None:
        super().__init__(at, what)
        self.note = f"{what} at character {at + 1}; read as bare words"


@dataclass(frozen=True, slots=True)
class Grammar:
    """The syntax of one dialect. Patterns are tried in the order of the fields."""

    neighbours: Literal["AND", "OR"]
    """The operator that a space between two operands stands for."""
    binding: tuple[Operator, Operator, Operator]
    """The operators from the loosest to the tightest."""
    space: str
    phrase: str
    """A quoted text, including its quotes."""
    near: str
    """The start of a NEAR group up to its bracket; a group `distance` may hold a number."""
    columns: tuple[tuple[str, str], ...]
    """(name of a column in lower case, name of our field)."""
    column: str
    """A column filter: the group `names` holds one name, or several in braces."""
    boost: str
    """A boost: the group `number` holds it."""
    marks: str
    """Single characters with a meaning: brackets, `*`, `+`, commas."""
    alternatives: frozenset[str]
    """Marks that mean OR."""
    word: str
    is_word: Callable[[str], bool] = bool
    """Whether a match of `word` is valid without quotes."""
    terms: bool = False
    """Whether a word matches any of its terms, rather than all of them next to each other."""
    lone_not: bool = False
    """Whether NOT is allowed without a left operand."""
    bracket_neighbours: bool = True
    """Whether a bracket may be adjacent to another operand without an operator."""
    free_phrases: bool = True
    """Whether a phrase of several words may have a `*` and be used in NEAR."""
    chained_near: bool = False
    """How NEAR counts: see `NearLeaves`."""


class Token(NamedTuple):
    """A token of an expression, with its offset."""

    kind: str
    text: str
    at: int


@cache  # one compiled pattern per dialect
def _lexer(grammar: Grammar) -> re.Pattern[str]:
    kinds = {
        "space": grammar.space,
        "phrase": grammar.phrase,
        "near": grammar.near,
        "column": grammar.column,
        "boost": grammar.boost,
        "mark": grammar.marks,
        "word": grammar.word,
    }
    return re.compile(
        "|".join(f"(?P<{kind}>{pattern or _NEVER})" for kind, pattern in kinds.items())
    )


def tokenize(text: str, grammar: Grammar) -> Iterator[Token]:
    """The tokens of a text, then one of kind `end`. Raises `Malformed`."""
    at = 0
    match = _lexer(grammar).match
    while at < len(text):
        hit = match(text, at)
        if hit is None or (hit.lastgroup == "word" and not grammar.is_word(hit[0])):
            raise Malformed(at, _strange(text[at]))
        token = _token(hit, grammar)
        if token is not None:
            yield token
        at = hit.end()
    yield Token("end", "", at)


def _token(hit: re.Match[str], grammar: Grammar) -> Token | None:
    at, text = hit.start(), hit[0]
    groups: Mapping[str, str | None] = hit.groupdict()
    match hit.lastgroup:
        case "space":
            return None
        case "phrase":  # a doubled quote inside stands for one
            return Token("phrase", text[1:-1].replace(text[0] * 2, text[0]), at)
        case "near" | "column" | "boost" as kind:
            return Token(kind, groups.get(_HELD[kind]) or "", at)
        case "mark":
            return Token("OR" if text in grammar.alternatives else text, text, at)
        case _:
            return Token(text if text in OPERATORS else "word", text, at)


def _strange(character: str) -> str:
    if character in "\"'":
        return f"{character} without its pair"
    shown = character if character.isprintable() else ascii(character)[1:-1]
    return f'"{shown}" means nothing here'
