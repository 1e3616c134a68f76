"""Whether a stored memory stands for a new one that says the same, or may go for it.

`on_similar="skip"` writes nothing only if the stored copy has all that the new memory has;
`"supersede"` replaces only what the new memory outlasts, said by the same speaker.
"""

from __future__ import annotations

import re
from dataclasses import fields, replace
from datetime import datetime
from typing import Any, Final

from memoriter.core.draft import Draft
from memoriter.core.record import Content, Record
from memoriter.core.similar import SimilarRecord
from memoriter.write.ceiling import exceeds

_IGNORED: Final = frozenset({"text", "agent", "user", "created", "cycle"})
"""Compared by the search, or different for every copy."""
_SETS: Final = frozenset({"tags", "concepts", "entities", "refs"})
_TIMES: Final = ("valid_from", "valid_until", "expires")
_FIRST_PERSON: Final = re.compile(r"\b(?:I|me|my|mine|myself)\b(?!/)", re.IGNORECASE)


def has_all(copy: Record, draft: Draft, new: Content) -> bool:
    """Whether a copy has every field that was given for a new memory, and counts as long."""
    if draft.edges or draft.id not in (None, copy.id):
        return False
    given = draft.fields.keys() - _IGNORED - set(_TIMES) - {"trust"}
    lasts = _ends_no_sooner(copy.expires, new.expires) and _ends_no_sooner(
        copy.valid_until, new.valid_until
    )
    begins = copy.valid_from is None or (
        new.valid_from is not None and copy.valid_from <= new.valid_from
    )
    trusted = not exceeds(new.trust, copy.trust)
    return lasts and begins and trusted and all(_has(copy, new, name) for name in given)


def _has(copy: Record, new: Content, name: str) -> bool:
    here: Any = getattr(new, name)
    there: Any = getattr(copy, name)
    if name in _SETS:
        return set(here) <= set(there)
    if name == "metadata":
        return here.items() <= there.items() if here else True
    if name == "source":
        parts = (each.name for each in fields(here))
        return all(getattr(here, part) in (None, getattr(there, part)) for part in parts)
    return bool(here == there)


def outlasts(new: Content, old: Record) -> bool:
    """Whether a new memory holds from when the old one does, as long, and is found."""
    begins = old.valid_from is None or old.valid_from <= (new.valid_from or new.created)
    lasts = _ends_no_sooner(new.expires, old.expires) and _ends_no_sooner(
        new.valid_until, old.valid_until
    )
    return begins and lasts and not new.archived


def _ends_no_sooner(one: datetime | None, other: datetime | None) -> bool:
    return one is None or (other is not None and other <= one)


def of_speaker(near: SimilarRecord, new: Content) -> SimilarRecord | None:
    """What is near, if the same one said it; else it is only reported.

    None if two speakers speak of themselves: "my shoe size" is not the same thing.
    """
    here, there = new.source.who, near.record.source.who
    if here == there:
        return near
    if here and there and any(map(_FIRST_PERSON.search, (new.text, near.record.text))):
        return None
    if near.relation == "copy":
        return replace(near, attribute="speaker", here=here or "", there=there or "",
                       relation="may replace")  # fmt: skip
    return replace(near, relation="may replace")


def if_outlasted(near: SimilarRecord, new: Content) -> SimilarRecord:
    """What is near; only reported if the new memory does not hold as long."""
    if outlasts(new, near.record):
        return near
    attribute = "validity" if near.relation == "copy" else near.attribute
    return replace(near, relation="may replace", attribute=attribute)
