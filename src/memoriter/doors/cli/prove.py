"""The commands that prove an answer: explain, why-not, verify, replay, diff."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import memoriter
from memoriter.core.errors import Corrupt, Expired, InputError, NotFound
from memoriter.core.lazy_dataclass import dataclass
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
from memoriter.doors.cli.params import CliArgument, CliOption, CommandExit

if TYPE_CHECKING:
    from memoriter.memory.facade import Memory
    from memoriter.why.result import Hit, Result
    from memoriter.why.verify import Verified

QueryOption = Annotated[
    str | None, CliOption("--query", metavar="QUERY", help="A question to ask now.")
]
ReceiptOption = Annotated[
    Path | None,
    CliOption("--receipt", metavar="FILE", help="The receipt of a search, instead of --query."),
]
ReceiptArgument = Annotated[
    Path,
    CliArgument(
        metavar="RECEIPT", help="A receipt that `recall --receipt` saved.", show_default=False
    ),
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
                "give either --query or --receipt",
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
            "--versus", metavar="ID", help="The id of another hit: show what separates the two."
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
            hint=f"memoriter why-not {other} says what kept it out",
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
        bool, CliOption("--all", help="List every checked part, not only how many there are.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Recompute every number of a receipt, from the receipt alone; opens no store.

    Exit code 9 if a recomputed number differs from the receipt.
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
    """Run the search of a receipt again on the data of its time, and compare the answers.

    Exit code 10 if memories were forgotten since, 9 if the answers differ for another reason.
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
