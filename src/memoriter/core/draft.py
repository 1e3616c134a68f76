"""What a caller asks to be remembered, checked field by field before anything else happens."""

from __future__ import annotations

import difflib
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from numbers import Real
from typing import Final, cast

from memoriter.core.batch import Key, Tie
from memoriter.core.canonical import canonical, digest
from memoriter.core.edge import REPLACING
from memoriter.core.errors import BadRecord, InputError
from memoriter.core.names import (
    EXACT_INT,
    LABEL_LIMIT,
    LIST_LIMIT,
    choice,
    flag,
    integer,
    metadata,
    name,
    names,
    number,
    text,
)
from memoriter.core.record import MEMORY_TYPES, PRIORITIES, TRUST, Content, Source
from memoriter.core.times import micros

_SHORT: Final = 65_536
MAX_DIMENSION: Final = 16_384


def _written(value: object, field: str) -> str:
    clean = text(value, field)
    if not clean.strip():
        raise BadRecord(f"{field}: must not be empty", field=field)
    return clean


def _short(value: object, field: str) -> str:
    return text(value, field, limit=_SHORT)


def _label(value: object, field: str) -> str:
    return name(value, field, limit=LABEL_LIMIT)


def _entities(value: object, field: str) -> tuple[str, ...]:
    given = names(value, field)
    if any(not one.strip() for one in given):
        raise BadRecord(f"{field}: a name must not be blank", field=field)
    return given


def _source(value: object, field: str) -> Source:
    if isinstance(value, Source):
        value = {f.name: getattr(value, f.name) for f in fields(Source)}
    if not isinstance(value, Mapping):
        raise BadRecord(f"{field}: expected an object with who, channel, path", field=field)
    given = cast("Mapping[str, object]", value)
    known = {f.name for f in fields(Source)}
    if unknown := set(given) - known:
        raise BadRecord(
            f"{field}: unknown {sorted(map(str, unknown))}",
            hint="known: who, channel, path",
            field=field,
        )
    clean = {key: _short(v, f"{field}.{key}") for key, v in given.items() if v is not None}
    return Source(**clean)


def _refs(value: object, field: str) -> tuple[int, ...]:
    if isinstance(value, str | bytes | Mapping) or not isinstance(value, Iterable):
        raise BadRecord(f"{field}: expected a list of positions", field=field)
    items = list(cast("Iterable[object]", value))
    if len(items) > LIST_LIMIT:
        raise BadRecord(
            f"{field}: {len(items)} entries, at most {LIST_LIMIT} are kept", field=field
        )
    clean = (integer(item, f"{field}[{at}]", 0, EXACT_INT) for at, item in enumerate(items))
    return tuple(dict.fromkeys(clean))


def _share(value: object, field: str) -> float:
    return number(value, field, 0.0, 1.0)


CHECKS: Final[Mapping[str, Callable[[object, str], object]]] = {
    "text": _written,
    "title": _short,
    "summary": _short,
    "kind": name,
    "role": name,
    "memory_type": lambda v, f: choice(v, f, MEMORY_TYPES),
    "tags": names,
    "concepts": names,
    "entities": _entities,
    "entity_type": name,
    "source_episode": _label,
    "importance": _share,
    "confidence": _share,
    "priority": lambda v, f: choice(v, f, PRIORITIES),
    "trust": lambda v, f: choice(v, f, TRUST),
    "source": _source,
    "agent": name,
    "user": name,
    "session": name,
    "created": micros,
    "occurred": micros,
    "valid_from": micros,
    "valid_until": micros,
    "expires": micros,
    "cycle": lambda v, f: integer(v, f, -EXACT_INT, EXACT_INT),
    "metadata": metadata,
    "archived": flag,
    "pinned": flag,
    "refs": _refs,
}
"""How each field of a record is checked when it is given."""

BESIDE: Final = ("id", "key", "vector", "links", *REPLACING)
"""What may be given beside the fields of a record."""
_OPTIONAL: Final = frozenset(
    f.name for f in fields(Content) if f.name in CHECKS and f.default is None
)


@dataclass(frozen=True, slots=True)
class Draft:
    """Something to remember: the fields that were given, checked, and what comes beside them."""

    given: Mapping[str, object]
    id: str | None = None
    ties: tuple[Tie, ...] = ()
    vector: tuple[float, ...] | None = None
    key: Key | None = None

    @classmethod
    def of(cls, data: object) -> Draft:
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
        given = checked({k: v for k, v in asked.items() if k not in BESIDE})
        ties = _ties(asked, given)
        vector = _vector(asked["vector"]) if "vector" in asked else None
        record_id = name(asked["id"], "id") if "id" in asked else None
        draft = cls(given, record_id, ties, vector)
        key = name(asked["key"], "key") if "key" in asked else None
        return cls(given, record_id, ties, vector, Key(key, draft.asked())) if key else draft

    def asked(self) -> bytes:
        """A digest of what was asked, the same for a retry."""
        spelled = {key: _spelled(value) for key, value in self.given.items()}
        ties = [
            [t.target, t.kind, t.weight, t.valid_from, t.valid_until, t.metadata] for t in self.ties
        ]
        return digest("memoriter/asked/1", canonical([spelled, self.id, ties, self.vector]))

    def complete(self, now: int) -> Content:
        """The content, with every default in place."""
        return Content(**{"created": now, **self.given})  # pyright: ignore[reportArgumentType]  # each field was checked


