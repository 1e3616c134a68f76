"""Plans a search before it runs: which lanes and steps run, which are skipped, and why.

`plan` is called by `memory/search.py`; `run` executes the plan and returns it with row counts.
`steps` has what each step shows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from functools import cached_property, partial
from typing import Final, cast

from memoriter.core.errors import BadQuery, NothingToRun, Unavailable
from memoriter.core.later import Later
from memoriter.core.lazy_dataclass import dataclass
from memoriter.core.other_words import Hinting
from memoriter.core.query import Query
from memoriter.core.ranking import Attempt
from memoriter.core.shown import drawn, plain, shown
from memoriter.kernel.library import kernel_choice
from memoriter.lanes.port import Context, Ready, Seeded, Skipped
from memoriter.pipeline.foreign_names import first_fitting
from memoriter.pipeline.recipe import Recipe
from memoriter.pipeline.steps import BUDGET, PlanStep, StepsAfter, planned_steps, second_step
from memoriter.pipeline.strict import refuse_unused
from memoriter.pipeline.waves import cannot_start
from memoriter.text.figures import attempt_text, step_text

Decided = dict[str, Ready | Skipped]
_RUNS: Final = Ready({})
_OFF: Final = Skipped("switched off", idle=True)


@dataclass(frozen=True)
class Plan(Hinting):
    """A recipe bound to a query and a view."""

    recipe: Recipe
    tenant: str
    seq: int
    _decided: Mapping[str, Ready | Skipped] = field(compare=False)
    """By step, in their order, that it runs or why it does not."""
    _steps: Later[tuple[PlanStep, ...]]
    _query: Query
    attempts: tuple[Attempt, ...] = ()
    """Every attempt of lanes that retry with looser queries; none before the run."""

    @property
    def mode(self) -> str | None:
        """The mode of the query."""
        return self._query.mode

    @property
    def steps(self) -> tuple[PlanStep, ...]:
        """Its steps with what each shows, which is made when somebody looks."""
        return self._steps.value

    @cached_property
    def _runs(self) -> dict[str, None]:
        """The names of the steps that run, in their order."""
        return {name: None for name, each in self._decided.items() if isinstance(each, Ready)}

    @cached_property
    def running(self) -> tuple[str, ...]:
        """The labels of the lanes that run."""
        return tuple(name for name in self._runs if name in self.recipe.lanes)

    @cached_property
    def boosting(self) -> tuple[str, ...]:
        """The labels of the boosts that run."""
        return tuple(name for name in self._runs if name in self.recipe.boosts)

    def runs(self, name: str) -> bool:
        """Whether a step runs."""
        return name in self._runs

    @property
    def skipped(self) -> dict[str, str]:
        """By step, why it is skipped; without lanes that are off or that the mode may miss."""
        mode = self.recipe.mode(self.mode)
        wanted = {
            name
            for name, lane in self.recipe.lanes.items()
            if lane.enabled and name in mode.lanes and name not in mode.may_miss
        }
        reasons = reasons_of(self)
        lanes = {name: reason for name, reason in reasons.items() if name in wanted}
        # A reranker that the recipe does not know was passed to `open`: the caller should read it.
        beside = () if self.recipe.reranks else ("rerank",)
        others = {
            name: reason
            for name, reason in reasons.items()
            if name not in self.recipe.lanes and (name in beside or not self._is_idle(name))
        }
        return lanes | others

    @property
    def missing(self) -> dict[str, str]:
        """The skipped steps that had something to do: these make the answer degraded."""
        if all(isinstance(each, Ready) or each.idle for each in self._decided.values()):
            return {}
        return {name: reason for name, reason in self.skipped.items() if not self._is_idle(name)}

    def _is_idle(self, name: str) -> bool:
        """Whether a step does not run because it has nothing to do."""
        decided = self._decided[name]
        return isinstance(decided, Skipped) and decided.idle

    @cached_property
    def terms(self) -> tuple[str, ...]:
        """The query terms of its lanes, each once."""
        ready = (each for each in self._decided.values() if isinstance(each, Ready))
        shown = (cast("list[str]", each.shows.get("terms", [])) for each in ready)
        return tuple(dict.fromkeys(term for terms in shown for term in terms))

    @property
    def backend(self) -> str | None:
        """The recipe's name (`labels`) for the lanes that ran and those with hits; None if none."""
        with_hits = {step.name for step in self.steps if step.rows}
        return first_fitting(self.recipe.labels, self.running, with_hits)

    @property
    def fell_back(self) -> bool:
        """Whether the mode's lanes could not run and its `otherwise` lane answers alone."""
        otherwise = self.recipe.mode(self.mode).otherwise
        return bool(self.missing) and otherwise is not None and self.running == (otherwise,)

    @property
    def approximate(self) -> bool:
        """Whether a lane uses an approximate scan."""
        return any(step.shows.get("scan") == "approximate" for step in self.steps)

    @property
    def status(self) -> str:
        """`complete`, or `degraded` if a step that had something to do was skipped."""
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
            "kernel": kernel_choice().name,
            **({} if self.mode is None else {"mode": self.mode, "fell_back": self.fell_back}),
            "steps": [step.to_dict() for step in self.steps],
        }

    def __str__(self) -> str:
        """The plan as a tree for people."""
        title = f"recipe {self.recipe.name} v{self.recipe.version} · {self.recipe.fingerprint[:8]}"
        lines = [f"{title}   tenant {self.tenant}   view {self.seq}"]
        for at, step in enumerate(self.steps):
            branch = "└─" if at == len(self.steps) - 1 else "├─"
            text = f"skipped: {step.skipped}" if step.skipped else step_text(step.shows)
            count = "" if step.rows is None else f"   {step.rows} rows"
            lines.append(f"{branch} {step.name:<9} {text}{count}")
            stem = " " if at == len(self.steps) - 1 else "│"
            lines += [f"{stem}            {attempt_text(each)}" for each in step.attempts[1:]]
        return "\n".join(lines)


