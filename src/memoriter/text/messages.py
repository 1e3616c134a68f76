"""A message of a conversation, read from the shapes that OpenAI, Anthropic and others use.

The importer of chats and `Memory.remember_messages` share it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple, cast

ROLES: Final = frozenset(
    {"user", "assistant", "system", "tool", "human", "developer", "function", "model"}
    | {"tool_result", "ipython"}
)
FOREIGN_ROLES: Final = frozenset({"tool", "function", "tool_result", "ipython"})
"""Roles whose text came from outside: it is trusted less than what was said."""
_TOOL_PARTS: Final = ("tool", "function_call")
"""How the types of parts begin that calls of tools and their output have: nobody said these."""
_ROLE_NAMES: Final = {"human": "user", "model": "assistant"}


class Message(NamedTuple):
    """One message: who said what, when."""

    role: str
    """`user`, `assistant` and so on; empty if the row has none."""
    text: str
    """Its text parts, joined by line feeds; empty if it has none."""
    others: tuple[str, ...] = ()
    """The types of its other parts: images, calls of tools and so on."""
    id: str | None = None
    speaker: str | None = None
    time: object = None
    """As the row has it."""


def parse_message(row: Mapping[str, Any]) -> Message:
    """The message of a row.

    >>> parse_message({"role": "human", "content": [{"text": "hi"}, {"type": "image"}]})
    Message(role='user', text='hi', others=('image',), id=None, speaker=None, time=None)
    """
    texts, others = _content_parts(row.get("content", row.get("text", row.get("parts"))))
    if not texts and isinstance(row.get("text"), str):
        texts = [row["text"]]
    ids = (row.get("id"), row.get("uuid"))
    named = next((each for each in ids if each not in (None, "")), None)  # 0 is an id
    speaker = row.get("name") or row.get("speaker")
    return Message(
        role=message_role(row),
        text="\n".join(part for part in texts if part.strip()),
        others=tuple(others),
        id=None if named is None else str(named),
        speaker=speaker if isinstance(speaker, str) else None,
        time=message_time(row),
    )


def message_time(row: Mapping[str, Any]) -> object:
    """The time of a message or conversation, as the row has it; None if it has none."""
    times = (row.get(name) for name in ("create_time", "created_at", "timestamp", "time"))
    return next((time for time in times if time), None)


def message_role(row: Mapping[str, Any]) -> str:
    """The role of a message, under our name for it; empty if it has none."""
    author: Any = row.get("author")
    role = (
        cast("dict[str, Any]", author).get("role")
        if isinstance(author, dict)
        else row.get("role") or row.get("sender")
    )
    spelled = str(role or "").lower()
    return _ROLE_NAMES.get(spelled, spelled)


def _content_parts(content: Any) -> tuple[list[str], list[str]]:
    """(texts, types of the other parts) of the content of a message."""
    if isinstance(content, dict):  # in an archive of OpenAI
        inner = cast("dict[str, Any]", content)
        content = inner.get("parts", inner.get("text"))
    if isinstance(content, str):
        return [content], []
    texts, others = list[str](), list[str]()
    parts = cast("list[Any]", content) if isinstance(content, list) else []
    for part in parts:
        if not isinstance(part, dict):
            texts += [part] if isinstance(part, str) else []
            continue
        fields = cast("dict[str, Any]", part)
        kind = str(fields.get("type") or fields.get("content_type") or "unknown")
        if isinstance(text := fields.get("text"), str) and not kind.startswith(_TOOL_PARTS):
            texts.append(text)
        else:
            others.append(kind)
    return texts, others
