"""The clauses of a short text, each read apart: what it is about, whom it names, its values.

`text.changes` compares them. The rules read English.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import field, replace
from itertools import islice
from typing import Final

from memoriter.core.fold import fold
from memoriter.core.lazy_dataclass import dataclass
from memoriter.text.background import background_idf
from memoriter.text.default import DefaultAnalyzer
from memoriter.text.stops import ENGLISH_STOPS, without_contractions, word_table
from memoriter.text.subjects import sizes_of
from memoriter.text.time_words import MONTHS, WEEKDAYS

NUMBER_BEHIND: Final = "number behind "
"""The kind of a number after a noun: "code 7731" is a `number behind code`."""
NUMBER_OF: Final = "number of "
"""The kind of a number before what it counts."""
_READ: Final = 1_000
"""So many characters of a text are read: a longer one says more than one thing."""
_CLAUSE: Final = re.compile(r"[.;!?:]\s+|,\s+|\s[-–—]\s|\n+")
_LABEL: Final = re.compile(r"(?:^|(?<=[.;!?\n]))\s*((?:[\w'’-]+\s){0,3}[\w'’-]+):\s+(?=\S)")
"""What stands before a colon is what the next clause is about: "Rent for the cellar: 420 euros"."""
_CLAUSES: Final = 8
_HEAD: Final = 2
"""So many words that matter begin a clause: what it is about."""
_COMMON: Final = 3.0
"""A word of a lower idf says nothing about the subject."""
_RARE: Final = 9.0
"""A capitalised word that begins a clause is taken for a name from this idf on."""
_ROOT: Final = 5
"""Stems of at least so many letters are one word if one begins with the other."""
_ENDING: Final = 4
"""So many letters may follow: member, membership."""
_ANALYZER: Final = DefaultAnalyzer()
_WORD: Final = re.compile(r"[£$€]?\d(?:[\d.,:]*\d)?%?|\w[\w'’.-]*\w|\w")
_COUNTS: Final = word_table(
    """
    one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
    seventeen eighteen nineteen twenty thirty forty fifty sixty hundred dozen first second third
    fourth last other every next once twice
    """
)
_NUMBER: Final = re.compile(r"[£$€]?\d(?:[\d.,:]*\d)?%?")
_KINDS: Final = (
    ("percentage", re.compile(r".*%")),
    ("time", re.compile(r"\d?\d:\d\d")),
    ("year", re.compile(r"(?:19|20)\d\d")),
)
_MONEY: Final = word_table("euro eur dollar usd pound gbp")
_CUE: Final = re.compile(
    r"\b(?:new|now|moved|moves|switched|changed|raised|lowered|upgraded|downgraded|replaced"
    r"|replaces|renamed|renewed|renews|cancelled|canceled|stopped|dropped|instead|no longer|no more"
    r"|rescheduled|migrated|removed|retired"
    r"|any ?more|any longer|takes over|took over|taken over|dead|gone|as of|at last|extended"
    rf"|delayed|postponed|from (?:now|next|\d|{'|'.join(MONTHS)}|{'|'.join(WEEKDAYS)}))\b",
    re.IGNORECASE,
)
_LOOSE_CUE: Final = re.compile(
    r"\b(?:these days|from now on|since|starting|after all|rather|shifted|slipped|pushed|sold"
    r"|(?:is|are|works?|runs?)(?: \w+)? again"
    r"|increased|decreased|reduced|doubled|halved|cut|grew|grown|shortened|swapped|handed|left|closed"
    r"|ended|quit|rose|fell|fixed|repaired|elected|promoted|bought|replacing|bumped|tightened|relaxed"
    r"|(?:went|is|are|was|came) (?:up|down)|(?:up|down) from)\b",
    re.IGNORECASE,
)
"""Words that often announce a change, and not always."""
_CODE: Final = re.compile(r"`([^`\n]{1,80})`")
_SHAPED: Final = (
    ("address", re.compile(r"[a-z][a-z0-9+.-]{1,12}://[^\s,;]{3,}|[\w.+-]+@[\w-]+(?:\.[\w-]+)+")),
    ("channel", re.compile(r"(?<![\w/])[#@][A-Za-z][\w-]+")),
)
"""Values that are known by their shape: (kind, pattern)."""
_PLACE: Final = re.compile(
    r"\b(?:is|are|was|were|keep|kept|keeps|stored|stands|lives?|hangs?|lies|stay|stays|went|goes|go"
    r"|moved|put|belongs?)\b(?:\s(?!in\b|on\b|at\b)[\w'’-]+){0,3}?\s"
    r"(?:in(?:to|side)?|on(?:to)?|under|behind|beside|at|near|with|next to|above|below|outside)\s"
    r"((?:the|a|an|our|my|his|her|their)\s)?([^.;,!?\n]{3,60})",
    re.IGNORECASE,
)
"""Where something is: the words behind the preposition."""
_DENIALS: Final = re.compile(
    r"(?i)(?:\b(?:not|no|never|cannot|without|neither|none)\b|n['’]t\b)((?:\s[\w'’-]+){0,3})"
)
"""A negation and the words behind it."""
_SAME_UNIT: Final = {
    unit: units[0]
    for units in (
        ("kg", "kilo", "kilogram"), ("g", "gram"), ("s", "sec", "second"), ("min", "minut"),
        ("h", "hour", "hr"), ("ms", "millisecond"), ("gb", "gigabyt"), ("mb", "megabyt"),
        ("km", "kilometr", "kilomet"), ("d", "day"),
    )
    for unit in units
}  # fmt: skip
_PERIODS: Final = word_table("hour day week month year")
_TAKES: Final = re.compile(r"\b(?:takes|took|taken) over\b", re.IGNORECASE)
_OBJECT: Final = word_table(
    """
    moved moves switched changed raised lowered upgraded downgraded replaced replaces renamed
    renewed cancelled canceled stopped dropped instead sold cut removed retired quit closed
    """
)
"""What follows one of these is what changes."""
_LINKS: Final = word_table("the our my his her their of using from")
_OF: Final = word_table("of for")
"""What stands before one of these is a thing: "Supplier for chains"."""
_EARLY: Final = 3
"""It is among the first words of its clause."""
_ENDED: Final = word_table(
    "dead gone closed over dropped removed cancelled canceled replaced sold retired deprecated"
)
_RATES: Final = word_table("per month monthly week weekly day daily hour minute second year yearly")
_CHANGE: Final = word_table(
    """
    new now move switch chang rais lower upgrad downgrad replac renam renew cancel stop drop instead
    longer more anymor dead gone extend delay postpon still again alreadi current today
    """
)
"""Stems that announce a change and are no subject."""


@dataclass(slots=True)
class Clause:
    """What a clause says, apart."""

    cue: str = ""
    """The words that announce a change; empty if there are none."""
    topics: dict[str, str] = field(default_factory=dict[str, str])
    """Stem → word, of the words that matter, in their order."""
    values: dict[str, str] = field(default_factory=dict[str, str])
    """Kind of a value → the values, as they are written."""
    qualifiers: dict[str, str] = field(default_factory=dict[str, str])
    """Stem → the stem of the word right before it, which says which one is meant."""
    complements: dict[str, str] = field(default_factory=dict[str, str])
    """Stem → the stem of what follows it behind `for` or `of`: the torque for stems."""
    capitals: set[str] = field(default_factory=set[str])
    """The stems whose word has a capital, like a name."""
    names: set[str] = field(default_factory=set[str])
    """Those of them that are one: they do not only begin a clause, or are rare words."""
    objects: set[str] = field(default_factory=set[str])
    """The stems of what changes by a word such as `moved`."""
    taken: set[str] = field(default_factory=set[str])
    """The stems of what somebody takes over."""
    loose_cue: str = ""
    """Words that often announce a change."""
    denies: bool = False
    """Whether it says that something is not so."""
    code: str = ""
    """The first command or name in backticks."""
    coded: set[str] = field(default_factory=set[str])
    """The stems of the words in backticks alone."""
    denied: set[str] = field(default_factory=set[str])
    """The stems of the words right behind a negation."""
    place: str = ""
    """Where something is; empty if it does not say so."""
    text: str = ""
    sizes: set[str] = field(default_factory=set[str])
    """The numbers before inches, ordinals and the like, which say which one is meant."""

    @property
    def head(self) -> set[str]:
        """The stems that it begins with."""
        return set(list(self.topics)[:_HEAD])

    @property
    def things(self) -> set[str]:
        """What it is about beside names; all of it if there are only names."""
        return set(self.topics) - self.names or set(self.topics)

    def worded_as(self, other: Clause) -> Clause:
        """This clause with the stems of the other one where both are of one word."""
        same = {stem: _like(stem, other.topics) for stem in self.topics}
        return replace(
            self,
            topics={same[stem]: word for stem, word in self.topics.items()},
            qualifiers={same[stem]: same[before] for stem, before in self.qualifiers.items()},
            complements={same[stem]: same[after] for stem, after in self.complements.items()},
            capitals={same[stem] for stem in self.capitals},
            names={same[stem] for stem in self.names},
        )


def weight(stems: Iterable[str]) -> float:
    """How much words say about a subject: their idf above that of common words."""
    return sum(background_idf(stem) - _COMMON for stem in stems)


def clauses_of(text: str) -> list[Clause]:
    """The first clauses of a text."""
    read = _LABEL.sub(r" \1 ", text[:_READ])
    parts = [part for part in _CLAUSE.split(read) if part.strip()][:_CLAUSES]
    return [_clause(part) for part in parts]


def attribute_of(kind: str, text: str) -> str:
    """A kind of value as people read it: with the word that the text has, not with its stem.

    >>> attribute_of("number behind retri", "Use retries=3")
    'retries'
    """
    prefix = next((each for each in (NUMBER_BEHIND, NUMBER_OF) if kind.startswith(each)), None)
    if prefix is None:
        return kind
    stem = kind.removeprefix(prefix)
    word = next((each for each in _WORD.findall(text) if _unit(fold(each)) == stem), None)
    if word is None:
        return "number"
    return word if prefix == NUMBER_BEHIND else f"{prefix}{word}"


def joined(clauses: list[Clause]) -> Clause:
    """All that some clauses say, as one."""
    whole = Clause()
    for each in clauses:
        whole.cue = whole.cue or each.cue
        whole.loose_cue = whole.loose_cue or each.loose_cue
        whole.denies |= each.denies
        whole.place = whole.place or each.place
        whole.code = whole.code or each.code
        whole.topics |= {k: v for k, v in each.topics.items() if k not in whole.topics}
        whole.values |= {k: v for k, v in each.values.items() if k not in whole.values}
        whole.qualifiers |= {k: v for k, v in each.qualifiers.items() if k not in whole.qualifiers}
        whole.complements |= each.complements
        for name in ("capitals", "names", "objects", "taken", "sizes", "denied", "coded"):
            getattr(whole, name).update(getattr(each, name))
    whole.text = ", ".join(each.text for each in clauses)
    return whole


def _clause(text: str) -> Clause:
    plain = without_contractions(text)
    words = _WORD.findall(plain)
    cue, over = _CUE.search(text), _TAKES.search(plain)
    taken_from = len(_WORD.findall(plain[: over.end()])) if over else len(words)
    clause = Clause(cue[0] if cue else "", text=" ".join(text.split()))
    _note_manner(clause, text)
    _note_shaped(clause, text)
    clause.sizes.update(sizes_of(words))
    unit, last, of = -1, "", ""
    for at, word in enumerate(words):
        if fold(word) in _OF:
            of = last or _topic_of_value(clause, at - unit)
        before, last = last, ""
        kind = _kind(words, at)
        if kind is not None:
            values = clause.values
            values[kind] = f"{values[kind]}, {word}" if kind in values else word
            unit = at + 1
            continue
        stem = _stem(word)
        if stem is None or (at == unit and not word[0].isupper()) or _is_rate(words, at):
            continue
        last = stem
        clause.topics.setdefault(stem, word)
        if before:
            clause.qualifiers.setdefault(stem, before)
        if of:
            clause.complements.setdefault(of, stem)
        if at >= taken_from:
            clause.taken.add(stem)
        _note_names(clause, words, at, stem)
    return clause


def _note_manner(clause: Clause, text: str) -> None:
    """Note what may announce a change, and what is denied."""
    loose = _LOOSE_CUE.search(text)
    clause.loose_cue = clause.cue or (loose[0] if loose else "")
    for denial in _DENIALS.finditer(text):
        clause.denies = True
        stems = filter(None, map(_stem, denial[1].split()))
        clause.denied.update(islice(stems, 1))


def _note_shaped(clause: Clause, text: str) -> None:
    """Note values that are known by their shape, and where something is."""
    for code in _CODE.findall(text):
        clause.code = clause.code or code
        clause.coded.update(filter(None, map(_stem, _WORD.findall(code))))
    if clause.coded:
        clause.coded.difference_update(map(_stem, _WORD.findall(_CODE.sub(" ", text))))
    for kind, shape in _SHAPED:
        if shapes := shape.findall(text):
            clause.values[kind] = ", ".join(shapes)
    if place := _PLACE.search(text):
        clause.place = place[2].strip()


def _note_names(clause: Clause, words: list[str], at: int, stem: str) -> None:
    """Note whether a word is a name, and whether it is what changes."""
    if _is_capital(words[at]):
        clause.capitals.add(stem)
        after = "".join(words[at + 1 : at + 2])
        inside = at > 0 or _is_capital(after)
        if inside or (background_idf(stem) >= _RARE and after not in _OF):
            clause.names.add(stem)
    if _changes(words, at):
        clause.objects.add(stem)


def _like(stem: str, others: Iterable[str]) -> str:
    """The other stem that begins as this one, or whose beginning this one is; else itself."""
    for other in others:
        short, long = sorted((stem, other), key=len)
        if len(short) >= _ROOT and long.startswith(short) and len(long) - len(short) <= _ENDING:
            return other
    return stem


def _stem(word: str) -> str | None:
    """The stem of a word that can be a subject; None if it cannot."""
    low = fold(word)
    if low in ENGLISH_STOPS or low in _COUNTS or low in _RATES or not any(map(str.isalpha, low)):
        return None
    stem = _first_term(word)
    return stem if stem and stem not in _CHANGE and background_idf(stem) > _COMMON else None


def _first_term(word: str) -> str:
    """The first term of a word; empty if it has none: a Hangul filler is a letter for Python."""
    return next(iter(_ANALYZER.tokenize(word).terms), "")


def _is_rate(words: list[str], at: int) -> bool:
    return at > 0 and fold(words[at - 1]) == "per"


def _is_capital(word: str) -> bool:
    return word.isalpha() and word.istitle()


def _changes(words: list[str], at: int) -> bool:
    """Whether a word such as `cancelled` stands before this one, or `is dead` behind it."""
    before = [fold(word) for word in words[:at]]
    while before and before[-1] in _LINKS:
        before.pop()
    after = [fold(word) for word in words[at + 1 : at + 3]]
    ended = len(after) == 2 and after[0] in ("is", "are", "was") and after[1] in _ENDED  # noqa: PLR2004  # verb, word
    return ended or (0 < len(before) <= _EARLY and before[-1] in _OBJECT)


def _topic_of_value(clause: Clause, words: int) -> str:
    """The last topic, if only a value stands behind it, so many words ago: "timeout 30 for"."""
    return "" if words else next(reversed(clause.topics), "")


def _kind(words: list[str], at: int) -> str | None:
    """The kind of the value at a place, with what is counted; None if it is no value."""
    word, low = words[at], fold(words[at])
    if low.removesuffix("s") in WEEKDAYS:
        return "day"
    if low in MONTHS and word[0].isupper():
        return "month"
    counted = _unit(fold(words[at + 1])) if at + 1 < len(words) else ""
    if low in _COUNTS:
        return f"{NUMBER_OF}{counted}" if counted else None
    return _kind_of_number(words, at, counted) if _NUMBER.fullmatch(low) else None


def _kind_of_number(words: list[str], at: int, counted: str) -> str | None:
    """The kind of a number in digits; `counted` is the thing behind it."""
    number = words[at]
    rated = at + 2 < len(words) and fold(words[at + 1]) in ("a", "an", "per")
    if number[0] in "£$€" or counted in _MONEY or (rated and fold(words[at + 2]) in _PERIODS):
        return "price"
    if counted == "percent":
        return "percentage"
    if counted in ("am", "pm"):
        return "time"
    shaped = next((kind for kind, shape in _KINDS if shape.fullmatch(number)), None)
    if shaped is not None:
        return shaped
    if counted and not (at and _is_capital(words[at - 1])):
        return f"{NUMBER_OF}{counted}"
    before = [fold(each) for each in words[max(0, at - 2) : at]]
    while before and before[-1] in ("to", "is", "at"):
        before.pop()
    return f"{NUMBER_BEHIND}{_unit(before[-1])}" if before and _unit(before[-1]) else None


def _unit(word: str) -> str:
    """The stem of a thing that is counted; empty if the word is none."""
    if not word.isalpha() or word in ENGLISH_STOPS or word in MONTHS or word in WEEKDAYS:
        return ""
    stem = _first_term(word)
    return _SAME_UNIT.get(stem, stem)
