"""Small files in the shapes of other systems, made by hand after the real ones."""

from __future__ import annotations

import json
import sqlite3
import struct
from pathlib import Path
from typing import Any

ENGRAVA = """
CREATE TABLE thought (
    thought_id TEXT PRIMARY KEY, thought_type TEXT NOT NULL, essence TEXT NOT NULL,
    content TEXT NOT NULL, content_hash TEXT, priority TEXT NOT NULL,
    lifecycle_status TEXT NOT NULL DEFAULT 'CREATED', created_cycle INTEGER NOT NULL DEFAULT 0,
    updated_cycle INTEGER NOT NULL DEFAULT 0, source TEXT NOT NULL DEFAULT 'human',
    confidence REAL, embedding_ref TEXT, source_type TEXT NOT NULL DEFAULT 'EXPERIENCE',
    confirmation_count INTEGER NOT NULL DEFAULT 0, consolidated_from TEXT,
    visibility TEXT NOT NULL DEFAULT 'selective', access_count INTEGER NOT NULL DEFAULT 0,
    last_accessed_at TEXT, created_at TEXT, updated_at TEXT, expires_at TEXT,
    metadata_json TEXT NOT NULL DEFAULT '{}', valid_from TEXT, valid_until TEXT,
    action_outcome_score REAL, provenance TEXT, pinned INTEGER NOT NULL DEFAULT 0,
    archived_at_cycle INTEGER, archived_at TEXT, revision INTEGER NOT NULL DEFAULT 0);
CREATE TABLE edge (
    edge_id TEXT PRIMARY KEY, from_thought_id TEXT NOT NULL, to_thought_id TEXT NOT NULL,
    edge_type TEXT NOT NULL, weight REAL NOT NULL DEFAULT 0.5,
    created_cycle INTEGER NOT NULL DEFAULT 0, source TEXT NOT NULL DEFAULT 'EXPERIENCE',
    decay_multiplier REAL NOT NULL DEFAULT 1.0, valid_from TEXT, valid_until TEXT,
    metadata_json TEXT NOT NULL DEFAULT '{}', revision INTEGER NOT NULL DEFAULT 0);
CREATE TABLE embedding (
    embedding_id TEXT PRIMARY KEY, owner_type TEXT NOT NULL, owner_id TEXT NOT NULL,
    model_name TEXT NOT NULL, dimension INTEGER NOT NULL, vector_blob BLOB NOT NULL,
    created_at TEXT NOT NULL);
CREATE TABLE action (action_id TEXT PRIMARY KEY, source_thought_id TEXT NOT NULL);
CREATE TABLE _metadata (key TEXT PRIMARY KEY, value TEXT);
PRAGMA user_version = 21;
"""


def engrava(path: Path, version: int = 21) -> Path:
    """Three thoughts, two edges, two vectors."""
    thoughts: list[dict[str, Any]] = [
        {
            "thought_id": "t-1", "thought_type": "OBSERVATION", "essence": "The port",
            "content": "Prod SSH port is 49222", "priority": "P1", "lifecycle_status": "ACTIVE",
            "created_cycle": 3, "updated_cycle": 7, "source": "human", "confidence": 0.8,
            "created_at": "2026-03-20T10:00:00+00:00", "expires_at": "2027-01-01T00:00:00+00:00",
            "valid_from": "2026-03-01T00:00:00+00:00", "valid_until": "2026-12-01T00:00:00+00:00",
            "metadata_json": '{"grp": "A"}', "pinned": 1, "access_count": 5,
            "provenance": '{"session_id": "s-1", "actor_id": "bot", "retrieval_query": "ssh"}',
        },
        {
            "thought_id": "t-2", "thought_type": "REFLECTION", "essence": "Ports move",
            "content": "Ports move", "priority": "P2", "lifecycle_status": "ARCHIVED",
            "created_at": "soon",
        },
        {
            "thought_id": "t-3", "thought_type": "NOTE", "essence": "x", "content": "  ",
            "priority": "P4",
        },
    ]  # fmt: skip
    edges = [
        ("e-1", "t-2", "t-1", "CONSOLIDATED_FROM", 1.0, 1.0, '{"why": "cluster"}'),
        ("e-2", "t-1", "t-2", "ASSOCIATED", 0.4, 0.5, "{}"),
        ("e-3", "t-1", "gone", "DEPENDS_ON", 0.4, 1.0, "{}"),
    ]
    with sqlite3.connect(path) as db:
        db.executescript(ENGRAVA.replace("= 21;", f"= {version};"))
        for row in thoughts:
            names, marks = ", ".join(row), ", ".join("?" * len(row))
            db.execute(f"INSERT INTO thought ({names}) VALUES ({marks})", list(row.values()))  # noqa: S608  # ours
        columns = "edge_id, from_thought_id, to_thought_id, edge_type, weight, decay_multiplier"
        sql = f"INSERT INTO edge ({columns}, metadata_json) VALUES (?,?,?,?,?,?,?)"  # noqa: S608  # ours
        db.executemany(sql, edges)
        blob = struct.pack("<3f", 1.0, 0.5, 0.0)
        for name, blob_of in (("t-1", blob), ("t-2", struct.pack("<3f", 0, 0, 0))):
            row = (f"v-{name}", "THOUGHT", name, "mini", 3, blob_of, "2026-03-20")
            db.execute("INSERT INTO embedding VALUES (?,?,?,?,?,?,?)", row)
        db.execute("INSERT INTO action VALUES ('a-1', 't-1')")
    db.close()
    return path


