"""The settings of another system as a recipe: the port that its reader plugs into.

An entry point of the group `memoriter.settings`, named after the system, leads to a
`SettingsFormat`. `memoriter recipe from-NAME FILE` asks for it.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import field
from typing import Any, Final, cast

from memoriter.core import plugins
from memoriter.core.errors import BadRecipe, NotFound
from memoriter.core.lazy_dataclass import dataclass
from memoriter.pipeline.load import full_path, parse_recipe, recipe_of, source
from memoriter.pipeline.recipe import Recipe
from memoriter.pipeline.toml import to_toml

GROUP: Final = "settings"


@dataclass(frozen=True, slots=True)
class Settings:
    """What a file says, by the names of the recipe or by paths, and what has no place here."""

    values: Mapping[str, object]
    left_out: Mapping[str, str] = field(default_factory=dict[str, str])
    """By key, why."""


@dataclass(frozen=True, slots=True)
class SettingsFormat:
    """How a system's settings become those of its recipe; `read` raises `BadRecipe`."""

    recipe: str
    about: str
    """What the file is, for people."""
    read: Callable[[str], Settings]


@dataclass(frozen=True, slots=True)
class MadeRecipe:
    """A recipe made of settings, as TOML text, and the keys that have no place in it."""

    recipe: Recipe
    text: str
    left_out: Mapping[str, str]


def settings_formats() -> tuple[str, ...]:
    """The systems whose settings can be read."""
    return tuple(plugins.points(GROUP))


def settings_format(system: str) -> SettingsFormat:
    """The format of a system; raises NotFound if none is installed or it cannot be loaded."""
    if system not in settings_formats():
        raise NotFound(
            f"there is no reader for the settings of {system!r}",
            hint=plugins.known(settings_formats()),
        )
    try:
        return plugins.load(GROUP, system, SettingsFormat)
    except plugins.CannotLoad as error:
        raise NotFound(
            f"the reader for the settings of {system!r} cannot be loaded: {error}",
            hint="update or reinstall the package that reads these settings",
        ) from error


def recipe_from_settings(system: str, text: str, name: str) -> MadeRecipe:
    """The recipe of a system with the settings of a file, under another name.

    Raises BadRecipe if the file cannot be read, or a value does not fit.
    """
    form = settings_format(system)
    given = form.read(text)
    base = recipe_of(form.recipe)
    data: dict[str, Any] = tomllib.loads(source(form.recipe))
    data |= {"name": name, "version": 1, "about": f"{form.recipe}, with settings of your own."}
    for key, value in given.values.items():
        target = base.names.get(key, key)
        for path in (target,) if isinstance(target, str) else target:
            _put(data, full_path(path), value)
        try:
            made = parse_recipe(data, f"{form.about}: {key}")
        except BadRecipe as error:
            why = error.message.removeprefix(f"{form.about}: {key}: ")
            raise BadRecipe(
                f"{key}: {value!r} cannot be used ({why})", hint=error.hint, field=key
            ) from error
    made = parse_recipe(data, form.about)
    return MadeRecipe(made, to_toml(data), given.left_out)


def _put(data: dict[str, Any], path: str, value: object) -> None:
    """Set the value at a path of a recipe's data; tables on the way are made."""
    *keys, last = path.split(".")
    for key in keys:
        below: Any = cast("Any", data)[int(key)] if key.isdigit() else data.setdefault(key, {})
        data = below
    data[last] = value
