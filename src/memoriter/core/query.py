"""What is asked, complete and checked: the answer is a function of this, a view and a recipe."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence, Sized
from dataclasses import dataclass, field
from typing import Any, Final, cast

from memoriter.core.budget import FREE, Budget
from memoriter.core.draft import vector_of
from memoriter.core.errors import BadQuery, BadRecipe
from memoriter.core.names import EXACT_INT, LIST_LIMIT, Json, integer, metadata, name, names, text
from memoriter.core.scope import Scope
from memoriter.core.times import iso, micros
from memoriter.core.where import DEPTH_LIMIT, EVERYTHING, TESTS_LIMIT, Where, parse, to_data

TEXT_LIMIT: Final = 65_536
LIMIT_LIMIT: Final = 10_000
OFFSET_LIMIT: Final = 1_000_000
LISTS_LIMIT: Final = 64
"""Lists of the caller's own in one question; each becomes a lane."""
LARGEST_SCORE: Final = 2.0**53
_LABEL: Final = re.compile(r"[a-z][a-z0-9_]{0,31}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """One search."""

    text: str
    scope: Scope
    now: int
    limit: int
    where: Where = EVERYTHING
    as_of: int | None = None
    known_at: int | None = None
    overrides: dict[str, Json] = field(default_factory=dict[str, Json])
    require: frozenset[str] = frozenset()
    given: tuple[float, ...] | None = None
    """The caller's own query vector."""
    aliases: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    """Other words for a word, for dialects that look them up."""
    mode: str | None = None
    """Which of the recipe's modes; None for all of the recipe."""
    seeds: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    """The ids that lanes start from, by lane."""
    cycle: int | None = None
    """The caller's own count of time, for recipes that measure age by it; others ignore it."""

    lists: Mapping[str, tuple[tuple[str, float], ...]] = field(
        default_factory=dict[str, tuple[tuple[str, float], ...]]
    )
    """Ranked lists of the caller's own: (id, score), higher is better."""
    budget: Budget = FREE
    """How much of a prompt the hits may take together."""

    def to_dict(self) -> dict[str, object]:
        """The query as plain data, times in ISO 8601."""
        out: dict[str, object] = {
            "text": self.text,
            "tenant": self.scope.tenant,
            "scope": self.scope.filters(),
            "now": iso(self.now),
            "limit": self.limit,
            "where": to_data(self.where),
        }
        more: dict[str, object] = {
            "as_of": None if self.as_of is None else iso(self.as_of),
            "known_at": None if self.known_at is None else iso(self.known_at),
            "overrides": dict(self.overrides),
            "aliases": {word: list(others) for word, others in self.aliases.items()},
            "mode": self.mode,
            "seeds": {lane: list(ids) for lane, ids in self.seeds.items()},
            "cycle": self.cycle,
            "lists": {label: [list(p) for p in pairs] for label, pairs in self.lists.items()},
            "require": sorted(self.require),
            "vector": None if self.given is None else list(self.given),
            **self.budget.to_dict(),
        }
        return out | {key: value for key, value in more.items() if value not in (None, {}, [])}

    @classmethod
    def of(cls, data: object) -> Query:
        """The query that `to_dict` wrote, every part checked anew."""
        told = _object(data, "query")
        if unknown := set(told) - _WRITTEN:
            raise BadQuery(f"query: no such part: {min(unknown)!r}", field="query")
        if missing := _ALWAYS - set(told):
            raise BadQuery(f"query: has no {min(missing)}", field="query")
        more = {key: _READ[key](value) for key, value in told.items() if key in _READ}
        more["budget"] = Budget.of(told.get("budget_tokens"), told.get("budget_chars"))
        return cls(
            text=text(told["text"], "query", BadQuery, TEXT_LIMIT),
            scope=_scope(told["tenant"], told["scope"]),
            now=micros(told["now"], "now", BadQuery),
            limit=integer(told["limit"], "limit", 1, LIMIT_LIMIT, BadQuery),
            # Several keys of one object are a level of their own when they are written, and the
            # recipe's own tests stand beside those that were asked with.
            where=parse(told["where"], depth=2 * DEPTH_LIMIT, tests=2 * TESTS_LIMIT),
            **cast("dict[str, Any]", {_FIELDS.get(key, key): value for key, value in more.items()}),
        )


def aliases_of(given: object) -> dict[str, tuple[str, ...]]:
    """Other words for a word, checked; keys are folded to lower case."""
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise BadQuery("aliases: expected an object of word → list of words", field="aliases")
    told = cast("Mapping[object, object]", given)
    _few(told, "aliases", LIST_LIMIT)
    out = {
        name(word, "aliases", BadQuery).lower(): names(others, f"aliases.{word}", BadQuery)
        for word, others in told.items()
    }
    _few([other for others in out.values() for other in others], "aliases", LIST_LIMIT)
    return out


def _few(given: Sized, field: str, limit: int) -> None:
    """Refuse more than a question can hold."""
    if len(given) > limit:
        raise BadQuery(
            f"{field}: {len(given):,} entries, at most {limit:,} are taken",
            hint="leave out those that this question does not need",
            field=field,
        )


def seeds_of(given: object, lanes: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """The ids to start from, by lane: a list serves every lane that takes seeds."""
    if given is None:
        return {}
    if not lanes:
        raise BadQuery(
            "seeds: the recipe has no lane that takes any",
            hint="graph lanes do; docs/graph.md shows one",
            field="seeds",
        )
    if not isinstance(given, Mapping):
        ids = names(given, "seeds", BadQuery)
        return {lane: ids for lane in lanes if ids}
    told = cast("Mapping[object, object]", given)
    for lane in told:
        if lane not in lanes:
            raise BadQuery(
                f"seeds: no lane {lane!r} takes any",
                hint=f"lanes that do: {', '.join(lanes)}",
                field="seeds",
            )
    found = {lane: names(told.get(lane, ()), f"seeds.{lane}", BadQuery) for lane in lanes}
    return {lane: ids for lane, ids in found.items() if ids}


Pairs = tuple[tuple[str, float], ...]


def lists_of(given: object) -> dict[str, Pairs | str]:
    """Ranked lists by label: (id, score) pairs, or the name of an attribute to rank by."""
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise BadQuery(
            "lists: expected an object of label → list of (id, score)",
            hint='lists={"mine": [("id-1", 0.9), ("id-2", 0.4)]}',
            field="lists",
        )
    _few(cast("Mapping[object, object]", given), "lists", LISTS_LIMIT)
    out: dict[str, Pairs | str] = {}
    for label, told in cast("Mapping[object, object]", given).items():
        if not isinstance(label, str) or not _LABEL.fullmatch(label):
            raise BadQuery(
                f"lists: {label!r} is no label",
                hint="a label is a bare word: small letters, digits, _",
                field="lists",
            )
        out[label] = told if isinstance(told, str) else _pairs(told, f"lists.{label}")
    return out


def _pairs(given: object, field: str) -> Pairs:
    if isinstance(given, Mapping):
        given = list(cast("Mapping[object, object]", given).items())
    if not isinstance(given, Sequence):
        raise BadQuery(f"{field}: expected a list of (id, score)", field=field)
    out: list[tuple[str, float]] = []
    for pair in cast("Sequence[object]", given):
        if not isinstance(pair, Sequence) or isinstance(pair, str) or len(pair) != 2:  # pyright: ignore[reportUnknownArgumentType]  # noqa: PLR2004  # a pair
            raise BadQuery(f"{field}: expected pairs of (id, score), got {pair!r}", field=field)
        one, score = cast("Sequence[object]", pair)
        if not _ranks(score):
            raise BadQuery(
                f"{field}: score {score!r} is no number that can be ranked",
                hint="finite, at most 2^53 in size",
                field=field,
            )
        out.append((name(one, field, BadQuery), cast("float", score)))
    return tuple(out)


def _ranks(score: object) -> bool:
    if isinstance(score, bool) or not isinstance(score, int | float):
        return False
    return math.isfinite(score) and abs(score) <= LARGEST_SCORE


# -- read back ---------------------------------------------------------------------------------


def _object(data: object, field: str) -> Mapping[str, object]:
    if not isinstance(data, Mapping) or not all(isinstance(key, str) for key in data):  # pyright: ignore[reportUnknownVariableType]  # JSON from outside
        raise BadQuery(f"{field}: expected an object", field=field)
    return cast("Mapping[str, object]", data)


def _scope(tenant: object, filters: object) -> Scope:
    told = _object(filters, "scope")
    if unknown := set(told) - {"agent", "user", "session"}:
        raise BadQuery(f"scope: no such part: {min(unknown)!r}", field="scope")
    given = {key: name(value, key, BadQuery) for key, value in told.items()}
    return Scope.of(name(tenant, "tenant", BadQuery), **given)


def _seeds(given: object) -> dict[str, tuple[str, ...]]:
    told = _object(given, "seeds")
    return {lane: names(ids, f"seeds.{lane}", BadQuery) for lane, ids in told.items()}


def _lists(given: object) -> dict[str, Pairs]:
    return {
        label: _pairs(told, f"lists.{label}") for label, told in _object(given, "lists").items()
    }


_FIELDS: Final = {"vector": "given"}
"""Parts that are written under another name than their field."""
_READ: Final[Mapping[str, Callable[[object], object]]] = {
    "as_of": lambda value: micros(value, "as_of", BadQuery),
    "known_at": lambda value: micros(value, "known_at", BadQuery),
    "overrides": lambda value: metadata(value, "overrides", BadRecipe),
    "aliases": aliases_of,
    "mode": lambda value: text(value, "mode", BadQuery, 32),
    "seeds": _seeds,
    "cycle": lambda value: integer(value, "cycle", 0, EXACT_INT, BadQuery),
    "lists": _lists,
    "require": lambda value: frozenset(names(value, "require", BadQuery)),
    "vector": lambda value: vector_of(value, "vector", BadQuery),
}
"""How each part is read that may be missing."""
_ALWAYS: Final = frozenset({"text", "tenant", "scope", "now", "limit", "where"})
_WRITTEN: Final = _ALWAYS | set(_READ) | {"budget_tokens", "budget_chars"}
