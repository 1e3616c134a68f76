"""When two texts are copies of each other: the rule of the ordering `copies` and of `status`.

Copies have the same words in the same order. A capital first letter, white space, punctuation at
the ends of words, contractions (`don't`, `do not`) and a few filler words make no difference. A
word with a capital behind its first letter may be a key or a password (`aB3x`, `SESAME`), so it is
only the same as itself. Beyond that one of the two may have a single stretch of words that the
other lacks, if it is short and all its words are plain: lower-case words that are neither a number
nor a negation nor a name. A word is never taken for another one, so `passed` and `failed` are not
copies however long the rest of the text is. A question is no copy of a statement: a question mark
counts, and so do the fillers `is` and `are` where a sentence begins with one.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from functools import cache, lru_cache
from itertools import islice
from typing import Final, NamedTuple
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from memoriter.core.fold import calm, fold
from memoriter.core.lazy_pattern import lazy_pattern
from memoriter.kernel.library import native_library
from memoriter.kernel.marks import FlaggedWords, ends_in

LONGEST: Final = 20_000
"""Longer texts are copies only if they are equal: comparing their words would take too long."""

INDEXED_ALIKE: Final = 0.9
"""`end_marks` holds for copies that share at least so much: fewer words are sure to be shared by
texts that may differ more."""

_FILLER_WORDS: Final = "the is are that also really very actually please"
FILLERS: Final = frozenset(_FILLER_WORDS.split())
"""Words that are left out. `a` and `am` are not among them: vitamin A, 5 am."""

_WEIGHTY_WORDS: Final = """
    no not never none nobody nothing nowhere neither nor without hardly barely scarcely almost
    nearly except unless if only but however instead
    zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen
    sixteen seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety
    hundred thousand million billion dozen half quarter double triple once twice first second third
    last next all any some few many most several both each every less more least
    maybe perhaps probably possibly supposedly allegedly might may could should would
    was were had former formerly previously before after until since always sometimes rarely
    on off in out up down to from left right over under yes ok
