"""config, version: what holds here, and why."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer

from memoriter import __version__
from memoriter.doors.cli.options import AsJson, Reranker, Scoped
from memoriter.doors.cli.out import show
from memoriter.doors.cli.settings import DEFAULTS, files, settings
from memoriter.doors.cli.tree import branch, command

config = branch("config", "Settings: from flags, the environment, TOML files, defaults.")


@dataclass(frozen=True, slots=True)
class Everything(Scoped):
    """Every setting as a flag."""

    recipe: Annotated[str | None, typer.Option("--recipe", help="A recipe (MEMORITER_RECIPE).")] = (
        None
    )
    reranker: Reranker = None


Origin = Annotated[bool, typer.Option("--origin", help="Say where each value comes from.")]


@command("show", "memoriter config show --origin", under=config)
def show_(at: Everything, *, origin: Origin = False) -> None:
    """Show every setting, and where it comes from.

    A flag wins over MEMORITER_…, that over memoriter.toml in the current directory, that over
    memoriter/config.toml in ~/.config, that over the default.
    """
    found = settings({name: getattr(at, name) for name in DEFAULTS})
    from memoriter.doors.render.columns import Columns  # noqa: PLC0415  # `--json` needs none of it

    data = {
        "settings": {name: {"value": s.value, "origin": s.origin} for name, s in found.items()},
        "files": [{"path": str(path), "exists": path.exists()} for path in files()],
    }
    wide = 3 if origin else 2
    rows = [(n, "—" if s.value is None else s.value, s.origin)[:wide] for n, s in found.items()]
    heads = ("setting", "value", "from")[:wide]
    show(data, lambda: Columns(heads, rows, wide=wide - 1), as_json=at.json)


@command("version", "memoriter version")
def version(*, as_json: AsJson = False) -> None:
    """Print the version."""
    show({"version": __version__}, lambda: f"memoriter {__version__}", as_json=as_json)
