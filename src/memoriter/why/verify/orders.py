"""Orderings: what each keeps, and in the end the hits."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Final

from .numbers import Column, Data, dot_of, either, snap, unpacked, vector_of
from .search import Search


def orderings(s: Search) -> dict[str, Data]:
    """The orderings of the recipe by the names of their steps."""
    steps: dict[str, Data] = {}
    for spec in s.recipe["order"]:
        kind = spec["kind"]
        again = sum(name == kind or name.startswith(f"{kind}.") for name in steps)
        steps[f"{kind}.{again + 1}" if again else kind] = spec
    return steps


def check_moves(s: Search) -> None:
    """Each ordering keeps what its rule says."""
    steps = orderings(s)
    if s.recipe["final"]["min_score"] is not None:
        steps["min_score"] = {"kind": "min_score", **s.recipe["final"]}
    names = [name for name in steps if s.runs(name)]
    s.same("moves", [move["name"] for move in s.body["moves"]], names)
    for n, move in enumerate(s.body["moves"]):
        spec, path = steps[move["name"]], f"moves/{n}"
        make = MOVES.get(spec["kind"])
        if make is None:
            s.attested[path] = None
        else:
            if "looked" in move:
                s.attested[f"{path}/looked"] = None
            s.same(f"{path}/kept", move["kept"], make(s, spec, move, path))
        if len(set(move["kept"])) != len(move["kept"]) or min(move["kept"], default=0) < 0:
            s.wrong(f"{path}/kept", "keeps a place twice, or none")
        s.standing = [s.standing[at] for at in move["kept"]]


def _above(s: Search, spec: Data, move: Data, path: str) -> list[int]:
    """Rows with enough of the first pass's score."""
    del move, path
    return [
        n for n, at in enumerate(s.standing) if either(s.first[at], -math.inf) >= spec["min_score"]
    ]


def _capped(s: Search, spec: Data, move: Data, path: str) -> list[int]:
    """Of one kind of record, the first few."""
    del path
    mine = move["looked"]["of"]
    over = set(sorted(mine)[int(spec["share"] * s.recipe["window"]) :])
    return [n for n in range(len(s.standing)) if n not in over]


def _collapsed(s: Search, spec: Data, move: Data, path: str) -> list[int]:
    """Of each group, the best or the newest few, at the best places of the group."""
    size, count = len(s.standing), min(spec["head"], len(s.standing))
    looked, stays = move["looked"], dict[int, int]()
    standing: Column = [None] * size
    grouped = {at for places in looked["groups"] for at in places}
    for nth, places in enumerate(looked["groups"]):
        kept = places
        if spec["keep"] == "newest":
            kept = _newest(s, places, looked["created"][nth])
        stays |= dict(zip(places, kept[: spec["most"]], strict=False))
        for at in places:
            standing[at] = float(len(places))
    stays |= {at: at for at in range(count) if at not in grouped}
    s.same(f"{path}/beside/group", unpacked(move["beside"]["group"]), standing)
    return [*(stays[at] for at in sorted(stays)), *range(count, size)]


def _newest(s: Search, places: Sequence[int], created: Sequence[int]) -> list[int]:
    """Places by age, the newest first, of equals the younger row."""
    ages = dict(zip(places, created, strict=True))
    return sorted(places, key=lambda at: (-ages[at], -s.rows[s.standing[at]]))


def _diverse(s: Search, spec: Data, move: Data, path: str) -> list[int]:
    """Who was taken, one by one, as far as vectors are here: up to the last hit."""
    size, bare = len(s.standing), list(move["looked"]["bare"])
    tiers = s.known.get("tier", [1.0] * len(s.rows))
    head = min(spec["head"], sum(tiers[at] == 1.0 for at in s.standing))
    part = [n for n in range(head) if n not in set(bare)]
    count = min(spec["take"], len(part)) if spec["take"] else len(part)
    taken = move["kept"][:count]
    if not set(taken) <= set(part):
        s.wrong(f"{path}/kept", "takes what has no vector")
        return []
    _picked(s, spec, move, (path, head, part, taken))
    gone = {*taken, *bare}
    left = [] if spec["drop"] else [n for n in range(size) if n not in gone]
    return [*taken, *bare, *left]


