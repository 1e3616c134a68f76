"""demo: a small real memory, and three questions to it."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Generator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from memoriter.core.errors import Conflict
from memoriter.doors.cli.options import AsJson
from memoriter.doors.cli.out import console, print_json
from memoriter.doors.cli.story import EDGES, MEMORIES
from memoriter.doors.cli.tree import command

if TYPE_CHECKING:
    from rich.console import Console

    from memoriter.memory.facade import Memory
    from memoriter.why.result import Result

QUESTIONS: Final = (
    ("how do we roll back a release?", "a question in words of the memory"),
    ("cache latency", "no word in common: found by meaning alone"),
    ("which port for ssh?", "the old port was superseded: only the new one comes"),
)
SHOWN: Final = 3
Keep = Annotated[
    Path | None,
    typer.Option("--keep", metavar="PATH", help="Keep the store of the demo in this file."),
]


@command("demo", "memoriter demo", "memoriter demo --keep demo.db")
def demo(keep: Keep = None, *, as_json: AsJson = False) -> None:
    """Make a small memory, ask it three questions, and show every reason. Offline, in a moment."""
    with _place(keep) as path:
        from memoriter.memory.opening import open_memory  # noqa: PLC0415  # loads the engine

        with open_memory(path) as memory:
            fill(memory)
            results = [memory.recall(text, SHOWN) for text, _ in QUESTIONS]
    if as_json:
        print_json(
            {
                "store": None if keep is None else str(keep),
                "results": [r.to_dict() for r in results],
            }
        )
    else:
        _tell(console(), results, keep)


@contextlib.contextmanager
def _place(keep: Path | None) -> Generator[Path]:
    if keep is not None:
        if keep.exists():
            raise Conflict(f"{keep} is there already", hint="name another file")
        yield keep
        return
    with tempfile.TemporaryDirectory(prefix="memoriter-demo-") as folder:
        yield Path(folder) / "demo.db"


def fill(memory: Memory) -> None:
    """Write the story."""
    memory.remember_many([dict(draft) for draft in MEMORIES])
    for source, target, kind in EDGES:
        memory.link(source, target, kind)
    memory.agents.upsert(
        "scout", display_name="Scout", owner="ana", description="a coding assistant"
    )


def _tell(out: Console, results: list[Result], keep: Path | None) -> None:
    from rich.text import Text  # noqa: PLC0415  # `--json` needs none of it

    from memoriter.doors.render.ink import DIM, STRONG, inks_of  # noqa: PLC0415  # as above
    from memoriter.doors.render.table import Table  # noqa: PLC0415  # as above
    from memoriter.doors.render.tree import hit_tree, plan_tree  # noqa: PLC0415  # as above

    out.print(
        Text(
            f"{len(MEMORIES)} memories of a coding assistant, in one file; no key, no server.", DIM
        )
    )
    for (text, about), result in zip(QUESTIONS, results, strict=True):
        _headline(out, text, about)
        out.print(Table(result))
    last = results[-1]
    out.print()
    out.print(Text("Why is that first? Every number adds up:", STRONG))
    out.print(hit_tree(last[0], inks_of(last.plan.recipe)))
    out.print()
    out.print(Text("And what ran to find it:", STRONG))
    out.print(plan_tree(last.plan))
    _next(out, keep)


def _headline(out: Console, text: str, about: str) -> None:
    from rich.text import Text  # noqa: PLC0415  # as above

    out.print()
    out.rule(style="dim")
    out.print(Text(f"# {about}", "dim"))
    out.print(Text(f'$ memoriter recall "{text}"', "bold"))


def _next(out: Console, keep: Path | None) -> None:
    from rich.text import Text  # noqa: PLC0415  # as above

    option = "" if keep is None else f" --store {keep}"
    lines = [
        f'memoriter remember "The standup is at 9:30 on weekdays" --tag team{option}',
        f'memoriter recall "when do we meet?" --explain{option}',
        f"memoriter browse{option}",
        "memoriter --help",
    ]
    out.print()
    out.print(Text("Now yours:", "bold"))
    for line in lines:
        out.print(Text("  " + line), soft_wrap=True)