def reasons_of(plan: Plan) -> dict[str, str]:
    """By step that does not run, why."""
    decided = plan._decided.items()  # pyright: ignore[reportPrivateUsage]  # of the same module
    return {name: each.reason for name, each in decided if isinstance(each, Skipped)}


def query_of(plan: Plan) -> Query:
    """The query of a plan."""
    return plan._query  # pyright: ignore[reportPrivateUsage]  # of the same module


def plan_after(
    plan: Plan,
    skipped: Mapping[str, Skipped],
    steps: StepsAfter,
    attempts: tuple[Attempt, ...] = (),
) -> Plan:
    """The plan with further steps skipped; `steps` makes all of them from those so far."""
    decided = {**plan._decided, **skipped}  # pyright: ignore[reportPrivateUsage]  # as above
    made = Later(lambda: steps(plan.steps))
    return Plan(
        plan.recipe, plan.tenant, plan.seq, decided, made,
        _query=query_of(plan), attempts=(*plan.attempts, *attempts),
    )  # fmt: skip


def plan(recipe: Recipe, ctx: Context) -> Plan:
    """Decide what runs, by each part's `ready`; no lane is run.

    Raises BadQuery, Unavailable (a required lane cannot run) or NothingToRun.
    """
    query = ctx.query
    if unknown := query.require - {*recipe.lanes, *(("rerank",) if recipe.reranks else ())}:
        raise BadQuery(
            f"require: recipe {recipe.name} has no lane {min(unknown)!r}",
            hint=f"its lanes: {', '.join(recipe.lanes)}",
            field="require",
        )
    decided: Decided = {"select": _RUNS}
    _decide_lanes(decided, recipe, ctx)
    decided["fuse"] = _RUNS
    _decide_boosts(decided, recipe, ctx)
    if len(recipe.passes) > 1:
        decided[second_step(recipe)] = _second_pass(recipe, ctx)
    for name, each in recipe.ordering_steps.items():
        decided[name] = each.ready(ctx, recipe) if each.enabled else _OFF
    if recipe.final.min_score is not None:
        decided["min_score"] = _RUNS
    if recipe.final.min_relevance is not None:
        decided["min_relevance"] = _RUNS
    decided["limit"] = _RUNS
    if query.budget:
        decided[BUDGET] = _RUNS
    steps = Later(partial(planned_steps, recipe, ctx, decided))
    made = Plan(recipe, query.scope.tenant, ctx.view.seq, decided, steps, _query=query)
    if recipe.missing == "refuse":
        refuse_unused(made, query, reasons_of(made))
    _must_run(made, query)
    return made


