"""The commands that tune a search: recipes, and how well they do on known answers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

from memoriter.core.errors import InputError, NotFound
from memoriter.core.private_file import replacing
from memoriter.doors import render
from memoriter.doors.cli.declare import Command, command
from memoriter.doors.cli.options import (
    RECIPE_HELP,
    CliArgument,
    CliOption,
    JsonOption,
    RecipeArgument,
)
from memoriter.doors.cli.output import CommandExit, print_json, print_note, show

if TYPE_CHECKING:
    from memoriter.pipeline.recipe import Recipe
from typing import TYPE_CHECKING

from memoriter.core.lazy_dataclass import dataclass
from memoriter.doors.cli.options import (
    complete_protocol,
    complete_recipe,
    setting,
)

if TYPE_CHECKING:
    from memoriter.evaluate.command import EvalData


@command("list", "memoriter recipe list")
def recipe_list(*, as_json: JsonOption = False) -> None:
    """List the recipes that come with memoriter or with other packages."""
    from memoriter.pipeline.load import library  # noqa: PLC0415  # loads the engine

    recipes: list[dict[str, object]] = []
    for name in library():
        try:
            recipes.append(_summary(_recipe(name)))
        except InputError as error:  # a recipe of another package may be broken
            recipes.append({"name": name, "error": error.message})
    heads = ("recipe", "version", "fingerprint", "about")
    rows = [
        (r["name"], r.get("version", "—"), str(r.get("fingerprint", "—"))[:12], _about(r))
        for r in recipes
    ]
    show(
        {"recipes": recipes},
        lambda: render.ink.TextColumns(heads, rows, wide=3),
        as_json=as_json,
    )


@command("show", "memoriter recipe show memoriter > mine.toml")
def recipe_show(recipe: RecipeArgument, *, as_json: JsonOption = False) -> None:
    """Print a recipe as TOML with its comments; --json prints every option, defaults too."""
    from memoriter.pipeline.load import source  # noqa: PLC0415  # loads the engine

    checked = _recipe(recipe)
    if as_json:
        from memoriter.pipeline.numbers import numbers_of  # noqa: PLC0415  # loads the engine

        numbers = [number.to_dict() for number in numbers_of(checked)]
        shown = {"fingerprint": checked.fingerprint, "recipe": checked.to_data()}
        print_json({**shown, "numbers": numbers})
        return
    text = _read(Path(recipe)) if recipe.endswith(".toml") else source(recipe)
    print(text, end="" if text.endswith("\n") else "\n")


def _read(path: Path) -> str:
    """The text of a file; raises NotFound or InputError."""
    try:
        return path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise NotFound(f"there is no file {path}", hint="check the path") from None
    except UnicodeDecodeError as bad:
        raise InputError(
            f"{path} is not UTF-8 (byte {bad.start})", hint="convert it to UTF-8 first"
        ) from None
    except OSError as error:
        raise InputError(
            f"{path} cannot be read: {error.strerror}",
            hint="check the path and the permissions of the file",
        ) from None


@command("check", "memoriter recipe check mine.toml")
def recipe_check(recipe: RecipeArgument, *, as_json: JsonOption = False) -> None:
    """Check a recipe; an error says where in the recipe the first mistake is."""
    checked = _recipe(recipe)
    line = f"{checked.name} v{checked.version} is valid, fingerprint {checked.fingerprint}"
    show({"valid": True, **_summary(checked)}, lambda: line, as_json=as_json)


@command("diff", "memoriter recipe diff memoriter mine.toml")
def recipe_diff(
    before: Annotated[str, CliArgument(metavar="BEFORE", help=RECIPE_HELP)],
    after: Annotated[str, CliArgument(metavar="AFTER", help=RECIPE_HELP)],
    *,
    as_json: JsonOption = False,
) -> None:
    """Show side by side, in words, where two recipes differ; --json lists the changed options."""
    one, two = _recipe(before), _recipe(after)
    data = one.to_data(), two.to_data()
    changes = list(differences(*data))
    heads = (one.name, two.name) if one.name != two.name else (before, after)
    explicit = one.spelled_out(), two.spelled_out()
    show(
        {
            "same": not changes,
            "changes": [{"path": p, "first": a, "second": b} for p, a, b in changes],
        },
        lambda: render.recipes.side_by_side(heads, *data, explicit) if changes else "no difference",
        as_json=as_json,
    )


def from_settings(system: str) -> Command:
    """The command that makes a recipe of the settings of another system."""

    @command(f"from-{system}", f"memoriter recipe from-{system} settings-file --out mine.toml")
    def recipe_from(
        file: Annotated[Path, CliArgument(metavar="FILE", help="The file with the settings.")],
        name: Annotated[str, CliOption("--name", help="The name of the recipe.")] = "own",
        out: Annotated[
            Path | None,
            CliOption(
                "--out",
                metavar="FILE",
                help="Write the recipe to this file instead of printing it.",
            ),
        ] = None,
        *,
        force: Annotated[bool, CliOption("--force", help="Replace an existing file.")] = False,
        as_json: JsonOption = False,
    ) -> None:
        """Make a recipe from the settings of another memory system."""
        from memoriter.pipeline.settings import recipe_from_settings  # noqa: PLC0415  # engine

        made = recipe_from_settings(system, _read(file), name)
        data: dict[str, object] = {**_summary(made.recipe), "left_out": dict(made.left_out)}
        for key, why in () if as_json else made.left_out.items():
            print_note(f"left out: {key}: {why}")
        if out is None:
            show({**data, "toml": made.text}, lambda: made.text.rstrip("\n"), as_json=as_json)
            return
        if out.exists() and not force:
            raise InputError(
                f"{out} exists already",
                hint="name another file, or give --force to replace this one",
            )
        _write(out, made.text)
        show({**data, "file": str(out)}, lambda: f"wrote recipe {name} to {out}", as_json=as_json)

    return recipe_from


def more_recipe_commands() -> dict[str, Command]:
    """The commands that installed readers of settings add, by name."""
    from memoriter.pipeline.settings import settings_formats  # noqa: PLC0415  # loads the engine

    made = (from_settings(system) for system in settings_formats())
    return {each.name: each for each in made}


def _write(path: Path, text: str) -> None:
    """Write a file whole or not at all."""
    try:
        with replacing(path) as out:
            out.write(text.encode())
    except OSError as error:
        raise InputError(
            f"{path} cannot be written: {error.strerror}",
            hint="name another file, or check the permissions",
        ) from None


def differences(one: object, two: object, path: str = "") -> Iterator[tuple[str, object, object]]:
    """(path, first, second) wherever two trees of plain data differ; None where one has nothing.

    Two parts of different kinds are one difference: their keys do not mean the same.

    >>> list(differences({"a": 1, "b": [1, 2]}, {"a": 1, "b": [1, 3], "c": 4}))
    [('b.1', 2, 3), ('c', None, 4)]
    """
    first, second = _children(one), _children(two)
    if first is None or second is None or first.get("kind") != second.get("kind"):
        if one != two:
            yield path, one, two
        return
    for key in dict.fromkeys([*first, *second]):
        below = f"{path}.{key}" if path else key
        yield from differences(first.get(key), second.get(key), below)


def _children(part: object) -> dict[str, object] | None:
    """The parts below a part of a recipe, by the key that an override uses; None for a value."""
    if isinstance(part, list):
        return {str(at): item for at, item in enumerate(cast("list[object]", part))}
    return cast("dict[str, object]", part) if isinstance(part, dict) else None


def _recipe(name: str) -> Recipe:
    from memoriter.pipeline.load import recipe_of  # noqa: PLC0415  # loads the engine

    return recipe_of(name)


def _summary(recipe: Recipe) -> dict[str, object]:
    return {
        "name": recipe.name,
        "version": recipe.version,
        "fingerprint": recipe.fingerprint,
        "about": recipe.about,
    }


def _about(recipe: Mapping[str, object]) -> object:
    return f"cannot be read: {recipe['error']}" if "error" in recipe else recipe["about"]


# --- questions with known answers ---------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class QuestionsOptions:
    """Which questions to ask, and how."""

    data: Annotated[
        Path | None,
        CliOption(
            "--data",
            metavar="PATH",
            help="Questions with known answers: a folder with memories.jsonl and "
            "questions.jsonl, a .jsonl file, LoCoMo, LongMemEval, BEIR, or a folder of these "
            "(MEMORITER_DATA).",
        ),
    ] = None
    limit: Annotated[
        int | None,
        CliOption(
            "--limit",
            "-n",
            metavar="N",
            min=1,
            help="How many questions of each data set to ask, spread evenly (default: all).",
        ),
    ] = None
    protocol: Annotated[
        str,
        CliOption(
            "--protocol",
            metavar="NAME",
            help="How the data set is prepared; `strict` leaves the data set as it is.",
            autocompletion=complete_protocol,
        ),
    ] = "strict"
    embedder: Annotated[
        str | None,
        CliOption(
            "--embedder",
            metavar="NAMES",
            help="Embedding models, comma-separated; each searches by its own vectors. `none`:"
            " search by words only (MEMORITER_EMBEDDER; default: the packaged model).",
        ),
    ] = None
    cross: Annotated[
        bool,
        CliOption(
            "--cross",
            help="Also ask each store the questions of other stores, to which it has no answer.",
        ),
    ] = False
    remove_gold: Annotated[
        bool,
        CliOption(
            "--remove-gold",
            help="If one of the first ten hits answers a question, ask the question once more, with"
            " all memories that answer it left out.",
        ),
    ] = False

    def to_eval(self) -> EvalData:
        """The options as the evaluation takes them."""
        from memoriter.evaluate.command import EvalData  # noqa: PLC0415  # loads the engine
        from memoriter.evaluate.run import EvalOptions  # noqa: PLC0415  # as above

        names = setting("embedder", self.embedder)
        listed = [] if names in (None, "none") else [n.strip() for n in str(names).split(",")]
        embedders = None if names is None else tuple(listed)
        options = EvalOptions(self.cross, self.remove_gold, embedders)
        return EvalData(self.data, self.limit, self.protocol, options)


@command(
    "eval",
    "memoriter eval --data my-questions/ --recipe memoriter --recipe mine.toml",
    "memoriter eval --data questions.jsonl --remove-gold --json",
    lists={"protocol": complete_protocol},
)
def eval_(
    asked: QuestionsOptions,
    recipe: Annotated[
        list[str] | None,
        CliOption(
            "--recipe",
            metavar="NAME",
            help="A recipe to measure, by name or .toml file; may be repeated.",
            autocompletion=complete_recipe,
        ),
    ] = None,
    *,
    without: Annotated[
        list[str] | None,
        CliOption(
            "--without",
            metavar="LABEL",
            help="Also measure each recipe without this lane or boost; may be repeated.",
        ),
    ] = None,
    reliability: Annotated[
        bool,
        CliOption(
            "--reliability",
            help="Also print how often the first hit is right, by the relevance of the answer, and"
            " for each store how often nothing relevant is found.",
        ),
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Measure the quality of recipes on questions with known answers."""
    from memoriter.evaluate.command import run_eval  # noqa: PLC0415  # loads the engine

    done = run_eval(
        asked.to_eval(),
        recipe or (),
        json_out=as_json,
        without=list(without or ()),
        reliability=reliability,
    )
    raise CommandExit(done)


@command(
    "compare",
    "memoriter recipe compare memoriter mine.toml --data my-questions/",
    lists={"protocol": complete_protocol},
)
def recipe_compare(
    asked: QuestionsOptions,
    first: RecipeArgument,
    second: RecipeArgument,
    *,
    as_json: JsonOption = False,
) -> None:
    """Ask two recipes the same questions, and test whether their results differ.

    The results of all questions are compared, and those of each type of question.
    """
    from memoriter.evaluate.command import run_compare  # noqa: PLC0415  # loads the engine

    raise CommandExit(run_compare(asked.to_eval(), first, second, json_out=as_json))
