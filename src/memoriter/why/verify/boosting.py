"""Checks boosts: the values whose inputs are in the receipt, and the steps that apply them.

The values of a boost of an unknown kind are attested, and its operation is read from the step that
applies it; everything else is checked as usual.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from .kinds import boost_rules
from .numbers import Column, Data
from .rules import BoostColumn
from .verification import Verification


def applies(s: Verification, label: str) -> bool:
    """Whether a boost, or a lane used as a boost, ran."""
    return f"{label}.score" in s.claimed if label in s.recipe["lanes"] else s.runs(label)


@dataclass(frozen=True)
class _Applied:
    """A boost of a pass: its operation, and whether it begins a new step."""

    label: str
    op: str
    begins: bool


def boosted(s: Verification, stage: str, labels: Sequence[str]) -> None:
    """Check the score after these boosts; neighbours with the same operation share one step."""
    base, marks, at = stage, list[tuple[int, _Applied]](), 0
    for each in _applied(s, stage, labels):
        at += each.begins
        marks.append((at, each))
    grouped = groupby(marks, key=lambda mark: (mark[0], mark[1].op))
    for n, ((_, op), group) in enumerate(grouped, start=1):
        known = [value is not None for value in s.derived[base]]
        inputs = [base, *(_input(s, stage, each, known) for _, each in group)]
        out = f"{stage}.boosted" if n == 1 else f"{stage}.boosted.{n}"
        s.step("boosted", op, inputs, out)
        base = out


def _applied(s: Verification, stage: str, labels: Sequence[str]) -> list[_Applied]:
    """How each boost changes the score."""
    out: list[_Applied] = []
    for label in labels:
        spec = s.recipe["boosts"].get(label)
        rule = None if spec is None else boost_rules().get(spec["kind"])
        if label in s.recipe["lanes"]:
            out.append(_Applied(label, "sum", begins=False))
        elif spec is not None and rule is not None:
            out.append(_Applied(label, rule.op(spec), rule.reads_score))
        else:
            out.append(_as_applied(s, stage, label, out[-1] if out else None))
    return out


def _as_applied(s: Verification, stage: str, label: str, before: _Applied | None) -> _Applied:
    """A boost of an unknown kind, as the receipt applies it.

    A boost that reads the score needs a step of its own. That is visible only next to a boost with
    the same operation: in the same step it does not read the score, in another one it does.
    """
    step = _step_of(s, stage, label)
    s.attested[f"slate/steps/{label}"] = None
    if step["op"] != s.common.setdefault(f"op/{label}", step["op"]):
        s.wrong(f"slate/steps/{label}", "is applied with two different operations")
    same_op = before is not None and before.op == step["op"]
    alone = before is not None and step is not _step_of(s, stage, before.label)
    return _Applied(label, step["op"], begins=same_op and alone)


def _step_of(s: Verification, stage: str, label: str) -> Data:
    """The step of a pass that applies a boost or a lane."""
    name = _column(s, label)
    for step in s.body["slate"]["steps"]:
        s.spend(len(step["inputs"]) + 1)
        if step["out"].startswith(f"{stage}.boosted") and {name, f"{stage}.{name}"} & {
            *step["inputs"]
        }:
            return step
    raise ValueError(
        f"the recipe applies {label} in the stage {stage}, but slate/steps of the receipt has no"
        " such step: the receipt is incomplete or was changed"
    )


def _column(s: Verification, label: str) -> str:
    return f"{label}.score" if label in s.recipe["lanes"] else f"boost.{label}"


def _input(s: Verification, stage: str, boost: _Applied, known: Sequence[bool]) -> str:
    """The column of a boost as the input of a step.

    It is copied under another name if it has values for rows without a score, which must not get
    one from the boost alone. A boost that takes the maximum may give such rows a score.
    """
    name, widest = _column(s, boost.label), boost.op == "max"
    if boost.label in s.recipe["boosts"] and name not in s.valued:
        valued(s, boost.label, name, [True] * len(known) if widest else known)
    values = s.derived[name]
    s.spend(len(values))
    if widest or not any(v is not None and not k for v, k in zip(values, known, strict=True)):
        return name
    masked: Column = [v if k else None for v, k in zip(values, known, strict=True)]
    s.derive(f"{stage}.{name}", masked)
    return f"{stage}.{name}"


def valued(s: Verification, label: str, name: str, among: Sequence[bool]) -> None:
    """Check the values of a boost if their inputs are in the receipt, else attest them."""
    s.valued.add(name)
    spec = s.recipe["boosts"][label]
    rule = boost_rules().get(spec["kind"])
    derive = None if rule is None else rule.values
    values = None if derive is None else derive(BoostColumn(s, label, name, spec))
    if values is None:
        s.attested[f"slate/columns/{name}"] = None
        for value, inside in zip(s.claimed[name], among, strict=True):
            if value is not None and not inside:
                s.wrong(f"slate/columns/{name}", "boosts a row without a score")
        return
    s.derive(name, [v if inside else None for v, inside in zip(values, among, strict=True)])
