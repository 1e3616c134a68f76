"""What a search will do, decided before it does it: which lanes run, which are skipped and why."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final, cast

from memoriter.core.errors import BadQuery, NothingToRun, Unavailable
from memoriter.core.ranking import Attempt
from memoriter.core.shown import counted, drawn, plain, shown
from memoriter.core.times import iso
from memoriter.lanes.port import Context, Lane, Ready, Seeded, Skipped
from memoriter.pipeline.orderings.port import Ordering
from memoriter.pipeline.plan_text import spelled, tried
from memoriter.pipeline.recipe import Recipe
from memoriter.pipeline.spoken import first_fitting
from memoriter.pipeline.strict import refuse
from memoriter.pipeline.waves import cannot_start, waves_of
from memoriter.text.prompt import head_size

BUDGET: Final = "budget"
"""The step that leaves out hits for which a prompt has no room."""


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

    def __repr__(self) -> str:
        told = "" if self.rows is None else counted(self.rows, "row")
        if self.skipped is not None:
            told = f"skipped, {plain(self.skipped)}"
        return shown(f"PlanStep {plain(self.name)}", told)

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
    def boosting(self) -> tuple[str, ...]:
        """The boosts that take part."""
        return tuple(
            s.name for s in self.steps if s.name in self.recipe.boosts and s.skipped is None
        )

    def runs(self, name: str) -> bool:
        """Whether a step takes part."""
        return any(s.name == name and s.skipped is None for s in self.steps)

    @property
    def skipped(self) -> dict[str, str]:
        """What cannot take part, and why; what is off, or nobody misses, is not here."""
        mode = self.recipe.mode(self.mode)
        wanted = {
            name
            for name, lane in self.recipe.lanes.items()
            if lane.enabled and name in mode.lanes and name not in mode.may_miss
        }
        lanes = {s.name: s.skipped for s in self.steps if s.name in wanted}
        rest = (s for s in self.steps if s.name not in self.recipe.lanes and not s.idle)
        others = {s.name: s.skipped for s in rest}
        return {name: reason for name, reason in (lanes | others).items() if reason is not None}

    @property
    def missing(self) -> dict[str, str]:
        """Those of them that had something to do."""
        idle = {step.name for step in self.steps if step.idle}
        return {label: reason for label, reason in self.skipped.items() if label not in idle}

    @property
    def terms(self) -> tuple[str, ...]:
        """The terms that its lanes ask for, in the order of the question."""
        shown = (cast("list[str]", step.shows.get("terms", [])) for step in self.steps)
        return tuple(dict.fromkeys(term for terms in shown for term in terms))

    @property
    def backend(self) -> str | None:
        """What the recipe calls the mix of lanes that ran, and of those that found something."""
        found = {step.name for step in self.steps if step.rows}
        return first_fitting(self.recipe.labels, self.running, found)

    @property
    def fell_back(self) -> bool:
        """Whether a mode's lanes could not run and the one kept for that case answers alone."""
        otherwise = self.recipe.mode(self.mode).otherwise
        return bool(self.missing) and otherwise is not None and self.running == (otherwise,)

    @property
    def approximate(self) -> bool:
        """Whether a lane looks for nearly all of the best instead of all."""
        return any(step.shows.get("scan") == "approximate" for step in self.steps)

    @property
    def attempts(self) -> tuple[Attempt, ...]:
        """Every search of a lane that may search again."""
        return tuple(attempt for step in self.steps for attempt in step.attempts)

    @property
    def status(self) -> str:
        """`complete`, or `degraded` when an enabled lane was skipped."""
        return "degraded" if self.missing else "complete"

    def __repr__(self) -> str:
        runs = plain(", ".join(self.running)) or "no lane"
        return shown(f"Plan {plain(self.recipe.name)}", f"{runs}, {self.status}")

    def _repr_html_(self) -> str | None:
        """The plan as notebooks show it."""
        return drawn(self)

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
            told = f"skipped: {step.skipped}" if step.skipped else spelled(step.shows)
            count = "" if step.rows is None else f"   {step.rows} rows"
            lines.append(f"{branch} {step.name:<9} {told}{count}")
            stem = " " if at == len(self.steps) - 1 else "│"
            lines += [f"{stem}            {tried(each)}" for each in step.attempts[1:]]
        return "\n".join(lines)


def plan(recipe: Recipe, ctx: Context) -> Plan:
    """Decide what runs. No lane is called; only readiness is read."""
    query = ctx.query
    if unknown := query.require - {*recipe.lanes, *(("rerank",) if reranks(recipe) else ())}:
        raise BadQuery(
            f"require: recipe {recipe.name} has no lane {min(unknown)!r}",
            hint=f"its lanes: {', '.join(recipe.lanes)}",
            field="require",
        )
    verdicts = _verdicts(recipe, ctx)
    otherwise = recipe.mode(query.mode).otherwise
    if otherwise is not None and not any(isinstance(v, Ready) for v in verdicts.values()):
        verdicts[otherwise] = recipe.lanes[otherwise].ready(ctx.at(otherwise, {}))
    lanes = [
        step
        for label in recipe.lanes
        for step in _steps(label, _whole(_seeded(verdicts[label], label, ctx), recipe.lanes[label]))
    ]
    made = Plan(
        recipe,
        query.scope.tenant,
        ctx.view.seq,
        (
            PlanStep("select", _selecting(ctx)),
            *lanes,
            PlanStep("fuse", _fusing(recipe, 0)),
            *_boosting(recipe, ctx),
            *_again(recipe, ctx),
            *_ordering(recipe, ctx),
            PlanStep("limit", {"limit": query.limit}),
            *_budgeting(ctx),
        ),
        query.mode,
    )
    if recipe.missing == "refuse":
        refuse(made, query)
    _must_run(made, query.require)
    return made


