"""Whether a new text may replace an older one that it does not repeat word by word.

"Recycling goes out on Wednesday" and "Here the recycling is collected on Monday" are about one
thing and name another day. Texts are compared clause by clause: two clauses are about one thing if
both begin with the same word that matters, or if most of what the shorter one says is in the other,
names left aside. Then one of these makes a change:

- a value of the same kind differs: a day, a time, a date, a price, a number of the same things;
- nearly all is the same but for one name on each side: "the key is with Mats";
- somebody else is what only one can be: "Alice is the CEO of Acme", "Bob is the CEO of Acme";
- the new text announces a change ("now", "no longer", "from July"). Words such as "moved",
  "cancelled" and "takes over" name themselves what changes: "cancelled the gym" is about the gym.

A shared name is not enough: people do more than one thing. Nor is a shared word that another word
or a size beside it makes another thing: a door code, an alarm code; the torque for stems and for
posts; tubes of 20 and 28 inches. A month or a year says when, so it needs more in common than the
first word; and where the new text gives a day or a price, only one in the older text is changed by
it.

The memory that a search puts first is about the same thing more often than not, so for it less is
asked (`Closeness`): of the `nearest` one, that the new text has a word that often announces a
change and shares a word that matters; of one on the `same topic`, any values of one kind that
differ, a negation that only one has, another place or another name. The rule reads English.
"""

from __future__ import annotations

import re
from itertools import product
from typing import Final, Literal, NamedTuple

from memoriter.core.fold import fold
from memoriter.text.clauses import (
    NUMBER_BEHIND,
    NUMBER_OF,
    Clause,
    attribute_of,
    clauses_of,
    joined,
    weight,
)
from memoriter.text.stops import ENGLISH_STOPS, word_table
from memoriter.text.subjects import are_apart

_TOPIC: Final = 3.0
"""The words that two memories are about have at least so much idf above the common."""
_MOST: Final = 0.5
_SOME: Final = 0.2
_ALIKE: Final = 0.75
_WHEN: Final = ("month", "year")
"""Kinds of values that say when something happens, more often than what it is."""
_SHAPED: Final = frozenset({"day", "month", "year", "time", "price", "percentage"})
"""Kinds that are known by the shape of a value, not by the noun beside it."""


_HOLDER: Final = re.compile(
    r"((?:[A-Z][\w'’-]*\s){1,3})(?:is|was|became|becomes)\s(?:now\s)?the\s([^.;,!?\n]{3,200})[.!]?\s*"
)
"""A name, and what its bearer alone is."""


Closeness = Literal["near", "nearest", "same topic"]
"""What a search says of two texts, each more than the one before."""
_THING: Final = 1.5
"""What a word that matters has at least, where the search found nothing nearer."""
_WORDS_READ: Final = 13
"""A longer text says more than one thing, even if the search puts it first."""
_WISHES: Final = word_table("want need like love use ask say get make take give")
"""Stems of what many things are done by: no subject."""
_LONGEST: Final = 120
"""So many characters of a clause are shown."""


class StatedChange(NamedTuple):
    """What a new text and an older one are both about, and what of it differs."""

    shared: tuple[str, ...]
    """The words that matter and that both have."""
    attribute: str
    """What of it differs: a kind of value such as `day`, or `statement`."""
    here: str
    """The value in the new text, or its clause."""
    there: str
    """The same in the older one."""


_Values = tuple[str, str, str]
"""(the attribute, the value in the new clause, the one in the older clause)."""


def change_of(new: str, old: str, closeness: Closeness = "near") -> StatedChange | None:
    """What a new text may change of an older one; None if nothing.

    >>> change_of("Here recycling is collected Mondays", "Recycling goes out Wednesday nights")
    StatedChange(shared=('recycling',), attribute='day', here='Mondays', there='Wednesday')
    >>> change_of("Ann drinks tea now", "Ann lives in Hull")
    """
    holder = _other_holder(new, old)
    if holder is not None:
        return holder
    news, olds = clauses_of(new), clauses_of(old)
    known = {each for clause in olds for values in clause.values.values() for each in _each(values)}
    pairs = [(one, two.worded_as(one)) for one, two in product(news, olds)]
    changes = (_change(one, two, known) for one, two in pairs if not _of_another(news, one, two))
    change = next((each for each in changes if each is not None), None)
    if change is not None or closeness == "near" or not pairs:
        return change
    one = joined(news)
    two = joined(olds).worded_as(one)
    return _looser_change(one, two, same_topic=closeness == "same topic")


def _change(one: Clause, two: Clause, known: set[str]) -> StatedChange | None:
    both = {stem for stem in one.topics if stem in two.topics and not _other_thing(stem, one, two)}
    things = both - _shared_names(one, two)
    if _is_taken(one, two, things):
        change = _statements(one, two)
    elif not both or _other_subject(one, two) or _is_apart(one, two, both) or _unlike(one, two):
        change = None
    else:
        change = (
            _other_name(one, two, things)
            or _other_value(one, two, both, things, known)
            or _announced(one, two, both, things)
        )
    return None if change is None else StatedChange(_words(one, both), *change)


