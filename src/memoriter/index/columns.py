"""Record attributes as columns: one value per row, so that filters need not read records.

Used by segments, filters, reads and ties. Strings are ordinals into a dictionary (-1 = absent),
sets of strings a ragged list of ordinals, numbers float64 (NaN = absent), times int64 (`NO_TIME` =
absent). Text, title, summary and metadata are not columns: a filter on them reads the records.
What boosts and orderings need to know of a text is worked out once and kept as a column too
(`FROM_TEXT`, `TEXT_ENDS`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from memoriter.core.record import Record
from memoriter.core.times import to_micros
from memoriter.index.dictionary import Dictionary, union
from memoriter.text.copies import end_marks_of
from memoriter.text.time_words import texts_with_times

Arrays = dict[str, NDArray[Any]]
"""Named arrays; each name has one dtype."""
NO_TIME: Final = np.iinfo(np.int64).min

STRING_COLUMNS: Final = (
    "id", "kind", "role", "memory_type", "entity_type", "source_episode", "priority", "trust",
    "source.who", "source.channel", "source.path", "agent", "user", "session",
)  # fmt: skip
SET_COLUMNS: Final = ("tags", "concepts", "entities")
NUMBER_COLUMNS: Final = ("importance", "confidence", "cycle", "position")
TIME_COLUMNS: Final = ("created", "committed", "occurred", "valid_from", "valid_until", "expires")
FLAG_COLUMNS: Final = ("archived", "pinned")
FROM_TEXT: Final = ("text.times",)
"""Numbers that are read off the text; no attributes, so no filter knows them."""
TEXT_ENDS: Final = ("text.first", "text.last")
"""Numbers made of the first and the last words of a text with its title: copies share one."""
COLUMNS: Final = (*STRING_COLUMNS, *SET_COLUMNS, *NUMBER_COLUMNS, *TIME_COLUMNS, *FLAG_COLUMNS)


PLAIN_COLUMNS: Final = frozenset(
    [f"{name}.codes" for name in (*STRING_COLUMNS, *SET_COLUMNS)]
    + [f"{name}.starts" for name in SET_COLUMNS]
    + [*NUMBER_COLUMNS, *TIME_COLUMNS, *FLAG_COLUMNS]
)
"""The arrays of columns, which files keep as one value if all rows have the same."""


_NO_STRINGS: Final = Dictionary.of([])


def column_arrays(name: str, records: Sequence[Record]) -> Arrays:
    """The arrays of one column of the attributes of these records, in their order."""
    values: list[Any] = list(map(attrgetter(name), records))
    if name in STRING_COLUMNS:
        return _strings(name, values)
    if name in SET_COLUMNS:
        return _sets(name, values)
    if name in TIME_COLUMNS:
        # Many records share theirs.
        micros = {time: NO_TIME if time is None else to_micros(time) for time in set(values)}
        return {name: np.fromiter(map(micros.__getitem__, values), np.int64, len(values))}
    # numpy takes None for NaN
    return {name: np.array(values, np.bool_ if name in FLAG_COLUMNS else np.float64)}


def text_columns(records: Sequence[Record]) -> Arrays:
    """The columns that are read off the texts of these records, in their order."""
    texts = [record.text for record in records]
    times = texts_with_times(texts).astype(np.float32)
    ends = end_marks_of([record.titled for record in records]).T.copy()
    return dict(zip((*FROM_TEXT, *TEXT_ENDS), (times, *ends), strict=True))


def _strings(name: str, values: Sequence[str | None]) -> Arrays:
    vocabulary = sorted({value for value in set(values) if value is not None})
    if not vocabulary:  # most columns of most records
        return {f"{name}.codes": np.full(len(values), -1, np.int32), **_NO_STRINGS.arrays(name)}
    place: dict[str | None, int] = {value: n for n, value in enumerate(vocabulary)}
    place[None] = -1
    dictionary = Dictionary.of(vocabulary)
    return {
        f"{name}.codes": np.fromiter(map(place.__getitem__, values), np.int32, len(values)),
        f"{name}.blob": dictionary.blob,
        f"{name}.at": dictionary.at,
    }


def _sets(name: str, values: Sequence[tuple[str, ...]]) -> Arrays:
    starts = np.zeros(len(values) + 1, np.int64)
    np.cumsum([len(value) for value in values], out=starts[1:])
    return {
        **_strings(name, [item for value in values for item in value]),
        f"{name}.starts": starts,
    }


def dictionary_of(arrays: Arrays, name: str) -> Dictionary:
    """The dictionary of a string or set column."""
    return Dictionary(arrays[f"{name}.blob"], arrays[f"{name}.at"])


def merged_columns(
    parts: Sequence[Arrays], keeps: Sequence[NDArray[np.bool_]], pace: Callable[[], None]
) -> Arrays:
    """The columns of several segments as one, with only the rows under `keeps`."""
    out: Arrays = {}
    for name in STRING_COLUMNS:
        out.update(
            _joined_strings(
                name,
                parts,
                [part[f"{name}.codes"][k] for part, k in zip(parts, keeps, strict=True)],
                pace,
            )
        )
        pace()
    for name in SET_COLUMNS:
        kept = [_kept_sets(part, name, k) for part, k in zip(parts, keeps, strict=True)]
        sizes = np.concatenate([size for _, size in kept])
        out.update(_joined_strings(name, parts, [codes for codes, _ in kept], pace))
        out[f"{name}.starts"] = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)])
    for name in (*NUMBER_COLUMNS, *TIME_COLUMNS, *FLAG_COLUMNS, *FROM_TEXT, *TEXT_ENDS):
        out[name] = np.concatenate([part[name][k] for part, k in zip(parts, keeps, strict=True)])
        pace()
    return out


def _kept_sets(
    part: Arrays, name: str, keep: NDArray[np.bool_]
) -> tuple[NDArray[Any], NDArray[np.int64]]:
    sizes = np.diff(part[f"{name}.starts"].astype(np.int64))
    return part[f"{name}.codes"][np.repeat(keep, sizes)], sizes[keep]


def _joined_strings(
    name: str,
    parts: Sequence[Arrays],
    codes: Sequence[NDArray[Any]],
    pace: Callable[[], None],
) -> Arrays:
    """One string column of several, with a dictionary of only the strings in use."""
    olds = [dictionary_of(part, name) for part in parts]
    every = np.concatenate(codes)
    # The usual case, quick: equal dictionaries (one agent, one kind …) with every string in use.
    if all(map(olds[0].equals, olds[1:])) and _used(every, len(olds[0])).all():
        return {f"{name}.codes": every, **olds[0].arrays(name)}
    masks = [_used(code, len(old)) for code, old in zip(codes, olds, strict=True)]
    slim = [old.kept(mask) for old, mask in zip(olds, masks, strict=True)]
    dictionary, maps = union(slim, pace)
    renamed: list[NDArray[np.int32]] = []
    for code, mask, new in zip(codes, masks, maps, strict=True):
        # The last place is for absent strings, whose code is -1.
        place = np.full(mask.size + 1, -1, np.int32)
        place[:-1][mask] = new
        renamed.append(place[code])
    return {
        f"{name}.codes": np.concatenate(renamed),
        f"{name}.blob": dictionary.blob,
        f"{name}.at": dictionary.at,
    }


def _used(codes: NDArray[Any], size: int) -> NDArray[np.bool_]:
    """Which of so many strings some rows have."""
    used = np.zeros(size + 1, np.bool_)
    used[codes] = True  # the code of an absent string is -1: the last place
    return used[:-1]


def holds_at(since: NDArray[np.int64], until: NDArray[np.int64], time: int) -> NDArray[np.bool_]:
    """Whether each half-open interval [since, until) contains a time; `NO_TIME` is unbounded."""
    return ((since == NO_TIME) | (since <= time)) & ((until == NO_TIME) | (time < until))
