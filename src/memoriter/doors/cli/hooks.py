"""The commands for hooks of coding agents: recall before each reply, capture after each turn."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Annotated, Any, Final, cast

from memoriter.core.errors import InputError, MemoriterError
from memoriter.core.lazy_dataclass import dataclass
from memoriter.core.strict_json import DuplicateKey, strict_json
from memoriter.doors.cli.declare import command
from memoriter.doors.cli.options import (
    CliArgument,
    CliOption,
    LimitOption,
    PrintedOptions,
    RerankerOption,
    ScopedOptions,
    complete_recipe,
    complete_words,
    opened_memory,
    setting,
)
from memoriter.doors.cli.output import CommandExit, print_json, print_note
from memoriter.doors.hosts import HOST_NAMES, host_of

LONGEST_PROMPT: Final = 16 * 1024 * 1024
_SECONDS: Final = 10.0
BATCH_BYTES: Final = 2 * 1024 * 1024
"""How many bytes of messages a request to a server has at most, unless one message has more."""
_FAILED: Final = 1
"""Not 2: agents that run hooks take 2 as an order to drop the prompt."""
UrlOption = Annotated[
    str | None,
    CliOption(
        "--url",
        metavar="URL",
        help="The address of a running server, to use instead of a store; its token is read from"
        " the environment variable MEMORITER_TOKEN.",
    ),
]

HostArgument = Annotated[
    str,
    CliArgument(
        metavar="HOST",
        help="The host, the program that runs the agent: "
        f"{', '.join(HOST_NAMES[:-1])} or {HOST_NAMES[-1]}.",
        autocompletion=complete_words(*HOST_NAMES),
    ),
]


@dataclass(frozen=True, slots=True)
class HookOptions:
    """Options of the recall, and the server to ask."""

    url: UrlOption = None
    budget_tokens: Annotated[
        int,
        CliOption(
            "--budget-tokens",
            metavar="N",
            help="How many tokens the printed block may have at most.",
        ),
    ] = 800
    limit: LimitOption = None
    recipe: Annotated[
        str | None,
        CliOption(
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

    The prompt is the JSON that a coding agent gives to the hook before a reply, or plain text. For
    JSON the output is the JSON that the agent expects; for plain text it is the memories as text.
    """
    try:
        prompt, payload = _prompt(_stdin())
        block = _block(prompt, at, how, tagged=payload is not None)
    except MemoriterError as error:
        print_note(f"memoriter: {error.message}")
        raise CommandExit(_FAILED) from None
    if payload is not None or at.json:
        print_json(_hook_reply(payload or {}, block))
    elif block:
        print(block)


def _hook_reply(payload: Mapping[str, Any], block: str) -> dict[str, Any]:
    """The answer to a hook, in the shape that its agent expects."""
    if "conversation_id" in payload:  # Cursor
        return {"continue": True, **({"additional_context": block} if block else {})}
    event = str(payload.get("hook_event_name", "UserPromptSubmit"))
    output = {"hookEventName": event, "additionalContext": block}
    return {"hookSpecificOutput": output} if block else {}


def _stdin() -> str:
    text = sys.stdin.read(LONGEST_PROMPT + 1)
    if len(text) > LONGEST_PROMPT:
        raise InputError(
            "stdin: the input is too long: it has more than"
            f" {LONGEST_PROMPT // 2**20} million characters"
        )
    return text


def _payload(text: str, event: str) -> dict[str, Any] | None:
    """The JSON object on stdin; None if it is something else."""
    try:
        value = strict_json(text)
    except DuplicateKey as bad:
        raise InputError(
            f"stdin: the input is not valid JSON ({bad})",
            hint=f"use this command in a {event} hook",
        ) from None
    except ValueError:
        return None
    return cast("dict[str, Any]", value) if isinstance(value, dict) else None


def _prompt(text: str) -> tuple[str, dict[str, Any] | None]:
    """(the prompt, the payload of its hook); plain text has no payload."""
    payload = _payload(text, "UserPromptSubmit")
    if payload is None:
        return text, None
    prompt = payload.get("prompt")
    if not isinstance(prompt, str):
        raise InputError(
            "stdin: the JSON has no text under `prompt`",
            hint="use this command in a UserPromptSubmit hook",
        )
    # A program that cuts a text may leave half of a character behind.
    return prompt.encode("utf-8", "replace").decode(), payload


def _block(prompt: str, at: ScopedOptions, how: HookOptions, *, tagged: bool) -> str:
    """The memories for a prompt as a block, from a server or from a store.

    An agent keeps the block in its transcript: the tags around it let a capture leave it out.
    """
    from memoriter.doors.hook import Hook  # noqa: PLC0415  # loads the engine
    from memoriter.text.recalled import TAG_TOKENS, tagged_block, without_blocks  # noqa: PLC0415  # as above

    prompt = without_blocks(prompt)
    ask = how.ask()
    if tagged:
        ask["budget_tokens"] = max(1, how.budget_tokens - TAG_TOKENS)

    if how.url is not None:
        if how.reranker is not None:
            raise InputError(
                "reranker: cannot be combined with --url, because the server chooses the reranker",
                hint="set it on the server: memoriter serve --reranker NAME",
            )
        names = {"agent": at.agent, "user": at.user, "session": at.session}
        scope: dict[str, Any] = {key: name for key, name in names.items() if name is not None}
        reply = Hook(how.url, **ask, **scope)(prompt)
    else:
        with opened_memory(at, "read", setting("reranker", how.reranker)) as memory:
            reply = Hook(memory, **ask)(prompt)
    if reply.problem is not None:
        print_note(f"memoriter: {reply.problem}")
    return tagged_block(str(reply)) if tagged else str(reply)


