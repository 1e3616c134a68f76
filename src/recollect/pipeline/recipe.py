"""Recipes: a search pipeline as closed data, versioned and fingerprinted.

Two equal recipes give equal answers on equal data. The envelope (`format`, `name`, `version`, the
fingerprint over canonical JSON) is final; its contents grow under that format.
"""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Mapping
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import Annotated, Any, Final, Literal, Self, cast

from pydantic import Field, ValidationError, field_validator, model_validator

from recollect.core.canonical import canonical
from recollect.core.errors import BadQuery, BadRecipe, UnknownRecipe
from recollect.lanes.entity import Entity
from recollect.lanes.graph import Walk
from recollect.lanes.kin import Kin
from recollect.lanes.legs import Cheapest, Hops
from recollect.lanes.listed import Listed
from recollect.lanes.meaning import Meaning
from recollect.lanes.moment import Near
from recollect.lanes.spec import Seeded, Spec
from recollect.lanes.words import Words
from recollect.pipeline.waves import waves_of
from recollect.text.analyzers import NAMES

FORMAT: Final = 1
AnyLane = Annotated[
    Words | Kin | Meaning | Walk | Hops | Cheapest | Entity | Near | Listed,
    Field(discriminator="kind"),
]
Label = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,31}$")]
ModeName = Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]{0,31}$")]
Weight = Annotated[float, Field(ge=0.0, le=1000.0)]


class Select(Spec):
    """What a search leaves out unless a call says otherwise."""

    trust: tuple[Literal["system", "learned", "external"], ...] | None = None
    archived: Literal["hide", "show"] = "hide"
    expired: Literal["hide", "show"] = "hide"
    superseded: Literal["hide", "show"] = "hide"
    reflections: Literal["show", "hide", "only"] = "show"


class Weighted(Spec):
    """Scores scaled lane by lane, or as they are, weighted and added."""

    kind: Literal["weighted"]
    scale: Literal["max", "min_max", "none"]
    weights: dict[Label, Weight]
    absent: Literal["redistribute", "keep"] = "redistribute"


class Mode(Spec):
    """Some lanes of a recipe, under a name that a call may ask for."""

    lanes: tuple[Label, ...] = Field(min_length=1)
    may_miss: tuple[Label, ...] = ()
    """Lanes that nobody misses when they cannot run: the answer is complete without them."""
    otherwise: Label | None = None
    """The lane that answers when none of these can run."""


class Pass(Spec):
    """Gives the candidates their score."""

    fuse: Weighted


class Final_(Spec):  # noqa: N801  # `Final` is typing's
    """What leaves the pipeline."""

    limit: int = Field(default=10, ge=1, le=10_000)


