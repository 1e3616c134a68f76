"""Loads recipes (by name, from a TOML file, from data, from an entry point) and applies overrides.

`recipe_of` is the entry for callers; `overridden` and `with_lists` derive the recipe of one call.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping
from functools import cache, lru_cache
from importlib import resources
from pathlib import Path
from typing import Any, Final, cast

from memoriter.core import plugins
from memoriter.core.errors import BadQuery, BadRecipe, UnknownRecipe
from memoriter.core.validation import DataMistake
from memoriter.index.ties import ATTRIBUTES
from memoriter.lanes.port import Lane
from memoriter.lanes.spec import options_of
from memoriter.pipeline.kinds import kinds
from memoriter.pipeline.override_hints import hint_for_path, hint_for_value, weight_hint
from memoriter.pipeline.recipe import RESERVED, Recipe
from memoriter.pipeline.recipe_errors import children, recipe_error


def overridden(recipe: Recipe, overrides: Mapping[str, object]) -> Recipe:
    """The recipe with some values changed for one call, by dotted path.

    A lane or boost may be added as a table, or removed with None; an added boost that no pass names
    is applied last in the first pass. A path may point into a part that an earlier override added,
    defaults included. Raises BadRecipe for an unknown path.
    """
    if not overrides:
        return recipe
    data, origin = recipe.to_data(), f"recipe {recipe.name} with overrides"
    try:
        for path, value in overrides.items():
            known = tuple(recipe.names) if "." not in path else ()
            try:
                _set(data, path, value, known)
            except BadRecipe:
                # An added table lacks its defaults until the recipe is parsed: then try again.
                data = parse_recipe(data, origin).to_data()
                _set(data, path, value, known)
        changed = parse_recipe(data, origin)
        if added := _unapplied(changed, recipe):
            data = changed.to_data()
            data["pass"][0]["boosts"] += added
            changed = parse_recipe(data, origin)
    except BadRecipe as error:
        error.hint = _override_hint(recipe, overrides, error) or error.hint
        raise
    return changed


def _unapplied(recipe: Recipe, before: Recipe) -> list[str]:
    """The boosts that overrides added and no pass names."""
    named = {*recipe.fused, *(label for pass_ in recipe.passes for label in pass_.boosts)}
    return [label for label in recipe.boosts if label not in {*before.boosts, *named}]


def _override_hint(recipe: Recipe, overrides: Mapping[str, object], error: BadRecipe) -> str:
    """A hint with the overrides that were probably meant; empty if unknown."""
    data = recipe.to_data()
    lanes = [path.removeprefix("lanes.") for path in overrides if path.startswith("lanes.")]
    without = [each for each in lanes if error.message.endswith(f"has no weight for {each!r}")]
    if without:
        return weight_hint(without)
    if ": relevance needs " in error.message:
        return 'add "relevance": None to the overrides: hits then have no relevance'
    for path, value in overrides.items():
        full = full_path(path)
        if value is None and full.partition(".")[0] in _OPEN and value_at(data, full):
            return hint_for_path(data, path, value)
        if f"{error.field}.".startswith(f"{full}.") or full.endswith(".kind"):
            return hint_for_value(data, full, value)
    return ""


def is_path(text: str) -> bool:
    """Whether a text is a dotted path into a recipe, such as `lanes.words.pool`."""
    return bool(_PATH.fullmatch(text)) and text.partition(".")[0] in {
        "fusion",
        *options_of(Recipe),
    }


def value_at(data: object, path: str) -> object:
    """The value at a path of a recipe's data; None if there is none."""
    for key in full_path(path).split("."):
        data = children(data).get(key)
    return data


def full_path(path: str) -> str:
    """A path with the short form `fusion` expanded to `pass.0.fuse`."""
    return _FUSION.sub("pass.0.fuse", path)