def _seeded(verdict: Ready | Skipped, label: str, ctx: Context) -> Ready | Skipped:
    """What a lane says, with the seeds that the call gives it."""
    if isinstance(verdict, Skipped) or label not in ctx.query.seeds:
        return verdict
    return Ready({**verdict.shows, "given": list(ctx.query.seeds[label])})


def _whole(verdict: Ready | Skipped, lane: Lane) -> Ready | Skipped:
    """What a lane says, with every number that it does not show by itself."""
    if isinstance(verdict, Skipped):
        return verdict
    rest = {
        key: value
        for key, value in lane.shows().items()
        if key not in verdict.shows and value not in ([], {})
    }
    return replace(verdict, shows={**verdict.shows, **rest})


def _fusing(recipe: Recipe, at: int) -> dict[str, object]:
    fuse = recipe.passes[at].fuse
    told: dict[str, object] = {}
    if fuse is not None:
        told = {"kind": fuse.kind_name(), **fuse.model_dump(mode="json", exclude={"kind", "lists"})}
    if recipe.passes[at].ties or recipe.ties != ("row",):
        told["ties"] = list(recipe.passes[at].ties or recipe.ties)
    if recipe.passes[at].boosts:
        told["boosts"] = list(recipe.passes[at].boosts)
    return told


def _step(name: str, verdict: Ready | Skipped) -> PlanStep:
    if isinstance(verdict, Ready):
        return PlanStep(name, verdict.shows)
    return PlanStep(name, {}, verdict.reason, idle=verdict.idle)


def _steps(label: str, verdict: Ready | Skipped) -> Iterator[PlanStep]:
    """A lane, and those parts of it that cannot take part."""
    yield _step(label, verdict)
    if isinstance(verdict, Ready):
        yield from (PlanStep(f"{label}.{part}", {}, why) for part, why in verdict.lacks.items())


def _boosting(recipe: Recipe, ctx: Context) -> Iterator[PlanStep]:
    """The boosts that a pass uses."""
    running: set[str] = set()
    used = {*recipe.fused, *(label for each in recipe.passes for label in each.boosts)}
    for label, boost in recipe.boosts.items():
        if label in used:
            off = None if boost.enabled else Skipped("switched off", idle=True)
            weight = recipe.weight(label)
            if weight == 0.0:
                off = off or Skipped("its weight is 0", idle=True)
            step = _step(label, off or boost.ready(ctx))
            running |= {label} if step.skipped is None else set()
            yield step
    for label in sorted(running):
        if (rival := recipe.boosts[label].excludes) in running:
            raise BadQuery(
                f"{label} and {rival} cannot both be counted",
                hint=f"switch one off: overrides={{'boosts.{rival}.enabled': False}}",
                field=label,
            )


def reranks(recipe: Recipe) -> bool:
    """Whether a recipe has a place for a reranker."""
    return len(recipe.passes) > 1 and recipe.passes[1].rerank is not None


def _again(recipe: Recipe, ctx: Context) -> Iterator[PlanStep]:
    """The second pass, if there is one."""
    if len(recipe.passes) == 1:
        return
    step = recipe.passes[1]
    name = "rerank" if step.rerank is not None else "again"
    told: dict[str, object] = {}
    if step.head is not None:
        told["head"] = step.head.count
        told |= {"by": list(step.head.by)} if step.head.by else {}
        told["rest"] = "below, in its former order"
    if step.rerank is None:
        told |= _fusing(recipe, 1)
    else:
        told |= step.rerank.model_dump(mode="json", exclude_none=True)
        told |= {"boosts": list(step.boosts)} if step.boosts else {}
    off: Skipped | None = None
    if not step.enabled:
        off = Skipped("switched off", idle=True)
    elif step.rerank is not None and not recipe.mode(ctx.query.mode).rerank:
        off = Skipped(f"mode_off: not in mode {ctx.query.mode}", idle=True)
    elif step.rerank is not None and ctx.effects.judge is None:
        off = Skipped("no_reranker: this memory has none; open(…, reranker=…)", idle=True)
    yield PlanStep(name, told) if off is None else _step(name, off)


def _ordering(recipe: Recipe, ctx: Context) -> Iterator[PlanStep]:
    for name, each in named(recipe).items():
        off = None if each.enabled else Skipped("switched off", idle=True)
        yield _step(name, off or each.ready(ctx, recipe))
    if recipe.final.min_score is not None:
        yield PlanStep("min_score", {"min_score": recipe.final.min_score})


def _budgeting(ctx: Context) -> Iterator[PlanStep]:
    if ctx.query.budget:
        tokens, chars = head_size()
        head = {"head_tokens": tokens, "head_chars": chars}
        yield PlanStep(BUDGET, {**ctx.query.budget.to_dict(), **head})


def named(recipe: Recipe) -> dict[str, Ordering]:
    """The orderings of a recipe by the names of their steps."""
    out: dict[str, Ordering] = {}
    for each in recipe.order:
        kind = each.kind_name()
        again = sum(name == kind or name.startswith(f"{kind}.") for name in out)
        out[f"{kind}.{again + 1}" if again else kind] = each
    return out


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
        spare = label == recipe.mode(mode).otherwise
        return Skipped("not needed: another lane runs" if spare else f"not in mode {mode}")
    stuck = cannot_start(label, lane, ctx, ready) if isinstance(lane, Seeded) else None
    return stuck or lane.ready(ctx.at(label, {}))


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
