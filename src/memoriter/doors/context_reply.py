"""The reply of the operation `context`: an answer as a block for a prompt, and how good it is.

The hook asks a memory of its own process by `ask_context`, without the table of operations: an
agent waits for it before each reply, and the models of all requests take longer to make than the
search. A server answers the same by `handlers.context`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from memoriter.core.canonical import canonical, digest
from memoriter.core.errors import UnknownRecipe
from memoriter.core.names import JsonObject
from memoriter.memory.facade import Memory
from memoriter.pipeline.load import library, recipe_of
from memoriter.pipeline.plan import query_of
from memoriter.pipeline.recipe import Recipe
from memoriter.why.context import Include
from memoriter.why.result import Result
from memoriter.why.strengths import judgement

_SCOPE = ("agent", "user", "session")


def ask_context(memory: Memory, query: str, options: Mapping[str, Any]) -> JsonObject:
    """Ask a memory of this process; the options are those of a recall, those with None ignored."""
    given = {name: value for name, value in options.items() if value is not None}
    scope = {name: given.pop(name) for name in _SCOPE if name in given}
    limit = given.pop("limit", None)
    if isinstance(given.get("recipe"), str):  # a name, as a server takes it, and no file
        given["recipe"] = library_recipe(given["recipe"])
    result = (memory.scoped(**scope) if scope else memory).recall(query, limit, **given)
    return context_reply(result, "relevant", handle_of(result))


def library_recipe(name: str) -> Recipe:
    """The recipe of this name; raises UnknownRecipe for anything else, paths of files too."""
    if name not in library():
        raise UnknownRecipe(
            f"recipe: there is no recipe {name[:80]!r}",
            hint=f"known: {', '.join(library())}",
            field="recipe",
        )
    return recipe_of(name)


def context_reply(result: Result, include: Include, handle: str) -> JsonObject:
    """An answer as a block; `handle` is that of its receipt."""
    return {
        **result.context(include=include).to_dict(),
        "status": result.status,
        **judgement(result.relevance, result.strength, result.remarks),
        **_thresholds(result.plan.recipe),
        "receipt": handle,
    }


def _thresholds(recipe: Recipe) -> JsonObject:
    """The relevance from which a hit is weak and strong, if the recipe has relevance."""
    rule = recipe.relevance
    return {} if rule is None else {"thresholds": {"weak": rule.weak, "strong": rule.strong}}


def handle_of(result: Result) -> str:
    """The handle of an answer: a digest of its recipe, view and query, its total and its hits."""
    plan = result.plan
    asked = [plan.recipe.fingerprint, plan.seq, query_of(plan).to_dict(), plan.missing]
    content = [*asked, result.total, *([hit.id, hit.score] for hit in result)]
    return digest("memoriter/answer/2", canonical(content)).hex()
