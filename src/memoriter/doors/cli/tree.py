"""The tree of commands: its root, its branches, and how a command is hung into it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, ClassVar, Final, TypeVar

import typer
from typer.core import TyperCommand, TyperGroup

from memoriter import __version__
from memoriter.doors.cli.completing import Offer
from memoriter.doors.cli.out import speak_utf8
from memoriter.doors.cli.report import INTERRUPTED, arguments, check, failed, leave
from memoriter.doors.cli.spread import spread

Command = TypeVar("Command", bound=Callable[..., object])
PANELS: Final = {
    "Start": ("init", "demo"),
    "Write": ("remember", "import", "update", "link", "expire", "forget", "reflect"),
    "Ask": ("recall", "keywords", "bundles", "reflections", "plan"),
    "Prove": ("explain", "why-not", "verify", "replay", "diff"),
    "Look": ("browse", "get", "history", "links", "agents"),
    "Keep": ("status", "maintain", "export", "verify-store", "doctor"),
    "Serve": ("serve", "mcp", "token", "hooks"),
    "Tune": ("recipe", "analyzer", "embed", "eval", "config", "version"),
}
"""Every command of the root, in the order that help shows."""


class Door(TyperGroup):
    """The root command: whatever happens inside leaves as text and an exit code."""

    def main(self, args: Sequence[str] | None = None, *_: Any, **extra: Any) -> Any:
        """Run one command and end the process."""
        argv = arguments(args)
        speak_utf8()
        extra |= {"prog_name": "memoriter", "standalone_mode": False}
        try:
            check(argv)
            code = super().main(argv, **extra)
        except KeyboardInterrupt:
            code = INTERRUPTED
        except Exception as error:
            code = failed(error, argv)
        leave(code if isinstance(code, int) else 0)

    def list_commands(self, ctx: Any) -> list[str]:
        """The commands in the order of their panels."""
        known = super().list_commands(ctx)
        order = [name for names in PANELS.values() for name in names]
        return sorted(known, key=order.index)


app = typer.Typer(
    cls=Door,
    name="memoriter",
    help="A memory engine for agents that can say why it recalled what it recalled.",
    epilog="Begin with: memoriter demo",
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["--help", "-h"]},
)


def _tell_version(asked: bool) -> None:  # noqa: FBT001  # typer calls it with the value
    if asked:
        print(f"memoriter {__version__}")
        raise typer.Exit


@app.callback()
def root(
    *,
    version: Annotated[
        bool,
        typer.Option("--version", callback=_tell_version, is_eager=True, help="Print the version."),
    ] = False,
) -> None:
    """A memory engine for agents that can say why it recalled what it recalled."""


class _Listing(TyperCommand):
    """A command whose help lists the values of some options."""

    lists: ClassVar[Mapping[str, Offer]]

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help, the values included."""
        for param in self.params:
            if param.name in self.lists:
                values = ", ".join(self.lists[param.name](""))
                vars(param)["help"] = f"{getattr(param, 'help', '')} One of {values}."
        super().format_help(ctx, formatter)


def branch(name: str, about: str) -> typer.Typer:
    """A group of commands below the root."""
    group = typer.Typer(no_args_is_help=True, help=about, rich_markup_mode="rich")
    app.add_typer(group, name=name, rich_help_panel=_panel(name))
    return group


def command(
    name: str,
    *examples: str,
    under: typer.Typer = app,
    lists: Mapping[str, Offer] | None = None,
) -> Callable[[Command], Command]:
    """Hang a command into the tree; its docstring is its help, the examples end it.

    `lists` names options whose help ends with all their values; they are asked for when the help
    is shown, since other packages may bring some.
    """
    made = type("Listing", (_Listing,), {"lists": lists}) if lists else None

    def hang(function: Command) -> Command:
        label = "Example: " if len(examples) == 1 else "Examples:\n\n"
        epilog = label + "\n\n".join(examples)
        panel = _panel(name) if under is app else None
        under.command(name, cls=made, epilog=epilog, rich_help_panel=panel)(spread(function))
        return function

    return hang


def _panel(name: str) -> str:
    return next(panel for panel, names in PANELS.items() if name in names)
