"""The command `memoriter`: the tree of its commands, their help, and how a run starts and ends."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, ClassVar, Final, NamedTuple

import typer
from typer.core import TyperCommand, TyperGroup

from memoriter import __version__
from memoriter.doors.cli import (
    ask,
    backups,
    demo,
    hooks,
    look,
    measure,
    page,
    prove,
    review,
    serve,
    store,
    tune,
    write,
)
from memoriter.doors.cli.declare import Command, command, spread
from memoriter.doors.cli.errors import INTERRUPTED, arguments, check_arguments, exit_process, report
from memoriter.doors.cli.options import Completion, JsonOption
from memoriter.doors.cli.output import show, use_utf8

_ABOUT: Final = "A memory engine for agents that explains every answer."


class Branch(NamedTuple):
    """A command that only groups others."""

    name: str
    about: str
    commands: tuple[Command, ...]
    more: Callable[[], Mapping[str, Command]] = dict
    """The commands that other packages add, by name; asked only if one of them is wanted."""


@command("version", "memoriter version")
def version(*, as_json: JsonOption = False) -> None:
    """Print the version."""
    show({"version": __version__}, lambda: f"memoriter {__version__}", as_json=as_json)


PANELS: Final[Mapping[str, tuple[Command | Branch, ...]]] = {
    "Start": (store.init, demo.demo),
    "Write": (
        write.remember,
        write.import_,
        write.update,
        write.link,
        write.expire,
        write.forget,
        write.reflect,
        review.review,
        review.decide,
    ),
    "Ask": (ask.recall, ask.keywords, ask.bundles, ask.reflections, ask.plan),
    "Prove": (prove.explain, prove.why_not, prove.verify, prove.replay, prove.diff),
    "Look": (
        page.page,
        look.browse,
        look.get,
        look.history,
        look.links,
        Branch(
            "agents",
            "The registry of agents: list, change and search them.",
            (
                look.agents_list,
                look.agents_show,
                look.agents_upsert,
                look.agents_alias,
                look.agents_search,
            ),
        ),
    ),
    "Keep": (
        look.status,
        store.maintain,
        store.calibrate,
        store.export,
        backups.backup,
        backups.restore,
        store.verify_store,
        store.doctor,
    ),
    "Serve": (
        serve.serve,
        serve.mcp,
        Branch(
            "token",
            "Tokens for memoriter serve: each gives one right on one tenant.",
            (serve.token_create, serve.token_list, serve.token_revoke),
        ),
        Branch(
            "hooks",
            "Hooks that recall before each reply of a coding agent.",
            (hooks.hooks_recall, hooks.hooks_show),
        ),
    ),
    "Tune": (
        Branch(
            "recipe",
            "Recipes: how a recall searches and ranks, as data.",
            (
                tune.recipe_list,
                tune.recipe_show,
                tune.recipe_check,
                tune.recipe_diff,
                measure.recipe_compare,
            ),
            tune.more_recipe_commands,
        ),
        Branch(
            "analyzer",
            "Analyzers: how text is split into words, and which ones the store keeps.",
            (store.analyzer_list, store.analyzer_add, store.analyzer_remove),
        ),
        Branch(
            "embed",
            "Embedders: which model turns memories into vectors, and how to change it.",
            (store.embed_status, store.embed_migrate, store.embed_promote, store.embed_rollback),
        ),
        measure.evaluate,
        Branch(
            "config",
            "Settings: from flags, the environment, TOML files or defaults.",
            (store.config_show,),
        ),
        version,
    ),
}
"""Every command of the root, in the order that its help shows."""


# --- the tree ---------------------------------------------------------------------------------


def _plain_flags(params: Sequence[Any]) -> list[Any]:
    """The parameters; a flag takes no value, so its help shows no type beside it."""
    for param in params:
        if getattr(param, "is_flag", False) and param.metavar is None:
            param.metavar = ""
    return list(params)


class PlainCommand(TyperCommand):
    """A command whose help shows flags without a type, and the values of some options."""

    lists: ClassVar[Mapping[str, Completion]] = {}

    def get_params(self, ctx: Any) -> list[Any]:
        """All parameters, `--help` too."""
        return _plain_flags(super().get_params(ctx))

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help; values are looked up only now, since that loads the engine."""
        for param in self.params:
            if param.name in self.lists:
                values = ", ".join(self.lists[param.name](""))
                vars(param)["help"] = f"{getattr(param, 'help', '')} One of {values}."
        super().format_help(ctx, formatter)


