"""What a search will do, decided before it does it: which lanes run, which are skipped and why."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import cast

from recollect.core.errors import BadQuery, NothingToRun, Unavailable
from recollect.core.ranking import Attempt, Ranking
from recollect.core.times import iso
from recollect.lanes.port import Context, Ready, Skipped
from recollect.lanes.spec import Seeded
from recollect.pipeline.recipe import Recipe
from recollect.pipeline.waves import cannot_start, waves_of


@dataclass(frozen=True, slots=True)
class PlanStep:
    """One line of a plan: what runs with which numbers, or why not; later, how many rows."""

    name: str
    shows: Mapping[str, object]
    skipped: str | None = None
    rows: int | None = None
    attempts: tuple[Attempt, ...] = ()
    """How a lane came by its rows, where it tried more than once."""
    idle: bool = False
    """Whether it was skipped because there was nothing for it to do: nobody misses it."""

    def to_dict(self) -> dict[str, object]:
        """The step as plain data."""
        out: dict[str, object] = {"step": self.name, **self.shows}
        if self.skipped is not None:
            out["skipped"] = self.skipped
        if self.rows is not None:
            out["rows"] = self.rows
        if self.attempts:
            out["attempts"] = [attempt.to_dict() for attempt in self.attempts]
        return out


@dataclass(frozen=True, slots=True)
class Plan:
    """A recipe bound to a query and a view."""

    recipe: Recipe
    tenant: str
    seq: int
    steps: tuple[PlanStep, ...]
    mode: str | None = None

    @property
    def running(self) -> tuple[str, ...]:
        """The lanes that take part."""
        return tuple(
            s.name for s in self.steps if s.name in self.recipe.lanes and s.skipped is None
        )

    @property
    def skipped(self) -> dict[str, str]:
        """The lanes that cannot, and why; one that is off, or that nobody misses, is not here."""
        mode = self.recipe.mode(self.mode)
        wanted = {
            name
            for name, lane in self.recipe.lanes.items()
            if lane.enabled and name in mode.lanes and name not in mode.may_miss
        }
        return {s.name: s.skipped for s in self.steps if s.skipped is not None and s.name in wanted}

    @property
    def missing(self) -> dict[str, str]:
        """Those of them that had something to do."""
        idle = {step.name for step in self.steps if step.idle}
        return {label: reason for label, reason in self.skipped.items() if label not in idle}

    @property
    def fell_back(self) -> bool:
        """Whether a mode's lanes could not run and the one kept for that case answers alone."""
        otherwise = self.recipe.mode(self.mode).otherwise
        return bool(self.missing) and otherwise is not None and self.running == (otherwise,)

    @property
    def attempts(self) -> tuple[Attempt, ...]:
        """Every search of a lane that may search again."""
        return tuple(attempt for step in self.steps for attempt in step.attempts)

    @property
    def status(self) -> str:
        """`complete`, or `degraded` when an enabled lane was skipped."""
        return "degraded" if self.missing else "complete"

    def counted(self, rows: Mapping[str, int], found: Mapping[str, Ranking]) -> Plan:
        """The plan after it ran: how many rows each step left, and how lanes came by theirs."""
        steps = (replace(s, rows=rows[s.name]) if s.name in rows else s for s in self.steps)
        told = tuple(_ran(s, found[s.name]) if s.name in found else s for s in steps)
        return replace(self, steps=told)

    def without(self, idle: Mapping[str, str]) -> Plan:
        """The plan without lanes that turned out to have nothing to do, and why."""
        steps = tuple(
            replace(s, skipped=idle[s.name], idle=True) if s.name in idle else s for s in self.steps
        )
        return replace(self, steps=steps)

    def to_dict(self) -> dict[str, object]:
        """The plan as plain data."""
        return {
            "recipe": self.recipe.name,
            "version": self.recipe.version,
            "fingerprint": self.recipe.fingerprint,
            "tenant": self.tenant,
            "view": self.seq,
            "status": self.status,
            **({} if self.mode is None else {"mode": self.mode, "fell_back": self.fell_back}),
            "steps": [step.to_dict() for step in self.steps],
        }

    def __str__(self) -> str:
        """The plan as a tree for people."""
        title = f"recipe {self.recipe.name} v{self.recipe.version} · {self.recipe.fingerprint[:8]}"
        lines = [f"{title}   tenant {self.tenant}   view {self.seq}"]
        for at, step in enumerate(self.steps):
            branch = "└─" if at == len(self.steps) - 1 else "├─"
            told = f"skipped: {step.skipped}" if step.skipped else _told(step.shows)
            count = "" if step.rows is None else f"   {step.rows} rows"
            lines.append(f"{branch} {step.name:<9} {told}{count}")
            stem = " " if at == len(self.steps) - 1 else "│"
            lines += [f"{stem}            {_tried(each)}" for each in step.attempts[1:]]
        return "\n".join(lines)


