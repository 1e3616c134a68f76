"""A hint that reaches a door speaks in its words: fields of JSON, or what one types."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import memoriter
from memoriter.core.errors import MemoriterError
from memoriter.core.other_names import INSTEAD, OPTIONS
from memoriter.core.other_words import operation_meant, right_word
from memoriter.doors.cli.main import app
from memoriter.doors.hints import in_commands, in_fields
from memoriter.doors.http.rest import route_meant
from memoriter.doors.mcp.server import tool_meant
from memoriter.doors.mcp.tools import tools_of
from memoriter.doors.operations import BY_NAME
from memoriter.doors.public import public
from memoriter.doors.tenant_session import TenantSession
from memoriter.memory.facade import Memory
from memoriter.testing.fakes import HandClock

SRC = Path(memoriter.__file__).parent
IN_PYTHON = {
    "aio.py", "core/options.py", "core/other_words.py", "core/scope.py", "doors/hook.py",
    "embed/callable.py",
    "memory/embedders.py", "memory/opening.py", "rank/checks.py", "rank/lists.py",
    "rerank/callable.py", "store/sqlite/openers.py",
}  # fmt: skip
"""Files whose hints only Python code can get: about objects, functions, and calls of `open`."""
PYTHON = re.compile(
    r"\bmemory\.\w+\(|\w\[0\]|\bmemoriter\.\w+\(|\b\w+\([^)]*\)|\b(?:datetime|True|False|None)\b"
    r"""|(?<![\w.\-])[a-z_]+=[{\["'…]"""
)
"""What only Python code can read."""


@pytest.fixture
def memory() -> Iterator[Memory]:
    with memoriter.open(":memory:", clock=HandClock()) as held:
        held.remember("Prod SSH port is 49222", id="port", tags=["ops"])
        yield held


def hints_of(path: Path) -> Iterator[str]:
    """Every hint in a file, with x for what is computed."""
    text = path.read_text(encoding="utf-8")
    if "hint" not in text:  # most files: reading them as code takes seconds
        return
    tree = ast.parse(text)
    named = {
        target.id: node.value
        for node in tree.body
        if isinstance(node, ast.AnnAssign | ast.Assign) and node.value is not None
        for target in ([node.target] if isinstance(node, ast.AnnAssign) else node.targets)
        if isinstance(target, ast.Name)
    }
    for node in ast.walk(tree):
        match node:
            case ast.keyword(arg="hint", value=ast.Name(id=name)):
                yield from texts_of(named.get(name, ast.Constant("")))
            case ast.keyword(arg="hint", value=value):
                yield from texts_of(value)
            case ast.Assign(targets=[ast.Name(id="hint")], value=value):
                yield from texts_of(value)
            case _:
                pass


def texts_of(node: ast.expr) -> Iterator[str]:
    match node:
        case ast.Constant(value=str(text)):
            yield text
        case ast.JoinedStr(values=parts):
            yield "".join(
                str(part.value) if isinstance(part, ast.Constant) else "x" for part in parts
            )
        case ast.IfExp(body=one, orelse=other):
            yield from texts_of(one)
            yield from texts_of(other)
        case _:
            pass


HINTS = sorted(
    (str(path.relative_to(SRC)), hint)
    for path in SRC.rglob("*.py")
    if str(path.relative_to(SRC)) not in IN_PYTHON and "cli" not in path.parts
    for hint in hints_of(path)
    if PYTHON.search(hint) and not hint.startswith(("memory = ", "x("))  # a method that is computed
)


def test_the_hints_are_collected() -> None:
    assert len(HINTS) > 15
    assert any("overrides=" in hint for _, hint in HINTS)


@pytest.mark.parametrize(("file", "hint"), HINTS)
def test_no_hint_speaks_python_at_a_door(file: str, hint: str) -> None:
    for door in (in_fields, in_commands):
        spoken = door(hint)
        assert not PYTHON.search(spoken), (file, spoken)
        assert door(spoken) == spoken  # an error may pass through two doors


@pytest.mark.parametrize(
    "word",
    sorted({*OPTIONS, *(word for words in INSTEAD.values() for word in words), "reranker", "tags"}),
)
def test_no_word_of_another_library_is_answered_in_python(word: str) -> None:
    for operation in BY_NAME.values():
        hint = right_word(word, list(operation.request.model_fields), value="x")
        for door in (in_fields, in_commands):
            assert not PYTHON.search(door(hint)), (operation.name, door(hint))


def over_json(memory: Memory, name: str, **data: Any) -> MemoriterError:
    with pytest.raises(MemoriterError) as caught:
        BY_NAME[name].run(TenantSession(memory), data)
    return public(caught.value)


@pytest.mark.parametrize(
    ("name", "data", "hint"),
    [
        ("recall", {"reranker": "x"}, "start the server with --reranker; recall asks it"),
        ("recall", {"since": "2d"}, 'use "where": {"created": {"gte": "2d"}}'),
        ("recall", {"until": "2026-03-01"}, 'use "where": {"created": {"lt": "2026-03-01"}}'),
        (
            "recall",
            {"created_at": "2024-03-01"},
            'use "where": {"created": {"gte": "2024-03-01", "lt": "2024-03-02"}}',
        ),
        ("recall", {"at": "2024-03-01"}, '"as_of": … asks what was true then, "known_at": …'),
        ("browse", {"page": 2}, '"cursor": … takes the cursor of the page before, "offset": 20'),
        ("recall", {"min_score": 0.3}, 'use "min_relevance": 0.5'),
        ("recall", {"kind": "plan"}, 'use "where": {"kind": "plan"}'),
        ("recall", {"q": "x"}, "it is called query here"),
        ("recall", {"explain": True}, 'recall with "detail": "full" has it'),
        ("recall", {"where": {"score": 1}}, 'recall with "overrides": {"final.min_score": 0.5}'),
        ("recall", {"lanes": ["words"]}, 'use "mode": "bm25"'),
        ("recall", {"collection": "x"}, "leave it out: the token, or --tenant of the server"),
        ("update", {"id": "port", "supersedes": "x"}, "only remember takes it"),
        ("verify", {"receipt": {"a": 1}}, "send a receipt that recall or receipt answered with"),
        ("forget", {}, 'forget with "id", or forget with "where": {"session": "s-12"}'),
        ("remember", {"text": "x", "color": "red"}, '"metadata": {"color": "red"}'),
    ],
)
def test_an_error_over_json_speaks_of_fields(
    memory: Memory, name: str, data: dict[str, Any], hint: str
) -> None:
    data = {"query": "port", **data} if name == "recall" and "q" not in data else data
    error = over_json(memory, name, **data)
    assert hint in (error.hint or error.message)


@pytest.mark.parametrize("when", ["soon", "1700000000"])
def test_a_time_that_is_none_is_explained_without_python(
    memory: Memory, when: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    error = over_json(memory, "recall", query="port", as_of=when)
    assert CliRunner().invoke(app, ["init"]).exit_code == 0
    done = CliRunner().invoke(app, ["recall", "port", "--as-of", when])
    for hint in (error.hint, done.stderr):
        assert "ISO 8601" in hint
        assert "datetime" not in hint


def test_seconds_since_1970_are_shown_as_the_time_that_they_mean(memory: Memory) -> None:
    for ask in (lambda: memory.recall("port", as_of="1700000000"),
                lambda: memory.remember("x", created="1700000000000")):  # fmt: skip
        with pytest.raises(memoriter.InputError) as caught:
            ask()
        assert "2023-11-14T22:13:20Z" in caught.value.hint


@pytest.mark.parametrize(
    ("line", "hint"),
    [
        ("forget", "memoriter forget"),
        ("recall port --embedder given:x", '"http:<model>@<base url>"'),
        ("reflect --embedder none", "--embedder given:<n>"),
        ("recall port --limit x", "expected a whole number"),
        ("remember x --importance high", "expected a number"),
    ],
)
def test_an_error_on_the_command_line_speaks_of_what_is_typed(
    line: str, hint: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert CliRunner().invoke(app, ["init"]).exit_code == 0
    done = CliRunner().invoke(app, line.split())
    assert done.exit_code != 0
    assert hint in done.stderr
    assert "None" not in done.stderr
    assert "Input should be" not in done.stderr


def test_the_small_set_of_tools_names_the_set_that_has_a_field(memory: Memory) -> None:
    tool = {tool.name: tool for tool in tools_of("core", "write")}["remember"]
    with pytest.raises(memoriter.InputError, match="--tools full"):
        tool.run(TenantSession(memory), {"text": "x", "key": "k"})


@pytest.mark.parametrize("name", ["get", "update", "get_memory", "plan"])
def test_a_tool_that_the_small_set_lacks_is_named_with_the_set_that_has_it(name: str) -> None:
    assert "--tools full" in tool_meant(name, "core", "admin")
    assert "--tools full" not in tool_meant(name, "full", "admin")


def test_the_full_set_reads_and_changes_one_memory(memory: Memory) -> None:
    tools = {tool.name: tool for tool in tools_of("full", "write")}
    session = TenantSession(memory)
    tools["update"].run(session, {"id": "port", "tags": "prod"})
    reply: Any = tools["get"].run(session, {"id": "port"})
    assert reply["tags"] == ["prod"]
    assert "49222" in tools["get"].text(reply)


@pytest.mark.parametrize("name", ["verify_store", "doctor", "export", "check", "backup"])
def test_what_no_server_does_is_led_to_the_command_line(name: str) -> None:
    assert "the command line has it: memoriter " in operation_meant(name, BY_NAME)


@pytest.mark.parametrize(
    ("name", "command"),
    [("verify", "verify RECEIPT"), ("verify_receipt", "verify RECEIPT"),
     ("verify_store", "verify-store"), ("diff", "diff BEFORE AFTER"),
     ("compare", "diff BEFORE AFTER")],
)  # fmt: skip
def test_a_tool_that_only_the_command_line_has_is_named_with_its_own_command(
    name: str, command: str
) -> None:
    for choice in ("core", "full"):
        assert tool_meant(name, choice, "admin") == f"the command line has it: memoriter {command}"


def test_a_prefix_does_not_turn_verify_into_another_operation() -> None:
    assert operation_meant("memory.verify", BY_NAME) == "it is called verify here"
    assert operation_meant("verify_receipt", BY_NAME) == "it is called verify here"


def test_unlink_is_led_to_the_fields_that_end_a_link() -> None:
    wanted = 'use link with "source", "target", "kind": …, "valid_until": …'
    assert tool_meant("unlink", "full", "admin").startswith(wanted)
    assert "--tools full" in tool_meant("unlink", "core", "admin")
    assert route_meant("POST", "/v1/unlink").startswith(wanted)


@pytest.mark.parametrize("noun", ["records", "memory", "documents"])
def test_a_text_that_is_posted_to_another_name_for_memories_is_led_to_remember(noun: str) -> None:
    assert route_meant("POST", f"/v1/{noun}") == "use POST /v1/memories"
    assert route_meant("GET", f"/v1/{noun}") == "use POST /v1/browse"
