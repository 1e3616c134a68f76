"""Entity names: the key that identifies one, the similarity of two keys, and a simple extractor.

The extractor needs no model: it takes runs of capitalised words, handles, addresses and
identifiers. It serves callers who give no entities of their own; any `Extractor` may replace it.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from typing import Final

from memoriter.core.fold import calm
from memoriter.core.lazy_pattern import lazy_pattern
from memoriter.text.stops import ENGLISH_STOPS

Extractor = Callable[[str], tuple[str, ...]]
"""A function that returns the names in a text, in order, each once."""
MOST: Final = 32
"""At most so many names are taken from one text."""
_READ: Final = 20_000
"""Only so many characters of a text are searched for names."""

_WORD: Final = r"[^\W\d_][\w'’.-]*[^\W_]|[^\W\d_]"
_NAME: Final = lazy_pattern(
    rf"[@#]\w[\w.-]*\w"  # a handle, a hashtag
    rf"|(?<![\w.+-])[\w.+-]+@[\w-]+\.[\w.-]*\w"  # an address, from where it begins
    rf"|\b[A-Z][A-Z0-9]+(?:[-_][A-Z0-9]+)+\b"  # REQ-12
    rf"|{_WORD}"
)
_GLUE: Final = frozenset({"of", "the", "de", "van", "von", "der", "da", "di", "la", "and", "&"})
_LETTER: Final = lazy_pattern(r"\w")
_STOPS: Final = frozenset(".!?:\n")


def entity_key(name: str) -> str:
    """The key under which spellings of one entity are equal; empty for a name without letters.

    >>> entity_key(" İSTANBUL "), entity_key("CAFÉ"), entity_key("!!!")
    ('istanbul', 'cafe', '')
    """
    parted = unicodedata.normalize("NFKD", calm(name.strip().lower()))
    bare = "".join(char for char in parted if not unicodedata.combining(char))
    folded = " ".join(bare.split())
    return folded if any(map(str.isalnum, folded)) else ""


def bigrams(folded: str) -> frozenset[str]:
    """The character bigrams of a key; a key of one character is its own only bigram."""
    pairs = {folded[at : at + 2] for at in range(len(folded) - 1)}
    return frozenset(pairs or ({folded} if folded else ()))


def dice(one: str, other: str) -> float:
    """The Dice coefficient of two keys: twice the shared bigrams over all bigrams.

    >>> dice("kubernetes", "kubernets") > 0.6 > dice("anna", "bert")
    True
    """
    left, right = bigrams(one), bigrams(other)
    total = len(left) + len(right)
    return 2.0 * len(left & right) / total if total else 0.0


def names_in(text: str) -> tuple[str, ...]:
    """The names in a text: adjacent capitalised words, handles, addresses, identifiers.

    Common words are no names, however they are written; nor is a single letter that begins a
    sentence.

    >>> names_in("Yesterday Ada Lovelace met Bob at the Hotel de Ville. She likes REQ-12.")
    ('Ada Lovelace', 'Bob', 'Hotel de Ville', 'REQ-12')
    """
    names: dict[str, None] = {}  # an ordered set
    run: list[str] = []
    end = 0
    for word in _NAME.finditer(text[:_READ]):
        apart = text[end : word.start()].strip(" ") != ""
        if apart:
            _close(run, names)
        if _is_name(word[0], begins=_begins(text, end, word.start())) or (run and word[0] in _GLUE):
            run.append(word[0])
        else:
            _close(run, names)
        end = word.end()
    _close(run, names)
    return tuple(names)[:MOST]


def _begins(text: str, end: int, start: int) -> bool:
    """Whether the word at `start` begins a sentence; the word before it ended at `end`."""
    gap = text[end:start]
    # The gap may hold a number, which is no word here: only what follows it counts.
    last = max((letter.end() for letter in _LETTER.finditer(gap)), default=0)
    return not _STOPS.isdisjoint(gap[last:]) or end + last == 0


def _is_name(word: str, *, begins: bool) -> bool:
    if word[0] in "@#" or "@" in word:
        return True
    if not word[0].isupper():
        return False
    common = word.lower() in ENGLISH_STOPS or word.lower() in _COMMON
    return not common and not (begins and len(word) == 1)


def _close(run: list[str], names: dict[str, None]) -> None:
    """End a run and keep its name, without connecting words (`of`, `de`) at its end."""
    while run and run[-1] in _GLUE:
        run.pop()
    if run:
        name = " ".join(run).removesuffix("'s").removesuffix("’s")
        names.setdefault(name)
    run.clear()


_COMMON_WORDS: Final = """
    yesterday today tomorrow monday tuesday wednesday thursday friday saturday sunday january
    february march april may june july august september october november december yes no ok okay hi
    hello hey thanks wow great good well now then also just there here let let's it's that's what's
    i'm i've i'd i'll don't didn't can't she's he's we're you're they're oh ah sure maybe perhaps
    one two three
"""
_COMMON: Final = frozenset(_COMMON_WORDS.split())
