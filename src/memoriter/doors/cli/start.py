"""The commands to begin with: init, demo, mcp install and uninstall, config show."""

from __future__ import annotations

import contextlib
import difflib
import importlib.util
import json
import shutil
import sys
import tempfile
from collections.abc import Generator, Iterator, Sequence
from dataclasses import replace
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import memoriter
from memoriter.core.errors import Conflict, InputError, Unsupported, install_hint
from memoriter.core.lazy_dataclass import dataclass
from memoriter.doors import render
from memoriter.doors.cli.declare import command
from memoriter.doors.cli.hooks import HostArgument
from memoriter.doors.cli.options import (
    DEFAULTS,
    CliOption,
    JsonOption,
    PrintedOptions,
    RerankerOption,
    ScopedOptions,
    config_files,
    opened_memory,
    settings,
    shown_store,
    store_exists,
    store_path,
)
from memoriter.doors.cli.output import console, print_json, print_note, show
from memoriter.doors.hosts import Host, host_of
from memoriter.doors.installing import (
    HOST_STORE,
    FileChange,
    plan_install,
    plan_uninstall,
    store_for_hosts,
)

if TYPE_CHECKING:
    from rich.console import Console

    from memoriter.memory.facade import Memory
    from memoriter.memory.options import DraftFields
    from memoriter.why.result import Result


@command("init", "memoriter init --store agent.db")
def init(at: PrintedOptions) -> None:
    """Make an empty store; a store that exists already is left as it is."""
    place, fresh = shown_store(store_path(at)), not store_exists(at)
    with opened_memory(at, "make"):
        pass
    line = f"made {place}" if fresh else f"{place} exists already"
    show({"store": place, "made": fresh}, lambda: line, as_json=at.json)


# --- demo -------------------------------------------------------------------------------------

_QUESTIONS: Final = (
    ("how do we roll back a release?", "a question in words of the memory"),
    ("cache latency", "no word in common: found by meaning alone"),
    ("which port for ssh?", "the old port was superseded: only the new one comes"),
)
_SHOWN: Final = 3


@command("demo", "memoriter demo", "memoriter demo --keep demo.db")
def demo(
    keep: Annotated[
        Path | None,
        CliOption("--keep", metavar="PATH", help="Keep the store of the demo in this file."),
    ] = None,
    *,
    as_json: JsonOption = False,
) -> None:
    """Create a small store, ask it three questions and explain the answers; works offline."""
    with _place(keep) as path, memoriter.open(path) as memory:
        _fill(memory)
        results = [memory.recall(text, _SHOWN) for text, _ in _QUESTIONS]
    if as_json:
        store = None if keep is None else str(keep)
        print_json({"store": store, "results": [result.to_dict() for result in results]})
    else:
        _draw(console(), results, keep)


@contextlib.contextmanager
def _place(keep: Path | None) -> Generator[Path]:
    if keep is not None:
        if keep.exists():
            raise Conflict(f"{keep} exists already", hint="name another file")
        yield keep
        return
    with tempfile.TemporaryDirectory(prefix="memoriter-demo-") as folder:
        yield Path(folder) / "demo.db"


def _fill(memory: Memory) -> None:
    """A few weeks of a coding assistant called Scout; `port-new` supersedes `port-old`."""
    memory.remember_many(_memories())
    memory.link("warm-index", "slow-lookups", "caused_by")
    memory.link("parquet-waits", "export-formats", "references")
    memory.agents.upsert(
        "scout", display_name="Scout", owner="ana", description="a coding assistant"
    )


def _memories() -> list[DraftFields]:
    text = resources.files(__package__).joinpath("demo.jsonl").read_text("utf-8")
    scope: dict[str, Any] = {"agent": "scout", "user": "ana"}
    return [json.loads(line) | scope for line in text.splitlines()]


