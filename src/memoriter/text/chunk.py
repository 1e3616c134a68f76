"""Splits a text into chunks, the first step of the default analyzer (`text.default`).

A chunk is a word, an identifier, a run of a script without spaces, or a pictograph. It is folded:
no case, no accents, no invisible characters. Works on any text, in linear time.
"""

from __future__ import annotations

from typing import Final

import apsw.unicode

from memoriter.core.fold import bare, fold
from memoriter.core.lazy_pattern import lazy_pattern

LONGEST: Final = 256
"""A longer word is truncated; of a longer identifier only the parts become terms."""

_LINK: Final = r"_++|://|::|[-.:/\\@+#&=%?~']"
"""Characters that join the parts of an identifier."""
# Possessive quantifiers (`++`, `*+`) keep every pattern here linear on hostile input.
_ASCII: Final = lazy_pattern(rf"[a-z0-9]++(?:(?:{_LINK}|(?<=[0-9])[,;](?=[0-9]))[a-z0-9]++)*+")
_LINKED: Final = lazy_pattern(_LINK)
_TIES: Final = "_\u203f\u2040\u2054"
"""Connectors that UAX 29 counts as letters: kept inside an identifier, stripped at its ends."""

_UNSPACED: Final = (
    "\u3005-\u3007\u3021-\u3029\u3031-\u3035\u3038-\u303b\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\U00020000-\U0003ffff"  # Han
    "\u3041-\u3096\u3099\u309a\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff"
    "\U0001aff0-\U0001b16f"  # kana
    "\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ebd\u0ec0-\u0ece\u0edc-\u0edf"  # Thai, Lao
    "\u1780-\u17d3\u17d7\u17dc\u17dd"  # Khmer
    "\u1000-\u103f\u1050-\u108f\u109a-\u109d\ua9e0-\ua9ef\ua9fa-\ua9fe\uaa60-\uaa76\uaa7a-\uaa7f"
    "\u1950-\u1974\u1980-\u19c9\u1a20-\u1a7c\u1aa7\uaa80-\uaac2\uaadb-\uaadd\U00011700-\U0001172b"
)  # the last two lines: Burmese; Tai Le, New Tai Lue, Tai Tham, Tai Viet, Ahom
_STRETCHES: Final = lazy_pattern(f"([{_UNSPACED}]++)")

_PICTURES: Final = "\u2190-\u2bff\u3030\u303d\U0001f000-\U0001faff"
# Default-ignorable characters. The zero-width joiner stays inside a pictograph, where it
# composes one picture of several.
_IGNORED: Final = lazy_pattern(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200c\u200e\u200f\u202a-\u202e"
    "\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\U000e0000-\U000e0fff]+"
    f"|(?<![{_PICTURES}\ufe0f])\u200d|\u200d(?![{_PICTURES}])"
)
_SURROGATES: Final = lazy_pattern("[\ud800-\udfff]+")
# Typographic variants of marks that join words.
_ALIKE: Final = {"\u2019": "'", "\u2018": "'", "\u02bc": "'", "\u2010": "-", "\u05f4": '"'}


def chunks(text: str) -> list[str]:
    """The chunks of any text, folded, in order.

    >>> chunks("Ann's user_id (v1.2) 東京 🎉!")
    ["ann's", 'user_id', 'v1.2', '東京', '🎉']
    """
    if text.isascii():  # most texts: lower case is all the folding that ASCII needs
        return _ASCII.findall(text.lower())
    folded = bare(_IGNORED.sub("", fold(_SURROGATES.sub(" ", text))))
    for other, usual in _ALIKE.items():
        folded = folded.replace(other, usual)
    if folded.isascii():
        return _ASCII.findall(folded)
    out: list[str] = []
    for nth, stretch in enumerate(_STRETCHES.split(folded)):
        if nth % 2:  # `split` with a group puts the unspaced runs at odd places
            out.append(stretch)
            continue
        for word in stretch.split():
            if word.isascii():
                out += _ASCII.findall(word)
            else:
                _segmented(word, out)
    return out


def _segmented(text: str, out: list[str]) -> None:
    """Append the chunks of a folded text without white space, split at the UAX 29 boundaries.

    Words that are joined by a link character become one identifier.
    """
    start = end = at = 0
    while at < len(text):
        stop = apsw.unicode.word_next_break(text, at)
        segment = text[at:stop]
        if segment.isalnum() or any(map(str.isalnum, segment)):
            first = stop - len(segment.lstrip(_TIES))
            if start == end or not _LINKED.fullmatch(text[end:first]):
                _close(text[start:end], out)
                start = first
            end = at + len(segment.rstrip(_TIES))
        elif not segment.isascii() and _is_picture(segment):
            _close(text[start:end], out)
            out.append(segment[:LONGEST])
            start = end = stop
        at = stop
    _close(text[start:end], out)


def _close(chunk: str, out: list[str]) -> None:
    if chunk:
        out.append(chunk)


def _is_picture(segment: str) -> bool:
    return apsw.unicode.is_extended_pictographic(segment) or apsw.unicode.is_regional_indicator(
        segment
    )


def has_unspaced(text: str) -> bool:
    """Whether some of the text is in a script that puts no spaces between words."""
    return _STRETCHES.search(text) is not None


def is_unspaced(chunk: str) -> bool:
    """Whether the chunk is a run of a script that puts no spaces between words."""
    return _STRETCHES.match(chunk) is not None