THOUGHTS: list[dict[str, Any]] = [
    {
        "schema_version": 3, "id": "6f1c0000-0000-4000-8000-000000000000", "index": 0,
        "timestamp": "2026-04-17T10:00:00Z", "session_id": "s-9", "agent_id": "ann",
        "agent_name": "Ann the planner", "agent_owner": "ops", "thought_type": "Decision",
        "role": "Memory", "content": "We picked LRU eviction", "confidence": 0.9,
        "importance": 0.75, "tags": ["cache"], "concepts": ["eviction"], "refs": [],
        "relations": [], "entity_type": "policy", "source_episode": "ep-1", "prev_hash": "",
        "hash": "abc", "signing_key_id": "k1", "thought_signature": "sig",
    },
    {
        "id": "6f1c0000-0000-4000-8000-000000000001", "index": 1,
        "timestamp": "2026-04-18T10:00:00Z", "agent_id": "bob", "thought_type": "Correction",
        "role": "Summary", "content": "LFU it is", "importance": 7, "confidence": None,
        "refs": [0, 99],
        "relations": [
            {"kind": "References", "target_id": "6f1c0000-0000-4000-8000-000000000000"},
            {"kind": "supersedes", "target_id": "6f1c0000-0000-4000-8000-000000000000"},
            {
                "kind": "DerivedFrom", "target_id": "6f1c0000-0000-4000-8000-000000000000",
                "valid_at": "2026-04-01T00:00:00Z", "invalid_at": "2026-05-01T00:00:00Z",
            },
            {"kind": "BranchesFrom", "target_id": "x", "chain_key": "elsewhere"},
            {"kind": "Supports", "target_id": "nowhere"},
        ],
        "prev_hash": "abc", "hash": "def",
    },
    {"index": 2, "thought_type": "Idea", "content": ""},
]  # fmt: skip

MEMORY_MD = """# MEMORY

Generated from `/data/chain.jsonl` with 3 thought(s).

## Knowledge

- [#0] Decision: We picked LRU (for the cache) (agent Ann the planner [ann] owned by ops; role \
Memory; importance 0.75; confidence 0.90; tags cache, eviction)
- [#1] FactLearned: Two lines
  of text (agent bob; role Summary; importance 0.50)

## Open Threads

- [#2] Question: Why? (agent bob; role Memory; importance 0.20)
- [broken
"""

