"""Translates the option names of another system, which a recipe declares in `names` and `values`.

A name maps to a path of the recipe (`lanes.words.pool`) or to a test of the filter
(`where.importance.gte`). Other targets are documentation only: an option of a call (`ask.as_of`), a
field of a record (`record.text`) or of the answer (`result.total`, `hit.matched`), a method
(`memory.recall`), an option of `open` (`open.tenant`), or `nothing: …` with the reason why there is
no counterpart. `memory/build_query.py` calls `resolved_overrides`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Final

from memoriter.core.errors import BadFilter, BadRecipe
from memoriter.core.validation import Bounds
from memoriter.core.where import AllOf, Where, parse_where
from memoriter.lanes.spec import Spec
from memoriter.pipeline.fusing import Label

if TYPE_CHECKING:
    from memoriter.pipeline.recipe import Recipe

Path = str | tuple[str, ...]
"""The target of a name: of several filter tests the first that accepts the value, of paths all."""
KnobValue = bool | int | float | str | tuple[str, ...] | None
Mean = Annotated[dict[str, KnobValue], Bounds(min_length=1)]
"""Our value of an option, by the other system's spelling."""
_FOR_READERS: Final = ("ask", "record", "result", "hit", "memory", "open", "nothing")
"""Prefixes of targets that are documentation only and cannot be overridden."""


class Mix(Spec):
    """A combination of lanes that another system has a name for."""

    ran: tuple[Label, ...] = ()
    with_hits: tuple[Label, ...] = ()

    def fits(self, ran: Collection[str], with_hits: Collection[str]) -> bool:
        """Whether all lanes of `ran` ran and all of `with_hits` had hits."""
        return set(self.ran) <= set(ran) and set(self.with_hits) <= set(with_hits)


def first_fitting(
    mixes: Mapping[str, Mix], ran: Collection[str], with_hits: Collection[str]
) -> str | None:
    """The name of the first mix that fits; None if none does."""
    return next((name for name, mix in mixes.items() if mix.fits(ran, with_hits)), None)


def resolved_overrides(
    recipe: Recipe, overrides: Mapping[str, object]
) -> tuple[dict[str, object], Where]:
    """(overrides by path of the recipe, the filter that the other overrides stand for).

    Raises BadRecipe for a name that is documentation only or a value that is not in `values`.
    """
    resolved: dict[str, object] = {}
    tests: list[Where] = []
    for name, value in overrides.items():
        target = recipe.names.get(name, name)
        paths = (target,) if isinstance(target, str) else target
        where = _tests_of(paths)
        if where and value is None:  # no test
            continue
        translated = _translated(recipe, name, value)
        if where:
            tests.append(_test(name, where, translated))
        elif not _unset(recipe, name, value):
            for path in paths:
                _settable(name, path)
                resolved[path] = translated
    return resolved, AllOf(tuple(tests))


def filter_names(recipe: Recipe) -> dict[str, list[tuple[str, str]]]:
    """Name → the tests of the filter, (attribute, operator), that it may stand for."""
    targets = {
        name: _tests_of((target,) if isinstance(target, str) else target)
        for name, target in recipe.names.items()
    }
    return {
        name: [(path.rpartition(".")[0], path.rpartition(".")[2]) for path in paths]
        for name, paths in targets.items()
        if paths
    }


def _tests_of(paths: Sequence[str]) -> list[str]:
    """Those of the paths that are tests of the filter."""
    return [path.removeprefix("where.") for path in paths if path.startswith("where.")]


def _unset(recipe: Recipe, name: str, value: object) -> bool:
    """Whether a number of 0 or less means the recipe's default (`not_positive`)."""
    if recipe.not_positive == "refuse" or name not in recipe.names or isinstance(value, bool):
        return False
    return isinstance(value, int | float) and value <= 0


def in_callers_words(
    recipe: Recipe, overrides: Mapping[str, object], error: BadRecipe
) -> BadRecipe:
    """An error about a path of the recipe, restated under the name that the caller used."""
    for name in overrides:
        target = recipe.names.get(name, ())
        paths = (target,) if isinstance(target, str) else target
        if error.field in [path.replace("fusion.", "pass.0.fuse.", 1) for path in paths]:
            reason = error.message.rpartition(f"{error.field}: ")[2]
            return BadRecipe(f"overrides: {name}: {reason}", hint=error.hint, field=name)
    return error


def _translated(recipe: Recipe, name: str, value: object) -> object:
    """The value in our own spelling."""
    table = recipe.values.get(name)
    if table is None:
        return value
    # TOML keys are texts, so true and 1 are looked up as "true" and "1".
    spelled = str(value).lower() if isinstance(value, bool) else str(value)
    if spelled in table:
        return table[spelled]
    if value in table.values():
        return value
    known = ", ".join(table)
    raise BadRecipe(f"overrides: {name} cannot be {value!r}", hint=f"known: {known}", field=name)


def _settable(name: str, path: str) -> None:
    """Raise BadRecipe if a target is documentation only."""
    place, _, rest = path.partition(": " if path.startswith("nothing: ") else ".")
    if place in _FOR_READERS:
        calls = {"ask": "recall", "open": "open"}
        other = f"leave it out: {rest}" if place == "nothing" else f"it is {path} here"
        hint = f"{calls[place]}(…, {rest}=…)" if place in calls else other
        hint = _added(rest) if rest.startswith("overrides.") else hint
        raise BadRecipe(
            f"overrides: {name!r} is not an option of the recipe", hint=hint, field=name
        )


def _added(path: str) -> str:
    """The call that adds a lane with this option."""
    _, _, lane, *key = path.split(".", 3)
    inside = f"'{key[0]}': …" if key else "…"
    return f"recall(…, overrides={{'lanes.{lane}': {{{inside}}}}})"


def _test(name: str, paths: Sequence[str], value: object) -> Where:
    """The first test that accepts the value; otherwise the error of the last one."""
    for path in paths[:-1]:
        try:
            return _parsed(path, value)
        except BadFilter:
            continue
    try:
        return _parsed(paths[-1], value)
    except BadFilter as error:
        raise BadFilter(f"{name}: {error.message}", hint=error.hint, field=name) from None


def _parsed(path: str, value: object) -> Where:
    attribute, _, op = path.rpartition(".")
    return parse_where({attribute: {op: value}})


def both(one: Where, other: Where) -> Where:
    """The conjunction of two filters; one of them if the other is empty."""
    parts = [each for each in (one, other) if each != AllOf()]
    return AllOf(tuple(parts)) if len(parts) != 1 else parts[0]
