"""A plan while and after it runs: what was left out, how many rows a step left, what it noted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from memoriter.core.ranking import Ranking
from memoriter.pipeline.plan import Plan, PlanStep


def counted(plan: Plan, rows: Mapping[str, int], found: Mapping[str, Ranking]) -> Plan:
    """The plan after it ran: how many rows each step left, and how lanes came by theirs."""
    steps = (replace(s, rows=rows[s.name]) if s.name in rows else s for s in plan.steps)
    told = tuple(_ran(s, found[s.name]) if s.name in found else s for s in steps)
    return replace(plan, steps=told)


def without(plan: Plan, reasons: Mapping[str, str], *, missed: bool = False) -> Plan:
    """The plan without steps that turned out to have nothing to do, or that failed, and why."""
    steps = tuple(
        replace(s, skipped=reasons[s.name], idle=not missed) if s.name in reasons else s
        for s in plan.steps
    )
    return replace(plan, steps=steps)


def noted(plan: Plan, notes: Mapping[str, Mapping[str, object]]) -> Plan:
    """The plan with what steps noted while they ran."""
    steps = tuple(
        replace(s, shows={**s.shows, **notes[s.name]}) if s.name in notes else s for s in plan.steps
    )
    return replace(plan, steps=steps)


def _ran(step: PlanStep, ranking: Ranking) -> PlanStep:
    return replace(step, shows={**step.shows, **ranking.noted}, attempts=ranking.attempts)
