"""What took no part: a recipe switches it off, or something outside kept it; nothing else may."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from .kinds import boost_rules, lane_rules, ordering_rules
from .moves import orderings
from .numbers import Data
from .search import Search

OFF: Final = "switched off"
"""The reason of what a recipe switches off."""


def check_skipped(s: Search) -> None:
    """What is switched off took no part, and what nothing could keep from it did."""
    known: set[str] = set()
    for name, spec, may in _engine(s):
        known.add(name)
        off, why = not spec.get("enabled", True), s.skipped.get(name)
        if off != (why == OFF):
            s.wrong(f"skipped/{name}", f"the recipe has it {'off' if off else 'on'}")
        elif why is not None and not off and not may:
            s.wrong(f"skipped/{name}", "nothing can keep it from taking part")
    for label in _mode(s).get("lanes", ()) and s.recipe["lanes"]:
        if label not in {*_mode(s)["lanes"], _mode(s)["otherwise"]} and label not in s.skipped:
            s.wrong(f"skipped/{label}", "it is not in the mode that was asked for")
    for name in s.skipped:
        lane = name.partition(".")[0]
        if name not in known and lane not in s.recipe["lanes"]:
            s.wrong(f"skipped/{name}", "the recipe has no such step, or it is never left out")


def _engine(s: Search) -> Iterator[tuple[str, Data, bool]]:
    """(name, how the recipe has it, whether something outside may keep it from taking part)."""
    recipe = s.recipe
    spare = _mode(s).get("otherwise")
    for label, lane in recipe["lanes"].items():
        if label != spare:  # which runs when no other does, whatever the recipe says of it alone
            rule = lane_rules().get(lane["kind"])
            must = rule is not None and rule.must_run(s, label)
            yield label, lane, not must or label not in _mode(s).get("lanes", [label])
    weights: Data = recipe["pass"][0]["fuse"].get("weights", {})
    used = {*weights, *(label for each in recipe["pass"] for label in each["boosts"])}
    for label, boost in recipe["boosts"].items():
        if label in used:
            yield label, boost, weights.get(label) == 0.0 or _depends(s, boost)
    for step in recipe["pass"][1:]:
        asks = step.get("rerank") is not None
        yield "rerank" if asks else "again", step, asks
    for name, spec in orderings(s).items():
        yield name, spec, spec["kind"] not in ordering_rules()


def _mode(s: Search) -> Data:
    """The lanes that a call asked for, and the one that answers in their place."""
    name = s.body["query"].get("mode")
    return {"otherwise": s.recipe["otherwise"]} if name is None else s.recipe["modes"][name]


def _depends(s: Search, boost: Data) -> bool:
    """Whether a boost that is on may have nothing to go by."""
    rule = boost_rules().get(boost["kind"])
    return rule is None or rule.may_skip(s, boost)