class PlainGroup(TyperGroup):
    """A group whose help shows flags without a type."""

    def more(self) -> Mapping[str, Command]:
        """The commands that other packages add, by name."""
        return {}

    def list_commands(self, ctx: Any) -> list[str]:
        """Its own commands, then those of other packages."""
        return [*super().list_commands(ctx), *self.more()]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """A command by name; other packages are asked for what is not its own."""
        own = super().get_command(ctx, cmd_name)
        other = self.more().get(cmd_name) if own is None else None
        if other is None:
            return own
        alone = typer.Typer(rich_markup_mode="rich", add_completion=False)
        _add_command(other, alone)
        return typer.main.get_command(alone)

    def get_params(self, ctx: Any) -> list[Any]:
        """All parameters, `--help` too."""
        return _plain_flags(super().get_params(ctx))


class RootGroup(PlainGroup):
    """The root: turns every error of a command into a message and an exit code."""

    def main(self, args: Sequence[str] | None = None, *_: Any, **extra: Any) -> Any:
        """Run one command and end the process."""
        argv = arguments(args)
        use_utf8()
        extra |= {"prog_name": "memoriter", "standalone_mode": False}
        try:
            check_arguments(argv)
            code = super().main(argv, **extra)
        except KeyboardInterrupt:
            code = INTERRUPTED
        except Exception as error:
            code = report(error, argv)
        exit_process(code if isinstance(code, int) else 0)

    def list_commands(self, ctx: Any) -> list[str]:
        """The commands in the order of their panels."""
        return [each.name for panel in PANELS.values() for each in panel]


def _print_version(wanted: bool) -> None:  # noqa: FBT001  # typer calls it with the value
    if wanted:
        print(f"memoriter {__version__}")
        raise typer.Exit


def root(
    *,
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version."
        ),
    ] = False,
) -> None:
    """The options that stand before a command."""


def _tree() -> typer.Typer:
    """All commands, in the order and groups of `PANELS`."""
    top = typer.Typer(
        cls=RootGroup,
        name="memoriter",
        help=_ABOUT,
        epilog="Begin with: memoriter demo",
        no_args_is_help=True,
        rich_markup_mode="rich",
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["--help", "-h"]},
    )
    top.callback()(root)
    for panel, commands in PANELS.items():
        for each in commands:
            if isinstance(each, Command):
                _add_command(each, top, panel)
                continue
            group = typer.Typer(
                cls=_group_of(each), no_args_is_help=True, help=each.about, rich_markup_mode="rich"
            )
            for inner in each.commands:
                _add_command(inner, group)
            top.add_typer(group, name=each.name, rich_help_panel=panel)
    return top


def _group_of(branch: Branch) -> type[PlainGroup]:
    """The class of a group that other packages may add commands to."""

    class Group(PlainGroup):
        def more(self) -> Mapping[str, Command]:
            return branch.more()

    return Group


def _add_command(each: Command, group: typer.Typer, panel: str | None = None) -> None:
    label = "Example: " if len(each.examples) == 1 else "Examples:\n\n"
    epilog = label + "\n\n".join(each.examples)
    made = type("Listing", (PlainCommand,), {"lists": each.lists}) if each.lists else PlainCommand
    group.command(each.name, cls=made, epilog=epilog, rich_help_panel=panel)(spread(each.run))


app: Final = _tree()


def run() -> None:
    """Run the command line and end the process."""
    app()
