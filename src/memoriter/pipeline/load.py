"""Recipes from where they are kept: the library, a file, data, an entry point; and overrides."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from importlib import resources
from pathlib import Path
from typing import Any, Final, cast

from pydantic import ValidationError

from memoriter.core import plugins
from memoriter.core.errors import BadQuery, BadRecipe, UnknownRecipe
from memoriter.pipeline.keys import known_at
from memoriter.pipeline.kinds import broken
from memoriter.pipeline.recipe import TAKEN, Recipe


def overridden(recipe: Recipe, overrides: Mapping[str, object]) -> Recipe:
    """The recipe with some values changed for one call, by dotted path.

    A whole lane or boost may be added as a table, or taken away with None. A path may lead into
    what an override before it has put there, defaults included.
    """
    if not overrides:
        return recipe
    data, origin = recipe.to_data(), f"recipe {recipe.name} with overrides"
    for path, value in overrides.items():
        known = tuple(recipe.names) if "." not in path else ()
        try:
            _set(data, path, value, known)
        except BadRecipe:
            data = parse(data, origin).to_data()
            _set(data, path, value, known)
    return parse(data, origin)


def is_path(text: str) -> bool:
    """Whether a name stands for a place in the recipe, and not for something else."""
    top = {field.alias or name for name, field in Recipe.model_fields.items()}
    return bool(_PATH.fullmatch(text)) and text.partition(".")[0] in {"fusion", *top}


def value_at(data: object, path: str) -> object:
    """What stands at a path of a recipe's data; None where nothing does."""
    for key in full(path).split("."):
        data = _children(data).get(key)
    return data


def full(path: str) -> str:
    """A path in full."""
    return path.replace("fusion.", "pass.0.fuse.", 1)


def with_lists(recipe: Recipe, lists: Mapping[str, object]) -> Recipe:
    """The recipe with a lane for each list that comes with a call and that it does not declare."""
    new = {label: given for label, given in lists.items() if label not in recipe.lanes}
    for label, given in lists.items():
        lane = recipe.lanes.get(label) or recipe.boosts.get(label)
        fits = getattr(lane, "kind", "") == "list" and not isinstance(given, str)
        if label in TAKEN or (lane is not None and not fits):
            raise BadQuery(
                f"lists: {label!r} is taken by the recipe", hint="choose another", field="lists"
            )
    if not new:
        return recipe
    data = recipe.to_data()
    for label, given in new.items():
        by = {"kind": "by", "by": f"-{given}"} if isinstance(given, str) else {"kind": "list"}
        data["lanes"][label] = by
        fuse = data["pass"][0]["fuse"]
        if "weights" in fuse:
            fuse["weights"][label] = fuse["lists"]
        for mode in data["modes"].values():
            mode["lanes"] = [*mode["lanes"], label]
    return parse(data, f"recipe {recipe.name} with lists")


def _set(data: dict[str, Any], path: str, value: object, names: tuple[str, ...]) -> None:
    keys = full(path).split(".")
    if len(keys) == 2 and keys[0] in _OPEN and isinstance(value, Mapping):  # noqa: PLR2004  # as written
        data[keys[0]][keys[1]] = value
        return
    at: object = data
    for key in keys[:-1]:
        at = _children(at).get(key)
    known = _children(at)
    if not isinstance(at, dict) or keys[-1] not in known:
        listed = ", ".join(names or known)
        hint = f"known there: {listed}" if listed else "recipe show prints every path"
        raise BadRecipe(f"overrides: the recipe has no {path!r}", hint=hint, field=path)
    if keys[0] in _OPEN and len(keys) == 2 and value is None:  # noqa: PLR2004  # as above
        del data[keys[0]][keys[1]]
        return
    cast("dict[str, object]", at)[keys[-1]] = value


def _children(at: object) -> dict[str, object]:
    """What lies below a part of a recipe, by the key that a path names it with."""
    if isinstance(at, list):
        return {str(n): item for n, item in enumerate(cast("list[object]", at))}
    return cast("dict[str, object]", at) if isinstance(at, dict) else {}


