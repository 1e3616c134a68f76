"""Detects the intent of a question and the factors that it puts on records. English only.

There are two intents. A *preference* ("what do I prefer?", "recommend a coffee") favours notes
about a person, a *concrete fact* ("when did it happen?", "how many did I buy?") favours a short
note of one event. The `intent` boost multiplies a score by the factors of `factors`. A question
without an intent, or in another language, has none.

The type of a record is taken from its path if it has one: below `memory/global/` it is a memory,
elsewhere a document, below `raw/documents/` a raw one. A record without a path is judged by its
kind and role.
"""

from __future__ import annotations

import re
from typing import Final, Literal, NamedTuple

from memoriter.core.lazy_dataclass import dataclass
from memoriter.core.record import Content
from memoriter.text.english import is_english
from memoriter.text.time_words import has_time_words

IntentLabel = Literal["preference", "concrete-fact", "both"]
LONG: Final = 300
"""A text of more characters is prose, not a note of one fact."""
DOCUMENTS: Final = frozenset({"document", "chunk", "file", "page", "article", "raw"})
"""Kinds and roles of records that are parts of documents, if they have no path."""
PREFERENCES: Final = frozenset({"preference", "user-preference"})
"""Kinds of records that note a preference, if they have no path."""
FACTS: Final = frozenset({"fact", "user-fact", "milestone"})
"""Kinds of records that note one fact, if they have no path."""

_READ: Final = 2_000
"""Only so many characters of a question are looked at."""
_PAST: Final = (
    "picked up|bought|ordered|spent|earned|sold|drove|travelled|traveled|watched|visited|completed"
    "|finished|submitted|booked"
)
_BASE: Final = (
    "pick up|buy|order|spend|earn|sell|drive|travel|watch|visit|complete|finish|submit|book"
)
_PROPERTY: Final = (
    "version|price|cost|name|number|date|time|address|size|age|amount|port|password|total|title"
)


def _table(phrases: str) -> tuple[str, ...]:
    return tuple(" ".join(phrase.split()) for phrase in phrases.split(","))


def _words(*patterns: str) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{'|'.join(patterns)})\b")


_PREFERENCE: Final = _words(
    "recommend", "suggest", "recommendations?", "suggestions?", "tips?", "advice", "ideas?",
    "(?:what|which) should i", "prefers?", "preferences?", "favou?rites?",
    "do i (?:really )?(?:like|love|enjoy)",
)  # fmt: skip
_CONCRETE: Final = _words(
    "how many", "count", "total", "sum", "add up", "list", "what are all",
    "when (?:did|was|were|is|does)",
)  # fmt: skip
_FACT_OF: Final = re.compile(
    rf"\bwhat(?:'s|s| is| was) (?:the|my|our|your) (?:\w+ )?(?:{_PROPERTY})\b(?= of\b| for\b|\W*$)"
)
_OF_ME: Final = _words("(?:did|have|was|were) i")
_DOING: Final = _words(_PAST, _BASE)

_LIKING: Final = _table(
    """
    prefer, prefers, preferred, like, likes, liked, love, loves, loved, want, wants, wanted, need,
    needs, needed, avoid, avoids, avoided, dislike, dislikes, disliked, hate, hates, hated, enjoy,
    enjoys, enjoyed, interested in, looking for
    """
)
_GENERIC: Final = _table(
    """
    tip, tips, advice, suggest, suggests, suggested, suggestion, suggestions, recommend, recommends,
    recommended, recommendation, recommendations, idea, ideas, option, options, guide, tracking,
    tracker, checklist
    """
)
_ROLLUP: Final = _table(
    """
    rollup, roll-up, summary, recap, overview, aggregate, combined, overall, in total, totaled,
    totalled, totaling, totalling
    """
)
_ATOMIC: Final = re.compile(rf"\b(?:i|we) (?:{_PAST}|went|started|got|took)\b")
_DATED: Final = re.compile(r"\[(?:date|observed on):")
_NUMBER: Final = re.compile(r"(?<![^\W\d_])\d")
"""A digit that no letter stands before: 1.29 is a number, k8s has none."""


class Intent(NamedTuple):
    """The intent of a question, and the words of it that show it."""

    label: IntentLabel | None
    signs: tuple[str, ...] = ()

    @property
    def preference(self) -> bool:
        """Whether the question asks for a preference."""
        return self.label in ("preference", "both")

    @property
    def concrete(self) -> bool:
        """Whether the question asks for a fact."""
        return self.label in ("concrete-fact", "both")


NONE: Final = Intent(None)
"""The question has no intent that we know."""


