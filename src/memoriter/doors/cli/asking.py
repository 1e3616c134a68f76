"""recall, keywords, bundles, plan: a question and its explained answer."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from memoriter.core.errors import InputError
from memoriter.doors.cli.flags import Flags
from memoriter.doors.cli.opening import opened
from memoriter.doors.cli.options import Limit, Reranker, Scoped
from memoriter.doors.cli.out import print_json, show
from memoriter.doors.cli.settings import setting
from memoriter.doors.cli.tree import command
from memoriter.memory import options

if TYPE_CHECKING:
    from rich.console import RenderableType

    from memoriter.why.result import Result

Question = Annotated[
    str, typer.Argument(metavar="QUERY", help="What to look for.", show_default=False)
]
Explain = Annotated[
    bool, typer.Option("--explain", help="Take every score apart, and show the plan.")
]


@dataclass(frozen=True, slots=True)
class Paper:
    """What is made of an answer."""

    explain: Explain = False
    context: Annotated[
        bool, typer.Option("--context", help="Print the answer as a block for a prompt.")
    ] = False
    receipt: Annotated[
        Path | None,
        typer.Option("--receipt", metavar="FILE", help="Save the receipt of the answer there."),
    ] = None
    html: Annotated[
        Path | None,
        typer.Option("--html", metavar="FILE", help="Save the answer there as a page."),
    ] = None


@dataclass(frozen=True, slots=True)
class Ask:
    """What narrows or tunes a question."""

    given: Annotated[dict[str, Any], Flags(options.Ask)]
    limit: Limit = None

    def options(self, *, usual: bool = False) -> dict[str, Any]:
        """What the library takes beside text and limit; `usual`: the recipe may be a setting."""
        recipe = setting("recipe", self.given.get("recipe")) if usual else None
        return {**self.given, **({} if recipe is None else {"recipe": recipe})}


@command(
    "recall",
    'memoriter recall "which port for ssh?"',
    'memoriter recall "deploys" --where \'{"tags": {"any": ["ops"]}}\' --limit 3 --explain',
)
def recall(query: Question, ask: Ask, at: Scoped, paper: Paper, reranker: Reranker = None) -> None:
    """Find the right memories and say why each one is right."""
    asked = ask.options(usual=True)
    with opened(at, "read", setting("reranker", reranker)) as memory:
        result = memory.recall(query, ask.limit, **asked)
    _told(result, paper, as_json=at.json)


@command("keywords", 'memoriter keywords "ssh port" --limit 5')
def keywords(query: Question, ask: Ask, at: Scoped, paper: Paper) -> None:
    """Find memories by their words alone."""
    with opened(at, "read") as memory:
        result = memory.keywords(query, ask.limit, **ask.options())
    _told(result, paper, as_json=at.json)


@command("bundles", 'memoriter bundles "ssh port" --limit 3')
def bundles(
    query: Question,
    ask: Ask,
    at: Scoped,
    offset: Annotated[int, typer.Option("--offset", help="How many bundles to leave out.")] = 0,
) -> None:
    """Find memories by their words, each with those that hang on it by links."""
    with opened(at, "read") as memory:
        found = memory.bundles(query, ask.limit, offset=offset, **ask.options())
    from memoriter.doors.render.bundles import bundle_list  # noqa: PLC0415  # loads the engine

    show(found.to_dict(), lambda: bundle_list(found), as_json=at.json)


@command("plan", 'memoriter plan "which port for ssh?" --override lanes.meaning.enabled=false')
def plan(query: Question, ask: Ask, at: Scoped, reranker: Reranker = None) -> None:
    """Say what a recall would do, without doing it."""
    asked = ask.options(usual=True)
    with opened(at, "read", setting("reranker", reranker)) as memory:
        made = memory.plan(query, ask.limit, **asked)
    from memoriter.doors.render.tree import plan_tree  # noqa: PLC0415  # loads the engine

    show(made.to_dict(), lambda: plan_tree(made), as_json=at.json)


def drawn(result: Result, *, explain: bool) -> RenderableType:
    """The table; with explanations, a tree for every hit and the plan below it."""
    from rich.console import Group  # noqa: PLC0415  # `--json` needs none of it
    from rich.text import Text  # noqa: PLC0415  # as above

    from memoriter.doors.render.ink import inks_of  # noqa: PLC0415  # as above
    from memoriter.doors.render.table import Table  # noqa: PLC0415  # as above
    from memoriter.doors.render.tree import hit_tree, plan_tree  # noqa: PLC0415  # as above

    parts: list[RenderableType] = [Table(result)]
    if explain:
        lanes = inks_of(result.plan.recipe)
        for hit in result:
            parts += [Text(), hit_tree(hit, lanes)]
        parts += [Text(), plan_tree(result.plan)]
    return Group(*parts)


def _told(result: Result, paper: Paper, *, as_json: bool) -> None:
    """Save what is asked for, then print the answer."""
    if paper.receipt is not None:
        _save(paper.receipt, result.receipt.to_bytes() + b"\n")
    if paper.html is not None:
        _save(paper.html, result.to_html().encode())
    if not paper.context:
        show(result.to_dict(), lambda: drawn(result, explain=paper.explain), as_json=as_json)
    elif as_json:
        print_json(result.context().to_dict())
    else:
        print(result.context())


def _save(path: Path, content: bytes) -> None:
    try:
        path.write_bytes(content)
    except OSError as error:
        raise InputError(
            f"{path}: {error.strerror}", hint="name a file that can be written"
        ) from None
