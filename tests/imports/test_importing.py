"""How files are recognised, read in a stream, refused, and never written twice."""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.imports import files
from tests.night import NIGHT

import memoriter
from memoriter import Conflict, Corrupt, InputError, NotFound, Unsupported
from memoriter.embed.callable import FunctionEmbedder
from memoriter.imports import source as sources
from memoriter.imports.table import detect_format, format_names, formats
from memoriter.memory.facade import Memory


@pytest.fixture
def memory() -> Iterator[Memory]:
    with memoriter.open(":memory:", embedder=None) as opened:
        yield opened


def made(folder: Path) -> dict[str, Path]:
    """One file of every format."""
    texts = {"markdown": "notes.md", "text": "lines.txt"}
    for name in texts.values():
        (folder / name).write_text("# A heading\nsomething\n", encoding="utf-8")
    with memoriter.open(":memory:", embedder=None) as memory:
        memory.remember("kept")
        memory.export(folder / "whole.export")
    return {
        "memoriter": folder / "whole.export",
        "engrava": files.engrava(folder / "engrava.db"),
        "mentisdb": files.write(folder / "chain.jsonl", files.THOUGHTS),
        "mnestic": files.write(folder / "dump.json", files.RELATIONS),
        "comis": files.write(folder / "export.json", files.ENTRIES),
        "jeffs-brain": files.brain(folder / "brain"),
        "claude-mem": files.claude_mem(folder / "claude-mem.db"),
        "mem0": files.write(folder / "mem0.json", files.MEM0),
        "basic-memory": files.basic_memory(folder / "basic"),
        "chat": files.write(folder / "chat.json", files.MESSAGES),
        "locomo": files.write(folder / "locomo.json", files.DIALOGS),
        "jsonl": files.write(folder / "notes.jsonl", ["one", {"text": "two"}]),
        **{name: folder / path for name, path in texts.items()},
    }


# --- which format -----------------------------------------------------------------------------


def test_every_format_is_recognised_by_what_it_holds(tmp_path: Path) -> None:
    paths = made(tmp_path)
    assert set(paths) == {each.name for each in formats()}
    for name, path in paths.items():
        plain = path if path.is_dir() else path.rename(path.with_name(f"{name}.bin"))
        if name == "markdown":  # only its name tells it from lines of text
            plain = plain.rename(path)
        importer = detect_format(plain)
        assert (importer.format.name, bool(importer.why)) == (name, True)


def test_every_format_is_harmless_twice_and_tells_a_dry_run_truly(tmp_path: Path) -> None:
    for name, path in made(tmp_path).items():
        with memoriter.open(":memory:", embedder=None) as memory:
            dry = memory.import_file(path, dry_run=True)
            assert memory.status().seq == 0, name
            done = memory.import_file(path, name)
            assert (dry.records, dry.format) == (done.records, done.format)
            assert done.records.written > 0
            if name == "memoriter":
                continue
            seq = memory.status().seq
            again = memory.import_file(path)
            assert memory.status().seq == seq, name
            assert (again.records.written, again.links.written) == (0, 0)
            assert again.records.already == done.records.written
            assert again.links.already == done.links.written
            assert again.records.refused == done.records.refused


def test_a_file_that_may_be_two_things_is_refused_with_both(tmp_path: Path) -> None:
    row = {"role": "user", "content": "x", "trustLevel": "learned", "memoryType": "semantic"}
    path = files.write(tmp_path / "both.jsonl", [row])
    with pytest.raises(InputError, match=r"comis .*; chat ") as caught:
        detect_format(path)
    assert caught.value.hint.startswith("choose one: format=")
    assert detect_format(path, "chat").format.name == "chat"


def test_an_unknown_format_names_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no format 'marckdown'") as caught:
        detect_format(tmp_path, "marckdown")
    assert "did you mean markdown?" in caught.value.hint
    assert all(name in caught.value.hint for name in format_names())


# --- what cannot be read ----------------------------------------------------------------------


def store(path: Path) -> None:
    with memoriter.open(path) as memory:
        memory.remember("ours")


def database(*statements: str) -> Any:
    def write(path: Path) -> None:
        with sqlite3.connect(path) as db:
            for statement in statements:
                db.execute(statement)
        db.close()

    return write