def parse(data: object, origin: str) -> Recipe:
    """A recipe from data, or BadRecipe with the path of the first thing wrong.

    Types are what they are: "1" is no number, and true is neither.
    """
    try:
        return Recipe.model_validate_json(json.dumps(data, default=_plain))
    except (TypeError, RecursionError) as error:
        raise BadRecipe(f"{origin}: is no plain data: {error}", hint=_HINT) from None
    except ValidationError as error:
        first = error.errors()[0]
        path = _path(data, first["loc"]) or "recipe"
        asked = str(first.get("ctx", {}).get("tag", ""))
        hint = f"{asked} cannot be loaded: {broken[asked]}" if asked in broken else _HINT
        if first["type"] == "extra_forbidden":
            hint = f"known there: {', '.join(known_at(data, path))}"
        raise BadRecipe(f"{origin}: {path}: {first['msg']}", hint=hint, field=path) from None


def _plain(value: object) -> object:
    if isinstance(value, Mapping):
        return dict(cast("Mapping[str, object]", value))
    raise TypeError(f"{type(value).__name__} is not a value of a recipe")


def _path(data: object, parts: Sequence[int | str]) -> str:
    """Where in the data the mistake is; kinds that were tried on the way are left out."""
    out: list[str] = []
    at = data
    for n, part in enumerate(parts):
        below = _children(at)
        if str(part) not in below and n < len(parts) - 1:
            continue
        out.append(str(part))
        at = below.get(str(part))
    return ".".join(out)


_OPEN: Final = ("lanes", "boosts")
"""Tables to which a call may add."""
_PATH: Final = re.compile(r"[a-z][A-Za-z0-9_-]*(\.[A-Za-z0-9_-]+)+")
_FOLDER: Final = "memoriter.pipeline.library"
_HINT: Final = "`memoriter recipe show memoriter` prints a complete example"


def read(path: Path) -> Recipe:
    """A recipe from a TOML file."""
    try:
        return parse(tomllib.loads(path.read_text(encoding="utf-8")), path.name)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BadRecipe(f"{path.name}: not TOML: {error}", hint=_HINT) from None
    except OSError as error:
        raise UnknownRecipe(f"{path}: {error.strerror}", hint="check the path") from None


@cache
def ours() -> tuple[str, ...]:
    """The names of the recipes that the core itself brings."""
    names = (file.name for file in resources.files(_FOLDER).iterdir())
    return tuple(sorted(name.removesuffix(".toml") for name in names if name.endswith(".toml")))


def library() -> tuple[str, ...]:
    """The names of all recipes: the core's, and those that come by `memoriter.recipes`."""
    return tuple(sorted({*ours(), *plugins.points("recipes")}))


def source(name: str) -> str:
    """The TOML text of a library recipe, comments included.

    An entry point of the group `memoriter.recipes` leads to TOML text, or to the path of a file.
    """
    if name in ours():
        return (resources.files(_FOLDER) / f"{name}.toml").read_text(encoding="utf-8")
    point = plugins.points("recipes").get(name)
    if point is None:
        hint = f"{plugins.known(library())}, or the path of a .toml file"
        raise UnknownRecipe(f"there is no recipe {name!r}", hint=hint)
    try:
        value = plugins.load("recipes", name, object)
        return value.read_text(encoding="utf-8") if isinstance(value, Path) else str(value)
    except (plugins.CannotLoad, OSError, UnicodeDecodeError) as error:
        raise UnknownRecipe(
            f"recipe {name!r} of another package cannot be loaded: {error}",
            hint=f"it is {point.value}",
        ) from error


@lru_cache(maxsize=64)
def _from_library(name: str) -> Recipe:
    try:
        return parse(tomllib.loads(source(name)), name)
    except tomllib.TOMLDecodeError as error:
        raise BadRecipe(f"recipe {name}: not TOML: {error}", hint=_HINT) from None


def recipe_of(what: str | Path | Recipe | Mapping[str, object]) -> Recipe:
    """A recipe from its name, from a TOML file, from data, or as it is."""
    if isinstance(what, Recipe):
        return what
    if isinstance(what, Mapping):
        return parse(what, "recipe")
    if not isinstance(what, str | Path):  # pyright: ignore[reportUnnecessaryIsInstance]  # from outside
        raise UnknownRecipe(f"recipe: {type(what).__name__} is no recipe", field="recipe")
    if isinstance(what, Path) or what.endswith(".toml"):
        return read(Path(what))
    return _from_library(what)
