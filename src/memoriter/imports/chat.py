"""Chats: messages in the formats of OpenAI and Anthropic, and the archives that both export."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final

from memoriter.imports.fields import FieldMap
from memoriter.imports.port import Extracted, Format, Lost, rows_unknown
from memoriter.imports.source import (
    JSON,
    BadRow,
    InputFile,
    is_list,
    is_object,
    object_or_empty,
    rows_of_value,
    sample_objects,
)
from memoriter.text.messages import FOREIGN_ROLES, ROLES, message_role, message_time, parse_message
from memoriter.text.recalled import without_blocks

NAME: Final = "chat"
_LISTS: Final = ("conversations",)
_MESSAGE_KEYS: Final = ("messages", "chat_messages", "mapping")
_BESIDE: Final = ("tool_calls", "function_call", "attachments", "files")
"""What a message may have beside its text."""
_TIME: Final = "\0time"
"""Key of the time that a message inherits; the NUL keeps it apart from real fields."""


def recognise(source: InputFile) -> str | None:
    """Why this is a chat: its rows are messages or conversations. None if it is not."""
    for row in sample_objects(source, *_LISTS):
        if message_role(row) in ROLES and ("content" in row or "parts" in row or "text" in row):
            return "its rows are messages with a role and a content"
        if any(isinstance(row.get(name), list | dict) for name in _MESSAGE_KEYS) and _messages(row):
            return "its rows are conversations with messages"
    return None


def read(source: InputFile) -> Iterator[Extracted]:
    """The messages of every conversation; loose ones form one conversation, named by the file."""
    loose = 0
    for item in source.values():
        if isinstance(item, BadRow):
            yield item
            continue
        for nth, row in enumerate(rows_of_value(item.value, *_LISTS)):
            where = item.where if row is item.value else f"{item.where}[{nth}]"
            if not is_object(row):
                yield BadRow(where, "expected a message or a conversation, an object")
            elif _messages(row):
                yield from _conversation(where, row, source.path.stem, nth)
            else:
                yield from _message(where, row, source.path.stem, loose)
                loose += 1


def _messages(row: dict[str, Any]) -> list[dict[str, Any]]:
    """The messages of a conversation in order; none if the row is no conversation."""
    for name in _MESSAGE_KEYS[:2]:
        if is_list(row.get(name)):
            return [turn for turn in row[name] if is_object(turn)]
    return _branch(row) if is_object(row.get("mapping")) else []


def _branch(row: dict[str, Any]) -> list[dict[str, Any]]:
    """The current branch of a tree of messages, from its root to its leaf."""
    nodes = {key: object_or_empty(node) for key, node in row["mapping"].items()}
    leaves = [key for key, node in nodes.items() if not node.get("children")]
    at = row.get("current_node")
    at = at if isinstance(at, str) and at in nodes else next(reversed(leaves), None)
    out: list[dict[str, Any]] = []
    while isinstance(at, str) and at in nodes:
        node = nodes.pop(at)  # visit no node twice: a cycle would never end
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
    at = message_time(row)
    turns = _messages(row)
    for number, turn in enumerate(turns):
        at = message_time(turn) or at  # without a time of its own it has the time of the one before
        yield from _message(f"{where}.{number}", {**turn, _TIME: at}, session, number, title)
    tree = object_or_empty(row.get("mapping")).values()
    messages = sum(1 for node in tree if is_object(object_or_empty(node).get("message")))
    if messages > len(turns):
        yield Lost("branches that were left", session, times=messages - len(turns))


def _message(
    where: str, row: dict[str, Any], session: str, number: int, title: object = None
) -> Iterator[Extracted]:
    message = parse_message(row)
    role, text = message.role, without_blocks(message.text).strip()
    if row.get("recipient") not in (None, "", "all"):  # in an archive of OpenAI: code for a tool
        yield Lost("calls of tools", where)
        return
    yield from (Lost(f"parts of type {kind}", where) for kind in message.others)
    yield from (Lost(called, where) for called in _BESIDE if row.get(called))
    if not text:
        if message.text:
            yield Lost("recalled memories alone", where)
        elif not message.others:
            yield Lost("messages without text", f"{where} ({role or 'no role'})")
        return
    record = FieldMap(NAME, where, None)
    record.put("text", text)
    record.put("role", role)
    record.put("trust", "external" if role in FOREIGN_ROLES else None)
    record.put("kind", "message")
    record.put("memory_type", "episodic")
    record.put("session", session)
    record.put("title", title)
    record.put("source", {"who": message.speaker} if message.speaker else None)
    record.put_time("created", row.get(_TIME) or message.time, "created")
    if message.id:
        record.origin["id"] = message.id
    yield from record.finish(json.dumps([session, record.origin.get("id", number), role, text]))


FORMAT: Final = Format(
    NAME, "chats of OpenAI and Anthropic (JSON)", JSON, recognise, read, rows_unknown
)
