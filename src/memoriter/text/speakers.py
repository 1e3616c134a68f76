"""Whom does a question ask about: which speakers does it name, or is it "you" or "I"?

A speaker is named by the whole name or by its first word ("Marcus" for "Marcus Webb"). Where two
speakers share a first word, that word alone names both. Pronouns only mean the two sides of a chat
between a user and an assistant.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final, Literal

from memoriter.core.fold import fold
from memoriter.text.stops import word_table

_WORD: Final = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_ASSISTANT: Final = word_table("you your yours you've you'd yourself")
_USER: Final = word_table("i i'm i've i'd my me mine myself we our ours us")
ChatSide = Literal["assistant", "user"]


def name_words(text: str) -> list[str]:
    """The words of a text, folded, without a possessive 's.

    >>> words_of("Marcus's dog")
    ['marcus', 'dog']
    """
    words = (fold(word).replace("’", "'") for word in _WORD.findall(text))
    return [word.removesuffix("'s") for word in words]


def named_speakers(question: str, speakers: Iterable[str]) -> frozenset[str]:
    """Those of the speakers that a question names.

    >>> sorted(named_speakers("What does Marcus like?", ["Marcus Webb", "Lena"]))
    ['Marcus Webb']
    """
    asked = name_words(question)
    known = set(asked)
    joined = f" {' '.join(asked)} "
    named: set[str] = set()
    for speaker in speakers:
        words = name_words(speaker)
        if words and (words[0] in known or f" {' '.join(words)} " in joined):
            named.add(speaker)
    return frozenset(named)


def side_asked(question: str) -> ChatSide | None:
    """Which side of a chat a question is about; None where it says neither "you" nor "I".

    >>> side_asked("What did you recommend to me?"), side_asked("Where do I live?")
    ('assistant', 'user')
    """
    words = set(name_words(question))
    if words & _ASSISTANT:
        return "assistant"
    return "user" if words & _USER else None
