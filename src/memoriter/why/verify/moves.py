"""Orderings: what each keeps, and in the end the hits."""

from __future__ import annotations

import math
from typing import Any

from .kinds import ordering_rules
from .numbers import Data, either
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
    """Each ordering keeps what its rule says; one of an unknown kind is attested alone."""
    steps, floor = orderings(s), s.recipe["final"]["min_score"]
    every = [*steps, "min_score"] if floor is not None else [*steps]
    names = [name for name in every if s.runs(name)]
    s.same("moves", [move["name"] for move in s.body["moves"]], names)
    for n, move in enumerate(s.body["moves"]):
        path = f"moves/{n}"
        kept = _above(s, floor) if move["name"] == "min_score" else _kept(s, steps, move, path)
        if kept is None:
            s.attested[path] = None
        else:
            s.same(f"{path}/kept", move["kept"], kept)
        if len(set(move["kept"])) != len(move["kept"]) or min(move["kept"], default=0) < 0:
            s.wrong(f"{path}/kept", "keeps a place twice, or none")
        s.standing = [s.standing[at] for at in move["kept"]]


def _kept(s: Search, steps: dict[str, Data], move: Data, path: str) -> list[int] | None:
    """The places that an ordering keeps; None where its kind is unknown."""
    spec = steps[move["name"]]
    rule = ordering_rules().get(spec["kind"])
    if rule is None:
        return None
    if "looked" in move:
        s.attested[f"{path}/looked"] = None
    return rule.kept(s, spec, move, path)


def _above(s: Search, floor: Any) -> list[int]:
    """Rows with enough of the first pass's score."""
    return [n for n, at in enumerate(s.standing) if either(s.first[at], -math.inf) >= floor]


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
    budget = s.body["budget"]
    s.attested["budget/sizes"] = None
    used, out = list(budget["head"]), list[int]()
    sizes = list(zip(budget["tokens"], budget["chars"], strict=True))
    if any(n is not None and n < 0 for each in (used, *sizes) for n in each):
        s.wrong("budget/sizes", "a size is negative")
    if len(sizes) != len(s.standing):
        s.wrong("budget/tokens", "not one size for each row within the limit")
    for at, size in enumerate(sizes):
        if None in size:
            continue
        then = [have + more for have, more in zip(used, size, strict=True)]
        if all(most is None or have <= most for have, most in zip(then, asked, strict=True)):
            out.append(at)
            used = then
    return out
