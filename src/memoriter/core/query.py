"""A complete, validated query. A result is a function of a query, a view and a recipe.

`memory.build_query` makes it from the options of a call; `Query.of` reads it back from a receipt.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence, Sized
from dataclasses import field
from typing import Any, Final, cast

from memoriter.core.budget import FREE, Budget
from memoriter.core.draft import parse_vector
from memoriter.core.errors import BadQuery, BadRecipe
from memoriter.core.lazy_dataclass import dataclass
from memoriter.core.lazy_pattern import lazy_pattern
from memoriter.core.names import EXACT_INT, LIST_LIMIT, Json, integer, metadata, name, names, text
from memoriter.core.scope import Scope
from memoriter.core.times import iso, micros
from memoriter.core.where import DEPTH_LIMIT, EVERYTHING, TESTS_LIMIT, Where, parse_where, to_data

TEXT_LIMIT: Final = 65_536
LIMIT_LIMIT: Final = 10_000
OFFSET_LIMIT: Final = 1_000_000
LISTS_LIMIT: Final = 64
"""The most ranked lists that a caller may pass in one query; each becomes a lane."""
LARGEST_SCORE: Final = 2.0**53
"""Scores in a caller's list are exact integers up to here, so that their order is certain."""
_LABEL: Final = lazy_pattern(r"[a-z][a-z0-9_]{0,31}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """One search. Times are microseconds, UTC."""

    text: str
    scope: Scope
    now: int
    limit: int
    where: Where = EVERYTHING
    as_of: int | None = None
    known_at: int | None = None
    overrides: dict[str, Json] = field(default_factory=dict[str, Json])
    require: frozenset[str] = frozenset()
    vector: tuple[float, ...] | None = None
    """The caller's own query vector; an empty one means that the caller has none."""
    aliases: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    """Synonyms of a word, for dialects that use them."""
    mode: str | None = None
    """One of the recipe's modes; None for the whole recipe."""
    seeds: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    """The ids that graph lanes start from, by lane."""
    cycle: int | None = None
    """The caller's own time counter, for recipes that measure age in cycles."""

    lists: Mapping[str, tuple[tuple[str, float], ...]] = field(
        default_factory=dict[str, tuple[tuple[str, float], ...]]
    )
    """Ranked lists of the caller by label: (id, score), higher is better."""
    budget: Budget = FREE
    """The limits on tokens and characters of all hits together."""

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
            "vector": None if self.vector is None else list(self.vector),
            **self.budget.to_dict(),
        }
        return out | {key: value for key, value in more.items() if value not in (None, {}, [])}

    @classmethod
    def of(cls, data: object) -> Query:
        """Read what `to_dict` wrote and validate it again; raises BadQuery."""
        parts = _object(data, "query")
        if unknown := set(parts) - _WRITTEN:
            raise BadQuery(
                f"query: the receipt's query has an unknown field {min(unknown)!r}; the receipt"
                " was changed, or another version wrote it",
                field="query",
            )
        if missing := _ALWAYS - set(parts):
            raise BadQuery(
                f"query: the receipt's query lacks the field {min(missing)!r}; the receipt was"
                " changed, or another version wrote it",
                field="query",
            )
        more = {key: _READ[key](value) for key, value in parts.items() if key in _READ}
        more["budget"] = Budget.of(parts.get("budget_tokens"), parts.get("budget_chars"))
        return cls(
            text=text(parts["text"], "query", BadQuery, TEXT_LIMIT),
            scope=_scope(parts["tenant"], parts["scope"]),
            now=micros(parts["now"], "now", BadQuery),
            limit=integer(parts["limit"], "limit", 1, LIMIT_LIMIT, BadQuery),
            # A stored filter is larger than what the caller passed: `to_data` writes several keys
            # of one object as a nested `all`, and the recipe's own tests are added.
            where=parse_where(parts["where"], depth=2 * DEPTH_LIMIT, tests=2 * TESTS_LIMIT),
            **cast("dict[str, Any]", more),
        )


def parse_aliases(value: object) -> dict[str, tuple[str, ...]]:
    """Validate synonyms by word; the words are lowercased. Raises BadQuery."""
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise BadQuery(
            "aliases: expected an object that maps each word to a list of words",
            hint='for example aliases={"k8s": ["kubernetes"]}',
            field="aliases",
        )
    pairs = cast("Mapping[object, object]", value)
    _check_count(pairs, "aliases", LIST_LIMIT)
    out = {
        name(word, "aliases", BadQuery).lower(): names(others, f"aliases.{word}", BadQuery)
        for word, others in pairs.items()
    }
    _check_count([other for others in out.values() for other in others], "aliases", LIST_LIMIT)
    return out


def _check_count(items: Sized, field: str, limit: int) -> None:
    """Raise BadQuery if there are too many entries."""
    if len(items) > limit:
        raise BadQuery(
            f"{field}: has {len(items):,} entries, at most {limit:,} are allowed",
            hint="leave out the entries that this query does not need",
            field=field,
        )