RELATIONS: dict[str, Any] = {
    "links": {
        "headers": ["src", "dst", "rel", "weight", "created_at"],
        "rows": [["m-1", "m-2", "leads_to", 0.5, 1776420000000000], ["m-1", "gone", "x", 1.0, 1]],
        "next": None,
    },
    "memories": {
        "headers": ["id", "text", "meta", "created_at", "updated_at", "emb"],
        "rows": [
            ["m-1", "Prices rise", {"topic": "money"}, 1776420000000000, 1, [0.5, 0.25]],
            ["m-2", "Sales fall", None, None, 1, [0.0, 0.0]],
            ["m-3", "too short"],
        ],
        "next": None,
    },
    "memories_hist": {
        "headers": ["id", "at", "text"],
        "rows": [
            ["m-1", [1776420000000000, True], "Prices rise"],
            ["m-1", [1776000000000000, True], "Prices fall"],
            ["m-9", [1776000000000000, True], "It was there"],
            ["m-9", [1776100000000000, False], "It was there"],
        ],
        "next": None,
    },
    "db_meta": {"headers": ["k", "v"], "rows": [["model", "bge"]], "next": None},
}

ENTRIES: dict[str, Any] = {
    "entries": [
        {
            "id": "c-1", "tenantId": "default", "agentId": "helper", "userId": "ana",
            "content": "Deadlines are in May", "trustLevel": "system", "memoryType": "procedural",
            "source": {"who": "ana", "channel": "mail", "sessionKey": "k-1"},
            "tags": ["work"], "createdAt": 1776420000000, "expiresAt": 1976420000000,
            "updatedAt": 1776420000001, "occurredAt": 1776000000000, "pinned": True,
        },
        {
            "id": "c-2", "tenant_id": "acme", "content": "of another tenant",
            "trust_level": "learned", "memory_type": "semantic",
        },
        {"id": "c-3", "content": "who says?", "trustLevel": "stranger", "memoryType": "semantic"},
        {
            "id": "c-4", "content": "as a row of theirs", "trust_level": "external",
            "memory_type": "dream", "tags": '["a", "b"]', "source_who": "bot",
            "source_channel": "web", "source_session_key": "k-2", "created_at": 1776420000000,
        },
    ],
    "total": 4,
}  # fmt: skip


def brain(folder: Path) -> Path:
    """A brain with two notes that point at each other, an old one and a generated one."""
    notes = {
        "memory/global/user-preference-coffee.md": (
            "---\nname: Coffee\ndescription: how I drink it\ntype: user\nscope: global\n"
            "created: 2026-04-17T10:00:00Z\nmodified: 2026-04-18T10:00:00Z\nsource: session\n"
            "session_id: s-3\ntags: [food, 'oat milk']\nconfidence: high\nsupersedes: old-coffee\n"
            "---\n\nI prefer oat milk. See [[deploy|the plan]] and [[nowhere]].\n"
        ),
        "memory/project/web/deploy.md": (
            "---\ntitle: Deploy\ntype: project\nscope: project\ntags:\n  - ops\n"
            "observed_on: 2026-04-01\n---\nWe deploy on Mondays.\n"
        ),
        "memory/global/old-coffee.md": "I take it black.\n",
        "memory/global/_index.md": "made by a machine\n",
        "memory/MEMORY.md": "- an index\n",
        "wiki/empty.md": "---\nname: Empty\n---\n",
    }
    for path, text in notes.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")
    return folder


