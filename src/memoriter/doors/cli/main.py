"""The command line: every command by the panel of the help that shows it, and how a run goes.

A command is imported when it runs. What its group's help says about it is read from the docstring
in the compiled module, which is not run.
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
from typing import TYPE_CHECKING, Any, Final, NamedTuple, NoReturn, cast

from memoriter.core.errors import InputError
from memoriter.doors.cli.output import FAILED, INTERRUPTED, discard_output, report
from memoriter.doors.cli.params import CommandExit, plain_values

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


PANELS: Final[Panels] = {
    "Start": (Listed("init", "admin.init"), Listed("demo", "demo.demo")),
    "Write": (
        Listed("remember", "write.remember"),
        Listed("import", "write.import_"),
        Listed("update", "write.update"),
        Listed("link", "write.link"),
        Listed("expire", "write.expire"),
        Listed("forget", "forget.forget"),
        Listed("reflect", "write.reflect"),
        Listed("review", "records.review"),
        Listed("decide", "records.decide"),
    ),
    "Ask": (
        Listed("recall", "ask.recall"),
        Listed("keywords", "ask.keywords"),
        Listed("bundles", "ask.bundles"),
        Listed("reflections", "ask.reflections"),
        Listed("plan", "ask.plan"),
    ),
    "Prove": (
        Listed("explain", "ask.explain"),
        Listed("why-not", "ask.why_not"),
        Listed("verify", "ask.verify"),
        Listed("replay", "ask.replay"),
        Listed("diff", "ask.diff"),
    ),
    "Look": (
        Listed("page", "records.page"),
        Listed("browse", "records.browse"),
        Listed("get", "records.get"),
        Listed("history", "records.history"),
        Listed("links", "records.links"),
        Branch(
            "agents",
            "The registry of agents: list, change and search them.",
            (
                Listed("list", "records.agents_list"),
                Listed("show", "records.agents_show"),
                Listed("upsert", "records.agents_upsert"),
                Listed("alias", "records.agents_alias"),
                Listed("search", "records.agents_search"),
            ),
        ),
    ),
    "Keep": (
        Listed("status", "records.status"),
        Listed("maintain", "admin.maintain"),
        Listed("calibrate", "admin.calibrate"),
        Listed("export", "admin.export"),
        Listed("backup", "admin.backup"),
        Listed("restore", "admin.restore"),
        Listed("copy", "admin.copy"),
        Listed("verify-store", "admin.verify_store"),
        Listed("doctor", "admin.doctor"),
    ),
    "Serve": (
        Listed("serve", "serve.serve"),
        Branch(
            "mcp",
            "The memory as tools for a model (MCP): run the server, install it into a host.",
            (
                Listed("run", "mcp.mcp_run"),
                Listed("install", "mcp.mcp_install"),
                Listed("uninstall", "mcp.mcp_uninstall"),
            ),
            default="run",
        ),
        Branch(
            "token",
            "Tokens for memoriter serve: each gives one right on one tenant.",
            (
                Listed("create", "serve.token_create"),
                Listed("list", "serve.token_list"),
                Listed("revoke", "serve.token_revoke"),
            ),
        ),
        Branch(
            "hooks",
            "Hooks of coding agents: recall before each reply, capture after it.",
            (
                Listed("recall", "hooks.hooks_recall"),
                Listed("capture", "hooks.hooks_capture"),
                Listed("show", "hooks.hooks_show"),
            ),
        ),
    ),
    "Tune": (
        Branch(
            "recipe",
            "Recipes: how a recall searches and ranks, as data.",
            (
                Listed("list", "tune.recipe_list"),
                Listed("show", "tune.recipe_show"),
                Listed("check", "tune.recipe_check"),
                Listed("diff", "tune.recipe_diff"),
                Listed("compare", "tune.recipe_compare"),
            ),
            "tune.more_recipe_commands",
        ),
        Branch(
            "analyzer",
            "Analyzers: how text is split into words, and which ones the store keeps.",
            (
                Listed("list", "admin.analyzer_list"),
                Listed("add", "admin.analyzer_add"),
                Listed("remove", "admin.analyzer_remove"),
            ),
        ),
        Branch(
            "embed",
            "Embedders: which model turns memories into vectors, and how to change it.",
            (
                Listed("status", "admin.embed_status"),
                Listed("migrate", "admin.embed_migrate"),
                Listed("promote", "admin.embed_promote"),
                Listed("rollback", "admin.embed_rollback"),
            ),
        ),
        Listed("eval", "tune.evaluate"),
        Branch(
            "config",
            "Settings: from flags, the environment, TOML files or defaults.",
            (Listed("show", "admin.config_show"),),
        ),
        Listed("version", "records.version"),
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


# --- start and end of a process ----------------------------------------------------------------


def run_and_exit(args: Sequence[str] | None, run: Callable[[list[str]], object]) -> NoReturn:
    """Run a command and end the process; an error becomes a message and an exit code."""
    argv = _arguments(args)
    _use_utf8()
    try:
        _check_arguments(argv)
        code = run(argv)
    except CommandExit as end:
        code = end.code
    except KeyboardInterrupt:
        code = INTERRUPTED
    except Exception as error:
        code = report(error, argv)
    _exit_process(code if isinstance(code, int) else 0)


def _use_utf8() -> None:
    """Read and write UTF-8 whatever the locale says.

    PYTHONIOENCODING may ask for another encoding; characters which that lacks are replaced.
    """
    other = os.environ.get("PYTHONIOENCODING", "").partition(":")[0]
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(encoding=None if other else "utf-8", errors="replace")


def _arguments(argv: Sequence[str] | None) -> list[str]:
    """The arguments, decoded as UTF-8: a terminal sends it whatever the locale says."""
    return [_decoded(each) for each in (sys.argv[1:] if argv is None else argv)]


def _decoded(argument: str) -> str:
    try:
        return argument.encode("utf-8", "surrogateescape").decode("utf-8")
    except UnicodeError:
        return argument


def _check_arguments(argv: Sequence[str]) -> None:
    """Refuse arguments that are not text."""
    for at, argument in enumerate(argv, start=1):
        try:
            argument.encode("utf-8")
        except UnicodeEncodeError:
            quoted = "" if "://" in argument else f": {argument!a}"  # may hold a password
            raise InputError(
                f"argument {at} is not valid UTF-8{quoted}",
                hint="type it again, or set the terminal to UTF-8",
            ) from None
        if "\0" in argument:
            raise InputError(
                f"argument {at} contains a NUL character",
                hint="pass the text on stdin, and - as the argument",
            )


def _exit_process(code: int) -> NoReturn:
    """Flush stdout and end the process."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        discard_output()
        code = code or FAILED
    sys.exit(code)


def _leave(code: object) -> None:
    """End the process without taking it down, if all its output can be written."""
    with contextlib.suppress(OSError, ValueError):
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code if isinstance(code, int) else 0)
