"""Analyzers that use the tokenizers of SQLite's FTS5, for systems that search with FTS5.

fts5-porter       `porter unicode61`
fts5-porter-cjk   the same, with characters and bigrams for scripts without spaces and Korean
fts5-dashed       `unicode61` with hyphen and underscore as letters, no stemming
"""

from __future__ import annotations

import re
import threading
import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from itertools import groupby
from typing import Final, cast

import apsw
import apsw.unicode

from memoriter.core.fold import fold
from memoriter.text.chunk import LONGEST, is_unspaced
from memoriter.text.tokenized import (
    FIELDS,
    TokenAnalyzer,
    Tokenized,
    concatenated,
    grams,
    in_sequence,
)

_RULES: Final = 1
"""Version of the rules here, in `text.chunk`, in `text.tokenized` and in `core.fold`."""

_UNICODE: Final = "unicode61"

# Korean has spaces, but particles are written onto a noun: 학교 is inside 학교에서. The last line
# has the half-width forms of kana and Hangul, which folding widens.
_ALSO: Final = re.compile(
    "[\u1100-\u115e\u1161-\u11ff\u3131-\u3163\u3165-\u318e\ua960-\ua97c\uac00-\ud7a3\ud7b0-\ud7fb"
    "\uff66-\uff9f\uffa1-\uffdc]"
)
_PERHAPS: Final = re.compile("[\u0e01-\U0003ffff]++")
"""A superset of both: a fast test which characters need a closer look."""

_MARK: Final = "\U000ffffd"
"""A placeholder for a run: a noncharacter that FTS5 tokenizes as a letter."""


class _Tokenizer(threading.local):
    """A tokenizer of FTS5. One per thread: a connection must not be shared."""

    def __init__(self, name: str, options: Sequence[str]) -> None:
        self._call = apsw.Connection(":memory:").fts5_tokenizer(name, list(options))

    def words(self, text: str) -> list[str]:
        """The tokens of a text; characters that UTF-8 cannot encode separate them."""
        tokens = self._call(
            text.encode("utf-8", "replace"),
            apsw.FTS5_TOKENIZE_DOCUMENT,
            None,
            include_offsets=False,
            include_colocated=False,
        )
        words = cast("list[str]", tokens)
        return [word[:LONGEST] for word in words] if len(text) > LONGEST else words


class Dashed(TokenAnalyzer):
    """Folded words without stemming; `REQ-12` and `user_id` are one word each."""

    about = "letters, digits, - and _, no stems"

    def __init__(self) -> None:
        shaping = {"rules": _RULES, "sqlite": apsw.sqlite_lib_version()}
        super().__init__("fts5-dashed", ("text", "essence"), shaping)
        self._words = _Tokenizer(_UNICODE, ("tokenchars", "-_"))

    def tokenize(self, text: str) -> Tokenized:
        """The words of any text."""
        words = self._words.words(text)
        return in_sequence(words, words)


class Porter(TokenAnalyzer):
    """Stems by the original Porter algorithm: "generically" becomes "gener"."""

    about = "letters and digits, stems"

    def __init__(self, name: str = "fts5-porter", **shaping: object) -> None:
        shaping = {"rules": _RULES, "sqlite": apsw.sqlite_lib_version(), **shaping}
        super().__init__(name, FIELDS, shaping)
        self._words = _Tokenizer(_UNICODE, ())
        self._stems = _Tokenizer("porter", (_UNICODE,))

    def tokenize(self, text: str) -> Tokenized:
        """The stems of any text."""
        return in_sequence(self._stems.words(text), self._words.words(text))

    def tokens(self, text: str, *, prefix: bool = False) -> list[tuple[str, int]]:
        """(term, position) of every token. Like FTS5, it stems a prefix as if it were a word."""
        return super().tokens(text)


class PorterCjk(Porter):
    """Stems, and characters and bigrams for scripts without spaces, so that 日本 finds 日本語の本.

    Runs of such scripts are taken out before FTS5 sees the text, because it would drop the vowel
    signs of Thai, Khmer or Burmese.
    """

    about = "letters and digits, stems, scripts without spaces by pairs"

    def __init__(self) -> None:
        super().__init__(
            "fts5-porter-cjk",
            normal_forms=unicodedata.unidata_version,
            boundaries=apsw.unicode.unicode_version,
        )

    def tokenize(self, text: str) -> Tokenized:
        """The stems, characters and bigrams of any text."""
        marked, runs = _set_apart(text)
        terms, words, _, _ = super().tokenize(marked)
        tokenized: list[Tokenized] = []
        at = 0
        for run in runs:
            stop = terms.index(_MARK, at)
            tokenized += (in_sequence(terms[at:stop], words[at:stop]), grams(fold(run)))
            at = stop + 1
        tokenized.append(in_sequence(terms[at:], words[at:]))
        return concatenated([each for each in tokenized if each.terms])


def _set_apart(text: str) -> tuple[str, list[str]]:
    """(the text with a placeholder for every run without spaces, these runs)."""
    runs: list[str] = []

    def marked(run: re.Match[str]) -> str:
        pieces: list[str] = []
        for unspaced, characters in groupby(run[0], _is_unspaced):
            piece = "".join(characters)
            pieces.append(f" {_MARK} " if unspaced else piece)
            if unspaced:
                runs.append(piece)
        return "".join(pieces)

    return text if text.isascii() else _PERHAPS.sub(marked, text.replace(_MARK, " ")), runs


@lru_cache(8192)
def _is_unspaced(character: str) -> bool:
    return is_unspaced(character) or _ALSO.match(character) is not None
