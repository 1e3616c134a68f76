"""hooks: recall by itself before each reply of a coding agent."""

from __future__ import annotations

import json
import shlex
import sys
from typing import Annotated, Any, Final, cast

import typer

from memoriter.core.errors import InputError, MemoriterError
from memoriter.doors.cli import completing
from memoriter.doors.cli.opening import opened
from memoriter.doors.cli.options import Place, Reranker, Scoped
from memoriter.doors.cli.out import note, print_json, show
from memoriter.doors.cli.settings import setting
from memoriter.doors.cli.tree import branch, command

hooks = branch("hooks", "Recall by itself before each reply of a coding agent.")
LONGEST: Final = 16 * 1024 * 1024
FAILED: Final = 1
"""Not 2: agents that run hooks take 2 as an order to drop the prompt."""
Url = Annotated[
    str | None,
    typer.Option(
        "--url", help="A running server instead of a store; its token is MEMORITER_TOKEN."
    ),
]
Budget = Annotated[int, typer.Option("--budget-tokens", help="How many tokens the block may take.")]
Limit = Annotated[int | None, typer.Option("--limit", "-n", help="How many memories at most.")]
Recipe = Annotated[
    str | None,
    typer.Option(
        "--recipe", help="Which recipe (default: memoriter).", autocompletion=completing.recipes
    ),
]


@command(
    "recall",
    'echo \'{"prompt": "which port for ssh?"}\' | memoriter hooks recall',
    "memoriter hooks recall --url http://127.0.0.1:8321 < prompt.json",
    under=hooks,
)
def recall(
    at: Scoped,
    url: Url = None,
    budget_tokens: Budget = 800,
    limit: Limit = None,
    recipe: Recipe = None,
    reranker: Reranker = None,
) -> None:
    """Read a prompt on stdin, print the memories for it; what goes wrong never stops the agent.

    The prompt is the JSON that Claude Code and Codex hand to a UserPromptSubmit hook, or plain
    text. With JSON the answer is the JSON they expect, with text it is the block itself.
    """
    try:
        prompt, event = _asked(sys.stdin.read(LONGEST))
        given = {"limit": limit, "recipe": recipe, "budget_tokens": budget_tokens}
        ask = {k: v for k, v in given.items() if v is not None}
        if url is not None and reranker is not None:
            raise InputError(
                "reranker: goes with a store; a server has its own",
                hint="memoriter serve --reranker …",
            )
        block = _block(prompt, at, url, (ask, reranker))
    except MemoriterError as error:
        note(f"memoriter: {error.message}")
        raise typer.Exit(FAILED) from None
    if event is not None or at.json:
        told = {"hookEventName": event or "UserPromptSubmit", "additionalContext": block}
        print_json({"hookSpecificOutput": told} if block else {})
    elif block:
        print(block)


def _asked(given: str) -> tuple[str, str | None]:
    """(the prompt, the name of the event that brings it); plain text comes with no event."""
    try:
        told = json.loads(given)
    except (ValueError, RecursionError):
        return given, None
    if not isinstance(told, dict):
        return given, None
    data = cast("dict[str, Any]", told)
    prompt = data.get("prompt")
    if not isinstance(prompt, str):
        raise InputError("stdin: no text under `prompt`", hint="is this a UserPromptSubmit hook?")
    return prompt, str(data.get("hook_event_name", "UserPromptSubmit"))


def _block(prompt: str, at: Scoped, url: str | None, how: tuple[dict[str, Any], str | None]) -> str:
    """The block for a prompt; `how` is what every question says, and who reranks in a store."""
    from memoriter.doors.hook import Hook  # noqa: PLC0415  # loads the engine

    ask, reranker = how
    if url is not None:
        scope = {"agent": at.agent, "user": at.user, "session": at.session}
        mine: dict[str, Any] = {key: v for key, v in scope.items() if v is not None}
        told = Hook(url, **ask, **mine)(prompt)
    else:
        with opened(at, "read", setting("reranker", reranker)) as memory:
            told = Hook(memory, **ask)(prompt)
    if told.problem is not None:
        note(f"memoriter: {told.problem}")
    return str(told)


Agent = Annotated[
    str,
    typer.Argument(
        metavar="AGENT",
        help="claude-code or codex.",
        show_default=False,
        autocompletion=completing.words("claude-code", "codex"),
    ),
]
_PLACES: Final = {"claude-code": ".claude/settings.json", "codex": ".codex/hooks.json"}


@command("show", "memoriter hooks show claude-code", under=hooks)
def show_(agent: Agent, at: Place, url: Url = None) -> None:
    """Print the lines that make a coding agent recall before each reply."""
    if agent not in _PLACES:
        raise InputError(
            f"agent: no hook is known for {agent!r}",
            hint=f"known: {', '.join(_PLACES)}",
            field="agent",
        )
    flags = {"--url": url, "--store": at.store, "--tenant": at.tenant}
    place = [part for flag, told in flags.items() if told for part in (flag, told)]
    hook = {"type": "command", "command": shlex.join(["memoriter", "hooks", "recall", *place])}
    data = {"hooks": {"UserPromptSubmit": [{"hooks": [hook]}]}}
    if not at.json:
        note(f"put this into {_PLACES[agent]}:")
    show(data, lambda: json.dumps(data, indent=2), as_json=at.json)
