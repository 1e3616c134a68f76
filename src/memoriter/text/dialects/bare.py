"""The default dialect: words joined by OR, or an expression if the text has operators.

These make an expression: quotes around something, AND, OR or NOT in capitals between words, a field
with a colon (`title:berlin`), or a `*` at the end of a word. There adjacent words are still joined
by OR and form one operand: `foo bar NOT baz` is (foo OR bar) NOT baz.
"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import lru_cache
from typing import Final

from memoriter.core.lazy_pattern import lazy_pattern
from memoriter.text.dialects.expression import parse_expression
from memoriter.text.dialects.grammar import OPERATORS, Grammar, Malformed
from memoriter.text.dialects.parts import (
    any_of,
    bare_words,
    first_leaves,
    has_quotes,
    join_notes,
    leaf,
)
from memoriter.text.dialects.port import Dialect, Options
from memoriter.text.port import Analyzer
from memoriter.text.stops import LATIN_STOPS, without_contractions
from memoriter.text.tree import Leaf, Node, ParsedQuery, Term

_FIELDS: Final = ("text", "title", "summary", "tags", "concepts", "entities", "agent", "path")
# Not `text: x` with a space, which is prose, nor `path://`, which is a URL.
_COLUMN: Final = rf"(?P<names>{'|'.join(_FIELDS)}):(?=[^\s:)])(?!//)"
_FILTER: Final = lazy_pattern(rf"(?<![^\s(]){_COLUMN}")
_WORDS: Final = lazy_pattern(r"[^\W_]+")
_CACHED_LONGEST: Final = 64
"""A longer word rarely comes again; one of Han characters alone has tens of thousands of tokens."""

GRAMMAR: Final = Grammar(
    neighbours="OR",
    binding=("OR", "AND", "NOT"),
    space=r"\s++",
    phrase=r'"[^"]*+"',
    near="",
    columns=tuple((name, name) for name in _FIELDS),
    column=rf"(?<![^\s(]){_COLUMN}",
    boost="",
    marks=r'[()]|(?<=[^\s()*])\*(?=[\s()"]|\Z)',
    alternatives=frozenset(),
    word=r'[^\s()"*]{2,}+(?=\*(?:[\s()"]|\Z))|[^\s()"]++',
    terms=True,
    lone_not=True,
)


def parse(text: str, analyzer: Analyzer, options: Options) -> ParsedQuery:
    """The text as an expression if it is one, else as bare words. Never raises."""
    if not (options.expert and is_expert(text)):
        return _words(text, analyzer, options)
    kept = _without_stop_words(text, analyzer) if options.stop == "latin" else text
    try:
        tree, note = parse_expression(kept, GRAMMAR, analyzer)
    except Malformed as malformed:
        parsed = _words(text, analyzer, options)
        return replace(parsed, note=join_notes(malformed.note, parsed.note), malformed=True)
    return ParsedQuery(tree, expert=True, note=note)


def _words(text: str, analyzer: Analyzer, options: Options) -> ParsedQuery:
    """Bare words, joined by OR."""
    if options.stop == "latin":
        return _content_words(text, analyzer, options)
    return _with_aliases(text, analyzer, options) if options.aliases else bare_words(analyzer, text)


def _with_aliases(text: str, analyzer: Analyzer, options: Options) -> ParsedQuery:
    """Bare words, with words that have aliases replaced by these."""
    parts: list[Node | None] = []
    plain: list[str] = []
    for word in text.split():
        others = options.aliases.get(word.lower()) or options.aliases.get(_bare(word))
        if others is None:
            plain.append(word)
        else:
            parts += [leaf(analyzer, other) for other in others]
    terms, cut = first_leaves(analyzer.terms(" ".join(plain)))
    return ParsedQuery(any_of([*parts, *map(Term, terms)]), note=cut)


def _bare(word: str) -> str:
    return re.sub(r"^\W+|\W+$", "", word).lower()


def is_expert(text: str) -> bool:
    """Whether the text is to be parsed as an expression.

    >>> is_expert("salt and pepper"), is_expert("salt AND pepper"), is_expert("title:salt")
    (False, True, True)
    """
    return (
        has_quotes(text)
        or _has_operator(text)
        or (":" in text and _FILTER.search(text) is not None)
        or ("*" in text and any(map(_is_prefix, text.split())))
    )


def _has_operator(text: str) -> bool:
    """Whether an operator has words on both sides; NOT needs only one after it."""
    each = text.split()
    if OPERATORS.isdisjoint(each):
        return False
    ordinary = [nth for nth, word in enumerate(each) if word not in OPERATORS]
    if not ordinary:
        return False
    start, end = ordinary[0], ordinary[-1]
    return any(
        word in OPERATORS and nth < end and (word == "NOT" or nth > start)
        for nth, word in enumerate(each)
    )


def _is_prefix(word: str) -> bool:
    """Whether the word ends in its only `*`, after at least two letters or digits."""
    bare = word.strip("()")
    return bare.endswith("*") and bare.count("*") == 1 and bare[-3:-1].isalnum() and len(bare) > 2  # noqa: PLR2004  # two and the star


def _without_ends(text: str, analyzer: Analyzer) -> str:
    """A text without the ends of contractions, if the analyzer reads "don't" as one word.

    One that reads it as two ("don", "t") finds these in the records too.
    """
    return without_contractions(text) if _keeps_contractions(analyzer) else text


@lru_cache(maxsize=16)
def _keeps_contractions(analyzer: Analyzer) -> bool:
    return len(analyzer.terms("don't")) == 1


def _without_stop_words(text: str, analyzer: Analyzer) -> str:
    """An expression without the stop words that stand outside quotes; operators are in capitals."""
    parts = text.split('"')
    for at in range(0, len(parts), 2):
        words = _without_ends(parts[at], analyzer).split()
        kept = (w for w in words if w in OPERATORS or w.lower().strip(".,;?!") not in LATIN_STOPS)
        parts[at] = f" {' '.join(kept)} "
    return '"'.join(parts).strip()


def _content_words(text: str, analyzer: Analyzer, options: Options) -> ParsedQuery:
    """Every run of letters and digits that is no stop word, as a leaf, or as its aliases."""
    text = _without_ends(text, analyzer)
    runs = _WORDS.findall(text.replace('"', ""))
    words = [word for word in runs if word.lower() not in LATIN_STOPS]
    kept, cut = first_leaves(
        [o for word in words for o in options.aliases.get(word.lower(), [word])]
    )
    return ParsedQuery(any_of([_word(analyzer, word) for word in kept]), note=cut)


def _word(analyzer: Analyzer, word: str) -> Leaf | None:
    return (_cached if len(word) <= _CACHED_LONGEST else leaf)(analyzer, word)


@lru_cache(maxsize=4_096)  # questions share most of their words
def _cached(analyzer: Analyzer, word: str) -> Leaf | None:
    return leaf(analyzer, word)


DIALECT: Final = Dialect("any of the words", parse, literal=True, aliases=True)
