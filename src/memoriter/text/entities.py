"""Who and what is a text about? Names folded to keys, keys that are alike, and a first guess.

The guess needs no model: runs of capitalised words, handles, addresses and identifiers. It is there
for those who give no entities of their own; any function of a text may take its place.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from typing import Final

from memoriter.core.fold import calm
from memoriter.text.stops import ENGLISH_STOPS

Extractor = Callable[[str], tuple[str, ...]]
"""The names in a text, in order, each once."""
MOST: Final = 32
"""More names are not taken from one text."""
_READ: Final = 20_000
"""Names are looked for in so many characters."""

_WORD: Final = r"[^\W\d_][\w'’.-]*[^\W_]|[^\W\d_]"
_NAME: Final = re.compile(
    rf"[@#]\w[\w.-]*\w"  # a handle, a hashtag
    rf"|(?<![\w.+-])[\w.+-]+@[\w-]+\.[\w.-]*\w"  # an address, from where it begins
    rf"|\b[A-Z][A-Z0-9]+(?:[-_][A-Z0-9]+)+\b"  # REQ-12
    rf"|{_WORD}"
)
_GLUE: Final = frozenset({"of", "the", "de", "van", "von", "der", "da", "di", "la", "and", "&"})
_LETTER: Final = re.compile(r"\w")
_STOPS: Final = frozenset(".!?:\n")


def entity_key(name: str) -> str:
    """What makes two spellings one entity; empty for a name that says nothing.

    >>> entity_key(" İSTANBUL "), entity_key("CAFÉ"), entity_key("!!!")
    ('istanbul', 'cafe', '')
    """
    parted = unicodedata.normalize("NFKD", calm(name.strip().lower()))
    bare = "".join(char for char in parted if not unicodedata.combining(char))
    folded = " ".join(bare.split())
    return folded if any(map(str.isalnum, folded)) else ""


def bigrams(folded: str) -> frozenset[str]:
    """The pairs of neighbouring characters of a key; a single one stands for itself."""
    pairs = {folded[at : at + 2] for at in range(len(folded) - 1)}
    return frozenset(pairs or ({folded} if folded else ()))


def dice(one: str, other: str) -> float:
    """How alike two keys are: twice the shared pairs over all pairs.

    >>> dice("kubernetes", "kubernets") > 0.6 > dice("anna", "bert")
    True
    """
    mine, theirs = bigrams(one), bigrams(other)
    both = len(mine) + len(theirs)
    return 2.0 * len(mine & theirs) / both if both else 0.0


def names_in(text: str) -> tuple[str, ...]:
    """The names in a text: capitalised words that stand together, handles, identifiers.

    A word that begins a sentence counts only if it is capitalised elsewhere too, or is no common
    word.

    >>> names_in("Yesterday Ada Lovelace met Bob at the Hotel de Ville. She likes REQ-12.")
    ('Ada Lovelace', 'Bob', 'Hotel de Ville', 'REQ-12')
    """
    found: dict[str, None] = {}
    run: list[str] = []
    end = 0
    for word in _NAME.finditer(text[:_READ]):
        apart = text[end : word.start()].strip(" ") != ""
        if apart:
            _take(run, found)
        if _is_name(word[0], begins=_begins(text, end, word.start())) or (run and word[0] in _GLUE):
            run.append(word[0])
        else:
            _take(run, found)
        end = word.end()
    _take(run, found)
    return tuple(found)[:MOST]


def _begins(text: str, end: int, start: int) -> bool:
    """Whether a word that starts here begins a sentence, the word before it having ended there."""
    gap = text[end:start]
    last = max((found.end() for found in _LETTER.finditer(gap)), default=0)  # a number, perhaps
    return not _STOPS.isdisjoint(gap[last:]) or end + last == 0


def _is_name(word: str, *, begins: bool) -> bool:
    if word[0] in "@#" or "@" in word:
        return True
    if not word[0].isupper():
        return False
    common = word.lower() in ENGLISH_STOPS or word.lower() in _COMMON
    return not common and not (begins and len(word) == 1)


def _take(run: list[str], found: dict[str, None]) -> None:
    """Close a run: glue at its ends is no part of a name."""
    while run and run[-1] in _GLUE:
        run.pop()
    if run:
        name = " ".join(run).removesuffix("'s").removesuffix("’s")
        found.setdefault(name)
    run.clear()


_COMMON_WORDS: Final = """
    yesterday today tomorrow monday tuesday wednesday thursday friday saturday sunday january
    february march april may june july august september october november december yes no ok okay hi
    hello hey thanks wow great good well now then also just there here let let's it's that's what's
    i'm i've i'd i'll don't didn't can't she's he's we're you're they're oh ah sure maybe perhaps
    one two three
"""
_COMMON: Final = frozenset(_COMMON_WORDS.split())
