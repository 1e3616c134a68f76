"""The commands that search: recall, keywords, bundles, reflections, plan."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from memoriter.core.errors import InputError
from memoriter.core.lazy_dataclass import dataclass
from memoriter.core.private_file import write_private
from memoriter.doors import render
from memoriter.doors.cli.declare import Flags, command
from memoriter.doors.cli.options import (
    LimitOption,
    RerankerOption,
    ScopedOptions,
    opened_memory,
    setting,
)
from memoriter.doors.cli.output import print_json, show
from memoriter.doors.cli.params import CliArgument, CliOption
from memoriter.memory import options

if TYPE_CHECKING:
    from memoriter.why.result import Result

QueryArgument = Annotated[
    str, CliArgument(metavar="QUERY", help="What to look for.", show_default=False)
]
ExplainOption = Annotated[
    bool, CliOption("--explain", help="Break down every score, and show the plan.")
]


@dataclass(frozen=True, slots=True)
class QueryOptions:
    """Options that narrow or tune a search."""

    declared: Annotated[dict[str, Any], Flags(options.SearchKwargs)]
    limit: LimitOption = None

    def with_recipe(self) -> dict[str, Any]:
        """The options of the search; without --recipe, the recipe of the settings."""
        return {**self.declared, "recipe": setting("recipe", self.declared.get("recipe"))}


@dataclass(frozen=True, slots=True)
class AnswerOptions:
    """Options that say what is printed and saved of an answer."""

    explain: ExplainOption = False
    every: Annotated[
        bool, CliOption("--all", help="Also print hits that do not seem relevant.")
    ] = False
    context: Annotated[
        bool, CliOption("--context", help="Print the answer as a block for a prompt.")
    ] = False
    receipt: Annotated[
        Path | None,
        CliOption("--receipt", metavar="FILE", help="Save the receipt of the answer here."),
    ] = None
    html: Annotated[
        Path | None,
        CliOption("--html", metavar="FILE", help="Save the answer here as a web page."),
    ] = None


@command(
    "recall",
    'memoriter recall "which port for ssh?"',
    'memoriter recall "deploys" --where \'{"tags": {"any": ["ops"]}}\' --limit 3 --explain',
)
def recall(
    query: QueryArgument,
    ask: QueryOptions,
    at: ScopedOptions,
    answer: AnswerOptions,
    reranker: RerankerOption = None,
) -> None:
    """Find the memories that answer a question, and explain why each one was found."""
    with opened_memory(at, "read", setting("reranker", reranker)) as memory:
        result = memory.recall(query, ask.limit, **ask.with_recipe())
    _print_answer(result, answer, as_json=at.json)


@command("keywords", 'memoriter keywords "ssh port" --limit 5')
def keywords(
    query: QueryArgument, ask: QueryOptions, at: ScopedOptions, answer: AnswerOptions
) -> None:
    """Find memories by their words alone; no reranker is asked."""
    with opened_memory(at, "read") as memory:
        result = memory.keywords(query, ask.limit, **ask.declared)
    _print_answer(result, answer, as_json=at.json)


@command("bundles", 'memoriter bundles "ssh port" --limit 3')
def bundles(
    query: QueryArgument,
    ask: QueryOptions,
    at: ScopedOptions,
    offset: Annotated[
        int, CliOption("--offset", metavar="N", help="How many bundles to skip.")
    ] = 0,
) -> None:
    """Find memories by their words, each with the memories linked to it; no reranker is asked."""
    with opened_memory(at, "read") as memory:
        page = memory.bundles(query, ask.limit, offset=offset, **ask.declared)
    show(page.to_dict(), lambda: render.hits.bundle_list(page), as_json=at.json)


@command("reflections", 'memoriter reflections "travel plans"')
def reflections(
    at: ScopedOptions,
    ask: QueryOptions,
    query: Annotated[
        str, CliArgument(metavar="QUERY", help="What to look for.", show_default=False)
    ] = "",
    *,
    explain: ExplainOption = False,
) -> None:
    """Find reflections by meaning; without a query, list them. No reranker is asked."""
    with opened_memory(at, "read") as memory:
        result = memory.reflections(query, ask.limit, **ask.declared)
    _print_answer(result, AnswerOptions(explain=explain), as_json=at.json)


@command("plan", 'memoriter plan "which port for ssh?" --override lanes.meaning.enabled=false')
def plan(
    query: QueryArgument, ask: QueryOptions, at: ScopedOptions, reranker: RerankerOption = None
) -> None:
    """Show what a recall would do, without running it."""
    with opened_memory(at, "read", setting("reranker", reranker)) as memory:
        steps = memory.plan(query, ask.limit, **ask.with_recipe())
    show(steps.to_dict(), lambda: render.tree.plan_tree(steps), as_json=at.json)


def _print_answer(result: Result, answer: AnswerOptions, *, as_json: bool) -> None:
    """Save the files that the options name, then print the answer."""
    if answer.receipt is not None:
        _save(answer.receipt, result.receipt.to_bytes() + b"\n")
    if answer.html is not None:
        _save(answer.html, result.to_html().encode())
    if not answer.context:
        show(
            result.to_dict() if as_json else None,  # as data it explains every hit
            lambda: render.hits.hit_list(result, explain=answer.explain, every=answer.every),
            as_json=as_json,
        )
        return
    block = result.context(include="all" if answer.every else "relevant")
    if as_json:
        print_json(block.to_dict())
    else:
        print(block)


def _save(path: Path, content: bytes) -> None:
    try:
        write_private(path, content)
    except OSError as error:
        raise InputError(
            f"{path}: {error.strerror}", hint="name a file that can be written"
        ) from None
