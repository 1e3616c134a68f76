"""What a caller asks to be remembered, checked field by field before anything else happens."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from datetime import datetime
from numbers import Real
from typing import Final, cast

from memoriter.core.batch import Key, NewEdge
from memoriter.core.canonical import canonical, digest
from memoriter.core.edge import REPLACING
from memoriter.core.errors import BadRecord, InputError
from memoriter.core.fields import LATER, TIMES, Source
from memoriter.core.names import metadata, name, names, number
from memoriter.core.other_words import right_word
from memoriter.core.record import FIELDS, Content
from memoriter.core.times import Now, duration, micros, to_datetime, to_micros

MAX_DIMENSION: Final = 16_384
BESIDE: Final = ("id", "key", "vector", "links", *REPLACING)
"""What may be given beside the fields of a record."""
_OPTIONAL: Final = frozenset(f.name for f in fields(Content) if f.default is None)
_Spelled = dict[str, object]
"""Fields as a digest of what was asked covers them."""


@dataclass(frozen=True, slots=True)
class Draft:
    """Something to remember: the fields that were given, checked, and what comes beside them."""

    given: Mapping[str, object]
    id: str | None = None
    ties: tuple[NewEdge, ...] = ()
    vector: tuple[float, ...] | None = None
    key: Key | None = None
    durations: _Spelled = field(default_factory=dict[str, object])
    """The times that were given as durations: the same for a retry, whenever it comes."""
    tied: tuple[_Spelled, ...] = ()
    """The same of each tie; empty where none was."""

    @classmethod
    def of(cls, data: object, now: Now | None = None) -> Draft:
        """A draft from text, from a mapping of fields, or from a draft already made."""
        if isinstance(data, Draft):
            return data
        if isinstance(data, str):
            data = {"text": data}
        if not isinstance(data, Mapping):
            raise BadRecord(f"expected text or an object, got {type(data).__name__}", field="text")
        asked = {k: v for k, v in cast("Mapping[str, object]", data).items() if v is not None}
        if "text" not in asked:
            raise BadRecord("text: is required", hint="say what to remember", field="text")
        own = {k: v for k, v in asked.items() if k not in BESIDE}
        given = checked(own, now)
        lengths = durations(own)
        ties = tuple(_ties(asked, given, lengths, now))
        vector = _vector(asked["vector"]) if "vector" in asked else None
        record_id = name(asked["id"], "id") if "id" in asked else None
        draft = cls(
            given, record_id, tuple(tie for tie, _ in ties), vector, durations=lengths,
            tied=tuple(spelled for _, spelled in ties),
        )  # fmt: skip
        key = name(asked["key"], "key") if "key" in asked else None
        return replace(draft, key=Key(key, draft.asked())) if key else draft

    def asked(self) -> bytes:
        """A digest of what was asked, the same for a retry."""
        spelled = {key: _spelled(value) for key, value in self.given.items()} | self.durations
        none: _Spelled = {}
        lengths = self.tied or (none,) * len(self.ties)
        ties = [spelled_tie(tie, given) for tie, given in zip(self.ties, lengths, strict=True)]
        return digest("memoriter/asked/1", canonical([spelled, self.id, ties, self.vector]))

    def complete(self, now: int) -> Content:
        """The content, with every default in place."""
        return Content(**{"created": to_datetime(now), **self.given})  # pyright: ignore[reportArgumentType]  # each field was checked


def checked(given: Mapping[str, object], now: Now | None = None) -> dict[str, object]:
    """Fields of a record, each checked; an unknown one is an error that names the likely one."""
    out: dict[str, object] = {}
    for key, value in given.items():
        declared = FIELDS.get(key)
        if declared is None:
            hint = right_word(str(key), (*FIELDS, *BESIDE), "put your own fields into metadata")
            raise BadRecord(f"{key}: there is no such field", hint=hint, field=str(key))
        out[key] = declared.kind.check(value, key, now)
    check_interval(out.get("valid_from"), out.get("valid_until"))
    return out


def spelled_tie(tie: NewEdge, lengths: Mapping[str, object]) -> list[object]:
    """A tie as a digest covers it, with the durations that were given for its times."""
    since = lengths.get("valid_from", tie.valid_from)
    until = lengths.get("valid_until", tie.valid_until)
    return [tie.target, tie.kind, tie.weight, since, until, tie.metadata]


def durations(given: Mapping[str, object]) -> dict[str, object]:
    """The durations among these fields, spelled alike however they were given."""
    out: dict[str, object] = {}
    for key, value in given.items():
        if key in FIELDS and FIELDS[key].kind in TIMES:
            length = duration(value, ahead=FIELDS[key].kind is LATER)
            if length is not None:
                out[key] = f"{length:+d}us"
    return out


def changed(content: Content, changes: Mapping[str, object], now: Now | None = None) -> Content:
    """The content with some fields changed; None takes an optional field away."""
    if "refs" in changes:
        raise BadRecord("refs: are given once, when the record is made", field="refs")
    cleared = {key for key, value in changes.items() if value is None}
    if stuck := cleared - _OPTIONAL - {"source", "metadata", "tags", "concepts", "entities"}:
        raise BadRecord(f"{min(stuck)}: cannot be taken away", field=min(stuck))
    fresh = checked({key: value for key, value in changes.items() if value is not None}, now)
    current = {f.name: getattr(content, f.name) for f in fields(Content)}
    kept = {key: value for key, value in current.items() if key not in cleared}
    result = Content(**{**kept, **fresh})  # pyright: ignore[reportArgumentType]  # each field was checked
    check_interval(result.valid_from, result.valid_until)
    return result


def check_interval(since: object, until: object) -> None:
    """Refuse an interval that holds no moment."""
    if since is not None and until is not None and cast("int", until) <= cast("int", since):
        raise BadRecord("valid_until: must lie after valid_from", field="valid_until")


def tie_of(
    target: object, kind: object, given: Mapping[str, object], field: str, now: Now | None = None
) -> NewEdge:
    """A checked link to a target."""
    known = ("weight", "valid_from", "valid_until", "metadata")
    if unknown := set(given) - set(known):
        raise BadRecord(
            f"{field}: unknown {sorted(map(str, unknown))}",
            hint=f"known: {', '.join(known)}",
            field=field,
        )
    present = {key: value for key, value in given.items() if value is not None}
    times = {
        k: micros(present[k], f"{field}.{k}", now=now, ahead=FIELDS[k].kind is LATER)
        for k in known[1:3]
        if k in present
    }
    check_interval(times.get("valid_from"), times.get("valid_until"))
    return NewEdge(
        name(target, f"{field}.target"),
        name(kind, f"{field}.kind"),
        number(present.get("weight", 1.0), f"{field}.weight", -1e9, 1e9),
        times.get("valid_from"),
        times.get("valid_until"),
        metadata(present.get("metadata", {}), f"{field}.metadata"),
    )


def _ties(
    asked: Mapping[str, object], given: Mapping[str, object], lengths: _Spelled, now: Now | None
) -> Iterator[tuple[NewEdge, _Spelled]]:
    """Each tie, and which of its times were given as durations."""
    begun = "valid_from" if "valid_from" in given else "created"
    since = to_micros(cast("datetime", given[begun])) if begun in given else None
    spelled: _Spelled = {"valid_from": lengths[begun]} if begun in lengths else {}
    for kind in REPLACING:
        if kind in asked:
            targets = asked[kind]
            for target in (targets,) if isinstance(targets, str) else names(targets, kind):
                yield NewEdge(name(target, kind), kind, valid_from=since), spelled
    if "links" in asked:
        yield from _links(asked["links"], now)


def _links(links: object, now: Now | None) -> Iterator[tuple[NewEdge, _Spelled]]:
    if isinstance(links, str | bytes | Mapping) or not isinstance(links, Iterable):
        raise BadRecord("links: expected a list of objects with target and kind", field="links")
    for at, link in enumerate(cast("Iterable[object]", links)):
        rest = dict(cast("Mapping[str, object]", link)) if isinstance(link, Mapping) else {}
        if not {"target", "kind"} <= set(rest):
            raise BadRecord(f"links[{at}]: expected an object with target and kind", field="links")
        made = tie_of(rest.pop("target"), rest.pop("kind"), rest, f"links[{at}]", now)
        yield made, durations(rest)


def _vector(value: object) -> tuple[float, ...]:
    return vector_of(value, "vector")


def vector_of(
    value: object, field: str, error: type[InputError] = BadRecord, *, zero: bool = False
) -> tuple[float, ...]:
    """A caller's own vector: finite numbers, not all zero unless a zero may ask."""
    if isinstance(value, str | bytes | Mapping) or not isinstance(value, Iterable):
        raise error(f"{field}: expected a list of numbers", field=field)
    given = tuple(cast("Iterable[object]", value))
    plain = {float, int}.issuperset(map(type, given))  # nearly always, and soon seen
    if not plain and any(isinstance(n, bool) or not isinstance(n, Real) for n in given):
        raise error(f"{field}: expected a list of numbers", field=field)
    try:
        items = tuple(float(cast("float", item)) for item in given)
    except OverflowError:
        raise error(f"{field}: holds a number that is too large", field=field) from None
    if not 1 <= len(items) <= MAX_DIMENSION:
        raise error(f"{field}: {len(items)} numbers, expected 1 to {MAX_DIMENSION}", field=field)
    if not all(map(math.isfinite, items)):
        raise error(
            f"{field}: holds NaN or infinity", hint="every number must be finite", field=field
        )
    if not (zero or any(items)):
        raise error(f"{field}: is all zero, which points nowhere", field=field)
    return items


def _spelled(value: object) -> object:
    if isinstance(value, Source):
        return [value.who, value.channel, value.path]
    if isinstance(value, datetime):
        return to_micros(value)
    return list(cast("tuple[object, ...]", value)) if isinstance(value, tuple) else value


def spelled_changes(changes: Mapping[str, object], now: Now) -> object:
    """What an update asks for, the same for a retry however its values were spelled."""
    given = {key: value for key, value in changes.items() if value is not None}
    fresh = {key: _spelled(value) for key, value in checked(given, now).items()}
    gone = sorted(key for key, value in changes.items() if value is None)
    return [gone, fresh | durations(given)]
