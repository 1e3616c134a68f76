"""reflect, reflections: memories summed up, and the sums asked for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from memoriter.doors.cli.asking import Ask, Explain, drawn
from memoriter.doors.cli.flags import Flags
from memoriter.doors.cli.opening import opened
from memoriter.doors.cli.options import Scoped
from memoriter.doors.cli.out import show
from memoriter.doors.cli.tree import command
from memoriter.memory import options

if TYPE_CHECKING:
    from rich.console import RenderableType

    from memoriter.write.reflect import Reflected


@dataclass(frozen=True, slots=True)
class How:
    """When memories belong together."""

    given: Annotated[dict[str, Any], Flags(options.How)]


DryRun = Annotated[bool, typer.Option("--dry-run", help="Show what it would do; write nothing.")]


@command(
    "reflect",
    "memoriter reflect --dry-run",
    "memoriter reflect --algorithm agglomerative --similarity 0.8",
)
def reflect(at: Scoped, how: How, *, dry_run: DryRun = False) -> None:
    """Sum up clusters of related memories as reflections, without a model."""
    with opened(at, "read" if dry_run else "change") as memory:
        done = memory.reflect(dry_run=dry_run, **how.given)
    show(done.to_dict(), lambda: _drawn(done), as_json=at.json)


Question = Annotated[
    str, typer.Argument(metavar="[QUERY]", help="What to look for.", show_default=False)
]


@command("reflections", 'memoriter reflections "travel plans"')
def reflections(at: Scoped, ask: Ask, query: Question = "", *, explain: Explain = False) -> None:
    """Find reflections alone, by meaning; without a query, list them."""
    with opened(at, "read") as memory:
        result = memory.reflections(query, ask.limit, **ask.options())
    show(result.to_dict(), lambda: drawn(result, explain=explain), as_json=at.json)


def _drawn(done: Reflected) -> RenderableType:
    from rich.console import Group  # noqa: PLC0415  # `--json` needs none of it
    from rich.text import Text  # noqa: PLC0415  # as above

    from memoriter.doors.render.ink import DIM, STRONG, WARN  # noqa: PLC0415  # as above
    from memoriter.text.safe import one_line  # noqa: PLC0415  # as above

    verb = "would make" if done.dry_run else "made"
    counts = f"kept {len(done.kept)}, retired {len(done.retired)}, of {done.considered} memories"
    made = "1 reflection" if len(done.created) == 1 else f"{len(done.created)} reflections"
    lines = [Text(f"{verb} {made}, {counts}", STRONG)]
    if done.left_out:
        lines.append(Text(f"  {done.left_out} were left out: older, or without a vector", WARN))
    for each in done.created:
        members = ", ".join(map(one_line, each.members))
        lines += [Text(f"  {one_line(each.summary)}"), Text(f"    {each.id} · {members}", DIM)]
    for gone in done.retired:
        lines.append(Text(f"  retired {one_line(gone)}: a member no longer stands", DIM))
    for one in done.rejected:
        members = ", ".join(map(one_line, one.members))
        lines.append(Text(f"  not summed up: {members}: {one.reason}", DIM))
    return Group(*lines)