MESSAGES: list[dict[str, Any]] = [
    {"role": "system", "content": "Be kind."},
    {"role": "user", "content": [{"type": "text", "text": "Hello"}, {"type": "image_url"}]},
    {"role": "assistant", "content": None, "tool_calls": [{"id": "c"}]},
    {"role": "assistant", "content": "Hello, Ana", "name": "bot"},
    {"role": "user", "content": "Hello"},
]
ARCHIVE_OPENAI: list[dict[str, Any]] = [
    {
        "id": "conv-1", "title": "Trips", "create_time": 1776420000.5, "current_node": "d",
        "mapping": {
            "a": {"id": "a", "message": None, "parent": None, "children": ["b"]},
            "b": {
                "id": "b", "parent": "a", "children": ["c", "d"],
                "message": {
                    "id": "b", "author": {"role": "user"}, "create_time": 1776420001.0,
                    "content": {"content_type": "text", "parts": ["Where to?"]},
                },
            },
            "c": {
                "id": "c", "parent": "b", "children": [],
                "message": {
                    "id": "c", "author": {"role": "assistant"}, "create_time": None,
                    "content": {"content_type": "text", "parts": ["Paris"]},
                },
            },
            "d": {
                "id": "d", "parent": "b", "children": [],
                "message": {
                    "id": "d", "author": {"role": "assistant"}, "create_time": None,
                    "content": {"content_type": "text", "parts": ["Berlin"]},
                },
            },
        },
    }
]  # fmt: skip
ARCHIVE_ANTHROPIC: list[dict[str, Any]] = [
    {
        "uuid": "u-1", "name": "Food", "created_at": "2026-04-17T10:00:00Z",
        "chat_messages": [
            {
                "uuid": "m-1", "sender": "human", "text": "What is good?",
                "created_at": "2026-04-17T10:00:05Z",
                "content": [{"type": "text", "text": "What is good?"}],
            },
            {"uuid": "m-2", "sender": "assistant", "text": "Soup.", "content": []},
        ],
    }
]  # fmt: skip
DIALOGS: list[dict[str, Any]] = [
    {
        "sample_id": "conv-26", "qa": [{"question": "?"}],
        "conversation": {
            "speaker_a": "Caroline", "speaker_b": "Melanie",
            "session_1_date_time": "1:56 pm on 8 May, 2023",
            "session_1": [
                {"speaker": "Caroline", "dia_id": "D1:1", "text": "Hey Mel!"},
                {
                    "speaker": "Melanie", "dia_id": "D1:2", "text": "Look", "query": "a lake",
                    "blip_caption": "a photo of a lake",
                },
            ],
            "session_2": [{"speaker": "Caroline", "dia_id": "D2:1", "text": ""}],
        },
    }
]  # fmt: skip


def write(path: Path, value: object) -> Path:
    """A JSON file: lines for a .jsonl of a list, else one value."""
    lines = path.suffix == ".jsonl" and isinstance(value, list)
    lines_out = [json.dumps(one) for one in value] if lines else [json.dumps(value, indent=1)]  # pyright: ignore[reportGeneralTypeIssues]  # a list
    path.write_text("\n".join(lines_out) + "\n", encoding="utf-8")
    return path


def claude_mem(path: Path) -> Path:
    """An observation of claude-mem and a summary of its session."""
    db = sqlite3.connect(path)
    db.execute(
        "CREATE TABLE observations (id INTEGER PRIMARY KEY, memory_session_id, project, text, type,"
        " title, subtitle, facts, narrative, concepts, files_read, created_at, created_at_epoch)"
    )
    db.execute(
        "CREATE TABLE session_summaries (id INTEGER PRIMARY KEY, memory_session_id, project,"
        " request, learned, completed, created_at_epoch)"
    )
    db.execute(
        "INSERT INTO observations VALUES (1, 's1', 'quill', NULL, 'bugfix', 'Port clash', 'sub',"
        """ '["5432 is taken", "use 5433"]', 'Postgres did not start.', '["gotcha"]', '["a.ts"]',"""
        " '2026-01-02T03:04:05Z', 1767323045000)"
    )
    db.execute(
        "INSERT INTO session_summaries"
        " VALUES (1, 's1', 'quill', 'start it', 'ports', NULL, 1767323045000)"
    )
    db.commit()
    db.close()
    return path


MEM0: dict[str, Any] = {
    "results": [
        {
            "id": "m1",
            "memory": "Loves sci-fi",
            "hash": "x",
            "user_id": "alice",
            "metadata": {"category": "movies"},
            "created_at": "2026-01-02T03:04:05Z",
            "expiration_date": "2999-03-31",
        },
        {"id": "m2", "memory": "Plays cricket", "user_id": "alice", "categories": ["sport"]},
    ]
}


def basic_memory(folder: Path) -> Path:
    """Two notes of basic-memory; one leads to the other and to one that is not there."""
    folder.mkdir()
    (folder / "coffee.md").write_text(
        "---\ntitle: Coffee\ntype: note\ntags: [drinks]\npermalink: coffee\n---\n# Coffee\n"
        "- [method] Pour over is clearer #brewing\n- requires [[Grinding]]\n- see [[Nowhere]]\n"
    )
    (folder / "grinding.md").write_text(
        "---\ntitle: Grinding\ntype: technique\npermalink: grinding\n---\nGrind fresh.\n"
    )
    return folder
