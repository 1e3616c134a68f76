"""The commands for hooks of coding agents, which recall before each reply."""

from __future__ import annotations

import json
import shlex
import sys
from dataclasses import dataclass
from typing import Annotated, Any, Final, cast

import typer

from memoriter.core.errors import InputError, MemoriterError
from memoriter.core.strict_json import DuplicateKey, strict_json
from memoriter.doors.cli.declare import command
from memoriter.doors.cli.options import (
    LimitOption,
    PrintedOptions,
    RerankerOption,
    ScopedOptions,
    complete_recipe,
    complete_words,
    opened_memory,
    setting,
)
from memoriter.doors.cli.output import note, print_json, show

_LONGEST: Final = 16 * 1024 * 1024
_FAILED: Final = 1
"""Not 2: agents that run hooks take 2 as an order to drop the prompt."""
_PLACES: Final = {"claude-code": ".claude/settings.json", "codex": ".codex/hooks.json"}
UrlOption = Annotated[
    str | None,
    typer.Option(
        "--url",
        metavar="URL",
        help="A running server instead of a store; its token is MEMORITER_TOKEN.",
    ),
]


@dataclass(frozen=True, slots=True)
class HookOptions:
    """Options of the recall, and the server to ask."""

    url: UrlOption = None
    budget_tokens: Annotated[
        int,
        typer.Option("--budget-tokens", metavar="N", help="How many tokens the block may have."),
    ] = 800
    limit: LimitOption = None
    recipe: Annotated[
        str | None,
        typer.Option(
            "--recipe",
            metavar="NAME",
            help="The recipe to use (default: memoriter).",
            autocompletion=complete_recipe,
        ),
    ] = None
    reranker: RerankerOption = None

    def ask(self) -> dict[str, Any]:
        """The options of every question."""
        ask = {"limit": self.limit, "recipe": self.recipe, "budget_tokens": self.budget_tokens}
        return {name: value for name, value in ask.items() if value is not None}


@command(
    "recall",
    'echo \'{"prompt": "which port for ssh?"}\' | memoriter hooks recall',
    "memoriter hooks recall --url http://127.0.0.1:8321 < prompt.json",
)
def hooks_recall(at: ScopedOptions, how: HookOptions) -> None:
    """Read a prompt on stdin and print memories for it; a failure never stops the agent.

    The prompt is the JSON that Claude Code and Codex give to a UserPromptSubmit hook, or plain
    text. JSON is answered with the JSON they expect, text with the block itself.
    """
    try:
        prompt, event = _prompt(sys.stdin.read(_LONGEST))
        block = _block(prompt, at, how)
    except MemoriterError as error:
        note(f"memoriter: {error.message}")
        raise typer.Exit(_FAILED) from None
    if event is not None or at.json:
        output = {"hookEventName": event or "UserPromptSubmit", "additionalContext": block}
        print_json({"hookSpecificOutput": output} if block else {})
    elif block:
        print(block)


def _prompt(text: str) -> tuple[str, str | None]:
    """(the prompt, the name of its event); plain text has no event."""
    try:
        value = strict_json(text)
    except DuplicateKey as bad:
        raise InputError(f"stdin: {bad}", hint="is this a UserPromptSubmit hook?") from None
    except ValueError:
        return text, None
    if not isinstance(value, dict):
        return text, None
    data = cast("dict[str, Any]", value)
    prompt = data.get("prompt")
    if not isinstance(prompt, str):
        raise InputError("stdin: no text under `prompt`", hint="is this a UserPromptSubmit hook?")
    return prompt, str(data.get("hook_event_name", "UserPromptSubmit"))


def _block(prompt: str, at: ScopedOptions, how: HookOptions) -> str:
    """The memories for a prompt as a block, from a server or from a store."""
    from memoriter.doors.hook import Hook  # noqa: PLC0415  # loads the engine

    if how.url is not None:
        if how.reranker is not None:
            raise InputError(
                "reranker: cannot be chosen with --url; the server has its own",
                hint="give it to the server: memoriter serve --reranker NAME",
            )
        names = {"agent": at.agent, "user": at.user, "session": at.session}
        scope: dict[str, Any] = {key: name for key, name in names.items() if name is not None}
        reply = Hook(how.url, **how.ask(), **scope)(prompt)
    else:
        with opened_memory(at, "read", setting("reranker", how.reranker)) as memory:
            reply = Hook(memory, **how.ask())(prompt)
    if reply.problem is not None:
        note(f"memoriter: {reply.problem}")
    return str(reply)


@command("show", "memoriter hooks show claude-code")
def hooks_show(
    agent: Annotated[
        str,
        typer.Argument(
            metavar="AGENT",
            help="claude-code or codex.",
            show_default=False,
            autocompletion=complete_words("claude-code", "codex"),
        ),
    ],
    at: PrintedOptions,
    url: UrlOption = None,
) -> None:
    """Print the configuration that makes a coding agent recall before each reply."""
    if agent not in _PLACES:
        raise InputError(
            f"agent: no hook is known for {agent!r}",
            hint=f"known: {', '.join(_PLACES)}",
            field="agent",
        )
    flags = {"--url": url, "--store": at.store, "--tenant": at.tenant}
    place = [part for flag, value in flags.items() if value for part in (flag, value)]
    hook = {"type": "command", "command": shlex.join(["memoriter", "hooks", "recall", *place])}
    data = {"hooks": {"UserPromptSubmit": [{"hooks": [hook]}]}}
    if not at.json:
        note(f"put this into {_PLACES[agent]}:")
    show(data, lambda: json.dumps(data, indent=2), as_json=at.json)