def damaged(path: Path) -> None:
    files.engrava(path)
    path.write_bytes(path.read_bytes()[:100] + b"\xff" * 4096)


BAD: dict[str, tuple[Any, type[Exception], str]] = {
    "empty.jsonl": (lambda p: p.write_bytes(b""), InputError, "is empty"),
    "blank.txt": (lambda p: p.write_bytes(b"\xef\xbb\xbf \n\n"), InputError, "is empty"),
    "folder": (lambda p: p.mkdir(), InputError, "a folder without Markdown files"),
    "pipe": (os.mkfifo, InputError, "neither a file nor a folder"),
    "rubbish.bin": (lambda p: p.write_bytes(b"\x00\x01" * 99), InputError, "neither text"),
    "export.zip": (lambda p: p.write_bytes(b"PK\x03\x04\0\0\xff"), InputError, "neither text"),
    "wide.txt": (lambda p: p.write_text("hello", "utf-16"), InputError, "neither text"),
    "chain.tcbin": (lambda p: p.write_bytes(b"\x07\0\0\0\0\0\0\0x"), InputError, "neither text"),
    "cut.json": (lambda p: p.write_text('{"entries": [{"id'), InputError, "not complete JSON"),
    "deep.json": (lambda p: p.write_text("[" * 200_000), InputError, "nested too deeply"),
    "other.json": (lambda p: p.write_text('{"a": 1}'), InputError, "JSON in no known format"),
    "number.json": (lambda p: p.write_text("[7]"), InputError, "JSON in no known format"),
    "latin.json": (lambda p: p.write_bytes(b'[{"text": "\xe9"}]'), InputError, "is not UTF-8"),
    "ours.db": (store, InputError, "is a store of Memoriter"),
    "any.db": (database("CREATE TABLE x (a)"), InputError, "not of engrava"),
    "cozo.db": (database("CREATE TABLE cozo (k, v)"), InputError, "not of engrava"),
    "newer.db": (lambda p: files.engrava(p, 22), Unsupported, "schema 22 of engrava"),
    "damaged.db": (damaged, Corrupt, "is damaged"),
    "cut.export": (lambda p: p.write_text('{"head":{},"memoriter":1,"tenant":"default"}\n'),
                   Corrupt, "is incomplete"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_a_file_that_cannot_be_read_is_refused_in_words(
    name: str, tmp_path: Path, memory: Memory
) -> None:
    make, kind, text = BAD[name]
    make(tmp_path / name)
    with pytest.raises(kind, match=text) as caught:
        memory.import_file(tmp_path / name)
    error: Any = caught.value
    assert error.hint
    assert memory.status().seq == 0


def test_hints_say_how_to_get_out_of_other_stores(tmp_path: Path) -> None:
    hints = {"ours.db": "memoriter export", "cozo.db": "export_relations", "wide.txt": "UTF-16",
             "chain.tcbin": "MEMORY.md", "export.zip": "unpack it"}  # fmt: skip
    for name, hint in hints.items():
        BAD[name][0](tmp_path / name)
        with pytest.raises(InputError) as caught:
            detect_format(tmp_path / name)
        assert hint in caught.value.hint


def test_a_missing_file_and_a_path_through_a_file(tmp_path: Path, memory: Memory) -> None:
    with pytest.raises(NotFound, match="there is no file"):
        memory.import_file(tmp_path / "missing.jsonl")
    (tmp_path / "file").write_text("x")
    with pytest.raises(InputError):
        memory.import_file(tmp_path / "file" / "below")
    with pytest.raises(InputError):
        memory.import_file("nul\0.txt")


@pytest.mark.parametrize(
    ("name", "asked"),
    [("lines.txt", "chat"), ("lines.txt", "engrava"), ("engrava.db", "jsonl"),
     ("chat.json", "mnestic"), ("dump.json", "memoriter"), ("brain", "chat")],
)  # fmt: skip
def test_a_format_that_a_file_cannot_be_is_refused(name: str, asked: str, tmp_path: Path) -> None:
    made(tmp_path)
    with pytest.raises(InputError, match="is not "):
        detect_format(tmp_path / name, asked)


def test_a_store_that_is_open_is_not_read(tmp_path: Path) -> None:
    with memoriter.open(tmp_path / "mine.db") as memory:
        memory.remember("x")
        for name in ("mine.db", "mine.db-wal"):
            with pytest.raises(InputError, match="that this process has open"):
                memory.import_file(tmp_path / name)
        memory.remember("its locks still hold")
        assert memory.verify_store().sound


# --- bad rows ---------------------------------------------------------------------------------


def test_bad_rows_are_named_and_keep_no_other_out(
    tmp_path: Path, memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sources, "LINE_LIMIT", 1000)
    path = tmp_path / "notes.jsonl"
    lines = [
        b'\xef\xbb\xbf"first"', b'"caf\xe9"', b'{"text": "' + b"x" * 5000 + b'"}', b"[" * 300,
        b'{"text": NaN}', b'{"text": "   "}', b'{"text": "x", "importance": 2}',
        b'{"text": "lone \\ud800"}', b"", b'{"text": "good"}', b'{"text": "cut',
    ]  # fmt: skip
    path.write_bytes(b"\n".join(lines))
    done = memory.import_file(path)
    assert [(row.where, row.reason.split(":")[0]) for row in done.refused] == [
        ("notes.jsonl:2", "is not UTF-8 (byte 4)"),
        ("notes.jsonl:3", "a line of more than 0 MB"),
        ("notes.jsonl:4", "not JSON"),
        ("notes.jsonl:5", "not JSON"),
        ("notes.jsonl:6", "text"),
        ("notes.jsonl:7", "importance"),
        ("notes.jsonl:8", "text"),
        ("notes.jsonl:11", "not JSON"),
    ]
    assert (done.read, done.records.written, done.records.refused) == (10, 2, 8)
    assert {record.text for record in memory.browse().records} == {"first", "good"}


def test_one_refused_row_of_a_thousand_costs_only_itself(tmp_path: Path, memory: Memory) -> None:
    memory.remember("mine", id="n-500")
    rows = [{"text": f"note {n}", "id": f"n-{n}"} for n in range(1200)]
    rows[700] = {"text": "lost", "id": "x", "supersedes": "nobody"}  # pyright: ignore[reportArgumentType]  # of any shape
    done = memory.import_file(files.write(tmp_path / "notes.jsonl", rows))
    assert (done.records.written, done.records.refused) == (1198, 2)
    assert [row.where for row in done.refused] == ["notes.jsonl:501", "notes.jsonl:701"]
    assert memory.get("n-500").text == "mine"
    assert memory.status().records == 1199


def test_a_database_that_breaks_off_gives_what_was_read(
    tmp_path: Path, memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> object:
        raise Corrupt("page 7", hint="restore it")

    monkeypatch.setattr("memoriter.systems.engrava.importer.ImportedEdge", broken)
    done = memory.import_file(files.engrava(tmp_path / "theirs.db"))
    assert done.records.written == 2
    assert done.refused[-1].reason == "reading stopped: page 7"


def test_the_list_of_refused_rows_is_bounded_and_the_count_is_not(
    tmp_path: Path, memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memoriter.memory.importing.LISTED", 5)
    done = memory.import_file(files.write(tmp_path / "bad.jsonl", ["good", *range(50)]))
    assert (len(done.refused), done.records.refused) == (5, 50)


# --- once and only once -----------------------------------------------------------------------


def test_a_file_that_grew_brings_only_what_is_new(tmp_path: Path, memory: Memory) -> None:
    path = files.write(tmp_path / "notes.jsonl", ["one", "two", "one"])
    done = memory.import_file(path)
    assert (done.records.written, done.records.already) == (2, 1)
    files.write(path, ["zero", "one", "two"])
    done = memory.import_file(path.rename(tmp_path / "moved.jsonl"))
    assert (done.records.written, done.records.already) == (1, 2)


def test_a_row_that_changed_is_told_and_not_written_over(tmp_path: Path, memory: Memory) -> None:
    path = files.write(tmp_path / "notes.jsonl", [{"id": "a", "text": "one"}])
    memory.import_file(path)
    done = memory.import_file(files.write(path, [{"id": "a", "text": "two"}]))
    assert done.refused[0].reason == "was imported before, and has changed since"
    assert memory.get("a").text == "one"


def test_what_was_forgotten_does_not_come_back(tmp_path: Path, memory: Memory) -> None:
    path = files.write(tmp_path / "notes.jsonl", [{"id": "a", "text": "secret"}])
    memory.import_file(path)
    memory.forget("a")
    assert memory.import_file(path).records.already == 1
    assert memory.browse().total == 0


def test_rows_that_are_there_are_not_embedded_again(tmp_path: Path) -> None:
    calls: list[int] = []

    def embedder(texts: list[str]) -> list[list[float]]:
        calls.append(len(texts))
        return [[1.0, 0.0] for _ in texts]

    path = files.write(tmp_path / "notes.jsonl", [f"note {n}" for n in range(10)])
    with memoriter.open(":memory:", embedder=FunctionEmbedder(embedder, "two", 2)) as memory:
        memory.import_file(path)
        before = sum(calls)
        memory.import_file(path)
        assert (before, sum(calls)) == (10, 10)


# --- scopes, progress, size -------------------------------------------------------------------


def test_a_scope_stamps_rows_and_refuses_those_of_others(tmp_path: Path, memory: Memory) -> None:
    own = memory.scoped(agent="bot")
    rows = [{"id": "a", "text": "plain"}, {"text": "of another", "agent": "other"}]
    done = own.import_file(files.write(tmp_path / "notes.jsonl", rows))
    assert (done.records.written, done.records.refused) == (1, 1)
    assert memory.get("a").agent == "bot"


def test_links_out_of_a_scope_are_refused(tmp_path: Path, memory: Memory) -> None:
    memory.remember("far", id="gone", agent="other")
    path = files.engrava(tmp_path / "theirs.db")
    done = memory.scoped(agent="default").import_file(path)
    assert done.records.written == 1  # the other one is of an agent of its own
    assert (done.links.written, done.links.refused) == (0, 3)


def test_progress_is_told(tmp_path: Path, memory: Memory) -> None:
    seen: list[int] = []
    path = files.write(tmp_path / "notes.jsonl", [f"note {n}" for n in range(2500)])
    memory.import_file(path, progress=seen.append)
    assert seen == [1000, 2000, 2500]


LINES = 60_000 if NIGHT else 10_000


def test_lines_are_read_in_a_stream(tmp_path: Path) -> None:
    path = tmp_path / "large.jsonl"
    with path.open("w", encoding="utf-8") as out:
        for n in range(LINES):
            out.write(json.dumps({"text": f"note {n} " + "x" * 400}) + "\n")
    what = detect_format(path)
    tracemalloc.start()
    count = sum(1 for _ in what.format.read(what.source))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert count == LINES
    assert peak < path.stat().st_size / 10


def test_a_document_that_is_too_large_is_refused_before_it_is_read(
    tmp_path: Path, memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sources, "DOCUMENT_LIMIT", 100)
    with pytest.raises(InputError, match="too large to be read whole"):
        memory.import_file(files.write(tmp_path / "export.json", files.ENTRIES))


def test_an_export_is_restored_whole_and_only_into_an_empty_tenant(tmp_path: Path) -> None:
    path = made(tmp_path)["memoriter"]
    with memoriter.open(":memory:", embedder=None) as memory:
        assert memory.import_file(path, dry_run=True).records.written == 1
        assert memory.import_file(path).records.written == 1
        for dry in (True, False):
            with pytest.raises(Conflict):
                memory.import_file(path, dry_run=dry)


def test_ids_that_no_record_may_have_still_hold_links_together(
    tmp_path: Path, memory: Memory
) -> None:
    long = "x" * 200
    rows = [
        {"id": long, "index": 0, "thought_type": "Idea", "content": "old"},
        {"id": "y", "index": 1, "thought_type": "Idea", "content": "new", "refs": [0]},
    ]
    done = memory.import_file(files.write(tmp_path / "chain.jsonl", rows))
    assert (done.records.written, done.links.written) == (2, 1)
    (record,) = memory.browse(where={"metadata.origin.id": long}).records
    assert memory.links("y")[0].target == record.id


def test_nothing_but_a_switch_is_a_dry_run(tmp_path: Path, memory: Memory) -> None:
    path = files.write(tmp_path / "notes.jsonl", ["one"])
    with pytest.raises(InputError, match="dry_run"):
        memory.import_file(path, dry_run="no")  # pyright: ignore[reportArgumentType]  # on purpose


async def _awaited(path: Path) -> int:
    memory = await memoriter.aopen(":memory:", embedder=None)
    async with memory:
        return (await memory.import_file(path)).records.written


def test_the_same_verb_is_awaited(tmp_path: Path) -> None:
    import asyncio  # noqa: PLC0415  # only here

    assert asyncio.run(_awaited(files.write(tmp_path / "notes.jsonl", ["one"]))) == 1


def test_two_rows_of_one_id_that_differ_are_not_one(tmp_path: Path) -> None:
    rows = [["m", "one"], ["m", "another"], ["m", "one"]]
    path = tmp_path / "dump.json"
    path.write_text(json.dumps({"memory": {"headers": ["id", "text"], "rows": rows}}))
    with memoriter.open(":memory:", embedder=None) as memory:
        for dry_run in (True, False):
            done = memory.import_file(path, dry_run=dry_run)
            counts = done.records
            assert (counts.written, counts.already, counts.refused) == (1, 1, 1)
            assert done.refused[0].reason.startswith("an earlier row of this file has its id")


def test_a_dry_run_refuses_links_to_what_is_not_there(tmp_path: Path) -> None:
    dump = {
        "memory": {"headers": ["id", "text"], "rows": [["a", "one"], ["b", "two"]]},
        "edge": {"headers": ["from", "to"], "rows": [["a", "b"], ["a", "gone"], ["a", "here"]]},
    }
    path = tmp_path / "dump.json"
    path.write_text(json.dumps(dump))
    with memoriter.open(":memory:", embedder=None) as memory:
        memory.remember("three", id="here")
        planned = memory.import_file(path, dry_run=True)
        done = memory.import_file(path)
        assert planned.links == done.links
        assert (done.links.written, done.links.refused) == (2, 1)
        for report in (planned, done):
            assert [row.reason for row in report.refused] == ["there is no record 'gone'"]


def test_what_changed_does_not_come_again_and_the_hint_says_what_helps(tmp_path: Path) -> None:
    path = tmp_path / "entries.json"

    def entry(text: str) -> Path:
        row = {"id": "c", "content": text, "memoryType": "semantic", "trustLevel": "learned"}
        path.write_text(json.dumps({"entries": [row]}))
        return path

    with memoriter.open(":memory:", embedder=None) as memory:
        memory.import_file(entry("one"))
        (row,) = memory.import_file(entry("two")).refused
        assert row.hint == "change the record here with update, or give the row another id"
        memory.forget("c")
        assert memory.import_file(path).records.written == 0  # what was forgotten stays away


def test_a_total_is_shown_only_where_every_line_is_a_row(
    tmp_path: Path, memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown: dict[str, int | None] = {}

    @contextlib.contextmanager
    def watched(_: object, label: str, total: int | None = None) -> Iterator[Callable[..., None]]:
        shown[label.partition(" ")[2]] = total
        yield lambda *_: None

    monkeypatch.setattr("memoriter.memory.importing.show_progress", watched)
    message = {"role": "user", "content": "hello"}
    for name, text in {
        "notes.jsonl": '"one"\n"two"\n"three"',
        "todo.txt": "milk\nbread\n",
        "plan.md": "# Trip\nBy train.\n\n## Hotel\nNear.\n",
        "chat.json": json.dumps({"messages": [message, message]}),
        "chats.jsonl": f"{json.dumps({'messages': [message, message]})}\n" * 2,
    }.items():
        (tmp_path / name).write_text(text)
        memory.import_file(tmp_path / name)
    assert shown == {
        "notes.jsonl": 3, "todo.txt": 2, "plan.md": None, "chat.json": None, "chats.jsonl": None,
    }  # fmt: skip


def test_a_store_of_ours_is_answered_with_the_two_commands_that_move_it(tmp_path: Path) -> None:
    old = tmp_path / "old.db"
    with memoriter.open(old) as memory:
        memory.remember("a note")
    with memoriter.open(tmp_path / "new.db") as memory, pytest.raises(InputError) as caught:
        memory.import_file(old)
    assert caught.value.message == f"{old} is a store of Memoriter"
    assert f"memoriter export all.export --store {old}" in caught.value.hint
