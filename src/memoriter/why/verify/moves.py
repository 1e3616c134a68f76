"""Checks the orderings (which rows each keeps), the limit and the budget."""

from __future__ import annotations

import math
from typing import Any

from .kinds import ordering_rules
from .numbers import Column, Data, either
from .verification import Verification


def orderings(s: Verification) -> dict[str, Data]:
    """Name of the step → ordering of the recipe; a second ordering of a kind is `kind.2`."""
    steps: dict[str, Data] = {}
    for spec in s.recipe["order"]:
        kind = spec["kind"]
        again = sum(name == kind or name.startswith(f"{kind}.") for name in steps)
        steps[f"{kind}.{again + 1}" if again else kind] = spec
    return steps


def check_moves(s: Verification) -> None:
    """Check which rows each ordering keeps; the moves of an unknown kind are attested."""
    steps, floor = orderings(s), s.recipe["final"]["min_score"]
    least = s.recipe["final"]["min_relevance"]
    every = [*steps, "min_score"] if floor is not None else [*steps]
    every = [*every, "min_relevance"] if least is not None else every
    names = [name for name in every if s.runs(name)]
    s.same("moves", [move["name"] for move in s.body["moves"]], names)
    for n, move in enumerate(s.body["moves"]):
        path = f"moves/{n}"
        s.spend(len(s.standing) + len(move["kept"]))
        if move["name"] == "min_score":
            kept = _above(s, s.first, floor)
        elif move["name"] == "min_relevance":
            kept = _above(s, s.derived["relevance"], least)
        else:
            kept = _kept(s, steps, move, path)
        if kept is None:
            s.attested[path] = None
        else:
            s.same(f"{path}/kept", move["kept"], kept)
        if len(set(move["kept"])) != len(move["kept"]) or min(move["kept"], default=0) < 0:
            s.wrong(f"{path}/kept", "has a place twice or a negative one")
        # Continue with what the receipt says, so that one wrong move is reported once.
        s.standing = [s.standing[at] for at in move["kept"]]


def _kept(s: Verification, steps: dict[str, Data], move: Data, path: str) -> list[int] | None:
    """The places that an ordering must keep; None if its kind is unknown."""
    spec = steps[move["name"]]
    rule = ordering_rules().get(spec["kind"])
    if rule is None:
        return None
    if "looked" in move:
        s.attested[f"{path}/looked"] = None
    return rule.kept(s, spec, move, path)


def _above(s: Verification, values: Column, floor: Any) -> list[int]:
    """The places whose value reaches the floor."""
    return [n for n, at in enumerate(s.standing) if either(values[at], -math.inf) >= floor]


def check_hits(s: Verification) -> None:
    """Check that the hits are the first rows up to the limit that fit into the budget."""
    query = s.body["query"]
    s.standing = s.standing[: query["limit"]]
    bounds = [query.get("budget_tokens"), query.get("budget_chars")]
    if bounds != [None, None]:
        s.same("budget/kept", s.body["budget"]["kept"], _fitting(s, bounds))
        s.standing = [s.standing[at] for at in s.body["budget"]["kept"]]
    s.same("hits", s.body["hits"], [s.ids[at] for at in s.standing])


def _fitting(s: Verification, bounds: list[int | None]) -> list[int]:
    """The places whose entries fit whole, best first; one that does not fit is passed over."""
    budget = s.body["budget"]
    s.attested["budget/sizes"] = None
    used, out = list(budget["head"]), list[int]()
    sizes = list(zip(budget["tokens"], budget["chars"], strict=True))
    if any(n is not None and n < 0 for each in (used, *sizes) for n in each):
        s.wrong("budget/sizes", "a size is negative")
    if len(sizes) != len(s.standing):
        s.wrong("budget/tokens", "does not have one size for each row within the limit")
    for at, size in enumerate(sizes):
        if None in size:  # the record was forgotten after the view was opened
            continue
        after = [have + more for have, more in zip(used, size, strict=True)]
        if all(most is None or have <= most for have, most in zip(after, bounds, strict=True)):
            out.append(at)
            used = after
    return out