def _ran(step: PlanStep, ranking: Ranking) -> PlanStep:
    return replace(step, shows={**step.shows, **ranking.noted}, attempts=ranking.attempts)


def _tried(attempt: Attempt) -> str:
    query = "" if attempt.query is None else f" {attempt.query!r}"
    return f"then {attempt.name}{query}: {attempt.hits}"


def _told(shows: Mapping[str, object]) -> str:
    return ", ".join(f"{key} {_short(value)}" for key, value in shows.items())


def _short(value: object) -> str:
    if isinstance(value, dict):
        pairs = cast("dict[str, object]", value).items()
        return "{" + ", ".join(f"{key} {_short(item)}" for key, item in pairs) + "}"
    if isinstance(value, list):
        return " ".join(map(str, cast("list[object]", value)))
    return f"{value:g}" if isinstance(value, float) else str(value)


def plan(recipe: Recipe, ctx: Context) -> Plan:
    """Decide what runs. No lane is called; only readiness is read."""
    query = ctx.query
    if unknown := query.require - set(recipe.lanes):
        raise BadQuery(
            f"require: recipe {recipe.name} has no lane {min(unknown)!r}",
            hint=f"its lanes: {', '.join(recipe.lanes)}",
            field="require",
        )
    verdicts = _verdicts(recipe, ctx)
    otherwise = recipe.mode(query.mode).otherwise
    if otherwise is not None and not any(isinstance(v, Ready) for v in verdicts.values()):
        verdicts[otherwise] = recipe.lanes[otherwise].ready(ctx)
    lanes = tuple(
        PlanStep(label, v.shows)
        if isinstance(v, Ready)
        else PlanStep(label, {}, v.reason, idle=v.idle)
        for label, v in ((label, verdicts[label]) for label in recipe.lanes)
    )
    fuse = recipe.passes[0].fuse
    made = Plan(
        recipe,
        query.scope.tenant,
        ctx.reading.seq,
        (
            PlanStep("select", _selecting(ctx)),
            *lanes,
            PlanStep(
                "fuse",
                {
                    "kind": fuse.kind,
                    "scale": fuse.scale,
                    "weights": fuse.weights,
                    "absent": fuse.absent,
                },
            ),
            PlanStep("limit", {"limit": query.limit}),
        ),
        query.mode,
    )
    _must_run(made, query.require)
    return made


def _verdicts(recipe: Recipe, ctx: Context) -> dict[str, Ready | Skipped]:
    """What each lane says, those first that seed others."""
    out: dict[str, Ready | Skipped] = {}
    for wave in waves_of(recipe.lanes):
        ready = {label for label, verdict in out.items() if isinstance(verdict, Ready)}
        out |= {label: _verdict(recipe, label, ctx, ready) for label in wave}
    return out


def _verdict(recipe: Recipe, label: str, ctx: Context, ready: set[str]) -> Ready | Skipped:
    lane, mode = recipe.lanes[label], ctx.query.mode
    if not lane.enabled:
        return Skipped("switched off")
    if label not in recipe.mode(mode).lanes:
        return Skipped(f"not in mode {mode}")
    stuck = cannot_start(label, lane, ctx, ready) if isinstance(lane, Seeded) else None
    return stuck or lane.ready(ctx)


def _selecting(ctx: Context) -> dict[str, object]:
    shown: dict[str, object] = {**ctx.query.scope.filters(), "now": iso(ctx.query.now)}
    if ctx.query.as_of is not None:
        shown["as_of"] = iso(ctx.query.as_of)
    if ctx.recorded is not None:
        shown["recorded"] = f"up to entry {ctx.recorded}"
    return {**shown, **{f"after {step}": count for step, count in ctx.selection.funnel}}


def _must_run(made: Plan, require: frozenset[str]) -> None:
    reasons = {s.name: s.skipped for s in made.steps if s.skipped is not None}
    if missing := sorted(require & set(reasons)):
        label = missing[0]
        raise Unavailable(
            f"lane {label!r} is required and cannot run: {reasons[label]}",
            hint="take it out of require to get the answer of the other lanes",
            field="require",
        )
    if not made.running and (made.missing or not made.skipped):
        told = "; ".join(f"{label}: {reason}" for label, reason in reasons.items())
        raise NothingToRun(
            f"no lane of recipe {made.recipe.name} can run: {told}",
            hint="each reason says what is missing",
        )
