"""What a recipe says in the words of another system: its knobs, its filters, its name of a mix.

All of it is data of the recipe. A name leads to a path of the recipe (`lanes.words.pool`), to a
test of the filter (`where.importance.gte`), or, for people to read, to what a call says
(`ask.as_of`), a field of a record (`record.text`) or of the answer (`result.total`, `hit.matched`),
to what a memory does (`memory.recall`) or is opened with (`open.tenant`). `nothing: …` says why
there is no such thing here.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Final

from pydantic import Field

from memoriter.core.errors import BadFilter, BadRecipe
from memoriter.core.where import AllOf, Where, parse_where
from memoriter.lanes.spec import Spec
from memoriter.pipeline.fusing import Label

if TYPE_CHECKING:
    from memoriter.pipeline.recipe import Recipe

Path = str | tuple[str, ...]
"""Where a name leads: of several tests the first that takes the value, of paths all of them."""
Told = bool | int | float | str | tuple[str, ...] | None
Mean = Annotated[dict[str, Told], Field(min_length=1)]
"""What the values of a knob are here, by how the other system writes them."""
READ: Final = ("ask", "record", "result", "hit", "memory", "open", "nothing")
"""Places that a name may lead to for people to read alone."""


class Mix(Spec):
    """A mix of lanes: those that ran, and those that found something."""

    ran: tuple[Label, ...] = ()
    found: tuple[Label, ...] = ()

    def fits(self, ran: Collection[str], found: Collection[str]) -> bool:
        """Whether all of its lanes did."""
        return set(self.ran) <= set(ran) and set(self.found) <= set(found)


def first_fitting(
    mixes: Mapping[str, Mix], ran: Collection[str], found: Collection[str]
) -> str | None:
    """The name of the first mix that fits; None where none does, or none is named."""
    return next((name for name, mix in mixes.items() if mix.fits(ran, found)), None)


def settled(recipe: Recipe, overrides: Mapping[str, object]) -> tuple[dict[str, object], Where]:
    """(overrides by paths of the recipe, the tests of the filter that some of them are)."""
    mine: dict[str, object] = {}
    tests: list[Where] = []
    for name, value in overrides.items():
        leads = recipe.names.get(name, name)
        meant = _meant(recipe, name, value)
        paths = (leads,) if isinstance(leads, str) else leads
        where = [path.removeprefix("where.") for path in paths if path.startswith("where.")]
        if where:
            tests.append(_test(name, where, meant))
        elif not _unset(recipe, name, value):
            for path in paths:
                _settable(name, path)
                mine[path] = meant
    return mine, AllOf(tuple(tests))


def _unset(recipe: Recipe, name: str, value: object) -> bool:
    """Whether a number means that the recipe's own is to stay."""
    if recipe.not_positive == "refuse" or name not in recipe.names or isinstance(value, bool):
        return False
    return isinstance(value, int | float) and value <= 0


def by_name(recipe: Recipe, overrides: Mapping[str, object], error: BadRecipe) -> BadRecipe:
    """An error of a recipe under the name that the caller used."""
    for name in overrides:
        leads = recipe.names.get(name, ())
        paths = (leads,) if isinstance(leads, str) else leads
        if error.field in [path.replace("fusion.", "pass.0.fuse.", 1) for path in paths]:
            reason = error.message.rpartition(f"{error.field}: ")[2]
            return BadRecipe(f"overrides: {name}: {reason}", hint=error.hint, field=name)
    return error


def _meant(recipe: Recipe, name: str, value: object) -> object:
    """A value as it is written here."""
    table = recipe.values.get(name)
    if table is None:
        return value
    spelled = str(value).lower() if isinstance(value, bool) else str(value)
    if spelled in table:
        return table[spelled]
    if value in table.values():
        return value
    known = ", ".join(table)
    raise BadRecipe(f"overrides: {name} cannot be {value!r}", hint=f"known: {known}", field=name)


def _settable(name: str, path: str) -> None:
    """Refuse a name that is told to people alone."""
    place, _, rest = path.partition(": " if path.startswith("nothing: ") else ".")
    if place in READ:
        calls = {"ask": "recall", "open": "open"}
        told = f"{calls[place]}(…, {rest}=…)" if place in calls else f"it is {path} here"
        told = _added(rest) if rest.startswith("overrides.") else told
        raise BadRecipe(f"overrides: {name!r} is no number of the recipe", hint=told, field=name)


def _added(path: str) -> str:
    """How a call says what belongs to a lane that it adds."""
    _, _, lane, *key = path.split(".", 3)
    inside = f"'{key[0]}': …" if key else "…"
    return f"recall(…, overrides={{'lanes.{lane}': {{{inside}}}}})"


def _test(name: str, paths: Sequence[str], value: object) -> Where:
    """The first test that takes the value; the last one says what is wrong."""
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
    """Both filters; either alone where the other keeps everything."""
    parts = [each for each in (one, other) if each != AllOf()]
    return AllOf(tuple(parts)) if len(parts) != 1 else parts[0]
