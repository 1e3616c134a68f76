"""Chats: messages as OpenAI and Anthropic send them, and the archives that both let people take."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final

from memoriter.imports.fields import FieldMap
from memoriter.imports.port import Extracted, Format, Lost, rows_unknown
from memoriter.imports.shapes import is_list, is_object, object_or_empty
from memoriter.imports.source import JSON, BadRow, InputFile, rows_of_value, sample_objects

NAME: Final = "chat"
_LISTS: Final = ("conversations",)
_TURNS: Final = ("messages", "chat_messages", "mapping")
_ROLES: Final = frozenset(
    {"user", "assistant", "system", "tool", "human", "developer", "function", "model"}
)
_SAME: Final = {"human": "user", "model": "assistant"}
_TIME: Final = "\0time"
"""When a message was said, beside its fields; no field has such a name."""


def recognise(source: InputFile) -> str | None:
    """Whether its rows are messages, or conversations."""
    for row in sample_objects(source, *_LISTS):
        if _role(row) in _ROLES and ("content" in row or "parts" in row or "text" in row):
            return "its rows are messages with a role and a content"
        if any(isinstance(row.get(name), list | dict) for name in _TURNS) and _talk(row):
            return "its rows are conversations with messages"
    return None


def read(source: InputFile) -> Iterator[Extracted]:
    """The messages of every conversation; bare ones are one conversation, named by the file."""
    bare = 0
    for item in source.values():
        if isinstance(item, BadRow):
            yield item
            continue
        for nth, row in enumerate(rows_of_value(item.value, *_LISTS)):
            where = item.where if row is item.value else f"{item.where}[{nth}]"
            if not is_object(row):
                yield BadRow(where, "expected a message or a conversation, an object")
            elif _talk(row):
                yield from _conversation(where, row, source.path.stem, nth)
            else:
                yield from _message(where, row, source.path.stem, bare)
                bare += 1


def _talk(row: dict[str, Any]) -> list[dict[str, Any]]:
    """The messages of a conversation in their order; none where it is no conversation."""
    for name in _TURNS[:2]:
        if is_list(row.get(name)):
            return [turn for turn in row[name] if is_object(turn)]
    return _path(row) if is_object(row.get("mapping")) else []


def _path(row: dict[str, Any]) -> list[dict[str, Any]]:
    """A tree of messages, from its first to the one that stands at its end."""
    nodes = {key: object_or_empty(node) for key, node in row["mapping"].items()}
    leaves = [key for key, node in nodes.items() if not node.get("children")]
    at = row.get("current_node")
    at = at if isinstance(at, str) and at in nodes else next(reversed(leaves), None)
    out: list[dict[str, Any]] = []
    while isinstance(at, str) and at in nodes:
        node = nodes.pop(at)  # no node twice: a ring would never end
        if is_object(node.get("message")):
            out.append(node["message"])
        at = node.get("parent")
    return out[::-1]


def _conversation(where: str, row: dict[str, Any], stem: str, nth: int) -> Iterator[Extracted]:
    named = row.get("id") or row.get("uuid") or row.get("conversation_id")
    title = row.get("title") or row.get("name")
    session = str(named or f"{stem}-{where.rpartition(':')[2]}-{nth}")
    if isinstance(row.get("system"), str) and row["system"].strip():
        first = {"role": "system", "content": row["system"]}
        yield from _message(where, first, session, -1, title)
    at = _at(row)
    turns = _talk(row)
    for number, turn in enumerate(turns):
        at = _at(turn) or at  # one without a time was said no earlier than those before it
        yield from _message(f"{where}.{number}", {**turn, _TIME: at}, session, number, title)
    tree = object_or_empty(row.get("mapping")).values()
    messages = sum(1 for node in tree if is_object(object_or_empty(node).get("message")))
    if messages > len(turns):
        yield Lost("branches that were left", session, times=messages - len(turns))


def _at(row: dict[str, Any]) -> object:
    return row.get("create_time") or row.get("created_at") or row.get("timestamp")


def _role(row: dict[str, Any]) -> str:
    author = row.get("author")
    role = author.get("role") if is_object(author) else row.get("role") or row.get("sender")
    return str(role or "").lower()


def _message(
    where: str, row: dict[str, Any], session: str, number: int, title: object = None
) -> Iterator[Extracted]:
    role = _role(row)
    texts, others = _engine(row.get("content", row.get("text", row.get("parts"))))
    if not texts and isinstance(row.get("text"), str):
        texts = [row["text"]]
    yield from (Lost(f"parts of type {kind}", where) for kind in others)
    text = "\n".join(part for part in texts if part.strip())
    if not text:
        if not others:
            yield Lost("messages without text", f"{where} ({role or 'no role'})")
        return
    record = FieldMap(NAME, where, None)
    record.put("text", text)
    record.put("role", _SAME.get(role, role))
    record.put("kind", "message")
    record.put("memory_type", "episodic")
    record.put("session", session)
    record.put("title", title)
    who = row.get("name")
    record.put("source", {"who": who} if isinstance(who, str) and who else None)
    record.put_time("created", row.get(_TIME) or _at(row), "created")
    if row.get("id") or row.get("uuid"):
        record.origin["id"] = str(row.get("id") or row.get("uuid"))
    yield from (
        Lost(called, where) for called in ("tool_calls", "function_call") if row.get(called)
    )
    yield from record.finish(json.dumps([session, record.origin.get("id", number), role, text]))


def _engine(content: Any) -> tuple[list[str], list[str]]:
    """(the texts of a message, the kinds of its other parts)."""
    if is_object(content):  # an archive of OpenAI's
        content = content.get("parts", content.get("text"))
    if isinstance(content, str):
        return [content], []
    texts, others = list[str](), list[str]()
    for part in content if is_list(content) else ():
        text = part.get("text") if is_object(part) else part
        if isinstance(text, str):
            texts.append(text)
        elif is_object(part):
            others.append(str(part.get("type") or part.get("content_type") or "unknown"))
    return texts, others


FORMAT: Final = Format(
    NAME, "chats of OpenAI and Anthropic (JSON)", JSON, recognise, read, rows_unknown
)