def _looser_change(one: Clause, two: Clause, *, same_topic: bool) -> StatedChange | None:
    """What the nearest text changes of another one, all their clauses taken together."""
    units = {kind.removeprefix(NUMBER_OF) for kind in (*one.values, *two.values)}
    both = {stem for stem in one.topics if stem in two.topics and stem not in units}
    things = both - _shared_names(one, two) - _WISHES
    ended = both & one.objects
    if weight(things) < _THING and not ended:
        return None
    if max(len(each.text.split()) for each in (one, two)) > _WORDS_READ:
        return None
    if _is_apart(one, two, both) or _unlike(one, two):
        return None
    if not ended and (_other_subject(one, two) or _is_other(one, two, both)):
        return None
    change = _conflict(one, two, both, things) if same_topic else None
    if change is None and _is_loosely_announced(one, two, both, things):
        change = _statements(one, two)
    return None if change is None else StatedChange(_words(one, both), *change)


def _is_loosely_announced(one: Clause, two: Clause, both: set[str], things: set[str]) -> bool:
    """Whether the new text often announces a change of what both are mostly about."""
    if not one.loose_cue or _of_other_kind(one, two):
        return False
    return (
        bool(both & one.objects) or _same_head(one, two, both) or _part(one, two, things) >= _MOST
    )


def _conflict(one: Clause, two: Clause, both: set[str], things: set[str]) -> _Values | None:
    """Values of one kind that differ, a negation that only one has, another place or name."""
    values = _conflicting_values(one, two, things)
    if values is not None:
        return values
    if one.denies != two.denies and (one.denied & set(two.topics) or two.denied & set(one.topics)):
        return _statements(one, two)
    head = _same_head(one, two, both)
    if head and one.place and two.place and not _share_words(one.place, two.place):
        return "place", one.place, two.place
    here, there = one.names - set(two.topics), two.names - set(one.topics)
    alike = _part(one, two, things) >= _MOST
    if here and there and alike and not one.values.keys() & two.values.keys():
        return "name", _named(one, here), _named(two, there)
    return None


def _conflicting_values(one: Clause, two: Clause, things: set[str]) -> _Values | None:
    """Values of one kind, the only numbers, or commands that differ."""
    when = _part(one, two, things) >= _ALIKE
    for kind in one.values if things else ():
        differ = kind in two.values and _each(one.values[kind]).isdisjoint(_each(two.values[kind]))
        if differ and (kind not in _WHEN or when):
            return attribute_of(kind, one.text), one.values[kind], two.values[kind]
    numbers = [[each for kind, each in c.values.items() if _is_number(kind)] for c in (one, two)]
    digits = all(len(each) == 1 and each[0][-1].isdigit() for each in numbers)
    if things and digits and numbers[0] != numbers[1]:
        return "number", numbers[0][0], numbers[1][0]
    spoken = things - one.coded - two.coded
    if one.code and two.code and one.code != two.code and weight(spoken) >= _THING:
        return "code", one.code, two.code
    return None


def _of_another(news: list[Clause], one: Clause, two: Clause) -> bool:
    """Whether a later clause goes on about somebody whom the older clause does not name."""
    first = news[0]
    owner = first.head & first.names
    if one is first or not owner or one.names:
        return False
    return bool(two.head & two.names) and not owner & set(two.topics)


def _is_apart(one: Clause, two: Clause, both: set[str]) -> bool:
    """Whether they name other sizes, or one goes to where the other comes from."""
    ways = ({_way(each, stem) for each in (one, two)} for stem in both)
    return _other_size(one, two) or any(way == {"to", "from"} for way in ways)


def _unlike(one: Clause, two: Clause) -> bool:
    """Whether they begin with another one of a kind, or say of other subjects what does not change.

    An API server and a metrics server; what Ann eats and what Bob eats.
    """
    heads = one.head & two.head
    other = any(_other_thing(stem, one, two) for stem in heads)
    return not one.cue and (other or are_apart(one.text, two.text))


def _way(clause: Clause, stem: str) -> str:
    """The word `to` or `from` before a word: a flight to Lisbon, one from Lisbon."""
    before = re.search(rf"(?i)\b(to|from)\s{re.escape(clause.topics[stem])}\b", clause.text)
    return before[1].lower() if before else ""


def _is_other(one: Clause, two: Clause, both: set[str]) -> bool:
    """Whether every shared word has another one before it that says which one is meant."""
    return all(_other_thing(stem, one, two) for stem in both)


def _is_number(kind: str) -> bool:
    return kind.startswith(("number ", "price"))


def _share_words(one: str, two: str) -> bool:
    words = [{fold(word) for word in each.split()} - ENGLISH_STOPS for each in (one, two)]
    return bool(words[0] & words[1])


def _named(clause: Clause, stems: set[str]) -> str:
    return " ".join(word for stem, word in clause.topics.items() if stem in stems)


def _statements(one: Clause, two: Clause) -> _Values:
    return "statement", one.text[:_LONGEST], two.text[:_LONGEST]