"""
_WEIGHTY: Final = frozenset(_WEIGHTY_WORDS.split())
"""Words that change a statement when they are added to it: these are not plain."""

_APOSTROPHES: Final = str.maketrans(dict.fromkeys("\u2018\u2019\u02bc`", "'"))
# A dash between digits is a range or a date.
_BREAKS: Final = lazy_pattern(
    r"(?<!\d)[\u2013\u2014]|[\u2013\u2014](?!\d)|\u2026|\.{2,}"
    r"|[\u3001\u3002\uff0c\uff1b\u300c-\u300f\uff08\uff09\u3010\u3011\uff01]"
)
_BULLET: Final = lazy_pattern(r"(?m)^\s*(?:[-*+\u2022\u00b7]|#{1,6}|>)\s+")
_OPENERS: Final = ("also", "really", "actually", "please")
"""Words that may stand before the verb of a question."""
# A sentence that begins with `is` or `are` asks, with or without a question mark.
_ASKING: Final = lazy_pattern(
    r"[.!?:;\n][^\w.!?:;\n]*"
    rf"(?:(?:{'|'.join(_OPENERS)})[^\w.!?:;\n]+)*(?:is|are)(?=\s|n\W)",
    re.IGNORECASE,
)
_ASKS: Final = ("is", "are")
_BEGINS_QUESTION: Final = frozenset({"is", "are", "isn", "aren"})
# Neither a sign, a comparison nor a question mark: -5, <5, != and "up?" say something.
_OPENING: Final = "\"'([{\u201c\u201d\u201e\u00ab\u00bb*_\u00a1"
_CLOSING: Final = _OPENING + ")]}.,;:!"
_CACHED_LONGEST: Final = 32
_KEPT_LONGEST: Final = 1_000
_IRREGULAR: Final = {
    "won't": ("will", "not"),
    "can't": ("can", "not"),
    "cannot": ("can", "not"),
    "shan't": ("shall", "not"),
}
_SPECIAL: Final = FILLERS | _BEGINS_QUESTION | _IRREGULAR.keys()
"""Words of letters that do not stand for themselves, or not always."""
_SHORTENED: Final = {"n't": ("not",), "'s": (), "'re": (), "'ll": ("will",), "'ve": ("have",)}
"""Ending of a contraction → the words that it stands for, without fillers."""


class ComparedText(NamedTuple):
    """The words of a text that count, and for each whether it is a plain one."""

    words: tuple[str, ...]
    plain: tuple[bool, ...]


def compared_text(text: str) -> ComparedText:
    """The words by which a text is compared with others.

    Those of short texts that were compared lately are kept: a search may compare a text twice.

    >>> compared_text("The prod SSH port is open!")
    ComparedText(words=('prod', 'SSH', 'port', 'open'), plain=(True, False, True, True))
    >>> compared_text("Ann's server isn't up, it's -5 °C.").words
    ('ann', 'server', 'not', 'up', 'it', '-5', '°C')
    """
    return _compared_lately(text) if len(text) <= _KEPT_LONGEST else _compared(text)


def _compared(text: str) -> ComparedText:
    shown = _shown(text)
    # Of a text that does not begin with a capital letter, capitals do not tell which are names.
    first = next(filter(str.isalpha, shown), "")
    cased = first.isupper() and not shown.isupper()
    pairs = [pair for piece in shown.split() for pair in _words(piece)]
    if not pairs:
        return ComparedText((_whole(text),), (False,))
    words, plain = zip(*pairs, strict=True)
    return ComparedText(words, plain if cased else (False,) * len(plain))


_compared_lately: Final = lru_cache(maxsize=512)(_compared)


def end_words(text: str, alike: float = INDEXED_ALIKE) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The first and the last few words of `compared_text`: copies share one of the two.

    This is much faster than comparing, so it tells first which texts may have copies.

    >>> end_words("The prod SSH port is open for you and me!")
    (('prod', 'SSH', 'port', 'open'), ('for', 'you', 'and', 'me'))
    """
    return _ends(text, _shared_words(alike))


def end_marks(text: str) -> tuple[int, int]:
    """Two numbers for `end_words`, the same for the same words: an index keeps them for each row.

    >>> end_marks("The prod SSH port is open.") == end_marks("Prod SSH port: open!")
    True
    """
    first, last = end_words(text)
    return crc32("\n".join(first).encode()), crc32("\n".join(last).encode())


def end_marks_of(texts: Sequence[str]) -> NDArray[np.uint32]:
    """`end_marks` of many texts, two columns."""
    fast = native_library()
    if fast is None:
        return np.array(list(map(end_marks, texts)), np.uint32).reshape(-1, 2)
    plain = [text if text.isascii() and len(text) <= LONGEST else "" for text in texts]
    marks, known = ends_in(fast, plain, _special(), _shared_words(INDEXED_ALIKE))
    for nth in np.flatnonzero(~known).tolist():
        marks[nth] = end_marks(texts[nth])
    return marks


@cache
def _special() -> FlaggedWords:
    """The words that do not stand for themselves; flags as in `native/c/marks.c`."""
    groups = (FILLERS, _BEGINS_QUESTION, frozenset(_IRREGULAR), frozenset(_OPENERS))
    return FlaggedWords(
        {word: sum(1 << bit for bit, one in enumerate(groups) if word in one) for word in _SPECIAL}
    )


