"""The command line: every command by the panel of the help that shows it, and how a run goes.

A command is imported when it runs. What its group's help says about it is read from the docstring
in the compiled module, which is not run. typer, which `tree` gives the commands to, reads any
command line, completes words in the shell and prints help and errors. To load typer takes longer
than most commands, so a plain line is read here: known options, each once and with its value, texts
and whole numbers.
"""

from __future__ import annotations

import contextlib
import gc
import inspect
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from importlib import import_module
from importlib.util import find_spec
from types import CodeType
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast

from memoriter.core.lazy_dataclass import dataclass
from memoriter.doors.cli.output import run_and_exit

if TYPE_CHECKING:
    import typer

    from memoriter.doors.cli.declare import Command

_HOME: Final = "memoriter.doors.cli."


class Listed(NamedTuple):
    """A command by name, and the module and the name that it is declared by."""

    name: str
    place: str

    def load(self) -> Command:
        """The command; only its own module is imported."""
        module, _, name = self.place.partition(".")
        return cast("Command", getattr(import_module(_HOME + module), name))

    def about(self) -> str:
        """The first paragraph of the docstring of its function."""
        module, _, name = self.place.partition(".")
        functions = (each for each in _code(module).co_consts if isinstance(each, CodeType))
        own = next(each for each in functions if each.co_name == name)
        return docstring_line(str(own.co_consts[0]))


class Branch(NamedTuple):
    """A command that only groups others."""

    name: str
    about: str
    commands: tuple[Listed, ...]
    more: str = ""
    """A function that gives the commands of other packages by name, if there may be any."""
    default: str = ""
    """The command that runs if none is named; empty: its help is shown."""

    def others(self) -> Mapping[str, Command]:
        """The commands that other packages add, by name; asked only if one of them is wanted."""
        if not self.more:
            return {}
        module, _, name = self.more.partition(".")
        find = getattr(import_module(_HOME + module), name)
        return cast("Callable[[], Mapping[str, Command]]", find)()


Panels = Mapping[str, tuple[Listed | Branch, ...]]
"""Commands and groups by the panel of the help that shows them."""


@cache
def _code(module: str) -> CodeType:
    """The compiled code of a module, which is not run."""
    spec: Any = find_spec(_HOME + module)
    return spec.loader.get_code(spec.name)


def docstring_line(docstring: str | None) -> str:
    """The first paragraph of a docstring, on one line."""
    return " ".join((docstring or "").split("\n\n")[0].split())


def _listed(module: str, functions: str, group: str = "") -> tuple[Listed, ...]:
    """Commands of a module, named as their functions; those of a group without its name."""
    before = f"{group}_" if group else ""
    names = [
        (each.rstrip("_").replace("_", "-"), f"{module}.{before}{each}")
        for each in functions.split()
    ]
    return tuple(Listed(name, place) for name, place in names)


PANELS: Final[Panels] = {
    "Start": _listed("start", "init demo"),
    "Write": (
        *_listed("write", "remember import_ update link expire forget reflect"),
        *_listed("records", "review decide"),
    ),
    "Ask": _listed("ask", "recall keywords bundles reflections plan"),
    "Prove": _listed("ask", "explain why_not verify replay diff"),
    "Look": (
        *_listed("records", "page browse get history links"),
        Branch(
            "agents",
            "The registry of agents: list, change and search them.",
            _listed("records", "list show upsert alias search", group="agents"),
        ),
    ),
    "Keep": (
        *_listed("records", "status"),
        *_listed("admin", "maintain calibrate export backup restore copy verify_store doctor"),
    ),
    "Serve": (
        *_listed("serve", "serve"),
        Branch(
            "mcp",
            "The memory as tools for a model (MCP): run the server, install it into a host.",
            (
                *_listed("serve", "run", group="mcp"),
                *_listed("start", "install uninstall", group="mcp"),
            ),
            default="run",
        ),
        Branch(
            "token",
            "Tokens for memoriter serve: each gives one right on one tenant.",
            _listed("serve", "create list revoke", group="token"),
        ),
        Branch(
            "hooks",
            "Hooks of coding agents: recall before each reply, capture after it.",
            _listed("hooks", "recall capture show", group="hooks"),
        ),
    ),
    "Tune": (
        Branch(
            "recipe",
            "Recipes: how a recall searches and ranks, as data.",
            _listed("tune", "list show check diff compare", group="recipe"),
            "tune.more_recipe_commands",
        ),
        Branch(
            "analyzer",
            "Analyzers: how text is split into words, and which ones the store keeps.",
            _listed("admin", "list add remove", group="analyzer"),
        ),
        Branch(
            "embed",
            "Embedders: which model turns memories into vectors, and how to change it.",
            _listed("admin", "status migrate promote rollback", group="embed"),
        ),
        *_listed("tune", "eval_"),
        Branch(
            "config",
            "Settings: from flags, the environment, TOML files or defaults.",
            _listed("start", "show", group="config"),
        ),
        *_listed("records", "version"),
    ),
}
"""Every command of the root, in the order that its help shows."""


_SHORT: Final = ("recall", "keywords", "hooks", "plan", "get", "version", "--help", "-h")
"""Commands that end at once. They make less garbage than looking for it would cost, and when they
end, everything is written and closed: to take down module by module would only cost time."""
_COMPLETING: Final = "_MEMORITER_COMPLETE"
"""Set by the shell when it asks how a word goes on."""