def _draw(out: Console, results: list[Result], keep: Path | None) -> None:
    out.print(
        f"{len(_memories())} memories of a coding assistant, in one file; no key, no server.",
        style="dim",
    )
    for (text, about), result in zip(_QUESTIONS, results, strict=True):
        out.print()
        out.rule(style="dim")
        out.print(f"# {about}", style="dim")
        out.print(f'$ memoriter recall "{text}"', style="bold")
        out.print(render.hits.HitTable(result, every=True))
    last = results[-1]
    out.print()
    out.print("Why is that first? Every number adds up:", style="bold")
    out.print(render.tree.hit_tree(last[0], render.ink.inks_of(last.plan.recipe)))
    out.print()
    out.print("And what ran to find it:", style="bold")
    out.print(render.tree.plan_tree(last.plan))
    out.print()
    out.print("Now yours:", style="bold")
    option = "" if keep is None else f" --store {keep}"
    for line in (
        f'memoriter remember "The standup is at 9:30 on weekdays" --tag team{option}',
        f'memoriter recall "when is the standup?" --explain{option}',
        f"memoriter browse{option}",
        "memoriter --help",
    ):
        out.print(f"  {line}", soft_wrap=True)


# --- install and uninstall --------------------------------------------------------------------

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
            "--store",
            metavar="FILE",
            help="The store that the MCP server and the hooks use: a file, or an address.",
        ),
    ] = HOST_STORE,
    *,
    project: ProjectOption = False,
    hooks: Annotated[
        bool,
        CliOption(
            "--hooks/--no-hooks",
            help="Also install the hooks that recall memories and capture conversations.",
        ),
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
            "memoriter's MCP server needs the package mcp, which is not installed",
            hint=install_hint("server"),
        )
    root = _root(wanted, project=project)
    place = store_for_hosts(store)
    changes = plan_install(wanted, root, place, _program(), project=project, hooks=hooks)
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
            f"project: {host.title} has no settings for a single project",
            hint="leave --project out: the settings in your home folder are changed then",
            field="project",
        )
    return Path.cwd() if project else Path.home()


def _finish(host: Host, changes: Sequence[FileChange], *, dry_run: bool, as_json: bool) -> None:
    """Show the changes, then make them."""
    shown = [
        {"path": str(each.path), "diff": "\n".join(_diff(each)), "removed": each.after is None}
        for each in changes
    ]
    if not as_json:  # not through the console, which would break long lines
        print("\n".join(str(each["diff"]) for each in shown) or "nothing to change")
    if not dry_run:
        for each in changes:
            each.check()
        for each in changes:
            each.make()
    if as_json:
        print_json({"host": host.name, "changes": shown, "made": not dry_run})
    elif changes and not dry_run:
        print_note(f"done; restart {host.title} if it is running")


def _diff(change: FileChange) -> Iterator[str]:
    before = (change.before or "").splitlines()
    after = (change.after or "").splitlines()
    name = str(change.path)
    yield from difflib.unified_diff(before, after, name, name, lineterm="", n=2)


# --- config -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class SettingOptions(ScopedOptions):
    """Every setting as a flag."""

    recipe: Annotated[
        str | None,
        CliOption("--recipe", metavar="NAME", help="The recipe for searches (MEMORITER_RECIPE)."),
    ] = None
    reranker: RerankerOption = None


@command("show", "memoriter config show --origin")
def config_show(
    at: SettingOptions,
    *,
    origin: Annotated[
        bool, CliOption("--origin", help="Show where each value comes from.")
    ] = False,
) -> None:
    """Show every setting; with --origin, also where each value comes from.

    The first of these that has a value counts: a flag, an environment variable (MEMORITER_…),
    memoriter.toml in the current directory, memoriter/config.toml in ~/.config, the default.
    """
    values = settings({name: getattr(at, name) for name in DEFAULTS})
    store = values["store"]
    if store.value and "://" in store.value:  # it may hold a password
        values["store"] = replace(store, value=shown_store(store.value))
    data = {
        "settings": {name: {"value": s.value, "origin": s.origin} for name, s in values.items()},
        "files": [{"path": str(path), "exists": path.exists()} for path in config_files()],
    }
    width = 3 if origin else 2
    heads = ("setting", "value", "from")[:width]
    rows = [(n, "—" if s.value is None else s.value, s.origin)[:width] for n, s in values.items()]
    show(data, lambda: render.ink.TextColumns(heads, rows, wide=width - 1), as_json=at.json)
