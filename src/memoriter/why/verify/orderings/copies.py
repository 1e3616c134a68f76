"""Copies: the most trusted and then the newest of each group stays; the groups are attested.

Of a row in a group the receipt has its place, trust, time, number of words and a digest of them.
Rows of one group have equal digests, or numbers of words that are as near as the recipe asks for.
Where more rows than the head were compared it has their number: twice the head, four times, … up to
ten times. That so many were enough is derived; that fewer were not is attested.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..numbers import Column, Data, unpacked
from ..rules import OrderingRule
from ..verification import Verification


def _kept(s: Verification, spec: Data, move: Data, path: str) -> list[int]:
    """The kept places: the row that stands for a group takes its best place."""
    size, count = len(s.standing), _compared(s, spec["head"], move, path)
    sizes: Column = [None] * size
    place = list(range(count))  # where each row goes
    groups: list[Sequence[Data]] = move["looked"]["groups"]
    _check_places(s, groups, count, path)
    gone: set[int] = set()
    for group in groups:
        first = max(group, key=lambda row: _preference(s, row))
        if not all(_alike(first, row, spec["alike"]) for row in group):
            s.wrong(f"{path}/looked/groups", f"has rows that are no copies of {first['at']}")
        least = 0 if spec.get("less_trusted", True) else first["trust"]
        place[first["at"]] = min(row["at"] for row in group if row["trust"] >= least)
        gone |= {row["at"] for row in group} - {first["at"]}
        for row in group:
            sizes[row["at"]] = float(len(group))
    s.same(f"{path}/beside/group", unpacked(move["beside"]["group"]), sizes)
    stays = sorted(set(range(count)) - gone, key=lambda at: place[at])
    return [*stays, *range(count, size)]


def _compared(s: Verification, head: int, move: Data, path: str) -> int:
    """How many rows were compared: as many as were needed for `head` of them to stay."""
    most = min(10 * head, len(s.standing))
    count: int = move["looked"].get("compared", min(head, most))
    steps = {min(head * times, most) for times in (1, 2, 4, 8, 16)}
    if count not in steps:
        s.wrong(f"{path}/looked/compared", f"is {count}, none of {sorted(steps)}")
        return min(head, most)
    gone = sum(len(group) - 1 for group in move["looked"]["groups"])
    if count - gone < head and count < most:
        s.wrong(f"{path}/looked/compared", f"is {count}, of which fewer than {head} rows stay")
    return count


def _check_places(s: Verification, groups: Sequence[Sequence[Data]], count: int, path: str) -> None:
    """Every group has two or more of the compared rows, no row is in two, nor a digest."""
    places = [row["at"] for group in groups for row in group]
    if any(len(group) <= 1 for group in groups) or len(set(places)) != len(places):
        s.wrong(f"{path}/looked/groups", "has a row twice or a group of one")
    if not all(0 <= at < count for at in places):
        s.wrong(f"{path}/looked/groups", "has a row that was not compared")
    digests = [digest for group in groups for digest in {row["digest"] for row in group}]
    if len(set(digests)) != len(digests):
        s.wrong(f"{path}/looked/groups", "has rows with the same words in two groups")


def _preference(s: Verification, row: Data) -> tuple[int, int, int]:
    """The greatest of a group stands for it."""
    at: int = row["at"]
    return (row["trust"], row["created"], s.rows[s.standing[at]])


def _alike(one: Data, other: Data, least: float) -> bool:
    """Equal words, or so few words more that one may be a copy of the other."""
    if one["digest"] == other["digest"]:
        return one["words"] == other["words"]
    short, long = sorted((one["words"], other["words"]))
    return short < long and short >= least * long


RULE = OrderingRule(_kept)
