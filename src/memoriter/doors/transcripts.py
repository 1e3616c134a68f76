"""Reads the turns of a conversation from what a coding agent gives to its hooks.

Claude Code, Codex and Gemini name a file with the transcript; Cursor gives each prompt and reply
itself. What people and the model said is taken; calls of tools, their results, thoughts and what
the program adds to a prompt by itself are left out.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple, cast

from memoriter.core.errors import InputError
from memoriter.imports.fields import parse_time
from memoriter.text.messages import parse_message
from memoriter.text.recalled import without_blocks

TAIL_BYTES: Final = 4 * 1024 * 1024
"""How much of a transcript is read after a turn."""
WHOLE_BYTES: Final = 64 * 1024 * 1024
"""How much is read at the end of a session: what was said before was captured after its turn."""
_WHOLE: Final = frozenset({"PreCompact", "PreCompress", "SessionEnd"})
_ADDED: Final = re.compile(
    r"<(system-reminder|environment_context|user_instructions|permissions instructions|ide_\w+"
    r"|command-\w+|local-command-\w+|bash-\w+|user-prompt-submit-hook|hook_context|INSTRUCTIONS)>"
    r".*?</\1>",
    re.DOTALL,
)
"""What programs put into a prompt beside what the user wrote."""
_ADDED_STARTS: Final = ("# AGENTS.md instructions", "Caveat: The messages below were generated")
_EVENTS: Final = {"user_message": "user", "agent_message": "assistant"}
"""Lines of a Codex transcript by what was said."""


class Conversation(NamedTuple):
    """The messages that a payload of a hook leads to."""

    host: str
    session: str | None
    messages: list[dict[str, Any]]


def conversation_of(payload: Mapping[str, Any]) -> Conversation:
    """The messages of a payload: those it contains, or those of the transcript that it names.

    Raises InputError if it has neither, or if the transcript cannot be read.
    """
    event = str(payload.get("hook_event_name") or "")
    if isinstance(payload.get("messages"), list):
        return Conversation("", _text(payload.get("session")), payload["messages"])
    if "conversation_id" in payload:
        return Conversation("cursor", _text(payload["conversation_id"]), list(_cursor(payload)))
    path = payload.get("transcript_path")
    if not isinstance(path, str) or not path:
        raise InputError(
            "stdin: the JSON has neither `messages` nor a `transcript_path`",
            hint='use this command in a Stop hook; by hand, send {"session": "s1", "messages":'
            ' [{"role": …}]}',
        )
    host, messages = transcript_messages(Path(path), whole=event in _WHOLE)
    return Conversation(host, _text(payload.get("session_id")), messages)


def transcript_messages(path: Path, *, whole: bool = True) -> tuple[str, list[dict[str, Any]]]:
    """(the program that wrote a transcript, its messages); `whole` reads more than its end.

    Raises InputError if the file cannot be read or is no transcript.
    """
    rows = [cast("dict[str, Any]", row) for row in _rows(path, whole=whole) if type(row) is dict]
    if len(rows) == 1 and isinstance(rows[0].get("messages"), list):  # Gemini before JSON lines
        inner = cast("list[Any]", rows[0]["messages"])
        rows = [cast("dict[str, Any]", row) for row in inner if type(row) is dict]
    for host, recognised, read in _READERS:
        if any(recognised(row) for row in rows):
            return host, [each for each in map(_cleaned, read(rows)) if each is not None]
    if not rows:
        return "", []
    raise InputError(
        f"the transcript {path} has an unknown format",
        hint="known formats: those of Claude Code, Codex and Gemini",
    )


def _rows(path: Path, *, whole: bool) -> Iterator[Any]:
    """The JSON values of a file: one a line, or a single one."""
    lines = _lines(path, WHOLE_BYTES if whole else TAIL_BYTES)
    values = [line for line in lines if line.strip()]
    if lines and lines[0].strip() == b"{":
        values.append(b"\n".join(lines))
    for value in values:
        try:
            yield json.loads(value)
        except (ValueError, RecursionError):
            continue


def _lines(path: Path, most: int) -> list[bytes]:
    """The lines at the end of a file; none if there is no file."""
    try:
        path = path.expanduser()
        if path.exists() and not path.is_file():  # a pipe or a device may never end
            raise InputError(f"the transcript {path} cannot be read: it is not a regular file")
        with path.open("rb") as file:
            skipped = max(0, file.seek(0, 2) - most)
            file.seek(skipped)
            lines = file.read().split(b"\n")
    except FileNotFoundError:  # a session that ended before anything was said
        return []
    except (OSError, RuntimeError, ValueError) as error:  # a path may name no user, or be none
        raise InputError(
            f"the transcript {path} cannot be read: {error}", hint="check the path and permissions"
        ) from None
    # The first line of a tail is a part of one, and the last may still be written.
    return lines[1:] if skipped else lines


def _cleaned(message: dict[str, Any]) -> dict[str, Any] | None:
    """The message without what its program added to it; None if nothing is left."""
    # A recalled block goes first: a memory in it may have the closing tag of a program.
    text = _ADDED.sub("", without_blocks(parse_message(message).text)).strip()
    if not text or text.startswith(_ADDED_STARTS):
        return None
    at = message["timestamp"]  # one that is no time must not cost the turn
    return {**message, "content": text, "timestamp": at if parse_time(at) is not None else None}


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:16]


def _cursor(payload: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The prompt or the reply in a payload of Cursor."""
    texts = (("user", payload.get("prompt")), ("assistant", payload.get("text")))
    for role, text in texts:
        if isinstance(text, str) and text.strip():
            own = f"{payload.get('generation_id')}:{role}:{_digest(text)}"
            yield {"role": role, "content": text, "id": own}


