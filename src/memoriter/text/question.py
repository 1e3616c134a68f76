"""What a question asks for: the words that carry information, and the names in it.

Function words ("for", "with", "what") say nothing about what is asked, so a match of one is no
evidence. A name that no record has is strong evidence that the store does not know the answer.
"""

from __future__ import annotations

from typing import Final

from memoriter.core.lazy_pattern import lazy_pattern
from memoriter.text.port import Analyzer
from memoriter.text.stops import (
    FUNCTION_WORDS,
    TALK_WORDS,
    without_contractions,
    word_table,
)

_WORD: Final = lazy_pattern(r"[^\W_]+")
_SENTENCE: Final = lazy_pattern(r"(?:[.!?:]\s+|[\"“(]\s*)[^\w]*$")
"""The end of what stands before the first word of a sentence."""
_BEFORE: Final = 8
"""How many characters before a word are looked at."""
_FEW: Final = 4
"""A shorter question may have a capital at most words by chance."""
MOST_NAMES: Final = 8
_TITLES: Final = word_table("dr mr mrs ms prof st and not or near")
"""Titles before names, and operators of queries."""
_BREAK: Final = lazy_pattern(r"(?<=[.!?？؟])\s+|\n+")
_QUESTION_MARKS: Final = ("?", "？", "؟")
"""What may stand after a question mark."""
# Possessive repeats: with plain ones the signs between two openers could belong to either of them,
# and a failing match would try all combinations.
_ASKS: Final = lazy_pattern(
    r"(?:(?:\W*+(?:so|and|but|also|ok|okay|hey|hi|hello|please|tell me|remind me|do you know"
    r"|do you remember|can you tell me|can you remind me|i wonder)\b)++\W*+)?+"
    r"(?:who|whom|whose|what|which|when|where|why|how|what's|whats|who's|where's|when's|how's"
    r"|did|does|is|are|was|were|has)\b"
)
_REQUEST: Final = lazy_pattern(r"\b(?:can|could|would|will) you\b(?! (?:tell|remind) me\b)")
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
    words = _WORD.findall(without_contractions(question))
    words = [word for word in words if word.lower() not in FUNCTION_WORDS]
    terms = (term for word in words for term in analyzer.terms(word))
    return tuple(dict.fromkeys(terms))


def leave_out_words(question: str, words: str) -> str:
    """A question without some of its words, given in lower case; whole if nothing else is left.

    >>> leave_out_words("What did we learn yesterday about Ana?", "yesterday")
    'What did we learn   about Ana?'
    >>> leave_out_words("Yesterday?", "yesterday")
    'Yesterday?'
    """
    lower = question.lower().replace("’", "'")
    at = lower.find(words)
    # Lower case may be longer than the text ("İ"): then places in one are none in the other.
    if not words or at < 0 or len(lower) != len(question):
        return question
    rest = f"{question[:at]} {question[at + len(words) :]}"
    return rest if _WORD.search(rest) else question


def question_names(question: str) -> tuple[str, ...]:
    """The words of a question that are written like names: with a capital, inside of a sentence.

    A question in capitals, or with a capital at most words, is written so throughout and tells
    nothing. At most `MOST_NAMES` are listed.

    >>> question_names("Which street did Marcus move to in May?")
    ('Marcus',)
    """
    if question.isascii() and question[1:].islower():  # a capital at the start is no name
        return ()
    matches = list(_WORD.finditer(question))
    capitals = [match for match in matches if match[0][0].isupper()]
    if len(matches) >= _FEW and 2 * len(capitals) > len(matches):
        return ()
    out: dict[str, None] = {}
    for match in capitals:
        word, before = match.group(), question[max(match.start() - _BEFORE, 0) : match.start()]
        if _is_name(word) and match.start() and not _SENTENCE.search(before):
            out[word] = None
    return tuple(out)[:MOST_NAMES]


def _is_name(word: str) -> bool:
    """Whether a word with a capital is a name."""
    lower = word.lower()
    plain = lower in CALENDAR or lower in FUNCTION_WORDS or lower in _TITLES
    return len(word) > 1 and not plain


def sentences_of(text: str) -> list[str]:
    """The sentences and lines of a text, in order.

    >>> sentences_of("It fails. Which port for ssh?")
    ['It fails.', 'Which port for ssh?']
    """
    return [part.strip() for part in _BREAK.split(text) if part.strip()]


def has_topic(text: str) -> bool:
    """Whether a text has a word that is neither a function word nor a word of small talk.

    >>> has_topic("thanks, go on!"), has_topic("the ssh port")
    (False, True)
    """
    return any(
        word not in FUNCTION_WORDS and word not in TALK_WORDS
        for word in _WORD.findall(without_contractions(text.lower()))
    )


def asks_nothing(text: str) -> bool:
    """Whether a text is small talk: several words without a topic, and no question.

    One word may be what somebody looks for.

    >>> asks_nothing("good morning!"), asks_nothing("morning"), asks_nothing("Where do I work?")
    (True, False, False)
    """
    if has_topic(text) or len(_WORD.findall(text)) <= 1:
        return False
    return not any(map(_has_question_form, sentences_of(text)))


def is_question(sentence: str) -> bool:
    """Whether a sentence asks for something that a memory may know.

    A request in the form of a question ("could you add a test?") is none, nor is small talk. Only
    a question mark is known in languages other than English.

    >>> [is_question(text) for text in ("which port for ssh", "could you fix it?", "are you sure?")]
    [True, False, False]
    """
    return _has_question_form(sentence) and has_topic(sentence)


def _has_question_form(sentence: str) -> bool:
    plain = sentence.lower().replace("’", "'").strip()
    asks = plain.endswith(_QUESTION_MARKS) or _ASKS.match(plain) is not None
    return asks and _REQUEST.search(plain) is None


def is_sentence(text: str) -> bool:
    """Whether a text has a word that joins others, as English sentences have and commands lack.

    >>> is_sentence("deploy the billing service"), is_sentence("git push origin main")
    (True, False)
    """
    return any(word in FUNCTION_WORDS for word in _WORD.findall(text.lower()))
