"""explain, why-not, replay, diff: why this answer, why not another, and is it still the same?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from memoriter.core.errors import Corrupt, Expired, InputError
from memoriter.doors.cli.asking import Ask
from memoriter.doors.cli.opening import opened
from memoriter.doors.cli.options import AsJson, Id, Reranker, Scoped
from memoriter.doors.cli.out import show
from memoriter.doors.cli.settings import setting
from memoriter.doors.cli.tree import command

if TYPE_CHECKING:
    from memoriter.memory.facade import Memory
    from memoriter.why.result import Result

Question = Annotated[
    str | None, typer.Option("--query", metavar="QUERY", help="A question, asked now.")
]
Of = Annotated[
    Path | None,
    typer.Option("--receipt", metavar="FILE", help="The receipt of a search, instead of a query."),
]
ReceiptFile = Annotated[
    Path, typer.Argument(metavar="RECEIPT", help="A receipt, as `recall` saves it.")
]


@command(
    "explain",
    'memoriter explain ID --query "which port for ssh?"',
    "memoriter explain ID --receipt r.json",
)
def explain(
    id: Id,
    ask: Ask,
    at: Scoped,
    query: Question = None,
    receipt: Of = None,
    reranker: Reranker = None,
) -> None:
    """Take the score of one hit apart; of a memory that is none, say what kept it out."""
    with opened(at, "read", setting("reranker", reranker)) as memory:
        result = _result(memory, ask, query, receipt)
        hit = next((hit for hit in result if hit.id == id), None)
        missing = memory.why_not(result, id) if hit is None else None
    from memoriter.doors.render.ink import inks  # noqa: PLC0415  # loads the engine
    from memoriter.doors.render.proof import why_not_card  # noqa: PLC0415  # as above
    from memoriter.doors.render.tree import hit_tree  # noqa: PLC0415  # as above

    if hit is not None:
        lanes = inks(result.plan.recipe.lanes)
        show({"hit": hit.to_dict()}, lambda: hit_tree(hit, lanes), as_json=at.json)
    if missing is not None:
        show({"why_not": missing.to_dict()}, lambda: why_not_card(missing), as_json=at.json)


@command(
    "why-not",
    'memoriter why-not ID --query "which port for ssh?"',
    "memoriter why-not ID --receipt r.json",
)
def why_not(
    id: Id,
    ask: Ask,
    at: Scoped,
    query: Question = None,
    receipt: Of = None,
    reranker: Reranker = None,
) -> None:
    """Say what kept a memory out of an answer, and the smallest change that lets it in."""
    with opened(at, "read", setting("reranker", reranker)) as memory:
        asked = receipt if receipt is not None and query is None else None
        found = memory.why_not(asked or _result(memory, ask, query, receipt), id)
    from memoriter.doors.render.proof import why_not_card  # noqa: PLC0415  # as above

    show(found.to_dict(), lambda: why_not_card(found), as_json=at.json)


def _result(memory: Memory, ask: Ask, query: str | None, receipt: Path | None) -> Result:
    """The answer to a question, or that of a receipt once more."""
    if query is None and receipt is not None:
        return memory.replay(receipt).result
    if query is None or receipt is not None:
        raise InputError("give --query or --receipt, and not both", field="query")
    return memory.recall(query, ask.limit, **ask.options(usual=True))


@command("replay", "memoriter replay r.json")
def replay(receipt: ReceiptFile, at: Scoped) -> None:
    """Run the search of a receipt again on the view of that time; say whether it is the same.

    Exit code 10 where something was forgotten since, 9 where the answer is another one.
    """
    with opened(at, "read") as memory:
        found = memory.replay(receipt)
    from memoriter.doors.render.proof import replay_card  # noqa: PLC0415  # as above

    show(found.to_dict(), lambda: replay_card(found), as_json=at.json)
    if not found.same:
        raise typer.Exit(Expired.exit_code if found.forgotten else Corrupt.exit_code)


Before = Annotated[Path, typer.Argument(metavar="BEFORE", help="A saved receipt.")]
After = Annotated[Path, typer.Argument(metavar="AFTER", help="The receipt to compare it with.")]


@command("diff", "memoriter diff before.json after.json")
def diff(before: Before, after: After, *, as_json: AsJson = False) -> None:
    """Show how the answers of two receipts differ: each move, and what is behind it."""
    from memoriter.why.diff import diff as compared  # noqa: PLC0415  # as above

    found = compared(before, after)
    from memoriter.doors.render.proof import diff_card  # noqa: PLC0415  # as above

    show(found.to_dict(), lambda: diff_card(found), as_json=as_json)
