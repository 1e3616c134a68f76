"""The steps of a plan as people read them: options, reasons, row counts.

Which steps run is decided in `plan`. What they show is made here, when somebody looks: most plans
are never read.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from memoriter.core.lazy_dataclass import dataclass
from memoriter.core.other_words import Hinting
from memoriter.core.ranking import Attempt
from memoriter.core.shown import counted, plain, shown
from memoriter.core.times import iso
from memoriter.lanes.port import Context, Ready, Skipped
from memoriter.pipeline.recipe import Recipe
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


StepsAfter = Callable[[tuple[PlanStep, ...]], tuple[PlanStep, ...]]
"""Makes the steps of a later plan from those of the one before."""


def planned_steps(
    recipe: Recipe, ctx: Context, decided: Mapping[str, Ready | Skipped]
) -> tuple[PlanStep, ...]:
    """The steps of a plan that did not run yet, in their order."""
    more = _shown(recipe, ctx)
    return tuple(
        PlanStep(name, {}, each.reason, idle=each.idle)
        if isinstance(each, Skipped)
        else PlanStep(name, _whole(name, each.shows, recipe, ctx) | more.get(name, {}))
        for name, each in decided.items()
    )


def _shown(recipe: Recipe, ctx: Context) -> dict[str, dict[str, object]]:
    """By step what it shows besides the options of a lane, boost or ordering."""
    final, budget = recipe.final, ctx.query.budget
    tokens, chars = head_size()
    return {
        "select": _selecting(recipe, ctx),
        "fuse": _fusing(recipe, 0),
        **({} if len(recipe.passes) == 1 else {second_step(recipe): _again(recipe)}),
        "min_score": {"min_score": final.min_score},
        "min_relevance": {"min_relevance": final.min_relevance},
        "limit": {"limit": ctx.query.limit},
        BUDGET: {**budget.to_dict(), "head_tokens": tokens, "head_chars": chars},
    }


def _whole(
    name: str, shows: Mapping[str, object], recipe: Recipe, ctx: Context
) -> dict[str, object]:
    """What a step shows; of a lane also the seeds of the call and every other option."""
    if name not in recipe.lanes:
        return dict(shows)
    given = {"given": list(ctx.query.seeds[name])} if name in ctx.query.seeds else {}
    rest = {
        key: value
        for key, value in recipe.lanes[name].shows().items()
        if key not in shows and value not in ([], {})
    }
    return {**shows, **given, **rest}


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


def second_step(recipe: Recipe) -> str:
    """The name of the step of a second pass."""
    return "rerank" if recipe.reranks else "again"


def _again(recipe: Recipe) -> dict[str, object]:
    """What the step of the second pass shows."""
    pass_ = recipe.passes[1]
    shows: dict[str, object] = {}
    if pass_.head is not None:
        shows["head"] = pass_.head.count
        shows |= {"by": list(pass_.head.by)} if pass_.head.by else {}
        shows["rest"] = "below, in its former order"
    if pass_.rerank is None:
        return shows | _fusing(recipe, 1)
    shows |= pass_.rerank.shows()
    return shows | ({"boosts": list(pass_.boosts)} if pass_.boosts else {})
