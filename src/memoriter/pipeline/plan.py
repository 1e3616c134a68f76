"""Plans a search before it runs: which lanes and steps run, which are skipped, and why.

`plan` is called by `memory/search.py`; `run` executes the plan and returns it with row counts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Final, cast

from memoriter.core.errors import BadQuery, NothingToRun, Unavailable
from memoriter.core.lazy_dataclass import dataclass
from memoriter.core.other_words import Hinting
from memoriter.core.query import Query
from memoriter.core.ranking import Attempt
from memoriter.core.shown import counted, drawn, plain, shown
from memoriter.core.times import iso
from memoriter.kernel.library import kernel_choice
from memoriter.lanes.port import Context, Ready, Seeded, Skipped
from memoriter.pipeline.foreign_names import first_fitting
from memoriter.pipeline.orderings.port import Ordering
from memoriter.pipeline.recipe import Recipe
from memoriter.pipeline.strict import refuse_unused
from memoriter.pipeline.waves import cannot_start
from memoriter.text.figures import attempt_text, step_text
from memoriter.text.past import past_words
from memoriter.text.prompt import head_size

BUDGET: Final = "budget"
"""The step that drops hits that do not fit into the prompt's budget."""


@dataclass(frozen=True, slots=True)
class PlanStep(Hinting):
    """One step of a plan: its options, or why it is skipped; after the run, its row count."""

    name: str
    shows: Mapping[str, object]
    skipped: str | None = None
    rows: int | None = None
    attempts: tuple[Attempt, ...] = ()
    """Every query that a lane tried, if it tried more than one."""
    idle: bool = False
    """Whether it was skipped because there was nothing to do: the answer is still complete."""

    def __repr__(self) -> str:
        text = "" if self.rows is None else counted(self.rows, "row")
        if self.skipped is not None:
            text = f"skipped, {plain(self.skipped)}"
        return shown(f"PlanStep {plain(self.name)}", text)

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


@dataclass(frozen=True)
class Plan(Hinting):
    """A recipe bound to a query and a view."""

    recipe: Recipe
    tenant: str
    seq: int
    steps: tuple[PlanStep, ...]
    mode: str | None = None

    @cached_property
    def _runs(self) -> dict[str, None]:
        """The names of the steps that run, in their order."""
        return {step.name: None for step in self.steps if step.skipped is None}

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
        lanes = {s.name: s.skipped for s in self.steps if s.name in wanted}
        # A reranker that the recipe does not know was passed to `open`: the caller should read it.
        beside = () if reranks(self.recipe) else ("rerank",)
        rest = (s for s in self.steps if s.name not in self.recipe.lanes)
        others = {s.name: s.skipped for s in rest if not s.idle or s.name in beside}
        return {name: reason for name, reason in (lanes | others).items() if reason is not None}

    @property
    def missing(self) -> dict[str, str]:
        """The skipped steps that had something to do: these make the answer degraded."""
        idle = {step.name for step in self.steps if step.idle}
        return {label: reason for label, reason in self.skipped.items() if label not in idle}

    @property
    def terms(self) -> tuple[str, ...]:
        """The query terms of its lanes, each once."""
        shown = (cast("list[str]", step.shows.get("terms", [])) for step in self.steps)
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
    def attempts(self) -> tuple[Attempt, ...]:
        """Every attempt of lanes that retry with looser queries."""
        return tuple(attempt for step in self.steps for attempt in step.attempts)

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