def checked(given: Mapping[str, object]) -> dict[str, object]:
    """Fields of a record, each checked; an unknown one is an error that names the likely one."""
    out: dict[str, object] = {}
    for key, value in given.items():
        check = CHECKS.get(key)
        if check is None:
            near = difflib.get_close_matches(str(key), [*CHECKS, *BESIDE], 1)
            hint = f"did you mean {near[0]}?" if near else "put your own fields into metadata"
            raise BadRecord(f"{key}: there is no such field", hint=hint, field=str(key))
        out[key] = check(value, key)
    check_interval(out.get("valid_from"), out.get("valid_until"))
    return out


def changed(content: Content, changes: Mapping[str, object]) -> Content:
    """The content with some fields changed; None takes an optional field away."""
    if "refs" in changes:
        raise BadRecord("refs: are given once, when the record is made", field="refs")
    cleared = {key for key, value in changes.items() if value is None}
    if stuck := cleared - _OPTIONAL - {"source", "metadata", "tags", "concepts", "entities"}:
        raise BadRecord(f"{min(stuck)}: cannot be taken away", field=min(stuck))
    fresh = checked({key: value for key, value in changes.items() if value is not None})
    current = {f.name: getattr(content, f.name) for f in fields(Content)}
    kept = {key: value for key, value in current.items() if key not in cleared}
    result = Content(**{**kept, **fresh})  # pyright: ignore[reportArgumentType]  # each field was checked
    check_interval(result.valid_from, result.valid_until)
    return result


def check_interval(since: object, until: object) -> None:
    """Refuse an interval that holds no moment."""
    if isinstance(since, int) and isinstance(until, int) and until <= since:
        raise BadRecord("valid_until: must lie after valid_from", field="valid_until")


def tie_of(target: object, kind: object, given: Mapping[str, object], field: str) -> Tie:
    """A checked link to a target."""
    known = ("weight", "valid_from", "valid_until", "metadata")
    if unknown := set(given) - set(known):
        raise BadRecord(
            f"{field}: unknown {sorted(map(str, unknown))}",
            hint=f"known: {', '.join(known)}",
            field=field,
        )
    present = {key: value for key, value in given.items() if value is not None}
    times = {k: micros(present[k], f"{field}.{k}") for k in known[1:3] if k in present}
    check_interval(times.get("valid_from"), times.get("valid_until"))
    return Tie(
        name(target, f"{field}.target"),
        name(kind, f"{field}.kind"),
        number(present.get("weight", 1.0), f"{field}.weight", -1e9, 1e9),
        times.get("valid_from"),
        times.get("valid_until"),
        metadata(present.get("metadata", {}), f"{field}.metadata"),
    )


def _ties(asked: Mapping[str, object], given: Mapping[str, object]) -> tuple[Tie, ...]:
    out: list[Tie] = []
    since = cast("int | None", given.get("valid_from", given.get("created")))
    for kind in REPLACING:
        if kind in asked:
            targets = asked[kind]
            listed = (targets,) if isinstance(targets, str) else names(targets, kind)
            out += [Tie(name(target, kind), kind, valid_from=since) for target in listed]
    if "links" in asked:
        out += _links(asked["links"])
    return tuple(out)


def _links(links: object) -> Iterator[Tie]:
    if isinstance(links, str | bytes | Mapping) or not isinstance(links, Iterable):
        raise BadRecord("links: expected a list of objects with target and kind", field="links")
    for at, link in enumerate(cast("Iterable[object]", links)):
        rest = dict(cast("Mapping[str, object]", link)) if isinstance(link, Mapping) else {}
        if not {"target", "kind"} <= set(rest):
            raise BadRecord(f"links[{at}]: expected an object with target and kind", field="links")
        yield tie_of(rest.pop("target"), rest.pop("kind"), rest, f"links[{at}]")


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
    return list(cast("tuple[object, ...]", value)) if isinstance(value, tuple) else value


def spelled_changes(changes: Mapping[str, object]) -> object:
    """What an update asks for, the same for a retry however its values were spelled."""
    fresh = checked({key: value for key, value in changes.items() if value is not None})
    gone = sorted(key for key, value in changes.items() if value is None)
    return [gone, {key: _spelled(value) for key, value in fresh.items()}]
