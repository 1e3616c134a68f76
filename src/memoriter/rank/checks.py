"""Validates the arguments of `rank.lists`; a BadQuery names the column that is wrong."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, cast

import numpy as np
from numpy.typing import NDArray

from memoriter.core.errors import BadQuery

Item = str | int
"""An id of what is ranked, or the label of a list."""
_SHAPES: Final = (
    "give {label: [(item, score), …]}, [[(item, score), …], …] or [[list_id, item, score], …]"
)


def entries_of(value: object, field: str) -> list[object]:
    """The entries of an iterable; BadQuery for a text, a mapping or anything else."""
    if isinstance(value, str | bytes | Mapping) or not isinstance(value, Iterable):
        got = type(cast("object", value)).__name__
        raise BadQuery(f"{field}: expected a list, got {got}", hint=_SHAPES, field=field)
    return list(cast("Iterable[object]", value))


def item_of(value: object, what: str) -> Item:
    """The value if it is a text or a whole number, else BadQuery; `what` begins with the field."""
    if isinstance(value, np.integer):
        return int(cast("int", value))
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise BadQuery(
            f"{what}: expected a text or a whole number, got {type(value).__name__}",
            hint="identify each item by a text or a whole number, such as its id",
            field=what.split(maxsplit=1)[0],
        )
    return value


def finite(value: object, what: str, most: float = math.inf) -> float:
    """The value if it is a finite number within ±most, else BadQuery; an int stays an int."""
    field = what.split(maxsplit=1)[0]
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
        raise BadQuery(f"{what}: expected a number, got {type(value).__name__}", field=field)
    number = cast("float", value)
    try:
        wide = float(number)
    except OverflowError:
        raise BadQuery(
            f"{what}: the number is too large; the largest possible is about 1.8e308",
            hint="scale the numbers down",
            field=field,
        ) from None
    if not math.isfinite(wide):
        raise BadQuery(
            f"{what}: must be finite, got {wide}",
            hint="give a finite number; leave out items that have no score",
            field=field,
        )
    if abs(wide) > most:
        raise BadQuery(
            f"{what}: {wide:g} is out of range; it must lie within ±{most:g}",
            hint="scale the numbers down",
            field=field,
        )
    return number


def in_order(items: Iterable[Item]) -> list[Item]:
    """Whole numbers first, then texts, each ascending: a total order for mixed items.

    >>> in_order(["b", 10, "a", 9])
    [9, 10, 'a', 'b']
    """
    return sorted(items, key=lambda item: (isinstance(item, str), item))


def labelled_lists(lists: object) -> dict[Item, list[tuple[Item, float]]]:
    """By label, the (item, score) pairs; see `memoriter.rank.lists` for the accepted shapes."""
    if isinstance(lists, Mapping):
        named = cast("Mapping[object, object]", lists).items()
        return {item_of(label, "list_id"): pairs_of(value, label) for label, value in named}
    entries = entries_of(lists, "lists")
    if not entries or not all(map(_is_row, entries)):
        return {at: pairs_of(value, at) for at, value in enumerate(entries)}
    out: dict[Item, list[tuple[Item, float]]] = {}
    for label, item, score in cast("list[tuple[object, object, object]]", entries):
        pairs = out.setdefault(item_of(label, "list_id (column 1)"), [])
        pairs.append((item_of(item, "item (column 2)"), _score(score, item, 3)))
    return out


def pairs_of(value: object, label: object) -> list[tuple[Item, float]]:
    """The (item, score) pairs of one list."""
    out: list[tuple[Item, float]] = []
    for at, entry in enumerate(entries_of(value, f"list {label!r}")):
        pair = cast("Sequence[object]", entry) if isinstance(entry, list | tuple) else ()
        if len(pair) != 2:  # noqa: PLR2004  # item and score
            raise BadQuery(
                f"list {label!r}, entry {at}: expected (item, score), got {entry!r:.80}",
                hint=_SHAPES,
                field="lists",
            )
        item, score = pair
        out.append((item_of(item, f"item (column 1) of list {label!r}"), _score(score, item, 2)))
    return out


def best_of(pairs: Iterable[tuple[Item, float]], *, greatest: bool = True) -> dict[Item, float]:
    """Each item once, with its greatest (or smallest) score."""
    out: dict[Item, float] = {}
    for item, score in pairs:
        kept = out.get(item)
        if kept is None or (score > kept if greatest else score < kept):
            out[item] = score
    return out


def per_list(value: object, labels: Sequence[Item], field: str) -> list[object]:
    """One value per list: from a mapping by label, else in the order of the lists."""
    if isinstance(value, Mapping):
        named = cast("Mapping[object, object]", value)
        if set(named) != set(labels):
            raise BadQuery(
                f"{field}: has values for {_names(named)}, but the lists are named"
                f" {_names(labels)}",
                hint="give one value for every list",
                field=field,
            )
        return [named[label] for label in labels]
    values = entries_of(value, field)
    if len(values) != len(labels):
        raise BadQuery(
            f"{field}: expected {len(labels)} values, one for each list, got {len(values)}",
            field=field,
        )
    return values


def relevance_rows(rows: object, most: float) -> tuple[list[Item], list[float], list[object]]:
    """The columns of rows [item, relevance, vector]; vectors are not checked yet."""
    items: list[Item] = []
    relevance: list[float] = []
    vectors: list[object] = []
    for at, entry in enumerate(entries_of(rows, "rows")):
        row = cast("Sequence[object]", entry) if isinstance(entry, list | tuple) else ()
        if len(row) != 3:  # noqa: PLR2004  # item, relevance, vector
            raise BadQuery(
                f"rows, entry {at}: expected [item, relevance, vector], got {entry!r:.80}",
                hint="to make rows of three columns: zip(items, relevances, vectors)",
                field="rows",
            )
        items.append(item_of(row[0], "item (column 1)"))
        relevance.append(finite(row[1], "relevance (column 2)", most))
        vectors.append(row[2])
    if len(set(items)) < len(items):
        twice = next(item for at, item in enumerate(items) if item in items[:at])
        raise BadQuery(
            f"item (column 1): {twice!r} occurs in two rows",
            hint="give every item once",
            field="rows",
        )
    return items, relevance, vectors


def matrix_of(items: Sequence[Item], vectors: Sequence[object]) -> NDArray[np.float64]:
    """The vectors as one matrix; BadQuery unless all are finite and of one size."""
    rows = [_vector(item, vector) for item, vector in zip(items, vectors, strict=True)]
    for item, row in zip(items, rows, strict=True):
        if row.size != rows[0].size:
            raise BadQuery(
                f"vector (column 3): the vector of {items[0]!r} has {rows[0].size} numbers,"
                f" that of {item!r} has {row.size}",
                hint="compute all vectors with the same embedder",
                field="rows",
            )
    return np.stack(rows) if rows else np.zeros((0, 0))


def _vector(item: Item, value: object) -> NDArray[np.float64]:
    field = f"vector (column 3) of {item!r}"
    try:
        row = np.asarray(value, np.float64)
    except (TypeError, ValueError):
        raise BadQuery(
            f"{field}: expected a list of numbers, got {value!r:.40}", field="rows"
        ) from None
    if row.ndim != 1 or isinstance(value, str):
        raise BadQuery(f"{field}: expected a list of numbers, got {value!r:.40}", field="rows")
    if not np.isfinite(row).all():
        raise BadQuery(f"{field}: must be finite, but has NaN or infinity", field="rows")
    return row


def _is_row(entry: object) -> bool:
    """[list_id, item, score]: three entries, the last of them no pair."""
    if not isinstance(entry, list | tuple):
        return False
    parts = cast("Sequence[object]", entry)
    return len(parts) == 3 and not isinstance(parts[2], list | tuple)  # noqa: PLR2004  # a row


def _names(labels: Iterable[object]) -> str:
    return ", ".join(sorted(map(repr, labels))) or "none"


def _score(value: object, item: object, column: int) -> float:
    return finite(value, f"score (column {column}) of {item!r}")