def plan(recipe: Recipe, ctx: Context) -> Plan:
    """Decide what runs, by each part's `ready`; no lane is run.

    Raises BadQuery, Unavailable (a required lane cannot run) or NothingToRun.
    """
    query = ctx.query
    if unknown := query.require - {*recipe.lanes, *(("rerank",) if reranks(recipe) else ())}:
        raise BadQuery(
            f"require: recipe {recipe.name} has no lane {min(unknown)!r}",
            hint=f"its lanes: {', '.join(recipe.lanes)}",
            field="require",
        )
    verdicts = _verdicts(recipe, ctx)
    # The fallback lane is considered only if no lane of the mode can run.
    otherwise = recipe.mode(query.mode).otherwise
    if otherwise is not None and not any(isinstance(v, Ready) for v in verdicts.values()):
        verdicts[otherwise] = recipe.lanes[otherwise].ready(ctx.at(otherwise, {}))
    lanes = [
        step
        for label in recipe.lanes
        for step in _steps(label, _whole(verdicts[label], label, recipe, ctx))
    ]
    made = Plan(
        recipe,
        query.scope.tenant,
        ctx.view.seq,
        (
            PlanStep("select", _selecting(recipe, ctx)),
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
        refuse_unused(made, query)
    _must_run(made, query)
    return made


def _whole(verdict: Ready | Skipped, label: str, recipe: Recipe, ctx: Context) -> Ready | Skipped:
    """A lane's verdict, with the seeds of the call and every option that it does not show."""
    if isinstance(verdict, Skipped):
        return verdict
    given = {"given": list(ctx.query.seeds[label])} if label in ctx.query.seeds else {}
    rest = {
        key: value
        for key, value in recipe.lanes[label].shows().items()
        if key not in verdict.shows and value not in ([], {})
    }
    return Ready({**verdict.shows, **given, **rest}, verdict.lacks, verdict.before)


def _fusing(recipe: Recipe, at: int) -> dict[str, object]:
    fuse = recipe.passes[at].fuse
    shows: dict[str, object] = {}
    if fuse is not None:
        shows = {"kind": fuse.kind_name(), **fuse.shows()}
        del shows["lists"]
    if recipe.passes[at].ties or recipe.ties != ("row",):
        shows["ties"] = list(recipe.passes[at].ties or recipe.ties)
    if recipe.passes[at].boosts:
        shows["boosts"] = list(recipe.passes[at].boosts)
    return shows


def _step(name: str, verdict: Ready | Skipped) -> PlanStep:
    if isinstance(verdict, Ready):
        return PlanStep(name, verdict.shows)
    return PlanStep(name, {}, verdict.reason, idle=verdict.idle)


def _steps(label: str, verdict: Ready | Skipped) -> Iterator[PlanStep]:
    """The steps before a lane, its own, and a skipped step for each part that cannot run."""
    ready = verdict if isinstance(verdict, Ready) else Ready({})
    yield from (_step(f"{label}.{part}", each) for part, each in ready.before.items())
    yield _step(label, verdict)
    yield from (PlanStep(f"{label}.{part}", {}, why) for part, why in ready.lacks.items())


def _boosting(recipe: Recipe, ctx: Context) -> Iterator[PlanStep]:
    """The steps of the boosts that a pass uses; BadQuery if two of them exclude each other."""
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
                f"the boosts {label!r} and {rival!r} cannot both run",
                hint=f"switch one off: overrides={{'boosts.{rival}.enabled': False}}",
                field=label,
            )


def reranks(recipe: Recipe) -> bool:
    """Whether a recipe's second pass is a reranker."""
    return len(recipe.passes) > 1 and recipe.passes[1].rerank is not None


def _again(recipe: Recipe, ctx: Context) -> Iterator[PlanStep]:
    """The step of the second pass, if there is one."""
    if len(recipe.passes) == 1:
        return
    pass_ = recipe.passes[1]
    name = "rerank" if pass_.rerank is not None else "again"
    shows: dict[str, object] = {}
    if pass_.head is not None:
        shows["head"] = pass_.head.count
        shows |= {"by": list(pass_.head.by)} if pass_.head.by else {}
        shows["rest"] = "below, in its former order"
    if pass_.rerank is None:
        shows |= _fusing(recipe, 1)
    else:
        shows |= pass_.rerank.shows()
        shows |= {"boosts": list(pass_.boosts)} if pass_.boosts else {}
    off: Skipped | None = None
    if not pass_.enabled:
        off = Skipped("switched off", idle=True)
    elif pass_.rerank is not None and not recipe.mode(ctx.query.mode).rerank:
        off = Skipped(f"mode_off: not in mode {ctx.query.mode}", idle=True)
    elif pass_.rerank is not None and ctx.effects.reranker is None:
        off = Skipped("no_reranker: this memory has none; open(…, reranker=…)", idle=True)
    yield PlanStep(name, shows) if off is None else _step(name, off)


def _ordering(recipe: Recipe, ctx: Context) -> Iterator[PlanStep]:
    for name, each in ordering_steps(recipe).items():
        off = None if each.enabled else Skipped("switched off", idle=True)
        yield _step(name, off or each.ready(ctx, recipe))
    if recipe.final.min_score is not None:
        yield PlanStep("min_score", {"min_score": recipe.final.min_score})
    if recipe.final.min_relevance is not None:
        yield PlanStep("min_relevance", {"min_relevance": recipe.final.min_relevance})


def _budgeting(ctx: Context) -> Iterator[PlanStep]:
    if ctx.query.budget:
        tokens, chars = head_size()
        head = {"head_tokens": tokens, "head_chars": chars}
        yield PlanStep(BUDGET, {**ctx.query.budget.to_dict(), **head})


def ordering_steps(recipe: Recipe) -> dict[str, Ordering]:
    """The orderings by the names of their steps; a second one of a kind is called `cap.2`."""
    out: dict[str, Ordering] = {}
    for each in recipe.order:
        kind = each.kind_name()
        again = sum(name == kind or name.startswith(f"{kind}.") for name in out)
        out[f"{kind}.{again + 1}" if again else kind] = each
    return out


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


def _selecting(recipe: Recipe, ctx: Context) -> dict[str, object]:
    shown: dict[str, object] = {**ctx.query.scope.filters(), "now": iso(ctx.query.now)}
    if ctx.query.as_of is not None:
        shown["as_of"] = iso(ctx.query.as_of)
    if ctx.recorded is not None:
        shown["recorded"] = f"up to entry {ctx.recorded}"
    words = past_words(ctx.query.text, ctx.query.now)
    if recipe.select.superseded == "past" and words is not None:
        shown["superseded"] = f"shown: the question asks about the past ({words})"
    return {**shown, **{f"after {step}": count for step, count in ctx.selection.funnel}}


def _must_run(made: Plan, query: Query) -> None:
    reasons = {s.name: s.skipped for s in made.steps if s.skipped is not None}
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
