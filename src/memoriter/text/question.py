"""What a question asks for: the words that carry information, and the names in it.

Function words ("for", "with", "what") say nothing about what is asked, so a match of one is no
evidence. A name that no record has is strong evidence that the store does not know the answer.
"""

from __future__ import annotations

import re
from typing import Final

from memoriter.text.port import Analyzer
from memoriter.text.stops import FUNCTION_WORDS, word_table

_WORD: Final = re.compile(r"[^\W_]+")
_SENTENCE: Final = re.compile(r"(?:^|[.!?:]\s+|[\"“(]\s*)[^\w]*$")
CALENDAR: Final = word_table(
    """
    january february march april may june july august september october november december monday
    tuesday wednesday thursday friday saturday sunday christmas easter
    """
)
"""Words that are written with a capital and name a time."""


def informative_terms(question: str, analyzer: Analyzer) -> tuple[str, ...]:
    """The distinct terms of a question without function words, in order.

    >>> from memoriter.text.analyzers import analyzer
    >>> informative_terms("Who is paying for the hosting?", analyzer("memoriter"))
    ('pay', 'host')
    """
    words = [word for word in _WORD.findall(question) if word.lower() not in FUNCTION_WORDS]
    terms = (term for word in words for term in analyzer.terms(word))
    return tuple(dict.fromkeys(terms))


def names_in(question: str) -> tuple[str, ...]:
    """The words of a question that are written like names: with a capital, inside of a sentence.

    >>> names_in("Which street did Marcus move to in May?")
    ('Marcus',)
    """
    out: dict[str, None] = {}
    for match in _WORD.finditer(question):
        word = match.group()
        named = word[0].isupper() and len(word) > 1 and word.lower() not in CALENDAR
        if named and not _SENTENCE.search(question[: match.start()]):
            out[word] = None
    return tuple(out)
