"""Whatever stands in a file, an import ends in a report or in an error of ours."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.imports import files

import memoriter
from memoriter import MemoriterError
from memoriter.imports.table import formats

NAMES = st.sampled_from(
    [
        "id", "text", "content", "role", "messages", "chat_messages", "mapping", "entries", "tags",
        "thoughts", "thought_type", "relations", "refs", "kind", "target_id", "index", "agent_id",
        "memoryType", "trustLevel", "source", "createdAt", "headers", "rows", "memory", "author",
        "conversation", "session_1", "speaker", "dia_id", "path", "chunkId", "metadata", "parts",
        "parent", "children", "message", "current_node", "result", "system", "timestamp", "origin",
        "importance", "confidence", "valid_from", "from", "to", "emb", "at", "head", "memoriter",
    ]
)  # fmt: skip
LEAVES = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=8)
    | st.sampled_from(["user", "learned", "semantic", "Decision", "a.md", "2026-01-01", "\ud800"])
)
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(NAMES, inner, max_size=6),
    max_leaves=25,
)
SHAPES: list[Any] = [
    files.THOUGHTS, files.RELATIONS, files.ENTRIES, files.MESSAGES, files.ARCHIVE_OPENAI,
    files.ARCHIVE_ANTHROPIC, files.DIALOGS,
    {"chunks": [{"chunkId": "a", "path": "b", "text": "c"}]},
]  # fmt: skip


@st.composite
def twisted(draw: st.DrawFn) -> Any:
    """A file of a known shape with some values replaced by others."""
    return _twisted(draw, draw(st.sampled_from(SHAPES)), draw(st.integers(2, 12)))


def _twisted(draw: st.DrawFn, value: Any, rate: int) -> Any:
    if draw(st.integers(0, rate * 4)) == 0:
        return draw(VALUES)
    if isinstance(value, dict):
        return {key: _twisted(draw, inner, rate) for key, inner in value.items()}
    if isinstance(value, list):
        return [_twisted(draw, inner, rate) for inner in value]
    return value


def imported(data: bytes, name: str, asked: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(data)
        with memoriter.open(":memory:", embedder=None) as memory:
            for dry in (True, False):
                try:
                    done = memory.import_file(path, asked, dry_run=dry)
                except MemoriterError as error:
                    assert error.message  # noqa: PT017  # any of ours will do
                    continue
                assert json.dumps(done.to_dict(), allow_nan=False)
                counts = done.records
                assert done.read == counts.written + counts.already + counts.refused
            assert memory.verify_store().sound


ASKED = st.sampled_from(["auto", *(each.name for each in formats())])


@settings(max_examples=150, deadline=None)
@given(VALUES | twisted(), ASKED, st.sampled_from(["file.json", "file.jsonl"]))
def test_any_json_ends_in_a_report_or_in_an_error_of_ours(
    value: Any, asked: str, name: str
) -> None:
    rows = value if name.endswith("l") and isinstance(value, list) else [value]
    imported("\n".join(json.dumps(row) for row in rows).encode(), name, asked)


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=300) | st.text(max_size=300).map(lambda t: t.encode("utf-8", "replace")),
       st.sampled_from(["a.md", "a.json", "a.jsonl", "a", "a.txt", "a.db"]), ASKED)  # fmt: skip
def test_any_bytes_end_in_a_report_or_in_an_error_of_ours(
    data: bytes, name: str, asked: str
) -> None:
    imported(data, name, asked)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_any_damage_of_a_database_ends_in_a_report_or_in_an_error_of_ours(draw: Any) -> None:
    with tempfile.TemporaryDirectory() as folder:
        whole = files.engrava(Path(folder) / "theirs.db").read_bytes()
    at = draw.draw(st.integers(0, len(whole) - 1))
    damage = draw.draw(st.binary(min_size=1, max_size=64))
    end = draw.draw(st.integers(at, len(whole)) | st.just(len(whole)))
    imported((whole[:at] + damage + whole[at + len(damage) :])[:end], "theirs.db", "auto")