def _decide_lanes(decided: Decided, recipe: Recipe, ctx: Context) -> None:
    """Add the verdict of each lane, what is done before it, and the parts that cannot run."""
    verdicts = _verdicts(recipe, ctx)
    # The fallback lane is considered only if no lane of the mode can run.
    otherwise = recipe.mode(ctx.query.mode).otherwise
    if otherwise is not None and not any(isinstance(v, Ready) for v in verdicts.values()):
        verdicts[otherwise] = recipe.lanes[otherwise].ready(ctx.at(otherwise, {}))
    for label in recipe.lanes:
        verdict = verdicts[label]
        if isinstance(verdict, Skipped):
            decided[label] = verdict
            continue
        for part, each in verdict.before.items():
            decided[f"{label}.{part}"] = each
        decided[label] = verdict
        for part, why in verdict.lacks.items():
            decided[f"{label}.{part}"] = Skipped(why)


def _decide_boosts(decided: Decided, recipe: Recipe, ctx: Context) -> None:
    """Add the verdict of each boost that a pass uses; BadQuery if two exclude each other."""
    running: set[str] = set()
    for label in recipe.used_boosts:
        boost = recipe.boosts[label]
        if not boost.enabled:
            decided[label] = _OFF
        elif recipe.weight(label) == 0.0:
            decided[label] = Skipped("its weight is 0", idle=True)
        else:
            decided[label] = verdict = boost.ready(ctx)
            if isinstance(verdict, Ready):
                running.add(label)
    for label in sorted(running):
        if (rival := recipe.boosts[label].excludes) in running:
            raise BadQuery(
                f"the boosts {label!r} and {rival!r} cannot both run",
                hint=f"switch one off: overrides={{'boosts.{rival}.enabled': False}}",
                field=label,
            )


def _second_pass(recipe: Recipe, ctx: Context) -> Ready | Skipped:
    """Whether the second pass runs."""
    if not recipe.passes[1].enabled:
        return _OFF
    if recipe.reranks and not recipe.mode(ctx.query.mode).rerank:
        return Skipped(f"mode_off: not in mode {ctx.query.mode}", idle=True)
    if recipe.reranks and ctx.effects.reranker is None:
        return Skipped("no_reranker: this memory has none; open(…, reranker=…)", idle=True)
    return _RUNS


def _verdicts(recipe: Recipe, ctx: Context) -> dict[str, Ready | Skipped]:
    """Each lane's verdict; lanes that seed others come first."""
    out: dict[str, Ready | Skipped] = {}
    for wave in recipe.waves:
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


def _must_run(made: Plan, query: Query) -> None:
    if made.running and not query.require:
        return
    reasons = reasons_of(made)
    if missing := sorted(query.require & set(reasons)):
        label = missing[0]
        raise Unavailable(
            f"lane {label!r} is required and cannot run: {reasons[label]}",
            hint="leave this lane out of `require` to get the answer of the other lanes",
            field="require",
        )
    if not made.running and (made.missing or not made.skipped):
        lanes = [(label, reason) for label, reason in reasons.items() if label in made.recipe.lanes]
        listed = "; ".join(f"{label}: {reason}" for label, reason in lanes)
        raise NothingToRun(
            f"no lane of recipe {made.recipe.name} can run: {listed}",
            hint="each reason says what is missing"
            if query.text.strip()
            else "the query is empty; browse lists memories without one",
        )
