"""The mnestic dialect: every text is an expression, and adjacent words are joined by AND.

OR binds tightest and NOT loosest, so `a NOT b AND c` excludes what has both b and c. An expression
has only words, quotes and operators; any other text is read as bare words.
"""

from __future__ import annotations

from typing import Final

from memoriter.text.dialects.expression import parse_expression
from memoriter.text.dialects.grammar import Grammar, Malformed
from memoriter.text.dialects.parts import bare_words
from memoriter.text.dialects.port import Dialect, Options
from memoriter.text.port import Analyzer
from memoriter.text.tree import ParsedQuery


def _is_name(word: str) -> bool:
    """Whether all characters are letters, marks, digits or `_`, as Unicode counts them."""
    return f"_{word}".isidentifier()


GRAMMAR: Final = Grammar(
    neighbours="AND",
    binding=("NOT", "AND", "OR"),
    space=r"\s++",
    phrase="\"[^\"]*+\"|'[^']*+'",
    near=r"NEAR(?:\s*+/\s*+(?P<distance>[0-9]++))?\s*+\(",
    columns=(),
    column="",
    boost=r"\^\s*+(?P<number>[0-9]++(?:\.[0-9]++)?+)",
    marks=r"[()*,;]",
    alternatives=frozenset(",;"),
    word=r"(?:\w|[^\x00-\x7f\s])++",
    is_word=_is_name,
    free_phrases=False,
    chained_near=True,
)


def parse(text: str, analyzer: Analyzer, options: Options) -> ParsedQuery:
    """The text as an expression; if it is malformed, any of its words. Never raises."""
    if not options.expert or not text.strip():
        return bare_words(analyzer, text)
    try:
        tree, note = parse_expression(text, GRAMMAR, analyzer)
    except Malformed as malformed:
        return bare_words(analyzer, text, malformed.note)
    return ParsedQuery(tree, expert=True, note=note)


DIALECT: Final = Dialect("all of the words, or an expression with NEAR and ^", parse)