def parse_seeds(value: object, lanes: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Validate the ids to start from, by lane; a plain list applies to every lane in `lanes`.

    Raises BadQuery if a lane takes no seeds.
    """
    if value is None:
        return {}
    if not lanes:
        raise BadQuery(
            "seeds: no lane of the recipe takes seeds",
            hint="use a recipe with a graph lane; docs/graph.md shows one",
            field="seeds",
        )
    if not isinstance(value, Mapping):
        ids = names(value, "seeds", BadQuery)
        return {lane: ids for lane in lanes if ids}
    by_lane = cast("Mapping[object, object]", value)
    for lane in by_lane:
        if lane not in lanes:
            raise BadQuery(
                f"seeds: the recipe has no lane {lane!r} that takes seeds",
                hint=f"lanes that take seeds: {', '.join(lanes)}",
                field="seeds",
            )
    seeds = {lane: names(by_lane.get(lane, ()), f"seeds.{lane}", BadQuery) for lane in lanes}
    return {lane: ids for lane, ids in seeds.items() if ids}


ScoredIds = tuple[tuple[str, float], ...]


def parse_lists(value: object) -> dict[str, ScoredIds | str]:
    """Validate ranked lists by label: (id, score) pairs, or the name of an attribute to rank by.

    Raises BadQuery.
    """
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise BadQuery(
            "lists: expected an object that maps each label to a list of (id, score)",
            hint='lists={"given": [("id-1", 0.9), ("id-2", 0.4)]}',
            field="lists",
        )
    _check_count(cast("Mapping[object, object]", value), "lists", LISTS_LIMIT)
    out: dict[str, ScoredIds | str] = {}
    for label, ranked in cast("Mapping[object, object]", value).items():
        if not isinstance(label, str) or not _LABEL.fullmatch(label):
            raise BadQuery(
                f"lists: {label!r} cannot be the label of a list",
                hint="a label has lowercase letters, digits and _, and begins with a letter",
                field="lists",
            )
        out[label] = ranked if isinstance(ranked, str) else _pairs(ranked, f"lists.{label}")
    return out


def _pairs(value: object, field: str) -> ScoredIds:
    if isinstance(value, Mapping):
        value = list(cast("Mapping[object, object]", value).items())
    if not isinstance(value, Sequence):
        got = type(value).__name__
        raise BadQuery(f"{field}: expected a list of (id, score), got {got}", field=field)
    out: list[tuple[str, float]] = []
    for pair in cast("Sequence[object]", value):
        if not isinstance(pair, Sequence) or isinstance(pair, str) or len(pair) != 2:  # pyright: ignore[reportUnknownArgumentType]  # noqa: PLR2004  # a pair
            raise BadQuery(f"{field}: expected pairs (id, score), got {pair!r}", field=field)
        record_id, score = cast("Sequence[object]", pair)
        if not _is_score(score):
            raise BadQuery(
                f"{field}: {score!r} cannot be a score",
                hint="give a number from -2^53 to 2^53",
                field=field,
            )
        out.append((name(record_id, field, BadQuery), cast("float", score)))
    return tuple(out)


def _is_score(score: object) -> bool:
    if isinstance(score, bool) or not isinstance(score, int | float):
        return False
    return math.isfinite(score) and abs(score) <= LARGEST_SCORE


# -- read back ---------------------------------------------------------------------------------


def _object(data: object, field: str) -> Mapping[str, object]:
    if not isinstance(data, Mapping) or not all(isinstance(key, str) for key in data):  # pyright: ignore[reportUnknownVariableType]  # JSON from outside
        raise BadQuery(f"{field}: expected an object with text as keys", field=field)
    return cast("Mapping[str, object]", data)


def _scope(tenant: object, filters: object) -> Scope:
    parts = _object(filters, "scope")
    if unknown := set(parts) - {"agent", "user", "session"}:
        raise BadQuery(
            f"scope: there is no field {min(unknown)!r}",
            hint="a scope has the fields agent, user and session",
            field="scope",
        )
    clean = {key: name(value, key, BadQuery) for key, value in parts.items()}
    return Scope.of(name(tenant, "tenant", BadQuery), **clean)


def _seeds(value: object) -> dict[str, tuple[str, ...]]:
    by_lane = _object(value, "seeds")
    return {lane: names(ids, f"seeds.{lane}", BadQuery) for lane, ids in by_lane.items()}


def _lists(value: object) -> dict[str, ScoredIds]:
    by_label = _object(value, "lists")
    return {label: _pairs(ranked, f"lists.{label}") for label, ranked in by_label.items()}


_READ: Final[Mapping[str, Callable[[object], object]]] = {
    "as_of": lambda value: micros(value, "as_of", BadQuery),
    "known_at": lambda value: micros(value, "known_at", BadQuery),
    "overrides": lambda value: metadata(value, "overrides", BadRecipe),
    "aliases": parse_aliases,
    "mode": lambda value: text(value, "mode", BadQuery, 32),
    "seeds": _seeds,
    "cycle": lambda value: integer(value, "cycle", 0, EXACT_INT, BadQuery),
    "lists": _lists,
    "require": lambda value: frozenset(names(value, "require", BadQuery)),
    "vector": lambda value: parse_vector(value, "vector", BadQuery),
}
"""The validation of each optional part."""
_ALWAYS: Final = frozenset({"text", "tenant", "scope", "now", "limit", "where"})
_WRITTEN: Final = _ALWAYS | set(_READ) | {"budget_tokens", "budget_chars"}