def _is_claude(row: Mapping[str, Any]) -> bool:
    return row.get("type") in ("user", "assistant") and isinstance(row.get("message"), dict)


def _claude(rows: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for row in rows:
        apart = any(row.get(name) for name in ("isSidechain", "isMeta", "isCompactSummary"))
        if _is_claude(row) and not apart:
            spoken = cast("dict[str, Any]", row["message"])
            yield {
                "role": row["type"],
                "content": spoken.get("content"),
                "id": row.get("uuid"),
                "timestamp": row.get("timestamp"),
            }


def _is_codex(row: Mapping[str, Any]) -> bool:
    kinds = ("event_msg", "response_item", "session_meta")
    return row.get("type") in kinds and isinstance(row.get("payload"), dict)


def _codex(rows: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """What was said: items are in every file; events say the same again, or alone in old ones."""
    lines = [(row, cast("dict[str, Any]", row["payload"])) for row in rows if _is_codex(row)]
    events = [
        (row, _EVENTS[str(part["type"])], part.get("message"))
        for row, part in lines
        if row["type"] == "event_msg" and str(part.get("type")) in _EVENTS
    ]
    items = [
        (row, str(part.get("role")), part.get("content"))
        for row, part in lines
        if row["type"] == "response_item" and part.get("type") == "message"
    ]
    for row, role, content in items or events:
        if role in ("user", "assistant"):
            at = row.get("timestamp")
            # Several items may have one time: the prompt, and what was put before it.
            own = _digest(json.dumps(content, sort_keys=True))
            yield {"role": role, "content": content, "id": f"{at}:{own}", "timestamp": at}


def _is_gemini(row: Mapping[str, Any]) -> bool:
    of_message = row.get("type") in ("user", "gemini") and "content" in row
    return of_message and isinstance(row.get("id"), str | int)


def _gemini(rows: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """The last line of each message: one that grew is written again."""
    latest = {row["id"]: row for row in rows if _is_gemini(row)}
    for row in latest.values():
        role = "user" if row["type"] == "user" else "assistant"
        yield {
            "role": role,
            "content": row["content"],
            "id": row["id"],
            "timestamp": row.get("timestamp"),
        }


_READERS: Final = (
    ("claude-code", _is_claude, _claude),
    ("codex", _is_codex, _codex),
    ("gemini", _is_gemini, _gemini),
)
"""(the program, whether a line is of it, what reads its lines)."""