def _ends(text: str, count: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The first and the last `count` words of `compared_text`, in their order."""
    # Of plain ASCII in one line only the ends are read.
    if (
        text.isascii()
        and text[:1].isalnum()
        and "\n" not in text
        and ".." not in text
        and len(text) <= LONGEST
    ):
        pieces = text.split()
        first, last = _outermost(pieces, count), _outermost(reversed(pieces), count)
        if first and last:
            return tuple(first), tuple(reversed(last))
    pieces = _shown(text).split()
    first = list(islice((word for piece in pieces for word, _ in _words(piece)), count))
    if not first:
        return ((_whole(text),), (_whole(text),))
    backwards = (word for piece in reversed(pieces) for word, _ in reversed(_words(piece)))
    return tuple(first), tuple(reversed(list(islice(backwards, count))))


def _outermost(pieces: Iterable[str], count: int) -> list[str] | None:
    """The first words of some pieces; None if what stands before one of them must be read too."""
    out: list[str] = []
    for piece in pieces:
        words = _alone(piece) if len(piece) <= _CACHED_LONGEST else None
        if words is None:
            return None
        out += words
        if len(out) == count:
            break
    return out


def outer_words(text: str) -> tuple[str, str]:
    """The first and the last word of `compared_text`: texts that share neither share no end.

    >>> outer_words("The prod SSH port is open for you and me!")
    ('prod', 'me')
    """
    (first,), (last,) = _ends(text, 1)
    return first, last


@cache
def _shared_words(alike: float) -> int:
    """How many words two copies share at least at one of their ends, at most four.

    Where one of them has a stretch more, the words of the other stand before it and behind it, and
    the larger part of them at one end. At 0.9 that other text has nine words or more.
    """
    least = next((n for n in range(1, 7) if n >= alike * (n + 1)), 7)
    return (least + 1) // 2


def _shown(text: str) -> str:
    """The text without bullets, with a space for every sign that separates words.

    The verb with which a question begins gets a question mark, which makes it a word that counts.
    Empty for a text that is too long: it is compared as a whole.
    """
    if len(text) > LONGEST:
        return ""
    shown = _ASKING.sub(r"\g<0>?", f"\n{text}")  # a text begins like a line of it
    if not text.isascii() or ".." in text:  # else there is nothing to replace: this is faster
        shown = _BREAKS.sub(" ", shown)
    if "\n" in text or not text[:1].isalnum():
        shown = _BULLET.sub(" ", shown)
    return shown


def _whole(text: str) -> str:
    """What is compared of a text that is too long, or has no words of its own (`…`, `The!`)."""
    return text if len(text) > LONGEST else fold(text.strip())


def _words(piece: str) -> tuple[tuple[str, bool], ...]:
    """(word, whether it is plain) for each word in a piece of text between two spaces."""
    # Common words occur again and again; long pieces rarely repeat and would fill the cache.
    return _cached(piece) if len(piece) <= _CACHED_LONGEST else _read(piece)


def _read(piece: str) -> tuple[tuple[str, bool], ...]:
    bare = piece.translate(_APOSTROPHES).rstrip(_CLOSING).lstrip(_OPENING)
    rest = bare[1:]
    if rest.islower() and bare.isalpha() and bare.isascii():  # most pieces, read quickly
        word = bare.lower()
        if word not in _SPECIAL:
            return ((word, bare.islower() and word not in _WEIGHTY),)
    if rest != rest.lower():
        return ((unicodedata.normalize("NFC", calm(bare)), False),)
    lower = bare.islower() and bare.replace("'", "").isalpha()
    words = [word for word in _spelled_out(fold(bare)) if word and word not in FILLERS]
    return tuple((word, lower and word not in _WEIGHTY) for word in words)


_cached: Final = lru_cache(maxsize=16_384)(_read)


@lru_cache(maxsize=16_384)
def _alone(piece: str) -> tuple[str, ...] | None:
    """The word of a piece, if it has one that counts; None if the piece must be read in its text.

    That is one that stands for several words, or has an `is` or `are`, which may begin a question.
    """
    if piece.isalpha() and piece.isascii() and piece[1:].islower():  # most pieces, read quickly
        word = piece.lower()
        if word not in _SPECIAL:
            return (word,)
    lower = piece.lower()
    # Only at the end of a piece may a sign follow the verb of a question without ending its word.
    bare = lower.rstrip(_CLOSING)
    asks = bare in _BEGINS_QUESTION if bare.isalpha() else any(word in lower for word in _ASKS)
    words = tuple(word for word, _ in _read(piece))
    return None if asks or len(words) > 1 else words


def _spelled_out(word: str) -> tuple[str, ...]:
    """The words that a contraction stands for; any other word by itself."""
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    for ending, words in _SHORTENED.items():
        if word.endswith(ending):
            return (word.removesuffix(ending), *words)
    return (word,)


def are_copies(one: ComparedText, other: ComparedText, alike: float = 0.9) -> bool:
    """Whether two texts are copies; the order of the two does not matter.

    The words are the same, or the longer text has one stretch of plain words more and the shorter
    one has at least the share `alike` of its words.

    >>> few, more = map(compared_text, ("The key is in the safe", "The key is in the small safe"))
    >>> are_copies(few, more), are_copies(few, more, alike=0.75)
    (False, True)
    """
    if one.words == other.words:
        return True
    short, long = (one, other) if len(one.words) < len(other.words) else (other, one)
    size, extra = len(short.words), len(long.words) - len(short.words)
    if not extra or size < alike * len(long.words):
        return False
    begin = _common_beginning(short.words, long.words)
    if short.words[begin:] != long.words[begin + extra :]:
        return False
    # The same text may be read as several stretches (`b` or `a b` of `a b a b c`): all must be
    # plain, so that the answer does not depend on which end the comparison starts from.
    first = begin
    while first and long.words[first - 1] == long.words[first - 1 + extra]:
        first -= 1
    return all(long.plain[first : begin + extra])


def copy_groups(
    texts: Sequence[tuple[Hashable, str]],
    alike: float = 0.9,
    marks: Sequence[tuple[int, int]] | None = None,
) -> list[list[int]]:
    """The groups of two or more texts that are copies of the first of the group, by index.

    Each text comes with a key; texts with different keys are never copies. `marks` are their
    `end_marks`, where an index knows them; then `alike` is at least `INDEXED_ALIKE`.

    >>> copy_groups([("ann", "It is up"), ("bob", "It is up!"), ("ann", "it's up."), ("ann", "No")])
    [[0, 2]]
    """
    pairs = _shared_ends(texts, alike) if marks is None else dict(enumerate(marks))
    ends = {
        nth: [(texts[nth][0], at, end) for at, end in enumerate(pair)]
        for nth, pair in pairs.items()
    }
    often = Counter(end for both in ends.values() for end in both)
    groups: list[list[int]] = []
    firsts: list[ComparedText] = []
    at_ends: dict[object, list[int]] = {}
    for nth, own_ends in ends.items():
        if all(often[end] == 1 for end in own_ends):
            continue  # it shares no end with another one, so it has no copy
        compared = compared_text(texts[nth][1])
        near = sorted({group for end in own_ends for group in at_ends.get(end, ())})
        own = next((each for each in near if are_copies(firsts[each], compared, alike)), None)
        if own is not None:
            groups[own].append(nth)
            continue
        for end in own_ends:
            at_ends.setdefault(end, []).append(len(groups))
        groups.append([nth])
        firsts.append(compared)
    return [group for group in groups if len(group) > 1]


def _shared_ends(
    texts: Sequence[tuple[Hashable, str]], alike: float
) -> dict[int, tuple[Hashable, Hashable]]:
    """`end_words` of the texts that share their first or last word with another one."""
    # The outermost words are quickly read, and rule most texts out.
    outer = [tuple(enumerate(outer_words(text))) for _, text in texts]
    sharing = Counter(word for both in outer for word in both)
    return {
        nth: end_words(text, alike)
        for nth, (_, text) in enumerate(texts)
        if any(sharing[word] > 1 for word in outer[nth])
    }


def _common_beginning(short: tuple[str, ...], long: tuple[str, ...]) -> int:
    pairs = enumerate(zip(short, long, strict=False))
    return next((at for at, (a, b) in pairs if a != b), len(short))