def with_lists(recipe: Recipe, lists: Mapping[str, object]) -> Recipe:
    """The recipe with a lane added for each list of a call that it does not declare.

    Raises BadQuery if a label is taken.
    """
    new = {label: value for label, value in lists.items() if label not in recipe.lanes}
    for label, value in lists.items():
        lane = recipe.lanes.get(label) or recipe.boosts.get(label)
        fits = isinstance(lane, Lane) and lane.listed and lane.for_list(value) is not None
        if label in RESERVED or (lane is not None and not fits):
            raise BadQuery(
                f"lists: the label {label!r} is reserved, or used by the recipe for something else",
                hint="give the list another label",
                field="lists",
            )
    if not new:
        return recipe
    data = recipe.to_data()
    for label, value in new.items():
        made = (each.for_list(value) for each in kinds("lanes") if issubclass(each, Lane))
        data["lanes"][label] = next(filter(None, made))
        fuse = data["pass"][0]["fuse"]
        if "weights" in fuse:
            fuse["weights"][label] = fuse["lists"]
        for mode in data["modes"].values():
            mode["lanes"] = [*mode["lanes"], label]
    return parse_recipe(data, f"recipe {recipe.name} with lists")


def order_with_copies(recipe: Recipe) -> list[object]:
    """The orderings of a recipe as data, but for those that leave one record for several."""
    return [each.to_data() for each in recipe.order if not each.joins]


def only_reading(recipe: Recipe, generation: str) -> Recipe:
    """The recipe cut down to its lanes that read one generation, ranked by their raw scores.

    Nothing reranks it. A recipe that has nothing else is returned unchanged. Raises BadRecipe if
    it has no such lane.
    """
    labels = [label for label, lane in recipe.lanes.items() if lane.generation == generation]
    if not labels:
        raise BadRecipe(
            f"recipe {recipe.name} has no lane that searches by {generation}",
            hint="use a recipe that has one, for example lexical",
            field="recipe",
        )
    only = len(labels) == len(recipe.lanes) and len(recipe.passes) == 1
    if only and not recipe.boosts and not recipe.order:
        return recipe
    data = recipe.to_data()
    scores = {"kind": "weighted", "scale": "none", "weights": dict.fromkeys(labels, 1.0)}
    kept = ("format", "version", "about", "analyzer", "window", "select", "final")
    parts = {key: data[key] for key in kept}
    parts |= {
        "name": f"{recipe.name}-alone",
        "ties": [tie for tie in data["ties"] if tie.removeprefix("-") in ATTRIBUTES],
        "lanes": {label: {**data["lanes"][label], "enabled": True} for label in labels},
        "pass": [{"fuse": scores}],
    }
    return parse_recipe(parts, f"recipe {recipe.name}")


def _set(data: dict[str, Any], path: str, value: object, names: tuple[str, ...]) -> None:
    keys = full_path(path).split(".")
    if len(keys) == 2 and keys[0] in _OPEN and isinstance(value, Mapping):  # noqa: PLR2004  # as written
        data[keys[0]][keys[1]] = value
        return
    at: object = data
    for key in keys[:-1]:
        at = children(at).get(key)
    known = children(at)
    weighs = keys[-2:-1] in (["weights"], ["model_weights"])  # takes any lane or boost
    weighs = weighs and keys[-1] in {*data["lanes"], *data["boosts"]}
    if not isinstance(at, dict | list) or (keys[-1] not in known and not weighs):
        listed = f"known there: {', '.join(names or known)}" if names or len(keys) > 1 else ""
        every = f"`memoriter recipe show {data['name']} --json` has every path"
        # Of a list, only its own numbers can be meant.
        meant = "" if isinstance(at, list) else hint_for_path(data, path, value)
        hint = meant or (listed if known else "") or every
        raise BadRecipe(f"overrides: the recipe has no {path!r}", hint=hint, field=path)
    if keys[0] in _OPEN and len(keys) == 2 and value is None:  # noqa: PLR2004  # as above
        del data[keys[0]][keys[1]]
        return
    if isinstance(at, list):
        cast("list[object]", at)[int(keys[-1])] = value
    else:
        cast("dict[str, object]", at)[keys[-1]] = value


def parse_recipe(data: object, origin: str) -> Recipe:
    """A recipe from data; BadRecipe with the path of the first mistake.

    Types are strict: neither "1" nor true is a number.
    """
    try:
        plain = json.loads(json.dumps(data, default=_plain))
    except (TypeError, RecursionError) as error:
        raise BadRecipe(
            f"{origin}: has a value that a recipe cannot have ({error})", hint=_HINT
        ) from None
    try:
        return Recipe.read(plain)
    except DataMistake as mistake:
        name = value_at(data, "name")
        hint = _SHOW.format(name) if name in library() else _HINT
        raise recipe_error(data, origin, mistake, hint) from None


