"""Whom does a question ask about: which speakers does it name, or is it "you" or "I"?

A speaker is named by the whole name or by its first word ("Marcus" for "Marcus Webb"). Where two
speakers share a first word, that word alone names both. A first word that is a common word too
("Will", "May", "The" of "The Manager") names nobody unless it is written like a name. Pronouns only
mean the two sides of a chat between a user and an assistant.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, Literal

from memoriter.core.fold import fold
from memoriter.core.lazy_pattern import lazy_pattern
from memoriter.text.question import CALENDAR
from memoriter.text.stops import FUNCTION_WORDS, word_table

_WORD: Final = lazy_pattern(r"[^\W_]+(?:['’][^\W_]+)*")
_ASSISTANT: Final = word_table("you your yours you've you'd yourself")
_USER: Final = word_table("i i'm i've i'd my me mine myself we our ours us")
_COMMON: Final = FUNCTION_WORDS | CALENDAR
_STARTS: Final = lazy_pattern(r"[.!?:;\n\"“„«(]")
"""A sentence starts behind one of these."""
ChatSide = Literal["assistant", "user"]


def name_words(text: str) -> list[str]:
    """The words of a text, folded, without a possessive 's.

    >>> name_words("Marcus's dog")
    ['marcus', 'dog']
    """
    words = (fold(word).replace("’", "'") for word in _WORD.findall(text))
    return [word.removesuffix("'s") for word in words]


def named_speakers(question: str, speakers: Iterable[str]) -> frozenset[str]:
    """Those of the speakers that a question names.

    >>> sorted(named_speakers("What does Marcus like?", ["Marcus Webb", "Lena"]))
    ['Marcus Webb']
    >>> [sorted(named_speakers(text, ["Will"])) for text in ("When will it be?", "Ask Will!")]
    [[], ['Will']]
    """
    speakers = tuple(speakers)
    if not speakers:  # most stores have none
        return frozenset()
    asked = name_words(question)
    known = (set(asked) - _COMMON) | _capitals_inside(question)
    joined = f" {' '.join(asked)} "
    named: set[str] = set()
    for speaker in speakers:
        words = name_words(speaker)
        whole = len(words) > 1 and f" {' '.join(words)} " in joined
        if words and (words[0] in known or whole):
            named.add(speaker)
    return frozenset(named)


def without_names(question: str, speakers: Iterable[str]) -> str:
    """A question without the names of speakers; whole if it asks for nothing else.

    >>> without_names("What does Marcus like about Lena's dog?", ["Marcus Webb"])
    "What does like about Lena's dog?"
    >>> without_names("Who is Marcus?", ["Marcus"])
    'Who is Marcus?'
    """
    names = {word for speaker in speakers for word in name_words(speaker)} - FUNCTION_WORDS
    if not names:
        return question
    rest = _WORD.sub(lambda match: _unless_among(match.group(), names), question)
    asks = any(word not in FUNCTION_WORDS for word in name_words(rest))
    return " ".join(rest.split()) if asks and rest != question else question


def _unless_among(word: str, names: set[str]) -> str:
    return "" if names.issuperset(name_words(word)) else word


def _capitals_inside(question: str) -> set[str]:
    """The words that have a capital though no sentence starts with them, as `name_words` has them.

    >>> sorted(_capitals_inside("Will it rain? May I ask Will and Lena?"))
    ['i', 'lena', 'will']
    """
    out: set[str] = set()
    if question.isupper():  # then a capital says nothing
        return out
    end = 0
    for match in _WORD.finditer(question):
        inside = end > 0 and _STARTS.search(question, end, match.start()) is None
        if inside and match.group()[0].isupper():
            out.update(name_words(match.group()))
        end = match.end()
    return out


def side_asked(question: str) -> ChatSide | None:
    """Which side of a chat a question is about; None where it says neither "you" nor "I".

    >>> side_asked("What did you recommend to me?"), side_asked("Where do I live?")
    ('assistant', 'user')
    """
    words = set(name_words(question))
    if words & _ASSISTANT:
        return "assistant"
    return "user" if words & _USER else None
