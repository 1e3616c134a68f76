"""Checks what was skipped: only disabled parts and parts that may lack an input may be skipped."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from .kinds import boost_rules, lane_rules, ordering_rules
from .moves import orderings
from .numbers import Data
from .verification import Verification

OFF: Final = "switched off"
"""The reason that the engine gives for a disabled part."""


def check_skipped(s: Verification) -> None:
    """Check that disabled parts were skipped, and that parts which always run were not."""
    known: set[str] = set()
    for name, spec, may_skip in _parts(s):
        known.add(name)
        off, why = not spec.get("enabled", True), s.skipped.get(name)
        if off != (why == OFF):
            s.wrong(f"skipped/{name}", f"the recipe has it {'off' if off else 'on'}")
        elif why is not None and not off and not may_skip:
            s.wrong(f"skipped/{name}", "it is on and always runs, so it cannot be skipped")
    mode = _mode(s)
    wanted = {*mode.get("lanes", ()), mode["otherwise"]}
    for label in mode.get("lanes", ()) and s.recipe["lanes"]:
        if label not in wanted and label not in s.skipped:
            s.wrong(f"skipped/{label}", "the mode of the query does not have it, yet it ran")
    for name in s.skipped:
        lane = name.partition(".")[0]
        if name not in known and lane not in s.recipe["lanes"]:
            s.wrong(f"skipped/{name}", "the recipe has no such step, or it is never skipped")


def _parts(s: Verification) -> Iterator[tuple[str, Data, bool]]:
    """(name, its part of the recipe, whether it may be skipped although it is enabled)."""
    recipe = s.recipe
    mode = _mode(s)
    fallback, wanted = mode.get("otherwise"), set(mode.get("lanes", recipe["lanes"]))
    for label, lane in recipe["lanes"].items():
        # The fallback lane runs only if no other lane can, whether it is enabled or not.
        if label != fallback:
            rule = lane_rules().get(lane["kind"])
            must = rule is not None and rule.must_run(s, label)
            yield label, lane, not must or label not in wanted
    weights: Data = recipe["pass"][0]["fuse"].get("weights", {})
    used = {*weights, *(label for each in recipe["pass"] for label in each["boosts"])}
    for label, boost in recipe["boosts"].items():
        if label in used:
            yield label, boost, weights.get(label) == 0.0 or _may_skip(s, boost)
    for step in recipe["pass"][1:]:
        reranks = step.get("rerank") is not None
        yield "rerank" if reranks else "again", step, reranks
    for name, spec in orderings(s).items():
        yield name, spec, spec["kind"] not in ordering_rules()


def _mode(s: Verification) -> Data:
    """The query's mode: its lanes, and the fallback lane (`otherwise`)."""
    name = s.body["query"].get("mode")
    return {"otherwise": s.recipe["otherwise"]} if name is None else s.recipe["modes"][name]


def _may_skip(s: Verification, boost: Data) -> bool:
    """Whether an enabled boost may be skipped; unknown for an unknown kind, so allowed."""
    rule = boost_rules().get(boost["kind"])
    return rule is None or rule.may_skip(s, boost)