class Recipe(Spec):
    """A search pipeline, declared."""

    format: Literal[1] = FORMAT
    name: Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]{0,63}$")]
    version: int = Field(ge=1)
    about: str = ""
    analyzer: str
    select: Select = Select()
    lanes: dict[Label, AnyLane] = Field(min_length=1)
    modes: dict[ModeName, Mode] = Field(default_factory=dict[str, Mode])
    passes: tuple[Pass, ...] = Field(alias="pass", min_length=1, max_length=1)
    final: Final_ = Final_()

    @field_validator("analyzer")
    @classmethod
    def _analyzer_is_known(cls, name: str) -> str:
        if name not in NAMES:
            raise ValueError(f"no analyzer is called {name!r}; known: {', '.join(NAMES)}")
        return name

    @model_validator(mode="after")
    def _names_resolve(self) -> Self:
        for at, step in enumerate(self.passes):
            if unknown := set(step.fuse.weights) - set(self.lanes):
                raise ValueError(f"pass.{at} weighs {sorted(unknown)}, which no lane provides")
            if missing := set(self.lanes) - set(step.fuse.weights):
                raise ValueError(f"pass.{at} gives no weight to {sorted(missing)}")
        waves_of(self.lanes)
        for name, mode in self.modes.items():
            told = {*mode.lanes, *mode.may_miss, *filter(None, (mode.otherwise,))}
            if unknown := told - set(self.lanes):
                raise ValueError(f"modes.{name} names {sorted(unknown)}, which no lane provides")
        return self

    @property
    def seeded(self) -> tuple[str, ...]:
        """The lanes that start from rows."""
        return tuple(label for label, lane in self.lanes.items() if isinstance(lane, Seeded))

    def mode(self, name: str | None) -> Mode:
        """The lanes to run: those of a mode, or all."""
        if name is None:
            return Mode(lanes=tuple(self.lanes))
        if name not in self.modes:
            told = f"known: {', '.join(self.modes)}" if self.modes else "this recipe has none"
            raise BadQuery(
                f"mode: recipe {self.name} has no mode {name!r}", hint=told, field="mode"
            )
        return self.modes[name]

    def to_data(self) -> dict[str, Any]:
        """The recipe as plain data, complete: every default written out."""
        return self.model_dump(by_alias=True, mode="json")

    @property
    def fingerprint(self) -> str:
        """SHA-256 of the canonical JSON: the identity of the recipe."""
        return hashlib.sha256(canonical(self.to_data())).hexdigest()

    def overridden(self, overrides: Mapping[str, object]) -> Recipe:
        """The recipe with some numbers changed for one call, by dotted path."""
        if not overrides:
            return self
        data = self.to_data()
        for path, value in overrides.items():
            _set(data, path, value)
        return parse(data, f"recipe {self.name} with overrides")


def _set(data: dict[str, Any], path: str, value: object) -> None:
    keys = path.replace("fusion.", "pass.0.fuse.", 1).split(".")
    at: object = data
    for key in keys[:-1]:
        at = _children(at).get(key)
    known = _children(at)
    if not isinstance(at, dict) or keys[-1] not in known:
        hint = f"known there: {', '.join(known)}" if known else "recipe show prints every path"
        raise BadRecipe(f"overrides: the recipe has no {path!r}", hint=hint, field=path)
    cast("dict[str, object]", at)[keys[-1]] = value


def _children(at: object) -> dict[str, object]:
    """What lies below a part of a recipe, by the key that a path names it with."""
    if isinstance(at, list):
        return {str(n): item for n, item in enumerate(cast("list[object]", at))}
    return cast("dict[str, object]", at) if isinstance(at, dict) else {}


def parse(data: object, origin: str) -> Recipe:
    """A recipe from data, or BadRecipe with the path of the first thing wrong."""
    try:
        return Recipe.model_validate(data)
    except ValidationError as error:
        first = error.errors()[0]
        path = ".".join(str(part) for part in first["loc"]) or "recipe"
        raise BadRecipe(f"{origin}: {path}: {first['msg']}", hint=_HINT, field=path) from None


_HINT: Final = "`recollect recipe show recollect` prints a complete example"


def read(path: Path) -> Recipe:
    """A recipe from a TOML file."""
    try:
        return parse(tomllib.loads(path.read_text(encoding="utf-8")), path.name)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BadRecipe(f"{path.name}: not TOML: {error}", hint=_HINT) from None
    except OSError as error:
        raise UnknownRecipe(f"{path}: {error.strerror}", hint="check the path") from None


def library() -> tuple[str, ...]:
    """The names of the recipes that come with the package."""
    folder = resources.files("recollect.pipeline.library")
    return tuple(
        sorted(f.name.removesuffix(".toml") for f in folder.iterdir() if f.name.endswith(".toml"))
    )


def source(name: str) -> str:
    """The TOML text of a library recipe, comments included."""
    if name not in library():
        known = ", ".join(library())
        raise UnknownRecipe(
            f"there is no recipe {name!r}", hint=f"known: {known}, or the path of a .toml file"
        )
    folder = resources.files("recollect.pipeline.library")
    return (folder / f"{name}.toml").read_text(encoding="utf-8")


@lru_cache(maxsize=64)
def _from_library(name: str) -> Recipe:
    return parse(tomllib.loads(source(name)), name)


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
