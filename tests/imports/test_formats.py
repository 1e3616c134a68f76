"""What every format brings along: fields, edges, agents, and what it cannot."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.imports import files

import memoriter
from memoriter.core.times import iso, to_datetime
from memoriter.memory.facade import Memory
from memoriter.memory.importing import Imported


@pytest.fixture
def memory() -> Iterator[Memory]:
    with memoriter.open(":memory:", embedder=None) as opened:
        yield opened


def left(done: Imported) -> dict[str, tuple[int, str]]:
    return {one.field: (one.count, one.became) for one in done.left.values()}


def refused(done: Imported) -> dict[str, str]:
    return {row.where: row.reason for row in done.refused}


def by_text(memory: Memory) -> dict[str, dict[str, Any]]:
    """Every record, by its text."""
    page = memory.browse(limit=1000)
    return {record.text: record.to_dict() for record in page.records}


def edges(memory: Memory, id: str) -> set[tuple[str, str, str]]:
    return {(edge.source, edge.target, edge.kind) for edge in memory.links(id)}


# --- engrava ----------------------------------------------------------------------------------


def test_an_engrava_database_comes_with_its_fields(tmp_path: Path, memory: Memory) -> None:
    done = memory.import_file(files.engrava(tmp_path / "theirs.db"))
    assert (done.format, done.read) == ("engrava", 3)
    assert (done.records.written, done.records.refused) == (2, 1)
    one = memory.get("t-1").to_dict()
    assert one["summary"] == "The port"
    assert (one["kind"], one["priority"], one["cycle"]) == ("observation", "P1", 7)
    assert (one["confidence"], one["pinned"], one["source"]) == (0.8, True, {"who": "human"})
    assert (one["session"], one["agent"]) == ("s-1", "bot")
    assert one["created"] == iso(1774000800000000)
    assert (one["valid_from"], one["valid_until"]) == (iso(1772323200000000), iso(1796083200000000))
    assert one["expires"] == iso(1798761600000000)
    metadata = memory.get("t-1").metadata
    assert metadata["grp"] == "A"
    origin: Any = metadata["origin"]
    assert (origin["format"], origin["id"], origin["access_count"]) == ("engrava", "t-1", 5)
    assert origin["provenance"] == {"retrieval_query": "ssh"}
    two = memory.get("t-2")
    assert (two.kind, two.archived, two.summary) == ("reflection", True, None)


def test_engravas_edges_come_and_one_without_an_end_is_named(
    tmp_path: Path, memory: Memory
) -> None:
    done = memory.import_file(files.engrava(tmp_path / "theirs.db"))
    assert edges(memory, "t-1") == {
        ("t-2", "t-1", "consolidated_from"),
        ("t-1", "t-2", "related_to"),
    }
    by = {edge.kind: edge for edge in memory.links("t-1")}
    assert by["related_to"].weight == 0.4
    assert by["consolidated_from"].metadata["why"] == "cluster"
    assert refused(done)["edge e-3"] == "there is no record 'gone'"
    assert (done.links.written, done.links.refused) == (2, 1)


def test_what_engravas_consolidation_associated_is_kept_apart(
    tmp_path: Path, memory: Memory
) -> None:
    path = files.engrava(tmp_path / "theirs.db")
    with sqlite3.connect(path) as db:
        db.execute("UPDATE edge SET source = 'DREAMING' WHERE edge_id = 'e-2'")
    memory.import_file(path)
    assert ("t-1", "t-2", "associated") in edges(memory, "t-1")


def test_what_engrava_has_and_we_have_not_is_told(tmp_path: Path, memory: Memory) -> None:
    done = memory.import_file(files.engrava(tmp_path / "theirs.db"))
    assert left(done)["access_count"] == (1, "metadata")
    assert left(done)["table action"] == (1, "left out")
    assert left(done)["created_at"] == (1, "left out")
    assert left(done)["vector"] == (1, "left out")
    assert left(done)["edge: decay_multiplier"] == (1, "metadata")


def test_vectors_of_theirs_can_be_searched(tmp_path: Path) -> None:
    theirs = files.engrava(tmp_path / "theirs.db")
    with memoriter.open(tmp_path / "ours.db") as memory:
        done = memory.import_file(theirs)
    assert 'embedder="given:3"' in done.notes[0]
    with memoriter.open(tmp_path / "ours.db", embedder="given:3") as memory:
        result = memory.recall("", recipe="semantic", vector=[1.0, 0.5, 0.0])
        assert [hit.id for hit in result] == ["t-1"]
    with memoriter.open(":memory:", embedder="given:5") as memory:
        done = memory.import_file(theirs)
        assert (done.records.written, left(done)["vector"][0]) == (2, 2)


def test_a_database_of_theirs_is_not_touched(tmp_path: Path, memory: Memory) -> None:
    theirs = files.engrava(tmp_path / "theirs.db")
    before = hashlib.sha256(theirs.read_bytes()).digest(), theirs.stat().st_mtime_ns
    theirs.chmod(0o444)
    memory.import_file(theirs)
    assert (hashlib.sha256(theirs.read_bytes()).digest(), theirs.stat().st_mtime_ns) == before
    assert [path.name for path in tmp_path.iterdir()] == ["theirs.db"]


def test_a_thought_that_is_no_text_costs_only_itself(tmp_path: Path, memory: Memory) -> None:
    theirs = files.engrava(tmp_path / "theirs.db")
    with sqlite3.connect(theirs) as db:
        db.execute("UPDATE thought SET content=CAST(x'ff41' AS TEXT) WHERE thought_id='t-1'")
    db.close()
    done = memory.import_file(theirs)
    assert refused(done)["thought, row 1"] == "holds text that is not UTF-8"
    assert memory.get("t-2").text == "Ports move"


# --- MentisDB ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["chain.jsonl", "answer.json"])
def test_a_chain_comes_with_its_fields(name: str, tmp_path: Path, memory: Memory) -> None:
    value = files.THOUGHTS if name.endswith("l") else {"thoughts": files.THOUGHTS}
    done = memory.import_file(files.write(tmp_path / name, value))
    assert (done.format, done.records.written, done.records.refused) == ("mentisdb", 2, 1)
    one = memory.get("6f1c0000-0000-4000-8000-000000000000").to_dict()
    assert (one["kind"], one["role"], one["agent"]) == ("Decision", "memory", "ann")
    assert (one["session"], one["importance"], one["confidence"]) == ("s-9", 0.75, 0.9)
    assert (one["tags"], one["concepts"]) == (["cache"], ["eviction"])
    assert (one["entity_type"], one["source_episode"]) == ("policy", "ep-1")
    assert one["created"] == iso(1776420000000000)
    origin: Any = memory.get(str(one["id"])).metadata["origin"]
    assert (origin["index"], origin["hash"]) == (0, "abc")
    assert memory.get("6f1c0000-0000-4000-8000-000000000001").importance == 1.0
    assert left(done)["thought_signature"] == (1, "left out")


def test_refs_and_relations_become_edges_once(tmp_path: Path, memory: Memory) -> None:
    done = memory.import_file(files.write(tmp_path / "chain.jsonl", files.THOUGHTS))
    old, new = (thought["id"] for thought in files.THOUGHTS[:2])
    kinds = {"references", "supersedes", "derived_from"}
    assert edges(memory, old) == {(new, old, kind) for kind in kinds}
    by = {edge.kind: edge for edge in memory.links(old)}
    assert by["supersedes"].valid_from == to_datetime(1776506400000000)
    assert by["derived_from"].valid_until == to_datetime(1777593600000000)
    assert left(done)["relations to other chains"] == (1, "metadata")
    assert left(done)["refs to thoughts that the file does not hold before"][0] == 1
    assert refused(done)["chain.jsonl:2"] == "there is no record 'nowhere'"
    assert [hit.id for hit in memory.recall("eviction LFU LRU")] == [new]


def test_agents_of_a_chain_are_registered(tmp_path: Path, memory: Memory) -> None:
    path = files.write(tmp_path / "chain.jsonl", files.THOUGHTS)
    assert memory.import_file(path).agents.written == 1
    agent = memory.agents.get("ann")
    assert (agent.display_name, agent.owner) == ("Ann the planner", "ops")
    memory.agents.upsert("ann", owner="me")
    assert memory.import_file(path).agents.already == 1
    assert memory.agents.get("ann").owner == "me"


def test_a_memory_md_comes_line_by_line(tmp_path: Path, memory: Memory) -> None:
    path = tmp_path / "MEMORY.md"
    path.write_text(files.MEMORY_MD, encoding="utf-8")
    done = memory.import_file(path)
    assert (done.format, done.records.written) == ("mentisdb", 3)
    records = by_text(memory)
    first = records["We picked LRU (for the cache)"]
    assert (first["kind"], first["agent"], first["importance"]) == ("Decision", "ann", 0.75)
    assert (first["confidence"], first["tags"]) == (0.9, ["cache", "eviction"])
    assert records["Two lines\n  of text"]["role"] == "summary"
    assert memory.agents.get("ann").owner == "ops"
    assert memory.import_file(path).records.already == 3


# --- mnestic ----------------------------------------------------------------------------------


def test_a_dump_of_relations_comes_with_its_vectors(tmp_path: Path) -> None:
    path = files.write(tmp_path / "dump.json", files.RELATIONS)
    with memoriter.open(":memory:", embedder="given:2") as memory:
        done = memory.import_file(path)
        assert (done.format, done.records.written) == ("mnestic", 4)
        one = memory.get("m-1")
        assert (one.text, one.created) == ("Prices rise", to_datetime(1776420000000000))
        assert one.metadata["topic"] == "money"
        result = memory.recall("", recipe="semantic", vector=[0.5, 0.25])
        assert [hit.id for hit in result] == ["m-1"]
        assert refused(done)["memories"] == "has more or fewer columns than headers"
        assert left(done)["relation db_meta"] == (1, "left out")
        assert left(done)["vector"] == (1, "left out")


def test_edges_of_a_dump_may_stand_before_their_ends(tmp_path: Path, memory: Memory) -> None:
    done = memory.import_file(files.write(tmp_path / "dump.json", files.RELATIONS))
    assert edges(memory, "m-2") == {("m-1", "m-2", "leads_to")}
    assert memory.links("m-2")[0].weight == 0.5
    assert refused(done)["links[1]"] == "there is no record 'gone'"


def test_a_history_becomes_versions_that_are_superseded(tmp_path: Path, memory: Memory) -> None:
    memory.import_file(files.write(tmp_path / "dump.json", files.RELATIONS))
    old = memory.get("m-1@1776000000000000")
    assert (old.text, old.valid_from, old.valid_until) == (
        "Prices fall", to_datetime(1776000000000000), to_datetime(1776420000000000),
    )  # fmt: skip
    assert ("m-1", old.id, "supersedes") in edges(memory, "m-1")
    assert [hit.id for hit in memory.recall("prices", now="2026-11-01")] == ["m-1"]
    ended = memory.get("m-9@1776000000000000")
    assert (ended.valid_until, memory.links(ended.id)) == (to_datetime(1776100000000000), ())


# --- Comis ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["export.json", "page.jsonl", "rpc.json"])
def test_entries_come_with_their_fields(name: str, tmp_path: Path, memory: Memory) -> None:
    value: Any = files.ENTRIES["entries"] if name == "page.jsonl" else files.ENTRIES
    value = {"jsonrpc": "2.0", "id": 1, "result": value} if name == "rpc.json" else value
    done = memory.import_file(files.write(tmp_path / name, value))
    assert (done.format, done.records.written, done.records.refused) == ("comis", 2, 2)
    one = memory.get("c-1").to_dict()
    assert (one["agent"], one["user"], one["session"]) == ("helper", "ana", "k-1")
    assert (one["trust"], one["memory_type"]) == ("system", "procedural")
    assert (one["source"], one["tags"]) == ({"who": "ana", "channel": "mail"}, ["work"])
    assert (one["created"], one["occurred"]) == (iso(1776420000000000), iso(1776000000000000))
    assert (one["expires"], one["pinned"]) == (iso(1976420000000000), True)
    row = memory.get("c-4").to_dict()
    assert (row["tags"], row["session"], row["trust"]) == (["a", "b"], "k-2", "external")
    assert left(done)["memoryType"] == (1, "left out")


def test_an_entry_of_another_tenant_stays_out(tmp_path: Path, memory: Memory) -> None:
    done = memory.import_file(files.write(tmp_path / "export.json", files.ENTRIES))
    reasons = refused(done)
    assert reasons["export.json[1]"] == "it is of tenant 'acme', this memory is of 'default'"
    assert reasons["export.json[2]"].startswith("trustLevel: 'stranger' is not one of")
    with memoriter.open(":memory:", tenant="acme", embedder=None) as theirs:
        again = theirs.import_file(tmp_path / "export.json")
        assert "c-2" in {record.id for record in theirs.browse().records}
        assert again.records.refused == 1


# --- jeffs-brain ------------------------------------------------------------------------------


def test_a_brain_comes_with_paths_links_and_what_was_replaced(
    tmp_path: Path, memory: Memory
) -> None:
    done = memory.import_file(files.brain(tmp_path))
    assert (done.format, done.records.written, done.records.refused) == ("jeffs-brain", 3, 1)
    coffee = memory.get("memory/global/user-preference-coffee.md").to_dict()
    assert (coffee["title"], coffee["summary"]) == ("Coffee", "how I drink it")
    assert (coffee["kind"], coffee["tags"]) == ("user", ["food", "oat milk"])
    assert (coffee["session"], coffee["confidence"]) == ("s-3", 0.9)
    assert coffee["source"] == {"path": coffee["id"], "channel": "session"}
    deploy = memory.get("memory/project/web/deploy.md")
    assert deploy.metadata["project"] == "web"
    assert deploy.occurred == to_datetime(1775001600000000)
    assert edges(memory, str(coffee["id"])) == {
        (coffee["id"], "memory/project/web/deploy.md", "related_to"),
        (coffee["id"], "memory/global/old-coffee.md", "supersedes"),
    }
    assert left(done)["generated files"] == (2, "left out")
    assert left(done)["links to notes that are not here"] == (1, "left out")
    ask = {"pathPrefix": "memory/global/"}
    result = memory.recall("what do I prefer in coffee", recipe="jeffs-brain", overrides=ask)
    assert result[0].id == coffee["id"]


def test_one_note_of_a_brain_keeps_its_path(tmp_path: Path, memory: Memory) -> None:
    folder = files.brain(tmp_path)
    note = folder / "memory" / "global" / "user-preference-coffee.md"
    assert memory.import_file(note).format == "jeffs-brain"
    assert memory.get("memory/global/user-preference-coffee.md").title == "Coffee"


def test_chunks_of_an_answer_come(tmp_path: Path, memory: Memory) -> None:
    chunk = {
        "chunkId": "d#1", "documentId": "d", "path": "wiki/k8s.md", "score": 0.1,
        "text": "Upgraded", "title": "K8s", "summary": "s", "metadata": {"a": 1}, "bm25Rank": 1,
    }  # fmt: skip
    done = memory.import_file(files.write(tmp_path / "hits.json", {"chunks": [chunk], "trace": {}}))
    assert done.format == "jeffs-brain"
    kept = memory.get("d#1")
    assert (kept.title, kept.source.path, kept.metadata["a"]) == ("K8s", "wiki/k8s.md", 1)


# --- chats and dialogs ------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["chat.json", "chat.jsonl", "named.json"])
def test_messages_come_as_one_session(name: str, tmp_path: Path, memory: Memory) -> None:
    value: Any = {"id": "chat", "messages": files.MESSAGES} if name == "named.json" else None
    path = files.write(tmp_path / name, value or files.MESSAGES)
    done = memory.import_file(path)
    assert (done.format, done.records.written) == ("chat", 4)
    records = memory.browse("oldest").records
    assert [(r.role, r.text) for r in records] == [
        ("system", "Be kind."), ("user", "Hello"), ("assistant", "Hello, Ana"), ("user", "Hello"),
    ]  # fmt: skip
    assert {(r.session, r.memory_type, r.kind) for r in records} == {
        ("chat", "episodic", "message")
    }
    assert records[2].source.who == "bot"
    assert left(done)["parts of type image_url"] == (1, "left out")
    assert memory.import_file(path).records.already == 4


def test_an_archive_of_openai_follows_the_branch_that_stands(
    tmp_path: Path, memory: Memory
) -> None:
    done = memory.import_file(files.write(tmp_path / "conversations.json", files.ARCHIVE_OPENAI))
    records = memory.browse("oldest").records
    assert [(r.role, r.text, r.session, r.title) for r in records] == [
        ("user", "Where to?", "conv-1", "Trips"),
        ("assistant", "Berlin", "conv-1", "Trips"),
    ]
    assert [r.created for r in records] == [to_datetime(1776420001000000)] * 2
    assert left(done)["branches that were left"] == (1, "left out")


def test_an_archive_of_anthropic_comes(tmp_path: Path, memory: Memory) -> None:
    memory.import_file(files.write(tmp_path / "conversations.json", files.ARCHIVE_ANTHROPIC))
    records = memory.browse("oldest").records
    assert [(r.role, r.text, r.session) for r in records] == [
        ("user", "What is good?", "u-1"), ("assistant", "Soup.", "u-1"),
    ]  # fmt: skip
    assert records[0].created == to_datetime(1776420005000000)


def test_dialogs_come_turn_by_turn(tmp_path: Path, memory: Memory) -> None:
    done = memory.import_file(files.write(tmp_path / "locomo.json", files.DIALOGS))
    assert (done.format, done.records.written, done.records.refused) == ("locomo", 2, 1)
    turn = memory.get("conv-26/D1:2")
    assert turn.text == "Melanie: Look [a photo of a lake]"
    assert (turn.session, turn.source.who) == ("conv-26/1", "Melanie")
    assert turn.created == to_datetime(1683554160000000)
    assert left(done)["qa"] == (1, "left out")


# --- notes and lines --------------------------------------------------------------------------


def test_notes_are_kept_section_by_section(tmp_path: Path, memory: Memory) -> None:
    note = tmp_path / "trip.md"
    note.write_text(
        "---\ntitle: Berlin\ntags: travel, 'work trip'\ndate: 2026-05-01\nweather: rain\n---\n"
        "# Plan\nTake the train.\n\n## Hotel\n```\n# no heading\n```\n\n## Empty\n",
        encoding="utf-8",
    )
    done = memory.import_file(note)
    assert (done.format, done.records.written) == ("markdown", 2)
    by_title = {r.title: r for r in memory.browse().records}
    assert set(by_title) == {"Berlin › Plan", "Berlin › Plan › Hotel"}
    plan = by_title["Berlin › Plan"]
    assert (plan.text, plan.source.path) == ("Take the train.", "trip.md")
    assert plan.created == to_datetime(1777593600000000)
    assert left(done)["weather"] == (2, "metadata")


def test_a_folder_of_notes_comes_whole(tmp_path: Path, memory: Memory) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "one.md").write_text("one", encoding="utf-8")
    (tmp_path / "two.markdown").write_text("two", encoding="utf-8")
    (tmp_path / "bad.md").write_bytes(b"\xff\xfe rubbish")
    (tmp_path / ".hidden.md").write_text("hidden", encoding="utf-8")
    done = memory.import_file(tmp_path)
    assert (done.format, done.records.written) == ("markdown", 2)
    assert list(refused(done)) == ["bad.md"]
    assert {r.source.path for r in memory.browse().records} == {"a/one.md", "two.markdown"}


def test_lines_of_json_take_every_field_of_a_record(tmp_path: Path, memory: Memory) -> None:
    path = files.write(
        tmp_path / "notes.jsonl",
        [
            "a text",
            {"text": "old", "id": "old", "importance": 0.9},
            {"text": "new", "supersedes": "old", "key": "mine", "vector": [1, 2]},
            {"text": "typo", "txet": 1},
            7,
        ],
    )
    done = memory.import_file(path)
    assert (done.format, done.read, done.records.written) == ("jsonl", 5, 3)
    assert refused(done) == {
        "notes.jsonl:4": "txet: there is no such field",
        "notes.jsonl:5": "expected a text or an object, got int",
    }
    assert done.refused[0].hint == "did you mean text?"
    assert [edge.kind for edge in memory.links("old")] == ["supersedes"]


# --- what a note means, and what must not vanish ----------------------------------------------


def test_a_note_replaces_the_one_that_it_names_and_no_namesake(
    tmp_path: Path, memory: Memory
) -> None:
    def write(path: str, text: str) -> None:
        place = tmp_path / "brain" / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")

    for slug in "xyz":
        write(f"memory/project/{slug}/notes.md", f"of {slug}")
    write("memory/project/x/plan.md", "---\nsupersedes: notes\n---\nx has a plan")
    write(
        "wiki/a.md", "---\nsupersedes: memory/project/y/notes.md\n---\nsee [[z/notes]], [[notes]]"
    )
    head = "---\nsuperseded_by: a.md\nabout: >\n  over two\n  lines\nseen: {}\n---\n"
    write("wiki/b.md", head.format("2026/02/03 (Tue)").replace("seen", "observed_on") + "older")
    done = memory.import_file(tmp_path / "brain")
    assert {each for id in ("wiki/a.md", "wiki/b.md") for each in edges(memory, id)} == {
        ("wiki/a.md", "memory/project/y/notes.md", "supersedes"),
        ("wiki/a.md", "wiki/b.md", "supersedes"),
        ("wiki/a.md", "memory/project/z/notes.md", "related_to"),
    }
    own = edges(memory, "memory/project/x/plan.md")
    assert own == {("memory/project/x/plan.md", "memory/project/x/notes.md", "supersedes")}
    assert left(done)["links to notes that are not here"] == (1, "left out")  # one of three
    assert memory.get("wiki/b.md").occurred == to_datetime(1770076800000000)
    origin: Any = memory.get("wiki/b.md").metadata["origin"]
    assert origin["about"] == "over two lines"


def test_documents_as_json_keep_what_their_heads_say(tmp_path: Path, memory: Memory) -> None:
    head = "---\nname: A\nsupersedes: b\nconfidence: high\nsession_id: s\nmood: good\n---\n"
    documents = [
        {"path": "memory/global/a.md", "content": f"{head}Alpha"},
        {"path": "memory/global/b.md", "content": "Beta", "title": "Bee"},
    ]
    path = files.write(tmp_path / "brain.json", {"documents": documents})
    done = memory.import_file(path)
    one = memory.get("memory/global/a.md")
    assert (one.text, one.title, one.confidence, one.session) == ("Alpha", "A", 0.9, "s")
    assert memory.get("memory/global/b.md").title == "Bee"
    assert edges(memory, one.id) == {(one.id, "memory/global/b.md", "supersedes")}
    assert left(done) == {"mood": (1, "metadata")}
    chunk = {"chunkId": "k", "text": "x", "metadata": {"observedOn": "2026-01-02"}}
    memory.import_file(files.write(tmp_path / "hits.json", {"chunks": [chunk]}))
    assert memory.get("k").occurred == to_datetime(1767312000000000)


def test_no_field_of_an_entry_vanishes_unseen(tmp_path: Path, memory: Memory) -> None:
    entry = {
        "id": "c", "content": "x", "memoryType": "semantic", "trustLevel": "learned",
        "evictedAt": 1776420000000, "confidence": 7, "source": {"who": "ana", "mood": "good"},
    }  # fmt: skip
    answer = {"results": [{"score": 0.5, "source": "both", "record": entry}]}
    done = memory.import_file(files.write(tmp_path / "answer.json", answer))
    kept = {"evicted_at", "confidence", "source"}
    assert left(done) == dict.fromkeys(kept, (1, "metadata"))
    origin: Any = memory.get("c").metadata["origin"]
    assert (origin["evicted_at"], origin["confidence"]) == (1776420000000, 7)
    assert origin["source"] == {"mood": "good"}
    assert (memory.get("c").archived, memory.get("c").confidence) == (True, 1.0)


def test_a_time_of_a_relation_that_is_none_is_told(tmp_path: Path, memory: Memory) -> None:
    thought = {"thought_type": "Plan", "content": "x", "agent_id": "ann"}
    relation = {"kind": "supports", "target_id": "a", "valid_at": "soon"}
    thoughts = [{**thought, "id": "a"}, {**thought, "id": "b", "relations": [relation]}]
    done = memory.import_file(files.write(tmp_path / "chain.jsonl", thoughts))
    assert left(done)["relations: valid_at"] == (1, "left out")
    assert edges(memory, "b") == {("b", "a", "supports")}


def test_a_heading_inside_a_text_of_a_memory_md_is_part_of_it(
    tmp_path: Path, memory: Memory
) -> None:
    path = tmp_path / "MEMORY.md"
    lines = [
        "# MEMORY", "## Identity", "- [#0] Plan: first", "## Steps",
        "then (agent bob; importance 0.90)", "", "## Other things", "- [#1] Goal: bare", "",
        "## Knowledge", "- [#2] Idea: x (agent a; importance 0.50)",
    ]  # fmt: skip
    path.write_text("\n".join(lines), encoding="utf-8")
    assert memory.import_file(path).records.written == 3
    records = by_text(memory)
    assert set(records) == {"first\n## Steps\nthen", "bare", "x"}
    assert records["first\n## Steps\nthen"]["importance"] == 0.9


def test_a_blank_word_costs_no_other(tmp_path: Path, memory: Memory) -> None:
    thought = {"thought_type": "Plan", "content": "x", "agent_id": "ann", "id": "a"}
    spelled = {"tags": ["Ops", " ", "ops", " net "], "concepts": ["one", 2]}
    done = memory.import_file(files.write(tmp_path / "chain.jsonl", [{**thought, **spelled}]))
    assert memory.get("a").tags == ("Ops", "net")
    assert left(done)["concepts"] == (1, "left out")
    rows = [["m", "y", ["a", ""]]]
    dump = {"memory": {"headers": ["id", "text", "tags"], "rows": rows}}
    memory.import_file(files.write(tmp_path / "dump.json", dump))
    assert memory.get("m").tags == ("a",)
