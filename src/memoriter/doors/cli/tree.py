"""The tree of commands as typer reads it: groups, their help, and the commands of `main`.

Only the module of the command that runs is imported, and only that command is made: this is what
keeps a start short.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Final, get_args

import typer
from typer.core import TyperCommand, TyperGroup

from memoriter import __version__
from memoriter.doors.cli.main import Branch, Listed, Panels, docstring_line
from memoriter.doors.cli.output import ExtraArguments, UnknownCommand, run_and_exit

if TYPE_CHECKING:
    from memoriter.doors.cli.declare import Command
    from memoriter.doors.cli.options import Completion

_ABOUT: Final = "A memory engine for agents that explains every answer."


def _plain(params: Sequence[Any]) -> list[Any]:
    """The parameters, whose help shows no type beside a flag, and which read what needs reading."""
    for param in params:
        if getattr(param, "is_flag", False) and param.metavar is None:
            param.metavar = ""
        if "process_value" not in vars(param):
            param.process_value = partial(_process_value, param, param.process_value)
    return list(params)


def _process_value(param: Any, read: Callable[[Any, Any], Any], ctx: Any, value: Any) -> Any:
    """The value of a parameter; one that needs no reading is taken as it is.

    That is a text, a default, an option that was not given. typer would load pydantic and build a
    validator for each, which takes longer than a search.
    """
    kind = getattr(getattr(param, "type_descriptor", None), "annotation", None)
    single = not param.multiple and param.nargs == 1
    if not (value is None and not param.required) and not (single and type(value) is kind):
        return read(ctx, value)
    value = () if value is None and param.multiple else value
    return value if param.callback is None else param.callback(ctx, param, value)


class PlainCommand(TyperCommand):
    """A command whose help shows flags without a type, and the values of some options."""

    lists: ClassVar[Mapping[str, Completion]] = {}

    numbers: ClassVar[Mapping[str, type]] = {}
    """The type of each parameter that takes a number."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the arguments; raises ExtraArguments if some are left over."""
        ctx.allow_extra_args = True  # otherwise the parser refuses them, with a text alone
        rest = super().parse_args(ctx, args)
        if rest and not ctx.resilient_parsing:
            raise ExtraArguments(rest, ctx)
        return rest

    def get_params(self, ctx: Any) -> list[Any]:
        """All parameters, `--help` too."""
        return _plain(super().get_params(ctx))

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the arguments, then the options by the panel that they belong to."""
        panels: dict[str, list[tuple[str, str]]] = {"Arguments": [], "Options": []}
        for param in self.get_params(ctx):
            own = "Arguments" if param.param_type_name == "argument" else "Options"
            record = param.get_help_record(ctx)
            if record is not None:
                panels.setdefault(getattr(param, "rich_help_panel", None) or own, []).append(record)
        for panel, records in panels.items():
            if records:
                with formatter.section(panel):
                    formatter.write_dl(records)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help; values are looked up only now, since that loads the engine."""
        for param in self.params:
            if param.name in self.lists:
                values = ", ".join(self.lists[param.name](""))
                vars(param)["help"] = f"{getattr(param, 'help', '')} One of {values}."
        super().format_help(ctx, formatter)


class LazyCommands(Mapping[str, Any]):
    """Commands by name, made when they are asked for: a run needs one, and making all is slow."""

    def __init__(self, listed: Sequence[Listed | Branch]) -> None:
        self._listed = {each.name: each for each in listed}
        self._made: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self._made:
            self._made[name] = _made(self._listed[name])
        return self._made[name]

    def __contains__(self, name: object) -> bool:
        return name in self._listed

    def __iter__(self) -> Iterator[str]:
        return iter(self._listed)

    def __len__(self) -> int:
        return len(self._listed)