def _words(clause: Clause, stems: set[str]) -> tuple[str, ...]:
    return tuple(word for stem, word in clause.topics.items() if stem in stems)


def _other_holder(new: str, old: str) -> StatedChange | None:
    """The names of two that are said to be the same one thing."""
    one, two = _HOLDER.fullmatch(new.strip()), _HOLDER.fullmatch(old.strip())
    if one is None or two is None:
        return None
    here, there = one[1].strip(), two[1].strip()
    same = fold(one[2]).split() == fold(two[2]).split()
    if not same or {fold(here), fold(there)} & {"this", "that", "it"} or fold(here) == fold(there):
        return None
    words = tuple(word for word in one[2].split() if fold(word) not in ENGLISH_STOPS)
    return StatedChange(words, "name", here, there)


def _other_name(one: Clause, two: Clause, things: set[str]) -> _Values | None:
    """The one name of each, where nearly all else is the same."""
    here, there = one.names - set(two.topics), two.names - set(one.topics)
    most = max(weight(one.things), weight(two.things))
    if len(here) != 1 or len(there) != 1 or weight(things) < max(_TOPIC, _ALIKE * most):
        return None
    return "name", one.topics[here.pop()], two.topics[there.pop()]


def _other_value(
    one: Clause, two: Clause, both: set[str], things: set[str], known: set[str]
) -> _Values | None:
    """The values of the first kind that both have, where the new one is not known already."""
    kinds = (kind for kind in one.values if kind in two.values)
    kind = next((each for each in kinds if known.isdisjoint(_each(one.values[each]))), None)
    if kind is None:
        return None
    part, head = _part(one, two, things), _same_head(one, two, both)
    near = part >= _MOST or (head and part >= _SOME and kind not in _WHEN)
    announced = bool(one.cue) and head
    numbered = kind.startswith(NUMBER_BEHIND)
    matter = weight(things) >= _TOPIC or numbered or (announced and part >= _MOST)
    if (near and matter) or (numbered and announced):
        return attribute_of(kind, one.text), one.values[kind], two.values[kind]
    return None


def _announced(one: Clause, two: Clause, both: set[str], things: set[str]) -> _Values | None:
    """The words that announce that what both are about changes."""
    moved = weight(one.objects & both) >= _TOPIC
    renamed = bool(one.names - set(two.topics)) and bool(two.names - set(one.topics))
    mostly = renamed and _part(one, two, things) >= _MOST
    least = min(weight(one.topics), weight(two.topics))  # with names: much else may be said of one
    matter = weight(things) >= _TOPIC and (mostly or weight(both) >= _MOST * least)
    headed = bool(one.cue) and matter and _same_head(one, two, both)
    if moved or (headed and not _of_other_kind(one, two)):
        return _statements(one, two)
    return None


def _of_other_kind(one: Clause, two: Clause) -> bool:
    """Whether the new clause gives a day, a price or the like, and the older one other values."""
    kinds = _SHAPED & one.values.keys()
    return bool(kinds and two.values) and kinds.isdisjoint(two.values)


def _is_taken(one: Clause, two: Clause, things: set[str]) -> bool:
    """Whether somebody takes over what the older clause says of somebody else."""
    taken = weight(one.taken & things)
    return taken >= _TOPIC and taken >= _MOST * weight(two.things) and bool(two.names)


def _part(one: Clause, two: Clause, things: set[str]) -> float:
    """How much of what the shorter clause says is in both, names left aside."""
    least = min(weight(one.things), weight(two.things))
    return weight(things) / least if least > 0.0 else 0.0


def _same_head(one: Clause, two: Clause, both: set[str]) -> bool:
    return bool(both & one.head & two.head)


def _shared_names(one: Clause, two: Clause) -> set[str]:
    """The stems that both write with a capital and at least one of them as a name."""
    return (one.names | two.names) & one.capitals & two.capitals


def _other_thing(stem: str, one: Clause, two: Clause) -> bool:
    """Whether another one is meant: a door code, an alarm code; the torque for stems, for posts."""
    left, right = one.qualifiers.get(stem), two.qualifiers.get(stem)
    if left is not None and right is not None and left != right:
        return left not in two.topics and right not in one.topics
    here, there = one.complements.get(stem), two.complements.get(stem)
    return bool(here and there) and here not in two.topics and there not in one.topics


def _other_subject(one: Clause, two: Clause) -> bool:
    """Whether both begin with a name, and not with the same one.

    What the other clause writes without a capital is no name.
    """
    left = one.head & one.names - (set(two.topics) - two.capitals)
    right = two.head & two.names - (set(one.topics) - one.capitals)
    return bool(left and right and not left & right)


def _other_size(one: Clause, two: Clause) -> bool:
    """Whether both say which size they mean, and not the same."""
    return bool(one.sizes and two.sizes and one.sizes.isdisjoint(two.sizes))


def _each(values: str) -> set[str]:
    """The values of a kind, days without their plural."""
    return {fold(value).removesuffix("s") for value in values.split(", ")}