def _plain(value: object) -> object:
    if isinstance(value, Mapping):
        return dict(cast("Mapping[str, object]", value))
    raise TypeError(f"{type(value).__name__} cannot be a value in a recipe")


_OPEN: Final = ("lanes", "boosts")
"""Tables to which an override may add an entry."""
_FUSION: Final = re.compile(r"^fusion(?=\.|$)")
_PATH: Final = re.compile(r"[a-z][A-Za-z0-9_-]*(\.[A-Za-z0-9_-]+)+")
_FOLDER: Final = "memoriter.pipeline.recipes"
_SHOW: Final = "`memoriter recipe show {} --json` prints every option"
_HINT: Final = "`memoriter recipe show memoriter` prints a complete example"


def read_recipe(path: Path) -> Recipe:
    """A recipe from a TOML file; BadRecipe if it is invalid, UnknownRecipe if unreadable."""
    try:
        return parse_recipe(tomllib.loads(path.read_text(encoding="utf-8")), path.name)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BadRecipe(f"{path.name} is not valid TOML: {error}", hint=_HINT) from None
    except OSError as error:
        raise UnknownRecipe(
            f"recipe {path} cannot be read: {error.strerror}", hint="check the path"
        ) from None


@cache
def ours() -> tuple[str, ...]:
    """The names of our own recipes (`pipeline/recipes/*.toml`)."""
    names = (file.name for file in resources.files(_FOLDER).iterdir())
    return tuple(sorted(name.removesuffix(".toml") for name in names if name.endswith(".toml")))


def library() -> tuple[str, ...]:
    """The names of all recipes: our own, and those of entry points (`memoriter.recipes`)."""
    return tuple(sorted({*ours(), *plugins.points("recipes")}))


_MEANT: Final = {
    **dict.fromkeys(("bm25", "words", "keywords", "keyword", "fts", "text"), "lexical"),
    **dict.fromkeys(("vector", "vectors", "embedding", "meaning", "dense"), "semantic"),
    **dict.fromkeys(("default", "hybrid", "standard"), "memoriter"),
    **dict.fromkeys(("graph", "links"), "linked"),
}
"""What other systems call such a ranking, and the name of our recipe."""


def source(name: str) -> str:
    """The TOML text of a named recipe, comments included; UnknownRecipe if there is none.

    The value of an entry point (`memoriter.recipes`) is TOML text, or the path of a file.
    """
    if name in ours():
        return (resources.files(_FOLDER) / f"{name}.toml").read_text(encoding="utf-8")
    point = plugins.points("recipes").get(name)
    if point is None:
        hint = f"{plugins.known(library())}, or the path of a .toml file"
        if name in _MEANT:
            hint = f"did you mean {_MEANT[name]}? {hint}"
        raise UnknownRecipe(f"there is no recipe {name!r}", hint=hint)
    try:
        value = plugins.load("recipes", name, object)
        return value.read_text(encoding="utf-8") if isinstance(value, Path) else str(value)
    except (plugins.CannotLoad, OSError, UnicodeDecodeError) as error:
        raise UnknownRecipe(
            f"recipe {name!r} of another package cannot be loaded: {error}",
            hint=f"repair or uninstall the package; its entry point is {point.value}",
        ) from error


@lru_cache(maxsize=64)
def _from_library(name: str) -> Recipe:
    try:
        return parse_recipe(tomllib.loads(source(name)), name)
    except tomllib.TOMLDecodeError as error:
        raise BadRecipe(f"recipe {name} is not valid TOML: {error}", hint=_HINT) from None


def recipe_of(what: str | Path | Recipe | Mapping[str, object]) -> Recipe:
    """A recipe from its name, from a TOML file, from data, or as it is."""
    if isinstance(what, Recipe):
        return what
    if isinstance(what, Mapping):
        return parse_recipe(what, "recipe")
    if not isinstance(what, str | Path):  # pyright: ignore[reportUnnecessaryIsInstance]  # from outside
        raise UnknownRecipe(
            "recipe: expected a name, the path of a .toml file or a dict, got"
            f" {type(what).__name__}",
            hint=f"known names: {', '.join(library())}",
            field="recipe",
        )
    if isinstance(what, Path) or what.endswith(".toml"):
        return read_recipe(Path(what))
    return _from_library(what)
