"""Unicode folding for comparing texts: case, compatible forms, accents.

Pure functions that accept any text and run in linear time. Analyzers, filters and name checks
use them.
"""

from __future__ import annotations

import unicodedata
from typing import Final

from memoriter.core.lazy_pattern import lazy_pattern

_RUN: Final = 30
"""The most combining marks in a row (UAX 15, stream-safe text format)."""
_JOINER: Final = "\u034f"
"""The combining grapheme joiner: invisible, and marks are not reordered across it."""

# No mark is a word character, so every run of marks is inside such a stretch.
_STRETCH: Final = lazy_pattern(rf"[^\w\s!-~]{{{_RUN + 1},}}")

_LATIN: Final = "0-9A-Za-z\u00c0-\u02af\u1e00-\u1eff\u2c60-\u2c7f\ua722-\ua7ff\uab30-\uab64"
_GREEK: Final = "\u0370-\u03ff\u1f00-\u1fff"
_CYRILLIC: Final = "\u0400-\u0482\u048a-\u052f\u1c80-\u1c8a\ua640-\ua66e\ua680-\ua69d"
_ACCENTS: Final = "\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f"
# Hebrew points and Arabic harakat, and the tatweel, which only stretches a line: most writers
# leave them out. Hamza and madda stay: they make other letters.
_POINTS: Final = "\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0640\u064b-\u0652\u0670"
_BARE: Final = lazy_pattern(f"(?<=[{_LATIN}{_GREEK}{_CYRILLIC}])[{_ACCENTS}]+|[{_POINTS}]+")


def fold(text: str) -> str:
    """Remove differences of case and of compatible forms: NFKC, case fold, NFKC.

    >>> fold("Straße ﬁne x²")
    'strasse fine x2'
    """
    if text.isascii():
        return text.lower()
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", calm(text)).casefold())


def bare(text: str) -> str:
    """Remove accents from Latin, Greek and Cyrillic letters, and Hebrew and Arabic points.

    Marks of other scripts are kept: there they are vowels.

    >>> bare("café naïve ёлка हिन्दी")
    'cafe naive елка हिन्दी'
    """
    if text.isascii():
        return text
    return unicodedata.normalize("NFC", _BARE.sub("", unicodedata.normalize("NFD", calm(text))))


def calm(text: str) -> str:
    """Break runs of more than 30 combining marks; any ordinary text is returned unchanged.

    Normalisation sorts the marks of a character in quadratic time, so that an endless run of them
    would be a denial of service.

    >>> len(calm("a" + "\u0301" * 61))
    64
    """
    if text.isascii():
        return text
    return _STRETCH.sub(lambda match: _part(match[0]), text)


def _part(stretch: str) -> str:
    out: list[str] = []
    run = 0
    for character in stretch:
        run = run + 1 if unicodedata.combining(character) else 0
        if run > _RUN:
            out.append(_JOINER)
            run = 1
        out.append(character)
    return "".join(out)
