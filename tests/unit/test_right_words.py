"""Words of other libraries: nothing is an alias, and every error names the right word."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import memoriter
from memoriter.core.errors import InputError
from memoriter.doors.cli.main import app
from memoriter.doors.mcp.tools import tools_of
from memoriter.doors.operations import BY_NAME
from memoriter.doors.tenant_session import TenantSession
from memoriter.memory.facade import Memory
from memoriter.testing.fakes import HandClock

ASKED = {
    "k": "it is called limit here",
    "top_k": "it is called limit here",
    "n_results": "it is called limit here",
    "filters": "it is called where here",
    "user_id": "it is called user here",
    "userId": "it is called user here",
    "since": 'use where={"created": {"gte": "7d"}}',
    "min_score": "use min_relevance=0.5",
    "kind": 'use where={"kind": 1}',
    "limt": "did you mean limit?",
    "num": "it is called limit here",
    "include_superseded": 'use overrides={"select.superseded": "show"}',
    "created_at": 'use where={"created": {"gte": "7d"}}',  # 1 is no time
}
KEPT = {
    "created_at": "it is called created here",
    "content": "it is called text here",
    "user_id": "it is called user here",
    "importence": "did you mean importance?",
    "ttl": "it is called expires here",
}
OTHERS = [
    ("browse", "top_k", "it is called limit here"),
    ("browse", "filter", "it is called where here"),
    ("count", "filter", "it is called where here"),
    ("forget", "filter", "it is called where here"),
    ("forget", "user", 'use where={"user": 1}'),
    ("forget", "memory_id", "it is called id here"),
    ("link", "wieght", "did you mean weight?"),
    ("update", "created_at", "it is called created here"),
    ("browse", "include_superseded", "it is called superseded here"),
    ("browse", "page", "cursor=… takes the cursor of the page before"),
    ("recall", "at", "as_of=… asks what was true then, known_at=… what was stored then"),
    ("recall", "reranker", "memoriter.open(…, reranker=…)"),
    ("recall", "embedder", "memoriter.open(…, embedder=…)"),
]


@pytest.fixture
def memory() -> Memory:
    memory = memoriter.open(":memory:", clock=HandClock())
    memory.remember("Prod SSH port is 49222", id="port")
    memory.remember("The port of Ann's server is 8080", id="ann")
    return memory


def hint_of(act: Callable[[], object]) -> str:
    with pytest.raises(InputError) as caught:
        act()
    assert str(caught.value).endswith(caught.value.hint)
    return caught.value.hint


@pytest.mark.parametrize("word", ASKED)
def test_a_question_in_other_words_is_answered_with_the_right_one(
    memory: Memory, word: str
) -> None:
    tenant_session, tool = (
        TenantSession(memory),
        {tool.name: tool for tool in tools_of("full", "write")}["recall"],
    )
    asked: Any = {word: 1}
    hints = {
        "recall": hint_of(lambda: memory.recall("port", **asked)),
        "keywords": hint_of(lambda: memory.keywords("port", **asked)),
        "HTTP": hint_of(lambda: BY_NAME["recall"].run(tenant_session, {"query": "port", **asked})),
        "MCP": hint_of(lambda: tool.run(tenant_session, {"query": "port", **asked})),
        "Hook": hint_of(lambda: memoriter.Hook(memory, **asked)),
    }
    wanted = {ASKED[word]} | ({"did you mean limit?"} if word == "limt" else set())
    assert set(hints.values()) == wanted, hints


@pytest.mark.parametrize("word", KEPT)
def test_a_field_in_other_words_is_answered_with_the_right_one(memory: Memory, word: str) -> None:
    tenant_session, given = TenantSession(memory), {word: "x"}
    assert hint_of(lambda: memory.remember("x", **given)) == KEPT[word]  # type: ignore[arg-type]
    drafts: list[Any] = [{"text": "x", **given}]
    assert hint_of(lambda: memory.remember_many(drafts)) == KEPT[word]
    assert (
        hint_of(lambda: BY_NAME["remember"].run(tenant_session, {"text": "x", **given}))
        == KEPT[word]
    )


@pytest.mark.parametrize(("verb", "word", "hint"), OTHERS)
def test_other_verbs_name_the_right_word(memory: Memory, verb: str, word: str, hint: str) -> None:
    ends = {"link": ("port", "ann"), "update": ("port",), "recall": ("port",)}.get(verb, ())
    assert hint in hint_of(lambda: getattr(memory, verb)(*ends, **{word: 1}))


@pytest.mark.parametrize("word", ["since", "min_score"])
def test_a_form_is_shown_only_where_it_can_be_written(memory: Memory, word: str) -> None:
    given: Any = {word: 1}
    assert "where=" not in hint_of(lambda: memory.remember("x", **given))
    assert "where=" not in hint_of(lambda: memoriter.open(**given))


@pytest.mark.parametrize(
    ("name", "right"),
    [("delete", "forget"), ("search", "recall"), ("add", "remember"), ("get_all", "browse"),
     ("verify", "verify_store"), ("size", "count"), ("explain", "recall"), ("stats", "status"),
     ("recall_many", r"\[memory.recall"), ("similar_to", "recall"),
     ("search_notes", "recall"), ("recall_by_tag", "recall"), ("recipe", "recall"),
     ("path", "repr"), ("get_stats", "status")],
)  # fmt: skip
def test_a_verb_of_other_libraries_names_ours(memory: Memory, name: str, right: str) -> None:
    with pytest.raises(AttributeError, match=f"use {right}"):
        getattr(memory, name)


@pytest.mark.parametrize("name", ["from_config", "open", "create", "connect", "from_env"])
def test_a_way_to_make_a_memory_is_answered_with_open(name: str) -> None:
    for kind in (Memory, memoriter.AsyncMemory):
        with pytest.raises(AttributeError, match=r"use memoriter\.open"):
            getattr(kind, name)
    assert not hasattr(Memory, "fly")


@pytest.mark.parametrize("query", [["a", "b"], {"query": "a"}, None, 5])
def test_a_question_that_is_no_text_is_answered_with_one(memory: Memory, query: Any) -> None:
    assert 'recall("which port for ssh?")' in hint_of(lambda: memory.recall(query))


def test_values_in_other_words_are_answered_with_the_right_ones(memory: Memory) -> None:
    assert hint_of(lambda: memory.recall("port", mode="vector")).startswith("did you mean semantic")
    assert hint_of(lambda: memory.browse(sort="desc")) == "did you mean newest?"  # type: ignore[arg-type]  # the first guess
    assert "recall(query)" in hint_of(lambda: memory.browse("port"))  # type: ignore[arg-type]  # as above
    wrong: Any = [{"content": "x"}]
    assert hint_of(lambda: memory.remember_many(wrong)) == "content is called text here"


@pytest.mark.parametrize(
    ("line", "hint"),
    [
        ("delete port", "it is called forget here"),
        ("search port", "it is called recall here"),
        ("add port", "it is called remember here"),
        ("list", "it is called browse here"),
        (
            "count",
            "memoriter status counts all memories; memoriter browse --limit 1 --where JSON prints"
            " how many pass a filter",
        ),
        ("compare a.json b.json", "it is called diff here"),
        ("verify-receipt r.json", "it is called verify here"),
        (
            "unlink a b",
            "use memoriter link SOURCE TARGET --kind … --valid-until … with the same"
            " valid_from: that ends the link",
        ),
        ("recall port --num 3", "it is called --limit here"),
        ("recall port --db agent.db", "it is called --store here"),
        (
            "recall port --at 2024-03-01",
            "--as-of … asks what was true then, --known-at … what was stored then",
        ),
        ("recall port --include-superseded", "use --override 'select.superseded=show'"),
        ("browse --include-superseded", "it is called --superseded here"),
        (
            "browse --page 2",
            "pages have no numbers: --cursor … takes the cursor of the page before,"
            " --offset 20 skips 20",
        ),
        (
            "recall port --created-at 2024-03-01",
            """use --where '{"created": {"gte": "2024-03-01", "lt": "2024-03-02"}}'""",
        ),
        ("status --where {}", "memoriter status has no such option; see memoriter status --help"),
        ("verify_store", "it is called verify-store here"),
        ("recall port --top-k 3", "it is called --limit here"),
        ("recall port -k 3", "it is called --limit here"),
        ("recall port --filter {}", "it is called --where here"),
        ("recall port --since 2d", """use --where '{"created": {"gte": "2d"}}'"""),
        ("browse --since=2d", """use --where '{"created": {"gte": "2d"}}'"""),
        ("recall port --until 2026-03-01", """use --where '{"created": {"lt": "2026-03-01"}}'"""),
        ("recall port --kind plan", """use --where '{"kind": "plan"}'"""),
        ("recall port --min-score 1", "use --min-relevance '0.5'"),
        ("remember x --created-at 7d", "it is called --created here"),
        ("remember x --user-id ann", "it is called --user here"),
        ("why-not port x", 'the query is an option: memoriter why-not ID --query "…"'),
        ("explain port x", 'the query is an option: memoriter explain ID --query "…"'),
        ("recall --query port", "it is an argument, not an option: memoriter recall QUERY"),
        ("recall --text port", "it is an argument, not an option: memoriter recall QUERY"),
        ("remember --text port", "it is an argument, not an option: memoriter remember TEXT"),
        ("keywords port --reranker x", "it is an option of recall"),
        ("--store x.db", "it comes after the command: memoriter recall --store FILE …"),
        ("agents --store x", "it comes after the command: memoriter agents list --store FILE …"),
        (
            "verify r.json --store x.db",
            "memoriter verify opens no store; memoriter verify-store checks one",
        ),
        ("recipe --store x.db", "memoriter recipe opens no store"),
        ("recall x -t ops", "it is called --tag here"),
        ("open", "it is called init here"),
        ("init a.db", "--store names the file: memoriter init --store a.db"),
        ("recall port a.db", "--store names the file: memoriter recall port --store a.db"),
        ("recall a.db port", "--store names the file: memoriter recall port --store a.db"),
        (
            "recall ssh port a.db",
            "--store names the file: memoriter recall 'ssh port' --store a.db",
        ),
        ("a.db recall port", "the command comes first: memoriter recall port --store a.db"),
        (
            "search port --db a.db --top-k 3",
            "it is called recall here: memoriter recall port --store a.db --limit 3",
        ),
        ("list --db=a.db", "it is called browse here: memoriter browse --store=a.db"),
        ("recall port --file a.db", "it is called --store here"),
        (
            "recall port --file a.db --k 3",
            "it is called --store here: memoriter recall port --store a.db --limit 3",
        ),
        ("recall port --format json", "use --json"),
        ("browse -o json", "use --json"),
        ("browse --output=table", "the output is text, or JSON with --json"),
        ("update port text", 'fields are options: memoriter update ID --text "…"'),
        ("load all.export", "it is called import here"),
        ("stats", "it is called status here"),
        ("get", "usage: memoriter get [OPTIONS] {ID}; see memoriter get --help"),
        ("verify nope.json", "give a receipt that memoriter recall QUERY --receipt FILE wrote"),
        ("diff a.json b.json", "give a receipt that memoriter recall QUERY --receipt FILE wrote"),
    ],
)
def test_the_command_line_names_the_right_word(line: str, hint: str) -> None:
    done = CliRunner().invoke(app, line.split())
    assert (done.exit_code, done.stderr.splitlines()[-1]) == (2, f"hint: {hint}")


@pytest.mark.parametrize(
    ("name", "request_", "hint"),
    [
        ("recall", {"q": "port"}, "it is called query here"),
        ("recall", {"text": "port"}, "it is called query here"),
        ("remember", {"content": "port"}, "it is called text here"),
        ("remember", {"text": "port", "tags": 5}, 'send {"tags": ["…"]}'),
        ("update", {"id": "port", "tags": [5]}, 'send {"tags": ["…"]}'),
        (
            "remember",
            {"text": "port", "links": "x"},
            '{"links": [{"target": "…", "kind": "about"}]}',
        ),
        ("remember_many", {"memories": [{"content": "a"}]}, "it is called text here"),
        ("remember_many", {"memories": [{"text": "a", "tgs": "b"}]}, "did you mean tags?"),
        ("remember_many", {"texts": ["a"]}, "it is called memories here"),
        ("remember_many", [{"text": "a"}], 'fields in one object: {"memories": […]}'),
        ("link", {"from": "port", "to": "x"}, "it is called source here"),
        ("why_not", {"query": "port", "id": "x"}, "send the receipt that recall answered with"),
    ],
)
def test_a_request_over_the_network_names_the_right_field(
    memory: Memory, name: str, request_: Any, hint: str
) -> None:
    with pytest.raises(InputError) as caught:
        BY_NAME[name].run(TenantSession(memory), request_)
    assert hint in caught.value.hint


def test_a_condition_that_is_not_json_is_answered_with_its_json() -> None:
    done = CliRunner().invoke(app, ["recall", "port", "--where", "importance>0.5"])
    assert 'use {"importance": {"gt": 0.5}}' in done.stderr
    assert "single quotes" in done.stderr


DAY = datetime(2024, 3, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize("word", ["created", "created_at", "date", "timestamp", "when"])
@pytest.mark.parametrize("value", ["2024-03-01", DAY.date(), DAY, DAY.isoformat(), "9y", 5])
def test_a_time_is_answered_with_a_filter_that_finds_the_memory(word: str, value: Any) -> None:
    memory = memoriter.open(":memory:", clock=HandClock(round(DAY.timestamp()) * 1_000_000))
    memory.remember("Prod SSH port is 49222", id="port", created=DAY)
    hint = hint_of(lambda: memory.recall("port", **{word: value}))
    where = json.loads(hint.removeprefix("use where="))
    assert [hit.id for hit in memory.recall("port", where=where)] == ["port"]


def test_a_day_is_answered_with_a_filter_for_that_day_alone(memory: Memory) -> None:
    memory.remember("An old port", id="old", created="2024-02-29T23:59:59Z")
    memory.remember("A port of the day", id="day", created="2024-03-01T23:59:59Z")
    hint = hint_of(lambda: memory.recall("port", created_at="2024-03-01"))  # type: ignore[call-arg]
    where = json.loads(hint.removeprefix("use where="))
    assert {record.id for record in memory.browse(where=where)} == {"day"}
    last = hint_of(lambda: memory.recall("port", date="9999-12-31"))  # type: ignore[call-arg]
    assert last == 'use where={"created": {"gte": "9999-12-31"}}'


def test_the_options_that_hints_name_for_old_memories_and_pages_work(memory: Memory) -> None:
    memory.remember("Prod SSH port is 22022", id="new", supersedes="port")
    shown = memory.recall("SSH port", overrides={"select.superseded": "show"})
    assert "port" in [hit.id for hit in shown]
    first = memory.browse(limit=1)
    assert memory.browse(limit=1, cursor=first.cursor)[0].id != first[0].id


def test_unlink_names_the_call_that_ends_a_link(memory: Memory) -> None:
    with pytest.raises(AttributeError, match=r"use link\(source, target, kind=…, valid_until=…\)"):
        memory.unlink  # type: ignore[attr-defined]  # noqa: B018
    memory.link("port", "ann", kind="about")
    memory.link("port", "ann", kind="about", valid_until="2024-03-01")
    (edge,) = memory.links("port")
    assert edge.valid_until is not None


def test_an_option_before_the_command_of_a_group_is_led_behind_it() -> None:
    done = CliRunner().invoke(app, ["agents", "--json"])
    error = json.loads(done.stderr)
    assert error["hint"] == "it comes after the command: memoriter agents list --json"


def test_the_total_of_a_filter_is_printed_as_the_hint_for_count_says(tmp_path: Path) -> None:
    place = str(tmp_path / "a.db")
    with memoriter.open(place, embedder=None) as memory:
        memory.remember_many([{"text": "a", "kind": "fact"}, {"text": "b", "kind": "fact"}, "c"])
    line = ["browse", "--limit", "1", "--where", '{"kind": "fact"}', "--store", place]
    assert "1 of 2 memories" in CliRunner().invoke(app, line).stdout


@pytest.mark.parametrize(
    ("act", "hint"),
    [
        (lambda: memoriter.diff("a"), "call it as diff(before, after)"),  # type: ignore[call-arg]
        (memoriter.verify, "call it as verify(receipt)"),  # type: ignore[call-arg]
    ],
)
def test_functions_without_their_arguments_say_how_to_call_them(
    act: Callable[[], object], hint: str
) -> None:
    assert hint_of(act) == hint


def test_verify_and_diff_can_be_sent_to_other_processes() -> None:
    for function in (memoriter.verify, memoriter.diff):
        assert pickle.loads(pickle.dumps(function)) is function  # noqa: S301  # our own bytes


def test_both_commands_that_compare_two_things_call_them_before_and_after() -> None:
    for line in (["diff", "--help"], ["recipe", "diff", "--help"]):
        assert "{BEFORE} {AFTER}" in CliRunner().invoke(app, line).stdout