def run() -> None:
    """Run the command line and end the process."""
    # A start makes many objects that stay: looking for garbage among them every 700, and for
    # plugins of pydantic among the installed packages, would only cost time.
    gc.set_threshold(10_000)
    short = sys.argv[1:2] and sys.argv[1] in _SHORT
    if short:
        gc.disable()
        # The threads of numpy's BLAS would spin for longer than a short command computes.
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    try:
        run_and_exit(None, _run)
    except SystemExit as end:
        if short:
            _leave(end.code)
        raise


def _leave(code: object) -> None:
    """End the process without taking it down, if all its output can be written."""
    with contextlib.suppress(OSError, ValueError):
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code if isinstance(code, int) else 0)


def _run(argv: list[str]) -> object:
    """Run a plain command line at once; typer reads, completes or refuses any other."""
    call = None if _COMPLETING in os.environ else plain_call(argv)
    return typer_app()() if call is None else call()


def plain_call(argv: Sequence[str]) -> Callable[[], object] | None:
    """The command that a plain command line names, with its values; None if it is not plain."""
    listed: Mapping[str, Listed | Branch] = {
        each.name: each for commands in PANELS.values() for each in commands
    }
    words, named = list(argv), None
    while words and words[0] in listed:
        named = listed[words.pop(0)]
        listed = {each.name: each for each in named.commands} if isinstance(named, Branch) else {}
    if not isinstance(named, Listed):
        return None
    from memoriter.doors.cli.declare import spread  # noqa: PLC0415  # help needs no options

    call = spread(named.load().run)
    values = plain_values(list(inspect.signature(call).parameters.values()), words)
    return None if values is None else partial(call, **values)


@cache
def typer_app() -> typer.Typer:
    """The command line as typer reads it."""
    from memoriter.doors.cli.tree import tree_of  # noqa: PLC0415  # loads typer

    return tree_of(PANELS)


if TYPE_CHECKING:
    app = typer_app()
else:

    def __getattr__(name: str) -> object:
        if name == "app":  # made when somebody asks for it
            return typer_app()
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


# --- plain command lines ----------------------------------------------------------------------

_FOR_PEOPLE: Final = {"help", "metavar", "rich_help_panel", "show_default", "autocompletion"}
"""Settings that change nothing about the values."""


@dataclass(frozen=True, slots=True)
class _Plain:
    """A parameter that can be read without typer, and the value that a flag stands for."""

    name: str
    kind: Any
    flag: bool | None = None


class _NotPlain(Exception):
    """A command line that only typer can read, or refuse."""


def plain_values(
    parameters: Sequence[inspect.Parameter], argv: Sequence[str]
) -> dict[str, object] | None:
    """The values of all parameters on a plain command line; None if it is not plain."""
    try:
        values = _typed(parameters, argv)
    except _NotPlain:
        return None
    values = {each.name: values.get(each.name, each.default) for each in parameters}
    return None if inspect.Parameter.empty in values.values() else values


def _typed(parameters: Sequence[inspect.Parameter], argv: Sequence[str]) -> dict[str, object]:
    """The values that were typed, by the name of the parameter."""
    options, places = _table(parameters)
    values: dict[str, object] = {}
    words = iter(argv)
    for word in words:
        if word.startswith("-"):
            name, equals, text = word.partition("=")
            own = options.get(name)
            if own is None or (own.flag is not None and equals):
                raise _NotPlain
            if own.flag is None and not equals:
                text = next(words, "-")
                if text.startswith("-"):  # its value may have been left out
                    raise _NotPlain
        elif places:
            own, text = places.pop(0), word
        else:
            raise _NotPlain
        _add(values, own, _value(own, text))
    return values


def _table(
    parameters: Sequence[inspect.Parameter],
) -> tuple[Mapping[str, _Plain], list[_Plain]]:
    """(options by name, arguments in their order), as far as they can be read here."""
    from memoriter.doors.cli.options import CliArgument, kind_of, param_of  # noqa: PLC0415  # help needs no options

    options: dict[str, _Plain] = {}
    places: list[_Plain] = []
    for each in parameters:
        param, kind = param_of(each.annotation), kind_of(each.annotation)
        if not _FOR_PEOPLE.issuperset(param.settings):
            kind = None
        if isinstance(param, CliArgument):
            places.append(_Plain(each.name, kind if kind is str else None))
            continue
        for name in param.names:
            yes, _, no = name.partition("/")
            options[yes] = _Plain(each.name, kind, flag=True if kind is bool else None)
            if no:
                options[no] = _Plain(each.name, kind, flag=False)
    return options, places


def _value(own: _Plain, text: str) -> object:
    """The value of a parameter."""
    if own.flag is not None:
        return own.flag
    if own.kind is int and text.isascii() and text.isdigit():
        return int(text)
    if own.kind is str or own.kind == list[str]:
        return text
    raise _NotPlain


def _add(values: dict[str, object], own: _Plain, value: object) -> None:
    if own.kind == list[str]:
        cast("list[object]", values.setdefault(own.name, [])).append(value)
    elif own.name in values:
        raise _NotPlain
    else:
        values[own.name] = value