@command(
    "capture",
    "memoriter hooks capture < stop.json",
    'echo \'{"session": "s1", "messages": [{"role": "user", "content": "hi"}]}\''
    " | memoriter hooks capture",
)
def hooks_capture(
    at: ScopedOptions,
    url: UrlOption = None,
    *,
    facts: Annotated[
        bool,
        CliOption(
            "--facts",
            help="Also store facts that the configured language model finds in the turns.",
        ),
    ] = False,
) -> None:
    """Read the payload of a hook on stdin and store the turns of its conversation.

    Turns that are stored already stay as they are. Memories that a hook put into a prompt are left
    out, and a turn that holds a secret is refused. A language model is used only with --facts.
    """
    from memoriter.doors.transcripts import conversation_of  # noqa: PLC0415  # rarely used

    try:
        payload = _payload(_stdin(), "Stop")
        if payload is None:
            raise InputError(
                "stdin: expected the JSON object that a Stop hook sends",
                hint="use this command in a Stop hook",
            )
        heard = conversation_of(payload)
        given = {"agent": at.agent, "user": at.user, "session": at.session or heard.session}
        options = {name: value for name, value in given.items() if value is not None}
        options |= {"channel": heard.host} if heard.host else {}
        report = _captured(at, url, heard.messages, {**options, "facts": facts})
    except MemoriterError as error:
        print_note(f"memoriter: {error.message}")
        raise CommandExit(_FAILED) from None
    for refused in report["refused"]:
        print_note(f"memoriter: a turn was not stored: it holds {_listed(refused['kinds'])}")
    if report["problem"]:
        print_note(f"memoriter: {report['problem']}")
    from_agent = heard.host or "transcript_path" in payload
    print_json({} if from_agent and not at.json else report)


def _captured(
    at: ScopedOptions, url: str | None, messages: list[dict[str, Any]], options: dict[str, Any]
) -> dict[str, Any]:
    """Store messages in a store or through a server; returns the report as plain data."""
    if url is None:
        everyone = replace(at, agent=None, user=None, session=None)
        with opened_memory(everyone, "make") as memory:
            return cast("Any", memory.remember_messages(messages, **options).to_dict())
    from memoriter.doors.remote import RemoteMemory  # noqa: PLC0415  # loads the engine

    server = RemoteMemory(url, None, _SECONDS)
    return _joined(
        (first, server.run("remember_messages", {"messages": part, **options}))
        for first, part in _batches(messages)
    )


def _batches(messages: list[dict[str, Any]]) -> Iterator[tuple[int, list[dict[str, Any]]]]:
    """(the place of its first message, the messages) of each request; at least one."""
    from memoriter.doors.sizes import BATCH  # noqa: PLC0415  # loads the engine

    first = size = 0
    for place, message in enumerate(messages):
        more = len(json.dumps(message))
        if place > first and (place - first == BATCH or size + more > BATCH_BYTES):
            yield first, messages[first:place]
            first, size = place, 0
        size += more
    yield first, messages[first:]


def _joined(reports: Iterable[tuple[int, dict[str, Any]]]) -> dict[str, Any]:
    """One report of those of several requests, each with the place of its first message.

    Counts and lists are added up; of the problems the first is kept, of the entries and of what is
    owed the last.
    """
    whole: dict[str, Any] = {}
    for first, report in reports:
        for name, value in report.items():
            for entry in cast("list[Any]", value) if isinstance(value, list) else ():
                if isinstance(entry, dict) and "message" in entry:
                    entry["message"] += first
            if name not in whole or whole[name] is None or name in ("seq", "owed"):
                whole[name] = value
            elif isinstance(value, int | list):
                whole[name] += value
    return whole


def _listed(kinds: list[str]) -> str:
    return " and ".join(f"a {kind}" for kind in kinds)


@command("show", "memoriter hooks show claude-code")
def hooks_show(
    host: HostArgument,
    at: PrintedOptions,
    url: UrlOption = None,
) -> None:
    """Print hooks with which a coding agent recalls before each reply and captures after it."""
    agent = host_of(host)
    from memoriter.doors.installing import (  # noqa: PLC0415  # the hooks need it not
        HOST_STORE,
        store_for_hosts,
    )

    store = None if url else store_for_hosts(at.store or HOST_STORE)
    flags = {"--url": url, "--store": store, "--tenant": at.tenant}
    place = [part for flag, value in flags.items() if value for part in (flag, value)]
    data = agent.hook_settings(place)
    if not at.json:
        print_note(f"put this into {agent.hooks}:")
    print_json(data)  # for people too: a console would break long lines
