"""The list of commands: names, and where each is declared.

A command is imported when it runs. What its group's help says about it is read from the docstring
in the compiled module, which is not run.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from types import CodeType
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast

if TYPE_CHECKING:
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
        return first_paragraph(str(own.co_consts[0]))


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


def first_paragraph(docstring: str | None) -> str:
    """The first paragraph of a docstring, on one line."""
    return " ".join((docstring or "").split("\n\n")[0].split())
