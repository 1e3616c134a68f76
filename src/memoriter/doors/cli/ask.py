"""The commands that search, and those that prove an answer: from recall to verify and diff."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import memoriter
from memoriter.core.errors import Corrupt, Expired, InputError, NotFound
from memoriter.core.lazy_dataclass import dataclass
from memoriter.core.private_file import write_private
from memoriter.doors import render
from memoriter.doors.cli.declare import Flags, command
from memoriter.doors.cli.options import (
    CliArgument,
    CliOption,
    IdArgument,
    JsonOption,
    LimitOption,
    RerankerOption,
    ScopedOptions,
    opened_memory,
    setting,
)
from memoriter.doors.cli.output import CommandExit, print_json, show
from memoriter.memory import options
from memoriter.why.receipt import RECEIPT_BEGINS

if TYPE_CHECKING:
    from memoriter.memory.facade import Memory
    from memoriter.why.hit import Hit
    from memoriter.why.result import Result
    from memoriter.why.verify import Verified

QueryArgument = Annotated[str, CliArgument(metavar="QUERY", help="What to look for.")]
ExplainOption = Annotated[
    bool, CliOption("--explain", help="Break down every score, and show the plan of the search.")
]

_PAGE_BEGIN: Final = 70
"""By so many bytes an earlier page of ours is known."""


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
        CliOption("--receipt", metavar="FILE", help="Save the receipt of the answer in this file."),
    ] = None
    html: Annotated[
        Path | None,
        CliOption("--html", metavar="FILE", help="Save the answer in this file as a web page."),
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
    """Find memories by their words alone; no reranker is used."""
    with opened_memory(at, "read") as memory:
        result = memory.keywords(query, ask.limit, **ask.declared)
    _print_answer(result, answer, as_json=at.json)


@command("bundles", 'memoriter bundles "ssh port" --limit 3')
def bundles(
    query: QueryArgument,
    ask: QueryOptions,
    at: ScopedOptions,
    offset: Annotated[int, CliOption("--offset", metavar="N", help="How many hits to skip.")] = 0,
) -> None:
    """Find memories by their words, each with the memories linked to it; no reranker is used."""
    with opened_memory(at, "read") as memory:
        page = memory.bundles(query, ask.limit, offset=offset, **ask.declared)
    show(page.to_dict(), lambda: render.hits.bundle_list(page), as_json=at.json)


@command("reflections", 'memoriter reflections "travel plans"')
def reflections(
    at: ScopedOptions,
    ask: QueryOptions,
    query: Annotated[str, CliArgument(metavar="QUERY", help="What to look for.")] = "",
    *,
    explain: ExplainOption = False,
) -> None:
    """Find reflections (summaries of memories) by meaning; without a query, list them.

    No reranker is used.
    """
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
        _save(answer.receipt, result.receipt.to_bytes() + b"\n", RECEIPT_BEGINS)
    if answer.html is not None:
        page = result.to_html().encode()
        _save(answer.html, page, (page[:_PAGE_BEGIN],))
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


def _save(path: Path, content: bytes, begins: tuple[bytes, ...]) -> None:
    try:
        write_private(path, content, begins)
    except OSError as error:
        raise InputError(
            f"{path} cannot be written: {error.strerror}",
            hint="name another file, or check the permissions",
        ) from None


# --- proof of an answer ---------------------------------------------------------------------

QueryOption = Annotated[
    str | None,
    CliOption("--query", metavar="QUERY", help="A question to ask now; give this or --receipt."),
]
ReceiptOption = Annotated[
    Path | None,
    CliOption(
        "--receipt", metavar="FILE", help="The saved receipt of a search; give this or --query."
    ),
]
ReceiptArgument = Annotated[
    Path, CliArgument(metavar="RECEIPT", help="A receipt that `recall --receipt` saved.")
]


@dataclass(frozen=True, slots=True)
class WhichAnswer:
    """The answer in question: to a question that is asked now, or that of a receipt."""

    query: QueryOption = None
    receipt: ReceiptOption = None
    reranker: RerankerOption = None

    def opened(self, at: ScopedOptions) -> AbstractContextManager[Memory]:
        """The memory to ask, with the reranker that was chosen."""
        return opened_memory(at, "read", setting("reranker", self.reranker))

    def result(self, memory: Memory, ask: QueryOptions) -> Result:
        """The answer to --query, or that of --receipt, run again."""
        if self.query is None and self.receipt is not None:
            return memory.replay(self.receipt).result
        if self.query is None or self.receipt is not None:
            raise InputError(
                "give either --query or --receipt, to say which answer is meant",
                hint='for example --query "which port for ssh?"',
                field="query",
            )
        return memory.recall(self.query, ask.limit, **ask.with_recipe())


@command(
    "explain",
    'memoriter explain ID --query "which port for ssh?"',
    "memoriter explain ID --receipt r.json",
    'memoriter explain ID --query "which port for ssh?" --versus OTHER_ID',
)
def explain(
    id: IdArgument,
    ask: QueryOptions,
    at: ScopedOptions,
    of: WhichAnswer,
    versus: Annotated[
        str | None,
        CliOption(
            "--versus",
            metavar="ID",
            help="The id of another hit: show which of the two ranks higher, and why.",
        ),
    ] = None,
) -> None:
    """Break down the score of a hit; for a memory that is not a hit, show what kept it out."""
    with of.opened(at) as memory:
        result = of.result(memory, ask)
        hits = {hit.id: hit for hit in result}
        hit = hits.get(id)
        missing = memory.why_not(result, id) if hit is None else None
    if hit is not None and versus is not None:
        _show_versus(hits, hit, versus, as_json=at.json)
    elif hit is not None:
        recipe = result.plan.recipe
        show(
            {"hit": hit.to_dict()},
            lambda: render.tree.explained_hit(hit, render.ink.inks_of(recipe)),
            as_json=at.json,
        )
    if missing is not None:
        show(
            {"why_not": missing.to_dict()},
            lambda: render.proof.why_not_card(missing),
            as_json=at.json,
        )


def _show_versus(hits: Mapping[str, Hit], hit: Hit, other: str, *, as_json: bool) -> None:
    if other not in hits:
        raise NotFound(
            f"versus: {other!r} is not a hit of this answer",
            hint=f"run memoriter why-not {other} with the same --query or --receipt to see what"
            " kept it out",
            field="versus",
        )
    compared = hit.versus(hits[other])
    data = {"hit": hit.to_dict(), "versus": compared.to_dict()}
    show(data, lambda: render.proof.versus_card(compared), as_json=as_json)


@command(
    "why-not",
    'memoriter why-not ID --query "which port for ssh?"',
    "memoriter why-not ID --receipt r.json",
)
def why_not(
    id: IdArgument,
    ask: QueryOptions,
    at: ScopedOptions,
    of: WhichAnswer,
) -> None:
    """Show what kept a memory out of an answer, and the smallest change that lets it in."""
    with of.opened(at) as memory:
        answer = of.receipt if of.query is None else None
        missing = memory.why_not(answer or of.result(memory, ask), id)
    show(missing.to_dict(), lambda: render.proof.why_not_card(missing), as_json=at.json)


@command("verify", "memoriter verify receipt.json")
def verify(
    receipt: ReceiptArgument,
    *,
    every: Annotated[
        bool,
        CliOption("--all", help="List all parts that were checked, not only their number."),
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Recompute every number of a receipt, from the receipt alone; no store is opened.

    The exit code is 9 if a recomputed number differs from the receipt.
    """
    verified = memoriter.verify(receipt)
    data = {"receipt": str(receipt), **verified.to_dict()}
    show(data, lambda: "\n".join(_lines(verified, every=every)), as_json=as_json)
    if not verified.ok:
        raise CommandExit(Corrupt.exit_code)


