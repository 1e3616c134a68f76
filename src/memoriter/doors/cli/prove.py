"""The commands that prove an answer: explain, why-not, verify, replay, diff."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import memoriter
from memoriter.core.errors import Corrupt, Expired, InputError
from memoriter.doors import render
from memoriter.doors.cli.ask import QueryOptions
from memoriter.doors.cli.declare import command
from memoriter.doors.cli.options import (
    IdArgument,
    JsonOption,
    RerankerOption,
    ScopedOptions,
    opened_memory,
    setting,
)
from memoriter.doors.cli.output import show

if TYPE_CHECKING:
    from memoriter.memory.facade import Memory
    from memoriter.why.result import Result
    from memoriter.why.verify import Verified

QueryOption = Annotated[
    str | None, typer.Option("--query", metavar="QUERY", help="A question to ask now.")
]
ReceiptOption = Annotated[
    Path | None,
    typer.Option("--receipt", metavar="FILE", help="The receipt of a search, instead of --query."),
]
ReceiptArgument = Annotated[
    Path,
    typer.Argument(
        metavar="RECEIPT", help="A receipt that `recall --receipt` saved.", show_default=False
    ),
]


@command(
    "explain",
    'memoriter explain ID --query "which port for ssh?"',
    "memoriter explain ID --receipt r.json",
)
def explain(
    id: IdArgument,
    ask: QueryOptions,
    at: ScopedOptions,
    query: QueryOption = None,
    receipt: ReceiptOption = None,
    reranker: RerankerOption = None,
) -> None:
    """Break down the score of a hit; for a memory that is not a hit, show what kept it out."""
    with opened_memory(at, "read", setting("reranker", reranker)) as memory:
        result = _result(memory, ask, query, receipt)
        hit = next((hit for hit in result if hit.id == id), None)
        missing = memory.why_not(result, id) if hit is None else None
    if hit is not None:
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


@command(
    "why-not",
    'memoriter why-not ID --query "which port for ssh?"',
    "memoriter why-not ID --receipt r.json",
)
def why_not(
    id: IdArgument,
    ask: QueryOptions,
    at: ScopedOptions,
    query: QueryOption = None,
    receipt: ReceiptOption = None,
    reranker: RerankerOption = None,
) -> None:
    """Show what kept a memory out of an answer, and the smallest change that lets it in."""
    with opened_memory(at, "read", setting("reranker", reranker)) as memory:
        answer = receipt if query is None else None
        missing = memory.why_not(answer or _result(memory, ask, query, receipt), id)
    show(missing.to_dict(), lambda: render.proof.why_not_card(missing), as_json=at.json)


def _result(memory: Memory, ask: QueryOptions, query: str | None, receipt: Path | None) -> Result:
    """The answer to --query, or that of --receipt, run again."""
    if query is None and receipt is not None:
        return memory.replay(receipt).result
    if query is None or receipt is not None:
        raise InputError(
            "give either --query or --receipt",
            hint='for example --query "which port for ssh?"',
            field="query",
        )
    return memory.recall(query, ask.limit, **ask.with_recipe())


@command("verify", "memoriter verify receipt.json")
def verify(
    receipt: ReceiptArgument,
    *,
    every: Annotated[
        bool, typer.Option("--all", help="List every checked part, instead of how many there are.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Recompute every number of a receipt, from the receipt alone; opens no store.

    Exit code 9 if a number that is computed again differs from the receipt.
    """
    verified = memoriter.verify(receipt)
    data = {"receipt": str(receipt), **verified.to_dict()}
    show(data, lambda: "\n".join(_lines(verified, every=every)), as_json=as_json)
    if not verified.ok:
        raise typer.Exit(Corrupt.exit_code)


def _lines(verified: Verified, *, every: bool) -> list[str]:
    lines = ["verified" if verified.ok else "NOT verified"]
    lines += [f"wrong: {problem}" for problem in verified.problems]
    for name, parts in (("derived again", verified.checked), ("attested", verified.attested)):
        lines.append(f"{name}: {len(parts)} parts")
        lines += [f"  {part}" for part in parts] if every else []
    if not verified.ok:
        lines.append("hint: these numbers do not follow from the others: do not rely on them")
    return lines


@command("replay", "memoriter replay r.json")
def replay(receipt: ReceiptArgument, at: ScopedOptions) -> None:
    """Run the search of a receipt again on the data of its time, and compare the answers.

    Exit code 10 if memories were forgotten since, 9 if the answers differ for another reason.
    """
    with opened_memory(at, "read") as memory:
        replayed = memory.replay(receipt)
    show(replayed.to_dict(), lambda: render.proof.replay_card(replayed), as_json=at.json)
    if not replayed.same:
        raise typer.Exit(Expired.exit_code if replayed.forgotten else Corrupt.exit_code)


@command("diff", "memoriter diff before.json after.json")
def diff(
    before: Annotated[Path, typer.Argument(metavar="BEFORE", help="A saved receipt.")],
    after: Annotated[Path, typer.Argument(metavar="AFTER", help="The receipt to compare it with.")],
    *,
    as_json: JsonOption = False,
) -> None:
    """Compare the answers of two receipts: which hits moved, and why."""
    changes = memoriter.diff(before, after)
    show(changes.to_dict(), lambda: render.proof.diff_card(changes), as_json=as_json)
