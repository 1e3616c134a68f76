"""Does a question ask how something was before? English.

Such a question ("Who was my boss before Priit?", "What did we use originally?") is about what no
longer holds, so a recipe may show superseded records for it (`select.superseded = "past"`), and the
boost `past` ranks them higher.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from memoriter.core.lazy_pattern import lazy_pattern
from memoriter.text.moments import moment_of

_SIGNS: Final = lazy_pattern(
    r"\b(?:used\s+to\s+(?!(?:it|that|this)\b)|originally|initially|previous(?:ly)?|former(?:ly)?"
    r"|prior\s+to|at\s+first|in\s+the\s+beginning|back\s+then|in\s+the\s+past|once\s+upon"
    r"|no\s+longer|not\s+any\s?more|any\s?more"
    r"|(?:chang|switch|mov|migrat|upgrad)ed\s+(?:away\s+)?from|before\s+(?:that|the\s+(?:change"
    r"|current|switch|move|upgrade|migration))|predecessors?"
    r"|(?:the|my|our|your|his|her|its|their|\w+'s)\s+(?:old|ex|earlier|original)\s+(?!enough)\w+)\b"
)
"""These ask about the past in any tense."""
_WITH_PAST_TENSE: Final = lazy_pattern(
    r"(?<!day )(?<!days )(?<!night )(?<!week )(?<!weeks )(?<!month )(?<!months )(?<!year )"
    r"(?<!years )(?<!evening )(?<!morning )(?<!hour )(?<!hours )(?<!minutes )"
    r"\b(?:before|until|till)\b"
    r"|\b(?:the|my|our|your|his|her|its|their|very|\w+'s)\s+first\b(?!\s+(?:of|time|name)\b)"
)
"""These do so in a question in the past tense; "before" may also order two events by days."""
_PAST_TENSE: Final = lazy_pattern(r"\b(?:did|didn't|was|wasn't|were|weren't|had|hadn't|been)\b")
_READ: Final = 2_000


@lru_cache(maxsize=16)  # plan, selection and boosts of one search ask the same
def past_words(text: str, now: int) -> str | None:
    """The words by which a question asks about the past; None if it does not.

    A time that is over, in the past tense, asks for what held then.

    >>> past_words("Who was my boss before Priit?", 0), past_words("Who is my boss?", 0)
    ('before', None)
    """
    lower = text[:_READ].lower().replace("’", "'")
    if hit := _SIGNS.search(lower):
        return hit[0].strip()
    if not _PAST_TENSE.search(lower):
        return None
    if hit := _WITH_PAST_TENSE.search(lower):
        return hit[0].strip()
    moment = moment_of(text, now)
    return moment.text if moment is not None and moment.until <= now else None