def _lines(verified: Verified, *, every: bool) -> list[str]:
    lines = ["verified" if verified.ok else "NOT verified"]
    lines += [f"wrong: {problem}" for problem in verified.problems]
    for name, parts in (("derived again", verified.checked), ("attested", verified.attested)):
        lines.append(f"{name}: {len(parts)} parts")
        lines += [f"  {part}" for part in parts] if every else []
    lines += [f"not covered: {each}" for each in verified.not_covered] if every else []
    if not verified.ok:
        lines.append("hint: these numbers do not follow from the others: do not rely on them")
    return lines


@command("replay", "memoriter replay r.json")
def replay(receipt: ReceiptArgument, at: ScopedOptions) -> None:
    """Run the search of a receipt again, on the data as it was then, and compare the answers.

    If the answers differ, the exit code is 9, or 10 if memories were forgotten since then.
    """
    with opened_memory(at, "read") as memory:
        replayed = memory.replay(receipt)
    show(replayed.to_dict(), lambda: render.proof.replay_card(replayed), as_json=at.json)
    if not replayed.same:
        raise CommandExit(Expired.exit_code if replayed.forgotten else Corrupt.exit_code)


@command("diff", "memoriter diff before.json after.json")
def diff(
    before: Annotated[Path, CliArgument(metavar="BEFORE", help="A saved receipt.")],
    after: Annotated[
        Path, CliArgument(metavar="AFTER", help="The receipt to compare the first one with.")
    ],
    *,
    as_json: JsonOption = False,
) -> None:
    """Compare the answers of two receipts: which hits moved, and why."""
    changes = memoriter.diff(before, after)
    show(changes.to_dict(), lambda: render.proof.diff_card(changes), as_json=as_json)