def intent_of(query: str) -> Intent:
    """The intent of a question; `NONE` for one that is not English.

    >>> intent_of("suggest a list")
    Intent(label='both', signs=('suggest', 'list'))
    >>> intent_of("Geef me tips voor koffie").label is None
    True
    """
    text = " ".join(query[:_READ].lower().replace("’", "'").split())
    likings = _PREFERENCE.findall(text)
    facts = [*_CONCRETE.findall(text), *_FACT_OF.findall(text), *_acts(text)]
    if not (likings or facts) or not is_english(query):
        return NONE
    label: IntentLabel = (
        "both" if likings and facts else "preference" if likings else "concrete-fact"
    )
    return Intent(label, tuple(dict.fromkeys([*likings, *facts])))


def _acts(text: str) -> list[str]:
    """Signs of a question about what the speaker did: `did i` together with a verb."""
    asking, doing = _OF_ME.findall(text), _DOING.findall(text)
    return [*asking, *doing] if asking and doing else []


@dataclass(frozen=True, slots=True, kw_only=True)
class Traits:
    """The properties of a record that intents look at."""

    memory: bool
    """A note about somebody, not a part of a document."""
    raw: bool
    """A part of a document as it was read in."""
    preference: bool
    """A note of what somebody prefers."""
    liking: bool
    """Contains a word of liking or dislike."""
    generic: bool
    """Advice for anybody."""
    rollup: bool
    """Sums up many things."""
    long: bool
    """Longer than a note of one fact."""
    fact: bool
    """One fact: by its path or kind, or a short note with a time, a number or about one act."""


def traits_of(content: Content) -> Traits:
    """The traits of a record, from its path, words, length and kind."""
    path = content.source.path
    where = (path or "").lower()
    parts = (where, content.title or "", content.summary or "", content.text)
    text = "\n".join(parts).lower()
    kinds = {content.kind.lower(), content.role.lower()}
    memory = "memory/global/" in where if path else not kinds & DOCUMENTS
    raw = "raw/documents/" in where if path else not memory
    long, rollup = len(content.text) > LONG, _contains(text, _ROLLUP)
    generic = _contains(text, _GENERIC)
    named = ("user-fact-" in where or "milestone-" in where) if path else bool(kinds & FACTS)
    # "10 tips" and "tips for Monday" have a number and a time, and are no facts.
    numbered = _NUMBER.search(content.text) is not None or has_time_words(content.text)
    dated = content.occurred is not None or _DATED.search(text) is not None
    return Traits(
        memory=memory,
        raw=raw,
        preference=memory and ("user-preference-" in where if path else bool(kinds & PREFERENCES)),
        liking=_contains(text, _LIKING),
        generic=generic,
        rollup=rollup,
        long=long,
        fact=named
        or (
            not (long or rollup)
            and (dated or (numbered and not generic) or _ATOMIC.search(text) is not None)
        ),
    )


def _contains(text: str, phrases: tuple[str, ...]) -> bool:
    """Whether a text contains one of the phrases as whole words."""
    # `in` rejects most phrases before the slower regular expression runs.
    return any(
        phrase in text and re.search(rf"\b{phrase}\b", text) is not None for phrase in phrases
    )


def factors(intent: Intent, traits: Traits) -> tuple[tuple[str, float], ...]:
    """(reason, factor) for everything in a record that the intent changes; factors multiply.

    >>> note = Content(text="tips, a summary", created=0, kind="document")
    >>> factors(intent_of("how many bikes?"), traits_of(note))
    (('roll-up', 0.45), ('generic advice', 0.75))
    """
    liked = tuple(_preference(traits)) if intent.preference else ()
    known = tuple(_concrete(traits)) if intent.concrete else ()
    return liked + known


def _preference(traits: Traits) -> list[tuple[str, float]]:
    out: list[tuple[str, float]] = []
    if traits.preference:
        out.append(("preference note", 2.35))
    elif traits.memory and traits.liking:
        out.append(("memory of a liking", 2.1))
    if traits.raw:
        out.append(("raw document", 0.82))
    elif traits.generic and not traits.memory:
        out.append(("generic advice", 0.82))
    if traits.rollup:
        out.append(("roll-up", 0.9))
    return out


def _concrete(traits: Traits) -> list[tuple[str, float]]:
    out: list[tuple[str, float]] = []
    if traits.fact:
        out.append(("concrete fact", 2.2))
    if traits.rollup or traits.long:
        out.append(("roll-up" if traits.rollup else "long prose", 0.45))
    if traits.generic and not traits.memory and not traits.fact:
        out.append(("generic advice", 0.75))
    return out