class PlainGroup(TyperGroup):
    """A group whose commands are made on demand, and whose help shows flags without a type."""

    listed: ClassVar[Sequence[Listed | Branch]] = ()

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.commands: Any = LazyCommands(self.listed)

    def more(self) -> Mapping[str, Command]:
        """The commands that other packages add, by name."""
        return {}

    def list_commands(self, ctx: Any) -> list[str]:
        """Its own commands in their order, then those of other packages."""
        return [*self.commands, *self.more()]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """A command by name; other packages are asked for what is not its own."""
        if cmd_name in self.commands:
            return self.commands[cmd_name]
        other = self.more().get(cmd_name)
        return None if other is None else _made_command(other)

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[Any, Any, list[str]]:
        """The command that was typed; raises UnknownCommand if there is none of that name."""
        if self.get_command(ctx, args[0]) is None and not ctx.resilient_parsing:
            raise UnknownCommand(args[0], ctx)
        return super().resolve_command(ctx, args)

    def get_params(self, ctx: Any) -> list[Any]:
        """All parameters, `--help` too."""
        return _plain(super().get_params(ctx))

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the names of the commands and the first line about each."""
        own = [(each.name, _about(each)) for each in self.listed]
        other = [(name, docstring_line(each.run.__doc__)) for name, each in self.more().items()]
        with formatter.section("Commands"):
            formatter.write_dl([*own, *other])


class RootGroup(PlainGroup):
    """The root: turns every error of a command into a message and an exit code."""

    panels: ClassVar[Panels] = {}

    def main(self, args: Sequence[str] | None = None, *_: Any, **extra: Any) -> Any:
        """Run one command and end the process."""
        extra |= {"prog_name": "memoriter", "standalone_mode": False}
        run_and_exit(args, lambda argv: super(RootGroup, self).main(argv, **extra))

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the commands panel by panel."""
        width = max(len(each.name) for each in self.listed)
        for panel, commands in self.panels.items():
            with formatter.section(panel):
                formatter.write_dl([(each.name.ljust(width), _about(each)) for each in commands])


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


def tree_of(panels: Panels) -> typer.Typer:
    """The command line with these commands, which are made when they are asked for."""
    listed = tuple(each for commands in panels.values() for each in commands)
    top = typer.Typer(
        cls=type("Root", (RootGroup,), {"panels": panels, "listed": listed}),
        name="memoriter",
        help=_ABOUT,
        epilog="Begin with: memoriter demo",
        no_args_is_help=True,
        rich_markup_mode=None,  # plain help: drawing boxes takes longer than all the rest
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["--help", "-h"]},
    )
    top.callback()(root)
    return top


def _made(each: Listed | Branch) -> Any:
    """What typer makes of a command or a group."""
    if isinstance(each, Listed):
        return _made_command(each.load())

    class Group(PlainGroup):
        listed = each.commands

        def more(self) -> Mapping[str, Command]:
            return each.others()

        def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
            named = args[:1] and (args[0] in self.commands or args[0] in ("--help", "-h"))
            first = [each.default] if each.default and not named else []
            return super().parse_args(ctx, [*first, *args])

    group = typer.Typer(
        cls=Group,
        name=each.name,
        no_args_is_help=not each.default,
        help=each.about,
        rich_markup_mode=None,
    )
    group.callback()(_no_options)
    return typer.main.get_group(group)


def _no_options() -> None:
    """A group has no options of its own."""


def _made_command(each: Command) -> Any:
    from memoriter.doors.cli.declare import spread  # noqa: PLC0415  # help of a group needs it not

    run: Any = spread(each.run)
    params = [
        p.replace(annotation=_for_typer(p.annotation))
        for p in run.__signature__.parameters.values()
    ]
    # typer reads options from the signature and resolves annotations by name: it needs both.
    run.__signature__ = inspect.Signature(params)
    run.__annotations__ = {p.name: p.annotation for p in params}
    label = "Example: " if len(each.examples) == 1 else "Examples:\n\n"
    epilog = label + "\n\n".join(each.examples)
    made = type("Made", (PlainCommand,), {"lists": each.lists, "numbers": _numbers(run)})
    alone = typer.Typer(rich_markup_mode=None, add_completion=False)
    alone.command(each.name, cls=made, epilog=epilog)(run)
    return typer.main.get_command(alone)


def _numbers(run: Callable[..., object]) -> dict[str, type]:
    """The parameters of a function that take a whole number or a number, with their type."""
    types = {name: get_args(hint)[0] for name, hint in run.__annotations__.items()}
    return {
        name: kind
        for name, hint in types.items()
        for kind in (hint, *get_args(hint))
        if kind in (int, float)
    }


def _about(each: Listed | Branch) -> str:
    return each.about if isinstance(each, Branch) else each.about()


def _for_typer(annotation: Any) -> Any:
    """The annotation of a parameter as typer wants it."""
    from memoriter.doors.cli.options import CliOption, param_of  # noqa: PLC0415  # as above

    param, kind = param_of(annotation), get_args(annotation)[0]
    if isinstance(param, CliOption):
        return Annotated[kind, typer.Option(*param.names, **param.settings)]
    return Annotated[kind, typer.Argument(*param.names, show_default=False, **param.settings)]
