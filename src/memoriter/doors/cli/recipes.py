"""recipe: which recipes there are, what stands in them, how two of them differ."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from memoriter.core.errors import InputError
from memoriter.doors.cli.options import AsJson
from memoriter.doors.cli.out import print_json, show
from memoriter.doors.cli.tree import branch, command
from memoriter.doors.cli.values import read_text

if TYPE_CHECKING:
    from memoriter.pipeline.recipe import Recipe

recipes = branch("recipe", "Recipes: how a recall finds and ranks, as data.")
Named = Annotated[
    str,
    typer.Argument(
        metavar="RECIPE",
        help="The name of a recipe, or the path of a .toml file.",
        show_default=False,
    ),
]


@command("list", "memoriter recipe list", under=recipes)
def list_(*, as_json: AsJson = False) -> None:
    """List the recipes that come with the package, and those of other packages."""
    from memoriter.doors.render.columns import Columns  # noqa: PLC0415  # loads the engine
    from memoriter.pipeline.load import library, recipe_of  # noqa: PLC0415  # as above

    found: list[dict[str, object]] = []
    for name in library():
        try:
            found.append(told(recipe_of(name)))
        except InputError as error:  # of another package
            found.append({"name": name, "error": error.message})
    heads = ("recipe", "version", "fingerprint", "about")
    rows = [
        (r["name"], r.get("version", "—"), str(r.get("fingerprint", "—"))[:12], _about(r))
        for r in found
    ]
    show({"recipes": found}, lambda: Columns(heads, rows, wide=3), as_json=as_json)


@command("show", "memoriter recipe show memoriter > mine.toml", under=recipes)
def show_(recipe: Named, *, as_json: AsJson = False) -> None:
    """Print a recipe as TOML with its comments; with --json, with every default written out."""
    from memoriter.pipeline.load import recipe_of, source  # noqa: PLC0415  # as above

    if as_json:
        found = recipe_of(recipe)
        print_json({"fingerprint": found.fingerprint, "recipe": found.to_data()})
        return
    recipe_of(recipe)
    text = read_text(Path(recipe)) if recipe.endswith(".toml") else source(recipe)
    print(text, end="" if text.endswith("\n") else "\n")


@command("check", "memoriter recipe check mine.toml", under=recipes)
def check(recipe: Named, *, as_json: AsJson = False) -> None:
    """Check a recipe; an error names the path of the first thing that is wrong."""
    from memoriter.pipeline.load import recipe_of  # noqa: PLC0415  # as above

    found = recipe_of(recipe)
    line = f"{found.name} v{found.version} is valid, fingerprint {found.fingerprint}"
    show({"valid": True, **told(found)}, lambda: line, as_json=as_json)


@command("diff", "memoriter recipe diff memoriter mine.toml", under=recipes)
def diff(first: Named, second: Named, *, as_json: AsJson = False) -> None:
    """Show side by side what two recipes do, wherever they differ; with --json, by path."""
    from memoriter.doors.render.recipes import side_by_side  # noqa: PLC0415  # as above
    from memoriter.pipeline.load import recipe_of  # noqa: PLC0415  # as above

    one, two = recipe_of(first), recipe_of(second)
    mine, other = one.to_data(), two.to_data()
    changes = list(differences(mine, other))
    data = {
        "same": not changes,
        "changes": [{"path": p, "first": a, "second": b} for p, a, b in changes],
    }
    heads = (one.name, two.name) if one.name != two.name else (first, second)
    said = one.spelled_out(), two.spelled_out()
    show(
        data,
        lambda: side_by_side(heads, mine, other, said) if changes else "no difference",
        as_json=as_json,
    )


def told(recipe: Recipe) -> dict[str, object]:
    """Who a recipe is."""
    return {
        "name": recipe.name,
        "version": recipe.version,
        "fingerprint": recipe.fingerprint,
        "about": recipe.about,
    }


def differences(one: object, two: object, path: str = "") -> Iterator[tuple[str, object, object]]:
    """(path, first, second) wherever two trees of plain data differ; None where one has nothing.

    Parts of two kinds differ as a whole.
    """
    mine, other = below(one), below(two)
    if mine is None or other is None or mine.get("kind") != other.get("kind"):
        if one != two:
            yield path, one, two
        return
    for key in dict.fromkeys([*mine, *other]):
        inner = f"{path}.{key}" if path else key
        yield from differences(mine.get(key), other.get(key), inner)


def below(part: object) -> dict[str, object] | None:
    """What lies below a part of a recipe, by the key that an override names it with."""
    if isinstance(part, list):
        return {str(at): item for at, item in enumerate(cast("list[object]", part))}
    return cast("dict[str, object]", part) if isinstance(part, dict) else None


def _about(recipe: Mapping[str, object]) -> object:
    return f"cannot be read: {recipe['error']}" if "error" in recipe else recipe["about"]
