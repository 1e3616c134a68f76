"""The default dialect: words joined by OR, or an expression if the text has operators.

These make an expression: quotes around something, AND, OR or NOT in capitals between words, a field
with a colon (`title:berlin`), or a `*` at the end of a word. There adjacent words are still joined
by OR and form one operand: `foo bar NOT baz` is (foo OR bar) NOT baz.
"""

from __future__ import annotations

import re
from typing import Final

from memoriter.text.dialects.expression import parse_expression
from memoriter.text.dialects.grammar import OPERATORS, Grammar, Malformed
from memoriter.text.dialects.parts import any_of, bare_words, first_leaves, leaf
from memoriter.text.dialects.port import Dialect, Options
from memoriter.text.port import Analyzer
from memoriter.text.stops import LATIN_STOPS
from memoriter.text.tree import Node, ParsedQuery, Term

_FIELDS: Final = ("text", "title", "summary", "tags", "concepts", "entities", "agent", "path")
# Not `text: x` with a space, which is prose, nor `path://`, which is a URL.
_COLUMN: Final = rf"(?P<names>{'|'.join(_FIELDS)}):(?=[^\s:)])(?!//)"
_FILTER: Final = re.compile(rf"(?<![^\s(]){_COLUMN}")
_WORDS: Final = re.compile(r"[^\W_]+")

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


def read(text: str, analyzer: Analyzer, options: Options) -> ParsedQuery:
    """The text as an expression if it is one, else as bare words. Never raises."""
    if options.stop == "latin":  # a mode of its own: it never looks for operators
        return _without_stop_words(text, analyzer)
    if not (options.expert and is_expert(text)):
        return (
            _with_aliases(text, analyzer, options)
            if options.aliases
            else bare_words(analyzer, text)
        )
    try:
        tree, note = parse_expression(text, GRAMMAR, analyzer)
    except Malformed as malformed:
        return bare_words(analyzer, text, malformed.note)
    return ParsedQuery(tree, expert=True, note=note)


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
        or _FILTER.search(text) is not None
        or any(map(_is_prefix, text.split()))
    )


def has_quotes(text: str) -> bool:
    """Whether the double quotes are balanced and at least one pair is not empty."""
    spans = text.split('"')
    return len(spans) % 2 == 1 and any(span.strip() for span in spans[1::2])


def _has_operator(text: str) -> bool:
    """Whether an operator has words on both sides; NOT needs only one after it."""
    each = text.split()
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


def _without_stop_words(text: str, analyzer: Analyzer) -> ParsedQuery:
    """Every run of letters and digits that is no stop word, as a leaf; operators are ignored."""
    runs = _WORDS.findall(text.replace('"', ""))
    kept, cut = first_leaves([word for word in runs if word.lower() not in LATIN_STOPS])
    return ParsedQuery(any_of(leaf(analyzer, word) for word in kept), note=cut)


DIALECT: Final = Dialect("any of the words", read, aliases=True)
