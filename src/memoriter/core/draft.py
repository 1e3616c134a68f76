"""A draft: the fields of a record that a caller wants to write, validated one by one.

`write.prepare` turns drafts into a batch. Every check here raises BadRecord with the field's name.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field, fields, replace
from datetime import datetime
from numbers import Real
from typing import Final, cast

from memoriter.core.batch import Key, NewEdge
from memoriter.core.canonical import canonical, digest
from memoriter.core.edge import REPLACING
from memoriter.core.errors import BadRecord, InputError
from memoriter.core.fields import LATER, TIMES, Source
from memoriter.core.foreign import attribute_meant
from memoriter.core.lazy_dataclass import dataclass
from memoriter.core.names import metadata, name, names, number
from memoriter.core.other_words import right_word
from memoriter.core.record import FIELDS, FIXED, Content
from memoriter.core.times import Now, duration, micros, to_datetime, to_micros

MAX_DIMENSION: Final = 16_384
NOT_FIELDS: Final = ("id", "key", "vector", "links", *REPLACING)
"""Arguments of `remember` that are not fields of the record."""
_OPTIONAL: Final = frozenset(f.name for f in fields(Content) if f.default is None)
_Normalised = dict[str, object]
"""Values in the form that the digest of a request covers: equal for a retry."""


@dataclass(frozen=True, slots=True)
class Draft:
    """A record to write: its validated fields, and its id, edges, vector and idempotency key."""

    fields: Mapping[str, object]
    id: str | None = None
    edges: tuple[NewEdge, ...] = ()
    vector: tuple[float, ...] | None = None
    key: Key | None = None
    durations: _Normalised = field(default_factory=dict[str, object])
    """Times that were passed as durations. The digest covers the duration, not the moment it gives,
    so that a retry a minute later is still the same request."""
    edge_durations: tuple[_Normalised, ...] = ()
    """The same for each edge; empty if there is none."""

    @classmethod
    def of(cls, data: object, now: Now | None = None) -> Draft:
        """Build a draft from a text or a mapping of fields; a Draft is returned unchanged.

        Raises BadRecord for a field that is missing, unknown or not valid.
        """
        if isinstance(data, Draft):
            return data
        if isinstance(data, str):
            return cls(check_fields({"text": data}, now))
        if not isinstance(data, Mapping):
            raise BadRecord(
                "expected the text of a memory or an object with its fields, got"
                f" {type(data).__name__}",
                hint='for example "Prod SSH port is 22", or {"text": "…", "tags": ["ops"]}',
                field="text",
            )
        options = {k: v for k, v in cast("Mapping[str, object]", data).items() if v is not None}
        if "text" not in options:
            other = next((each for each in options if attribute_meant(each) == "text"), None)
            hint = "pass the text to remember" if other is None else f"{other} is called text here"
            raise BadRecord("text: is required", hint=hint, field="text")
        raw = {k: v for k, v in options.items() if k not in NOT_FIELDS}
        checked = check_fields(raw, now)
        lengths = durations(raw)
        edges = tuple(_edges(options, checked, lengths, now))
        vector = parse_vector(options["vector"], "vector") if "vector" in options else None
        record_id = name(options["id"], "id") if "id" in options else None
        draft = cls(
            checked, record_id, tuple(edge for edge, _ in edges), vector, durations=lengths,
            edge_durations=tuple(lengths for _, lengths in edges),
        )  # fmt: skip
        key = name(options["key"], "key") if "key" in options else None
        # The digest covers everything else in the draft, so the key can only be added last.
        return replace(draft, key=Key(key, draft.request_digest())) if key else draft

    def request_digest(self) -> bytes:
        """The digest of the request, equal for a retry."""
        fields = {key: _normalised(value) for key, value in self.fields.items()} | self.durations
        none: _Normalised = {}
        lengths = self.edge_durations or (none,) * len(self.edges)
        edges = [
            normalised_edge(edge, each) for edge, each in zip(self.edges, lengths, strict=True)
        ]
        return digest("memoriter/asked/1", canonical([fields, self.id, edges, self.vector]))

    def complete(self, now: int) -> Content:
        """The content, with all defaults filled in; `created` defaults to now."""
        return Content(**{"created": to_datetime(now), **self.fields})  # pyright: ignore[reportArgumentType]  # each field was checked


def check_fields(raw: Mapping[str, object], now: Now | None = None) -> dict[str, object]:
    """Return the fields of a record in their stored types.

    Raises BadRecord for a value that is not valid, or for an unknown field, with the likely name.
    """
    out: dict[str, object] = {}
    for key, value in raw.items():
        declared = FIELDS.get(key)
        if declared is None:
            hint = right_word(str(key), (*FIELDS, *NOT_FIELDS), value=value)
            if key in NOT_FIELDS:
                hint = "only remember takes it; link(…) relates memories that exist already"
            raise BadRecord(f"{key}: there is no such field", hint=hint, field=str(key))
        out[key] = declared.kind.check(value, key, now)
    check_interval(out.get("valid_from"), out.get("valid_until"))
    return out


def normalised_edge(edge: NewEdge, lengths: Mapping[str, object]) -> list[object]:
    """An edge in the form that a digest covers; durations take the place of its times."""
    since = lengths.get("valid_from", edge.valid_from)
    until = lengths.get("valid_until", edge.valid_until)
    return [edge.target, edge.kind, edge.weight, since, until, edge.metadata]


def durations(raw: Mapping[str, object]) -> dict[str, object]:
    """The fields that were passed as durations, in microseconds such as `+7200000000us`."""
    out: dict[str, object] = {}
    for key, value in raw.items():
        if key in FIELDS and FIELDS[key].kind in TIMES:
            length = duration(value, ahead=FIELDS[key].kind is LATER)
            if length is not None:
                out[key] = f"{length:+d}us"
    return out


def with_changes(
    content: Content, changes: Mapping[str, object], now: Now | None = None
) -> Content:
    """Return the content with some fields changed; None removes an optional field.

    Raises BadRecord for a field that is unknown, not valid, or cannot be removed.
    """
    if fixed := FIXED & changes.keys():
        raise BadRecord(
            f"{min(fixed)}: cannot be changed after the record was written",
            hint="to relate memories that exist already, use link(source, target)",
            field=min(fixed),
        )
    cleared = {key for key, value in changes.items() if value is None}
    if stuck := cleared - _OPTIONAL - {"source", "metadata", "tags", "concepts", "entities"}:
        raise BadRecord(
            f"{min(stuck)}: every memory has this field; it cannot be removed",
            hint="give it another value, or leave it out of this call to keep its value",
            field=min(stuck),
        )
    fresh = check_fields({key: value for key, value in changes.items() if value is not None}, now)
    current = {f.name: getattr(content, f.name) for f in fields(Content)}
    kept = {key: value for key, value in current.items() if key not in cleared}
    result = Content(**{**kept, **fresh})  # pyright: ignore[reportArgumentType]  # each field was checked
    check_interval(result.valid_from, result.valid_until)
    return result


def check_interval(since: object, until: object) -> None:
    """Raise BadRecord if an interval is empty: `until` must lie after `since`."""
    if since is not None and until is not None and cast("int", until) <= cast("int", since):
        raise BadRecord(
            "valid_until: must be later than valid_from",
            hint="give a later valid_until; a bare date means its beginning, 00:00 UTC",
            field="valid_until",
        )


def parse_edge(
    target: object, kind: object, options: Mapping[str, object], field: str, now: Now | None = None
) -> NewEdge:
    """Validate an edge to a target; raises BadRecord, with `field` as the prefix of its field."""
    known = ("weight", "valid_from", "valid_until", "metadata")
    if unknown := set(options) - set(known):
        raise BadRecord(
            f"{field}: a link has no field {min(map(str, unknown))!r}",
            hint=f"besides its target and kind, a link has the fields {', '.join(known)}",
            field=field,
        )
    present = {key: value for key, value in options.items() if value is not None}
    times = {
        k: micros(present[k], f"{field}.{k}", now=now, ahead=FIELDS[k].kind is LATER)
        for k in known[1:3]
        if k in present
    }
    check_interval(times.get("valid_from"), times.get("valid_until"))
    return NewEdge(
        name(target, f"{field}.target"),
        name(kind, f"{field}.kind"),
        weight=number(present.get("weight", 1.0), f"{field}.weight", -1e9, 1e9),
        valid_from=times.get("valid_from"),
        valid_until=times.get("valid_until"),
        metadata=metadata(present.get("metadata", {}), f"{field}.metadata"),
    )


def _edges(
    options: Mapping[str, object],
    fields: Mapping[str, object],
    lengths: _Normalised,
    now: Now | None,
) -> Iterator[tuple[NewEdge, _Normalised]]:
    """Each edge, and which of its times were passed as durations."""
    # A replacing edge holds from the moment that its record holds: valid_from, else created. If
    # neither was passed, `write.prepare` dates it, since the clock is read only there.
    begin = "valid_from" if "valid_from" in fields else "created"
    since = to_micros(cast("datetime", fields[begin])) if begin in fields else None
    length: _Normalised = {"valid_from": lengths[begin]} if begin in lengths else {}
    for kind in REPLACING:  # supersedes, corrects, invalidates
        if kind in options:
            for target in names(options[kind], kind):
                yield NewEdge(name(target, kind), kind, valid_from=since), length
    if "links" in options:
        yield from _links(options["links"], now)


_LINKS: Final = 'for example [{"target": "id-1", "kind": "supports"}]'


def _links(links: object, now: Now | None) -> Iterator[tuple[NewEdge, _Normalised]]:
    if isinstance(links, str | bytes | Mapping) or not isinstance(links, Iterable):
        raise BadRecord(
            "links: expected a list of objects with target and kind", hint=_LINKS, field="links"
        )
    for at, link in enumerate(cast("Iterable[object]", links)):
        rest = dict(cast("Mapping[str, object]", link)) if isinstance(link, Mapping) else {}
        if not {"target", "kind"} <= set(rest):
            raise BadRecord(
                f"links[{at}]: expected an object with target and kind", hint=_LINKS, field="links"
            )
        made = parse_edge(rest.pop("target"), rest.pop("kind"), rest, f"links[{at}]", now)
        yield made, durations(rest)


def parse_vector(
    value: object, field: str, error: type[InputError] = BadRecord, *, zero: bool = False
) -> tuple[float, ...]:
    """A caller's own vector as floats.

    Raises `error` unless it has 1 to 16,384 finite numbers; all zeros are allowed only with `zero`.
    """
    if isinstance(value, str | bytes | Mapping) or not isinstance(value, Iterable):
        got = type(cast("object", value)).__name__
        raise error(f"{field}: expected a list of numbers, got {got}", field=field)
    raw = tuple(cast("Iterable[object]", value))
    # Fast path: comparing exact types is much cheaper than isinstance(…, Real) on each number.
    plain = {float, int}.issuperset(map(type, raw))
    if not plain and any(isinstance(n, bool) or not isinstance(n, Real) for n in raw):
        raise error(f"{field}: expected a list of numbers; one entry is not a number", field=field)
    try:
        items = tuple(float(cast("float", item)) for item in raw)
    except OverflowError:
        raise error(f"{field}: has a number too large for a 64-bit float", field=field) from None
    if not 1 <= len(items) <= MAX_DIMENSION:
        raise error(
            f"{field}: has {len(items):,} numbers; a vector has 1 to {MAX_DIMENSION:,}", field=field
        )
    if not all(map(math.isfinite, items)):
        raise error(
            f"{field}: contains NaN or infinity",
            hint="give finite numbers only",
            field=field,
        )
    if not (zero or any(items)):
        raise error(
            f"{field}: every number is 0, so the vector has no direction to compare",
            hint="leave the vector out, or give one with a number other than 0",
            field=field,
        )
    return items


def _normalised(value: object) -> object:
    if isinstance(value, Source):
        return [value.who, value.channel, value.path]
    if isinstance(value, datetime):
        return to_micros(value)
    return list(cast("tuple[object, ...]", value)) if isinstance(value, tuple) else value


def normalised_changes(changes: Mapping[str, object], now: Now) -> object:
    """The request of an update in the form that its digest covers: equal for a retry."""
    raw = {key: value for key, value in changes.items() if value is not None}
    fresh = {key: _normalised(value) for key, value in check_fields(raw, now).items()}
    removed = sorted(key for key, value in changes.items() if value is None)
    return [removed, fresh | durations(raw)]
