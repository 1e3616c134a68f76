"""The commands that put Memoriter into the settings of a host: mcp install, mcp uninstall."""

from __future__ import annotations

import difflib
import importlib.util
import shutil
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Final

from memoriter.core.errors import InputError, Unsupported, install_hint
from memoriter.doors.cli.declare import command
from memoriter.doors.cli.options import JsonOption, complete_words
from memoriter.doors.cli.output import note, print_json
from memoriter.doors.cli.params import CliArgument, CliOption
from memoriter.doors.hosts import HOST_NAMES, Host, host_of
from memoriter.doors.installing import FileChange, plan_install, plan_uninstall

_STORE: Final = "~/.memoriter.db"
HostArgument = Annotated[
    str,
    CliArgument(
        metavar="HOST",
        help=f"The host: {', '.join(HOST_NAMES[:-1])} or {HOST_NAMES[-1]}.",
        show_default=False,
        autocompletion=complete_words(*HOST_NAMES),
    ),
]
ProjectOption = Annotated[
    bool,
    CliOption(
        "--project", help="Change the settings of this project, not those in your home folder."
    ),
]
DryOption = Annotated[bool, CliOption("--dry-run", help="Show what would change; change nothing.")]


@command(
    "install",
    "memoriter mcp install claude-code",
    "memoriter mcp install codex --project --store .memoriter.db --dry-run",
)
def mcp_install(
    host: HostArgument,
    store: Annotated[
        str,
        CliOption(
            "--store", metavar="FILE", help="The store that the MCP server and the hooks use."
        ),
    ] = _STORE,
    *,
    project: ProjectOption = False,
    hooks: Annotated[
        bool,
        CliOption("--hooks/--no-hooks", help="Also install the hooks that recall and capture."),
    ] = True,
    dry_run: DryOption = False,
    as_json: JsonOption = False,
) -> None:
    """Add memoriter's MCP server and hooks to the settings of a host; the change is shown first.

    Both use the same store. All other settings stay as they are; `uninstall` removes both again.
    """
    wanted = host_of(host)
    if not dry_run and importlib.util.find_spec("mcp") is None:
        raise Unsupported(
            "the server needs the package mcp, which is not installed",
            hint=install_hint("server"),
        )
    root = _root(wanted, project=project)
    place = Path(store).expanduser().absolute()
    program = _program()
    changes = plan_install(wanted, root, place, program, project=project, hooks=hooks)
    if not place.parent.is_dir():
        raise InputError(
            f"store: there is no folder {place.parent}",
            hint=f"mkdir -p {place.parent}",
            field="store",
        )
    _finish(wanted, changes, dry_run=dry_run, as_json=as_json)


@command("uninstall", "memoriter mcp uninstall claude-code")
def mcp_uninstall(
    host: HostArgument,
    *,
    project: ProjectOption = False,
    dry_run: DryOption = False,
    as_json: JsonOption = False,
) -> None:
    """Remove memoriter's MCP server and hooks from the settings of a host; the store is kept."""
    wanted = host_of(host)
    root = _root(wanted, project=project)
    changes = plan_uninstall(wanted, root, project=project)
    _finish(wanted, changes, dry_run=dry_run, as_json=as_json)


def _program() -> str:
    """The program that a host runs: this one, by its whole path, else the one on the path."""
    own = Path(sys.executable).with_name("memoriter")
    return str(own) if own.exists() else shutil.which("memoriter") or "memoriter"


def _root(host: Host, *, project: bool) -> Path:
    if project and host.project_servers is None:
        raise InputError(
            f"project: {host.title} has no settings for a single project", field="project"
        )
    return Path.cwd() if project else Path.home()


def _finish(host: Host, changes: Sequence[FileChange], *, dry_run: bool, as_json: bool) -> None:
    """Show the changes, then make them."""
    shown = [
        {"path": str(each.path), "diff": "\n".join(_diff(each)), "removed": each.after is None}
        for each in changes
    ]
    data = {"host": host.name, "changes": shown, "made": not dry_run}
    if as_json:
        print_json(data)
    else:  # not through the console, which would break long lines
        print("\n".join(str(each["diff"]) for each in shown) or "nothing to change")
    if dry_run:
        return
    for each in changes:
        each.make()
    if changes and not as_json:
        note(f"done; restart {host.title} if it is running")


def _diff(change: FileChange) -> Iterator[str]:
    before = (change.before or "").splitlines()
    after = (change.after or "").splitlines()
    name = str(change.path)
    yield from difflib.unified_diff(before, after, name, name, lineterm="", n=2)
