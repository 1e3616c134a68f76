"""Small searches whose scores a test states itself: lanes are lists that come with the call."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import memoriter
from memoriter.memory.facade import Memory
from memoriter.testing.fakes import CountedEntropy, HandClock
from memoriter.why.result import Result

Data = dict[str, Any]
Lists = Mapping[str, Mapping[str, float]]


def opened(**more: Any) -> Memory:
    """A memory for vectors of two dimensions, without a machine's clock or randomness."""
    options = {"embedder": "given:2", "clock": HandClock(), "entropy": CountedEntropy(), **more}
    return memoriter.open(":memory:", **options)


def holding(*ids: str, memory: Memory | None = None, **fields: Mapping[str, Any]) -> Memory:
    """A memory with these records; a field says by id what differs."""
    memory = opened() if memory is None else memory
    for one in ids:
        draft: dict[str, Any] = {"text": f"about {one}", "id": one}
        draft |= {name: values[one] for name, values in fields.items() if one in values}
        memory.remember(**draft)
    return memory


def recipe(*labels: str, **more: Any) -> Data:
    """A recipe that adds up lists as they are; `fuse`, `applied` and `second` fill its passes."""
    fuse = {"kind": "weighted", "scale": "none", "weights": dict.fromkeys(labels, 1.0)}
    first = {
        "fuse": more.pop("fuse", fuse),
        "boosts": more.pop("applied", []),
        "ties": more.pop("pass_ties", None),
    }
    second = more.pop("second", None)
    return {
        "name": "mine", "version": 1, "analyzer": "memoriter",
        "lanes": {label: {"kind": "list"} for label in labels},
        "pass": [first] if second is None else [first, second],
        **more,
    }  # fmt: skip


def asked(memory: Memory, lists: Lists, text: str = "", **more: Any) -> Result:
    """The answer to lists."""
    ask = {name: more.pop(name) for name in ("cycle", "mode", "require", "now") if name in more}
    given = {label: list(scores.items()) for label, scores in lists.items()}
    return memory.recall(text, 100, recipe=recipe(*lists, **more), lists=given, **ask)


def ranked(result: Result) -> list[tuple[str, float]]:
    """Ids and scores, best first."""
    return [(hit.id, hit.score) for hit in result]


def ids(result: Result) -> list[str]:
    """Ids, best first."""
    return [hit.id for hit in result]


def step_of(result: Result, name: str) -> Any:
    """A step of the plan after it ran."""
    return next(step for step in result.plan.steps if step.name == name)