def _picked(s: Search, spec: Data, move: Data, told: tuple[str, int, list[int], list[int]]) -> None:
    path, head, part, taken = told
    penalty, cause = (unpacked(move["beside"][key]) for key in ("penalty", "cause"))
    units = {int(row): vector_of(v) for row, v in s.body["vectors"].get("units", {}).items()}
    names = [s.rows[at] for at in s.standing]
    sure = next((n for n, at in enumerate(taken) if names[at] not in units), len(taken))
    hits = set(s.body["hits"])
    if any(s.ids[s.standing[at]] in hits for at in taken[sure:]):
        s.wrong("vectors/units", "the vector of a hit is missing")
    if taken[sure:]:
        s.attested[f"{path}/kept, behind the last hit"] = None
    worth = dict(zip(part, _worths(s, spec, part, head), strict=True))
    closest, nearest = dict.fromkeys(taken[:sure], -math.inf), dict[int, int]()
    free, rest = set(taken[:sure]), set(part) - set(taken[:sure])
    made: dict[int, tuple[float, float | None]] = {}
    for nth, at in enumerate(taken[:sure]):
        cost = {n: snap((1.0 - spec["trade"]) * closest[n]) if nth else 0.0 for n in free}
        value = {n: (snap(spec["trade"] * worth[n]) if nth else worth[n]) - cost[n] for n in free}
        most = {n: _least(spec, worth[n], penalty[n], nth) for n in rest}
        best = max([*value.items(), *most.items()], key=lambda pair: (pair[1], -pair[0]))[0]
        if best != at:
            s.wrong(f"{path}/kept", f"place {at} is taken, and {best} has more")
        made[at] = (cost[at], float(names[nearest[at]]) if nth else None)
        free.discard(at)
        for n in free:
            alike = dot_of(units[names[n]], units[names[at]])
            if alike > closest[n]:
                closest[n], nearest[n] = alike, at
    s.same(f"{path}/beside/penalty", [penalty[at] for at in made], [m for m, _ in made.values()])
    s.same(f"{path}/beside/cause", [cause[at] for at in made], [c for _, c in made.values()])
    known = [n for n, value in enumerate(penalty) if value is not None]
    s.same(f"{path}/taken", known, sorted(taken))


def _least(spec: Data, worth: float, penalty: float | None, nth: int) -> float:
    """The least that a row was worth when another was taken, which is taken later or never."""
    if not nth:
        return worth
    return -math.inf if penalty is None else snap(spec["trade"] * worth) - penalty


def _worths(s: Search, spec: Data, part: Sequence[int], head: int) -> list[float]:
    """How relevant rows are: their score, or its place between the least and the greatest."""
    scores = [either(s.score[at], math.nan) for at in s.standing[:head]]
    if spec["relevance"] == "unit" and scores:
        low, high = min(scores), max(scores)
        scores = [(v - low) / (high - low) if high > low else 0.5 for v in scores]
    return [snap(scores[n]) for n in part]


MOVES: Final[dict[str, Callable[[Search, Data, Data, str], list[int]]]] = {
    "min_score": _above, "cap": _capped, "collapse": _collapsed, "mmr": _diverse,
}  # fmt: skip


def check_hits(s: Search) -> None:
    """The answer is the first rows, and of those what the budget has room for."""
    query = s.body["query"]
    s.standing = s.standing[: query["limit"]]
    asked = [query.get("budget_tokens"), query.get("budget_chars")]
    if asked != [None, None]:
        s.same("budget/kept", s.body["budget"]["kept"], _fitting(s, asked))
        s.standing = [s.standing[at] for at in s.body["budget"]["kept"]]
    s.same("hits", s.body["hits"], [s.ids[at] for at in s.standing])


def _fitting(s: Search, asked: list[int | None]) -> list[int]:
    """Whole entries, the best first; one that does not fit is passed over."""
    told = s.body["budget"]
    s.attested["budget/sizes"] = None
    used, out = list(told["head"]), list[int]()
    sizes = list(zip(told["tokens"], told["chars"], strict=True))
    if any(size < 0 for each in (used, *sizes) for size in each if size is not None):
        s.wrong("budget/sizes", "a size is negative")
    if len(sizes) != len(s.standing):
        s.wrong("budget/tokens", "not one size for each row within the limit")
    for at, mine in enumerate(sizes):
        if None in mine:
            continue
        then = [have + more for have, more in zip(used, mine, strict=True)]
        if all(most is None or have <= most for have, most in zip(then, asked, strict=True)):
            out.append(at)
            used = then
    return out
