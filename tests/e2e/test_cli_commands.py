"""Every command inside one process: what it takes, what it prints, how it fails."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import typer.main
from tests.pages import blocks
from typer.testing import CliRunner

import memoriter
from memoriter.doors.cli import records
from memoriter.doors.cli.main import PANELS, app
from memoriter.imports.table import format_names

DOCS = Path(__file__).parents[2] / "docs" / "cli.md"
Cli = Callable[..., Any]


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cli:
    """Runs a command in an empty folder; with `ok` it must succeed and its JSON comes back."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    for name in ("STORE", "TENANT", "RECIPE", "RERANKER", "AGENT", "USER", "SESSION", "DEBUG"):
        monkeypatch.delenv(f"MEMORITER_{name}", raising=False)

    def call(*args: str, ok: bool = False, stdin: str | None = None) -> Any:
        result = CliRunner().invoke(app, [*args, "--json"] if ok else list(args), input=stdin)
        if not ok:
            return result
        assert result.exit_code == 0, result.stderr
        return json.loads(result.stdout)

    return call


def tree(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    for name in command.list_commands(None):  # those of other packages too
        child = command.get_command(None, name)
        if hasattr(child, "commands"):
            yield from tree(child, (*path, name))
        else:
            yield (*path, name), child


COMMANDS = dict(tree(typer.main.get_command(app)))


# --- help and documentation -----------------------------------------------------------------


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_every_command_has_help_with_an_example(path: tuple[str, ...], cli: Cli) -> None:
    result = cli(*path, "--help")
    assert result.exit_code == 0
    assert re.search(r"Examples?:", result.stdout)
    assert f"memoriter {' '.join(path)}" in " ".join(result.stdout.split())
    first_line = COMMANDS[path].help.strip().splitlines()[0]
    assert first_line[0].isupper()
    assert first_line.endswith(".")


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_every_command_and_its_options_are_documented(path: tuple[str, ...]) -> None:
    text = DOCS.read_text(encoding="utf-8")
    assert f"### `memoriter {' '.join(path)}" in text
    for parameter in COMMANDS[path].params:
        for name in (each for each in parameter.opts if each.startswith("--")):
            assert f"`{name}" in text, f"{name} of {' '.join(path)}"


def test_the_documentation_names_no_command_that_is_gone() -> None:
    headings = re.findall(
        r"^### `memoriter ([a-z -]+?)(?: [A-Z\[].*)?`$", DOCS.read_text("utf-8"), re.M
    )
    assert sorted(headings) == sorted(" ".join(path) for path in COMMANDS)


def test_every_exit_code_is_documented() -> None:
    text = DOCS.read_text(encoding="utf-8")
    for name in memoriter.__all__:
        error = getattr(memoriter, name)
        if isinstance(error, type) and issubclass(error, memoriter.MemoriterError):
            assert re.search(rf"^\| {error.exit_code} \|.*\b{name}\b", text, re.M), name


def test_every_command_stands_in_one_panel() -> None:
    named = [each.name for panel in PANELS.values() for each in panel]
    assert sorted(named) == sorted({path[0] for path in COMMANDS})


# --- writing --------------------------------------------------------------------------------


def test_every_field_of_a_record_can_be_given(cli: Cli) -> None:
    cli("remember", "old", "--id", "old", "--agent", "bot", "--user", "u", "--session", "s-1")
    cli(
        "remember", "text", "--id", "full", "--title", "t", "--summary", "s", "--kind", "fact",
        "--role", "memory", "--memory-type", "episodic", "--tag", "a", "--tag", "b",
        "--concept", "c", "--entity", "Ana", "--entity-type", "person",
        "--source-episode", "e1", "--importance", "0.9",
        "--confidence", "0.8", "--priority", "P1", "--trust", "system", "--source-who", "ana",
        "--source-channel", "chat", "--source-path", "src/x.py", "--created", "2026-01-02",
        "--occurred", "2026-01-01T10:00:00+01:00", "--valid-from", "2026-01-01", "--valid-until",
        "2030-01-01", "--expires", "2100-01-01", "--cycle", "7", "--metadata", '{"n": 1}',
        "--archived", "--pinned", "--agent", "bot", "--user", "u", "--session", "s-1", "--key", "k",
        "--supersedes", "old", ok=True,
    )  # fmt: skip
    record = cli("get", "full", ok=True)
    assert record["tags"] == ["a", "b"]
    assert record["source"] == {"who": "ana", "channel": "chat", "path": "src/x.py"}
    assert record["metadata"] == {"n": 1}
    assert record["occurred"] == "2026-01-01T09:00:00Z"
    assert record["expires"] == "2100-01-01T00:00:00Z"
    assert record["archived"] is True
    assert record["agent"] == "bot"
    (edge,) = cli("links", "full", ok=True)["links"]
    assert (edge["kind"], edge["target"]) == ("supersedes", "old")
    assert cli("get", "full").exit_code == 0


def test_a_key_makes_a_retry_harmless_and_a_change_a_conflict(cli: Cli) -> None:
    first = cli("remember", "one", "--key", "k", ok=True)
    assert cli("remember", "one", "--key", "k", ok=True)["ids"] == first["ids"]
    assert cli("remember", "two", "--key", "k").exit_code == 4


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["remember", ""], "must not be empty"),
        (["remember", "x", "--importance", "2"], "importance"),
        (["remember", "x", "--metadata", "[1]"], "expected a JSON object"),
        (["remember", "x", "--metadata", "{"], "not JSON"),
        (["remember", "x", "--metadata", '{"n": NaN}'], "not JSON"),
        (["remember", "x", "--created", "2026-01-01T10:00:00"], "no time zone"),
        (["remember", "x", "--priority", "P9"], "P9"),
        (["remember", "x", "--id", ""], "must not be empty"),
        (["remember", "x", "--store", ""], "must not be empty"),
        (["remember", "x", "--store", "a\0b"], "NUL"),
        (["remember", "x", "--tenant", "a\nb"], "control character"),
    ],
)
def test_a_bad_field_is_refused_before_anything_is_made(
    args: list[str], message: str, cli: Cli, tmp_path: Path
) -> None:
    result = cli(*args)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert message in result.stderr
    if "--tenant" in args or "--created" in args:
        assert cli("browse").exit_code in (0, 3)


def test_tags_may_be_repeated_or_stand_together_with_commas(cli: Cli) -> None:
    cli("remember", "a walk", "--id", "walk", "--tag", "dogs, parks", "--tag", "sun")
    cli("remember", "a nap", "--id", "nap", "--tag", "cats")
    assert cli("get", "walk", ok=True)["tags"] == ["dogs", "parks", "sun"]
    asked = cli("browse", "--tag", "cats,sun", ok=True)
    assert sorted(record["id"] for record in asked["records"]) == ["nap", "walk"]


def test_update_changes_what_is_given_and_clears_what_is_named(cli: Cli) -> None:
    cli("remember", "x", "--id", "x", "--tag", "a", "--title", "t", "--source-who", "ana")
    cli(
        "update",
        "x",
        "--text",
        "y",
        "--source-path",
        "p",
        "--clear",
        "title",
        "--no-pinned",
        ok=True,
    )
    record = cli("get", "x", ok=True)
    assert record["text"] == "y"
    assert record["tags"] == ["a"]
    assert record["source"] == {"who": "ana", "path": "p"}
    assert "title" not in record
    versions = cli("history", "x", ok=True)["versions"]
    assert [version["text"] for version in versions] == ["x", "y"]
    assert "version 2" in cli("history", "x").stdout
    both = cli("update", "x", "--title", "t", "--clear", "title")
    assert both.exit_code == 2
    assert "at once" in both.stderr


def test_update_can_give_a_memory_to_another_owner(cli: Cli) -> None:
    cli("remember", "x", "--id", "x", "--agent", "a")
    cli("update", "x", "--to-agent", "b", "--to-user", "u", "--to-session", "s", ok=True)
    assert cli("get", "x", "--agent", "b", ok=True)["session"] == "s"
    assert cli("get", "x", "--agent", "a").exit_code == 3


def test_links_show_both_ends(cli: Cli) -> None:
    cli("remember", "a", "--id", "a")
    cli("remember", "b", "--id", "b")
    cli("link", "a", "b", "--kind", "supports", "--weight", "0.5", "--valid-from", "2026-01-01",
        "--valid-until", "2027-01-01", "--metadata", '{"n": 1}', ok=True)  # fmt: skip
    assert cli("links", "b", ok=True)["links"][0]["weight"] == 0.5
    assert "→  supports  b" in cli("links", "a").stdout
    assert "←  supports  a" in cli("links", "b").stdout
    assert cli("links", "nobody").exit_code == 3


def test_an_expired_memory_leaves_until_it_is_taken_back(cli: Cli) -> None:
    cli("remember", "an offer", "--id", "x")
    cli("expire", "x", ok=True)
    assert cli("recall", "offer", ok=True)["hits"] == []
    assert cli("browse", ok=True)["total"] == 0
    assert cli("browse", "--expired", ok=True)["total"] == 1
    cli("update", "x", "--clear", "expires", ok=True)
    assert len(cli("recall", "offer", ok=True)["hits"]) == 1


def test_forget_takes_ids_or_a_test_but_not_both_and_not_everything(cli: Cli) -> None:
    cli("remember", "x", "--id", "x", "--archived")
    assert cli("forget").exit_code == 2
    assert cli("forget", "x", "--where", '{"kind": "note"}').exit_code == 2
    assert cli("forget", "--where", "{}", "--yes").exit_code == 2
    assert cli("forget", "x", "nobody").exit_code == 3
    assert cli("forget", "--where", '{"kind": "note"}', "--dry-run", ok=True)["ids"] == ["x"]
    assert cli("forget", "--where", '{"kind": "note"}', "--yes", ok=True)["ids"] == ["x"]
    assert cli("get", "x").exit_code == 3


def test_forgetting_twice_under_one_key_is_harmless(cli: Cli) -> None:
    cli("remember", "x", "--id", "x")
    first = cli("forget", "x", "--key", "k", ok=True)
    assert cli("forget", "x", "--key", "k", ok=True)["ids"] == first["ids"]


# --- asking ---------------------------------------------------------------------------------


def test_a_recall_takes_limits_tests_times_overrides_and_required_lanes(cli: Cli) -> None:
    cli("remember", "the cat sleeps", "--id", "cat", "--tag", "pets", "--created", "2026-01-01")
    cli("remember", "the dog sleeps", "--id", "dog", "--tag", "pets", "--created", "2026-02-01")
    output = cli(
        "recall", "who sleeps", "--limit", "1", "--where", '{"tags": {"any": ["pets"]}}', "--now",
        "2026-03-01", "--as-of", "2026-03-01", "--override", "fusion.weights.words=0.9",
        "--require", "words", ok=True,
    )  # fmt: skip
    assert len(output["hits"]) == 1
    assert output["total"] == 2
    assert output["plan"]["steps"][0]["now"] == "2026-03-01T00:00:00Z"
    off = cli("recall", "cat", "--override", "lanes.meaning.enabled=false", ok=True)
    assert off["used"] == ["words", "kin"]
    missing = cli(
        "recall", "cat", "--override", "lanes.meaning.enabled=false", "--require", "meaning"
    )
    assert missing.exit_code == 7
    assert cli("recall", "cat", "--known-at", "2020-01-01", ok=True)["hits"] == []


@pytest.mark.parametrize(
    ("args", "code"),
    [
        (["recall", ""], 5),
        (["recall", "x", "--limit", "0"], 2),
        (["recall", "x", "--recipe", "nope"], 2),
        (["recall", "x", "--recipe", "nope.toml"], 2),
        (["recall", "x", "--override", "nope"], 2),
        (["recall", "x", "--override", "no.such=1"], 2),
        (["recall", "x", "--override", "lanes.words.k1=abc"], 2),
        (["recall", "x", "--where", "{"], 2),
        (["recall", "x", "--where", "[]"], 2),
        (["recall", "x", "--now", ""], 2),
        (["recall", "x", "--require", "nope"], 2),
        (["recall", "x", "--receipt", "no/such/folder/r.json"], 2),
        (["recall", "x", "--html", "no/such/folder/r.html"], 2),
        (["recall", "x", "--list", "mine"], 2),
        (["recall", "x", "--list", "=a:1"], 2),
        (["recall", "x", "--list", "mine=a:b"], 2),
        (["recall", "x", "--list", "mine=a:nan"], 2),
        (["recall", "x", "--list", "mine=a:1,"], 2),
        (["recall", "x", "--list", "mine=[1"], 2),
        (["recall", "x", "--list", "mine=nobody:1"], 2),
        (["recall", "x", "--list", "mine=colour"], 2),
        (["recall", "x", "--list", "words=importance"], 2),
        (["recall", "x", "--list", "a=importance", "--list", "a=importance"], 2),
        (["recall", "x", "--budget-tokens", "0"], 2),
        (["bundles", "x", "--budget-chars", "100"], 2),
        (["browse", "--sort", "sideways"], 2),
        (["browse", "--cursor", "nonsense"], 2),
        (["history", "nobody"], 3),
        (["status", "--store", "."], 2),
        (["status", "--store", "ftp://x"], 11),
        (["agents", "show", "nobody"], 3),
        (["agents", "alias", "nobody", "n"], 3),
        (["recipe", "show", "nope"], 2),
        (["import", "missing.txt"], 3),
    ],
)
def test_every_mistake_has_its_exit_code_and_no_traceback(
    args: list[str], code: int, cli: Cli
) -> None:
    cli("remember", "something")
    result = cli(*args)
    assert result.exit_code == code, result.stderr
    assert result.stderr.startswith("error: ")
    assert "Traceback" not in result.stderr
    assert result.stdout == ""


def test_keywords_find_by_words_alone(cli: Cli) -> None:
    cli("remember", "the cat sleeps")
    assert cli("keywords", "cat", ok=True)["used"] == ["words"]
    assert cli("keywords", "kitten", ok=True)["hits"] == []


def test_reflect_sums_up_and_reflections_show_it(cli: Cli) -> None:
    for text in ("a flight to Berlin", "the flight to Berlin", "flight and hotel in Berlin"):
        cli("remember", text, "--cycle", "1")
    cli("remember", "a recipe for soup")
    near = ("--similarity", "0.5", "--algorithm", "agglomerative")
    shown = cli("reflect", *near, "--dry-run", ok=True)
    assert (len(shown["created"]), shown["dry_run"]) == (1, True)
    assert cli("reflections", ok=True)["hits"] == []
    assert "would make 1 reflection," in cli("reflect", *near, "--dry-run").stdout
    assert "made 1 reflection, kept 0" in cli("reflect", *near, "--cycle", "2").stdout
    assert cli("reflect", *near, ok=True)["kept"] == [shown["created"][0]["id"]]
    output = cli("reflections", "a journey to Berlin", "--cycle", "3", "--explain").stdout
    assert "REFLECTION [flight, berlin, hotel]" in output
    assert "recency" in output
    assert "listed" in cli("reflections").stdout
    assert cli("reflect", "--similarity", "7").exit_code == 2
    assert cli("recall", "Berlin", "--override", "select.reflections=hide", ok=True)["total"] == 4


def test_bundles_show_what_hangs_on_a_hit(cli: Cli) -> None:
    cli("remember", "the cat sleeps", "--id", "a")
    cli("remember", "on the sofa", "--id", "b")
    cli("remember", "a cat again", "--id", "c")
    cli("link", "b", "a", "--kind", "derived_from")
    output = cli("bundles", "cat", ok=True)
    assert output["total"] == 2
    support = {each["seed"]["record"]["id"]: each["support"] for each in output["bundles"]}
    assert [each["record"]["id"] for each in support["a"]] == ["b"]
    assert support["c"] == []
    assert "a ←derived_from b" in cli("bundles", "cat").stdout
    assert len(cli("bundles", "cat", "--offset", "1", ok=True)["bundles"]) == 1
    assert cli("bundles", "cat", "--offset", "-1").exit_code == 2


def test_a_recall_may_start_from_a_seed(cli: Cli) -> None:
    cli("remember", "the cat sleeps", "--id", "a")
    cli("remember", "on the sofa", "--id", "b")
    cli("link", "b", "a", "--kind", "derived_from")
    output = cli("recall", "dog", "--recipe", "linked", "--seed", "a", ok=True)
    assert [hit["record"]["id"] for hit in output["hits"]] == ["b"]
    shown = cli("recall", "dog", "--recipe", "linked", "--seed", "a", "--explain").stdout
    assert "a ←derived_from b" in shown
    assert cli("recall", "cat", "--seed", "a").exit_code == 2
    assert cli("recall", "cat", "--recipe", "linked", "--seed", "nobody").exit_code == 2


def test_a_plan_says_what_would_run(cli: Cli) -> None:
    cli("remember", "the cat sleeps")
    plan = cli("plan", "cat", ok=True)
    assert [step["step"] for step in plan["steps"]] == [
        "select",
        "words",
        "kin",
        "meaning",
        "moment",
        "fuse",
        "around",
        "who",
        "asking",
        "dated",
        "echo",
        "past",
        "rerank",
        "copies",
        "crowd",
        "by_trust",
        "limit",
    ]
    drawn = cli("plan", "cat", "--override", "lanes.words.enabled=false").stdout
    assert "skipped: switched off" in drawn


def test_a_recall_takes_lists_and_a_budget(cli: Cli, tmp_path: Path) -> None:
    cli("remember", "the cat sleeps", "--id", "cat", "--importance", "0.1")
    cli("remember", "the dog sleeps", "--id", "dog", "--trust", "external")
    cli("remember", "the owl is awake", "--id", "owl,1")
    output = cli("recall", "cat", "--list", "mine=dog:2,cat:1", ok=True)
    assert output["used"] == ["words", "kin", "meaning", "mine"]
    assert {h["record"]["id"]: h["lanes"].get("mine", {}).get("rank") for h in output["hits"]} == {
        "cat": 2, "dog": 1, "owl,1": None,
    }  # fmt: skip
    both = ("--list", 'mine=[["owl,1", 3]]', "--list", "by=importance")
    listed = cli("recall", "cat", *both, "--all")
    assert "mine#1 3.00" in listed.stdout
    assert "by#" in listed.stdout
    few = cli("recall", "sleeps", "--mode", "bm25", "--budget-chars", "160", ok=True)
    assert [hit["record"]["id"] for hit in few["hits"]] == ["cat"]
    assert few["plan"]["steps"][-1]["passed_over"] == 1
    block = cli(
        "recall", "sleeps", "--mode", "bm25", "--context", "--all", "--budget-tokens", "500"
    )
    assert "```untrusted\nthe dog sleeps\n```" in block.stdout
    answer = cli("recall", "sleeps", "--mode", "bm25", "--context", "--all", ok=True)
    assert answer["citations"] == {"1": "cat", "2": "dog"}
    assert answer["text"] + "\n" == block.stdout
    cli("recall", "sleeps", "--html", "answer.html", ok=True)
    assert (tmp_path / "answer.html").read_text("utf-8").startswith("<!doctype html>")


def test_a_receipt_is_saved(cli: Cli, tmp_path: Path) -> None:
    cli("remember", "the cat sleeps")
    output = cli("recall", "cat", "--receipt", "r.json", ok=True)
    assert json.loads((tmp_path / "r.json").read_text())["digest"] == output["receipt"]


def test_pages_follow_each_other(cli: Cli) -> None:
    for number in range(5):
        cli("remember", f"note {number}", "--id", f"n{number}")
    seen: list[str] = []
    cursor: list[str] = []
    while True:
        page = cli("browse", "--limit", "2", "--sort", "oldest", *cursor, ok=True)
        seen += [record["id"] for record in page["records"]]
        if page["cursor"] is None:
            break
        cursor = ["--cursor", page["cursor"]]
    assert seen == ["n0", "n1", "n2", "n3", "n4"]
    drawn = cli("browse", "--limit", "2").stdout
    assert "2 of 5 memories" in drawn
    assert "next page: --cursor" in drawn


# --- many at once ---------------------------------------------------------------------------


def test_lines_are_imported_from_text_and_json(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("first\n\n  second  \n", encoding="utf-8")
    (tmp_path / "b.jsonl").write_text(
        '"third"\n{"text": "fourth", "tags": ["x"]}\n', encoding="utf-8"
    )
    report = cli("import", "a.txt", "b.jsonl", "--agent", "bot", ok=True)
    assert [one["records"]["written"] for one in report["files"]] == [2, 2]
    assert [one["format"] for one in report["files"]] == ["text", "jsonl"]
    page = cli("browse", "--sort", "oldest", ok=True)
    assert {record["text"] for record in page["records"]} == {"first", "second", "third", "fourth"}
    assert {record["agent"] for record in page["records"]} == {"bot"}


def test_a_bad_line_is_named_and_keeps_no_other_out(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "b.jsonl").write_text('"good"\n\n{"txet": "typo", "text": "x"}\nnope\n7\n')
    drawn = cli("import", "b.jsonl")
    assert drawn.exit_code == 0
    assert "read 4; written 1, already there 0, refused 3" in drawn.stdout
    assert re.search(r"b.jsonl:3 +txet: there is no such field +did you mean text\?", drawn.stdout)
    (report,) = cli("import", "b.jsonl", ok=True)["files"]
    assert report["records"] == {"written": 0, "already": 1, "refused": 3}
    assert [row["where"] for row in report["refused"]] == ["b.jsonl:3", "b.jsonl:4", "b.jsonl:5"]


def test_a_file_without_one_good_row_fails(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "b.jsonl").write_text('"" \n{"txet": "typo", "text": "x"}\n')
    failed = cli("import", "b.jsonl")
    assert failed.exit_code == 2
    assert "b.jsonl:1: text: must not be empty (and 1 more)" in failed.stderr


def test_files_are_recognised_before_the_store_is_made(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("good")
    (tmp_path / "b.json").write_text('{"cut": ')
    for second, code in (("b.json", 2), ("missing", 3)):
        assert cli("import", "a.txt", second).exit_code == code
        assert not (tmp_path / "memoriter.db").exists()


def test_a_dry_run_tells_and_writes_nothing(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"role": "user", "content": "hello"}\n')
    drawn = cli("import", "a.jsonl", "--dry-run")
    assert "chat, because its rows are messages with a role and a content" in drawn.stdout
    assert "would write 1" in drawn.stdout
    assert not (tmp_path / "memoriter.db").exists()
    cli("import", "a.jsonl", ok=True)
    (report,) = cli("import", "a.jsonl", "--dry-run", ok=True)["files"]
    assert report["records"] == {"written": 0, "already": 1, "refused": 0}


def test_the_help_of_import_names_every_format(cli: Cli) -> None:
    shown = re.sub(r"[\s│]+", " ", cli("import", "--help").stdout)
    assert all(name in shown for name in format_names())


def test_an_export_comes_back_whole(cli: Cli, tmp_path: Path) -> None:
    cli("remember", "x", "--id", "x")
    cli("update", "x", "--text", "y")
    cli("export", "all.export", ok=True)
    (report,) = cli("import", "all.export", "--store", "new.db", ok=True)["files"]
    assert (report["format"], report["records"]["written"]) == ("memoriter", 1)
    assert cli("history", "x", "--store", "new.db", ok=True) == cli("history", "x", ok=True)
    assert cli("import", "all.export", "--store", "new.db").exit_code == 4
    assert cli("export", "all.export").exit_code == 2
    assert cli("export", "all.export", "--force").exit_code == 0


def test_a_part_is_exported_as_lines_that_import_reads(cli: Cli) -> None:
    cli("remember", "a fact", "--kind", "fact")
    cli("remember", "a note")
    assert cli("export", "facts.jsonl", "--where", '{"kind": "fact"}', ok=True)["lines"] == 1
    (report,) = cli("import", "facts.jsonl", "--store", "new.db", ok=True)["files"]
    assert report["records"]["written"] == 1


# --- the rest -------------------------------------------------------------------------------


def test_the_registry_of_agents(cli: Cli) -> None:
    cli(
        "agents",
        "upsert",
        "bot",
        "--name",
        "Bot",
        "--owner",
        "ana",
        "--description",
        "ships releases",
        ok=True,
    )
    cli("agents", "alias", "bot", "shipper", ok=True)
    assert cli("agents", "show", "bot", ok=True)["aliases"] == ["shipper"]
    assert cli("agents", "list", ok=True)["agents"][0]["owner"] == "ana"
    assert cli("agents", "search", "release", "--limit", "1", ok=True)["agents"][0]["score"] > 0
    for args in (["list"], ["show", "bot"], ["search", "release"]):
        assert "ships releases" in cli("agents", *args).stdout


def test_the_settings_of_another_system_become_a_recipe(cli: Cli, tmp_path: Path) -> None:
    path, out = tmp_path / "engrava.yaml", tmp_path / "own.toml"
    path.write_text("search:\n  default_graph_weight: 0.1\n  vec0_overfetch_factor: 2\n", "utf-8")
    printed = cli("recipe", "from-engrava", str(path))
    assert printed.exit_code == 0
    assert printed.stdout.startswith('format = 1\nname = "own"\n')
    assert "left out: vec0_overfetch_factor" in printed.stderr
    done = cli("recipe", "from-engrava", str(path), "--out", str(out), "--name", "theirs", ok=True)
    assert (done["name"], list(done["left_out"])) == ("theirs", ["vec0_overfetch_factor"])
    assert cli("recipe", "check", str(out), ok=True)["fingerprint"] == done["fingerprint"]
    cli("remember", "berlin", ok=True)
    assert len(cli("recall", "berlin", "--recipe", str(out), ok=True)["hits"]) == 1
    before = out.read_bytes()
    again = cli("recipe", "from-engrava", str(path), "--out", str(out))
    assert (again.exit_code, out.read_bytes()) == (2, before)
    assert "--force" in again.stderr
    path.write_text("search:\n  fts: 1\n", "utf-8")
    bad = cli("recipe", "from-engrava", str(path), "--out", str(out), "--force")
    assert (bad.exit_code, out.read_bytes()) == (2, before)
    assert "line 2: search has no key 'fts'" in bad.stderr


def test_the_settings_on_the_page_become_the_recipe_that_it_shows(cli: Cli, tmp_path: Path) -> None:
    page = DOCS.parent / "recipes" / "engrava.md"
    (example,) = blocks(page, "yaml")
    (tmp_path / "engrava.yaml").write_text(example.text, "utf-8")
    cli("recipe", "from-engrava", "engrava.yaml", "--out", "own.toml", ok=True)
    changes = cli("recipe", "diff", "engrava", "own.toml", ok=True)["changes"]
    shown = [
        (each["path"], json.dumps(each["first"]), json.dumps(each["second"])) for each in changes
    ]
    table = re.findall(r"^\| `([\w.]+)` \| (\S+) \| (\S+) \|$", page.read_text("utf-8"), re.M)
    assert [each for each in shown if each[0] not in ("name", "version", "about")] == table
    cli("remember", "berlin", ok=True)
    assert len(cli("recall", "berlin", "--recipe", "own.toml", ok=True)["hits"]) == 1
    (tmp_path / "flow.yaml").write_text("search: {default_fts_weight: 0.4}\n", "utf-8")
    refused = cli("recipe", "from-engrava", "flow.yaml", "--out", "flow.toml")
    assert (refused.exit_code, (tmp_path / "flow.toml").exists()) == (2, False)
    assert "line 1" in refused.stderr


def test_recipes_are_listed_shown_checked_and_compared(cli: Cli, tmp_path: Path) -> None:
    names = [recipe["name"] for recipe in cli("recipe", "list", ok=True)["recipes"]]
    assert "memoriter" in names
    text = cli("recipe", "show", "memoriter").stdout
    assert text.startswith("#")
    recipe_file = tmp_path / "mine.toml"
    recipe_file.write_text(text.replace("k1 = 1.2", "k1 = 1.5"), encoding="utf-8")
    assert cli("recipe", "check", "mine.toml", ok=True)["valid"] is True
    assert cli("recipe", "show", "mine.toml").stdout == recipe_file.read_text(encoding="utf-8")
    changes = cli("recipe", "diff", "memoriter", "mine.toml", ok=True)["changes"]
    assert changes == [{"path": "lanes.words.k1", "first": 1.2, "second": 1.5}]
    shown = " ".join(cli("recipe", "diff", "memoriter", "mine.toml").stdout.split())
    assert "how much a 1.2 1.5 repeated word adds" in shown
    assert cli("recipe", "diff", "memoriter", "memoriter").stdout == "no difference\n"
    assert cli("recipe", "show", "memoriter", ok=True)["recipe"]["lanes"]["words"]["k1"] == 1.2
    recipe_file.write_text(
        text.replace('"asking", "dated"]', '"asking", "new"]')
        + """
[boosts.new]
kind = "recency"
unit = "days"
[[order]]
kind = "mmr"
""",
        encoding="utf-8",
    )
    changes = cli("recipe", "diff", "memoriter", "mine.toml", ok=True)["changes"]
    assert [change["path"] for change in changes] == [
        "boosts.new",
        "pass.0.boosts.5",
        "order.3",
    ]
    shown = " ".join(cli("recipe", "diff", "memoriter", "mine.toml").stdout.split())
    assert "new — newer records count more; how the age of a record is measured" in shown
    assert "4. — maximal marginal relevance" in shown

    other = cli("recipe", "show", "lexical").stdout.replace(
        'kind = "weighted", scale = "max", weights = {', 'kind = "rrf", weights = {'
    )
    recipe_file.write_text(other, encoding="utf-8")
    shown = " ".join(cli("recipe", "diff", "lexical", "mine.toml").stdout.split())
    assert "weighted sum of scaled" in shown
    assert "reciprocal rank fusion" in shown
    recipe_file.write_text(text + "\nunknown = 1\n", encoding="utf-8")
    assert cli("recipe", "check", "mine.toml").exit_code == 2


def test_a_pass_that_was_added_is_shown(cli: Cli, tmp_path: Path) -> None:
    recipe_file = tmp_path / "mine.toml"
    words = cli("recipe", "show", "lexical").stdout
    again = "\n[[pass]]\nhead = 20\nrerank = { timeout_ms = 500 }\n"
    recipe_file.write_text(words + again, encoding="utf-8")
    shown = " ".join(cli("recipe", "diff", "lexical", "mine.toml").stdout.split())
    assert "Second pass: the best once more" in shown
    assert "— the first 20; a reranker that reads the query and each text" in shown


def test_status_counts_what_is_there(cli: Cli) -> None:
    cli("init", ok=True)
    assert cli("init", ok=True)["made"] is False
    empty = cli("status", ok=True)
    assert (empty["records"], empty["seq"], empty["tenants"]) == (0, 0, [])
    cli("remember", "x")
    cli("remember", "y", "--tenant", "other")
    output = cli("status", ok=True)
    assert output["records"] == 1
    assert output["tenants"] == ["default", "other"]
    assert output["bytes"]["file"] > 0
    assert "last commit" in cli("status").stdout
    cli("remember", "z", "--expires", "2020-01-01")
    output = cli("status", ok=True)
    assert (output["records"], output["expired"]) == (1, 1)
    assert "1, and 1 expired" in cli("status").stdout
    assert cli("maintain", ok=True)["owed"] == 0


def test_a_space_is_calibrated_and_status_tells(cli: Cli) -> None:
    cli("remember", "x", ok=True)
    assert cli("calibrate", ok=True)["state"] == "packaged"
    assert "calibration static-en  packaged" in cli("status").stdout
    state = cli("calibrate", "--embedder", "hash", ok=True)
    assert (state["state"], state["compared"], state["texts"]) == ("committed", "probes", 150)
    assert "99.99% below" in cli("calibrate", "--embedder", "hash").stdout
    assert cli("status", "--embedder", "hash", ok=True)["calibrations"] == [state]
    assert cli("calibrate", "--space", "none such").exit_code != 0


def test_recall_takes_a_cycle_where_the_recipe_reads_it(cli: Cli) -> None:
    cli("remember", "the port is 22")
    cli("recall", "port", "--recipe", "engrava", "--cycle", "40", "--receipt", "r.json", ok=True)
    assert json.loads(Path("r.json").read_text(encoding="utf-8"))["query"]["cycle"] == 40
    unread = cli("recall", "port", "--cycle", "40")
    assert unread.exit_code == 2
    assert "recipes that use it: engrava, reflections" in unread.stderr


def test_recall_marks_what_was_superseded(cli: Cli) -> None:
    old = cli("remember", "the port is 22", ok=True)["ids"][0]
    new = cli("remember", "the port is 49222", "--supersedes", old, ok=True)["ids"][0]
    shown = ("--override", 'select.superseded="show"')
    output = cli("recall", "port", *shown, ok=True)
    superseded_by = {hit["record"]["id"]: hit["superseded_by"] for hit in output["hits"]}
    assert superseded_by == {old: [new], new: []}
    assert f"superseded by {new}" in cli("recall", "port", *shown).stdout
    assert cli("recall", "port", "--cycle", "-1").exit_code == 2
    assert cli("recall", "port", "--cycle", "soon").exit_code == 2


def test_settings_come_from_flag_environment_file_and_default(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "config" / "memoriter"
    home.mkdir(parents=True)
    (home / "config.toml").write_text('store = "home.db"\nagent = "homer"\n')
    assert cli("config", "show", ok=True)["settings"]["store"]["value"] == "home.db"
    (tmp_path / "memoriter.toml").write_text('store = "here.db"\nrecipe = "lexical"\n')
    cli("remember", "kept by the settings", ok=True)
    assert (tmp_path / "here.db").exists()
    assert cli("recall", "settings", ok=True)["plan"]["recipe"] == "lexical"
    assert cli("browse", ok=True)["records"][0]["agent"] == "homer"
    monkeypatch.setenv("MEMORITER_STORE", "env.db")
    settings = cli("config", "show", "--tenant", "t", ok=True)["settings"]
    assert settings["store"] == {"value": "env.db", "origin": "MEMORITER_STORE"}
    assert settings["recipe"] == {"value": "lexical", "origin": "memoriter.toml"}
    assert settings["agent"]["origin"].endswith("config.toml")
    assert settings["tenant"] == {"value": "t", "origin": "--tenant"}
    assert settings["user"] == {"value": None, "origin": "default"}
    assert "MEMORITER_STORE" in cli("config", "show", "--origin").stdout


def test_a_reranker_comes_from_a_flag_the_environment_or_a_file(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cli("remember", "a red bird", ok=True)
    name = "http:bge@http://localhost:1"
    for verb in ("recall", "plan"):
        cli(verb, "bird", "--reranker", name, ok=True)
        result = cli(verb, "bird", "--reranker", "best")
        assert result.exit_code == 2
        assert "there is no reranker 'best'" in result.stderr
        assert "onnx:<folder>" in result.stderr
    (tmp_path / "memoriter.toml").write_text(f'reranker = "{name}#tei"\n')
    setting = cli("config", "show", ok=True)["settings"]["reranker"]
    assert setting == {"value": f"{name}#tei", "origin": "memoriter.toml"}
    monkeypatch.setenv("MEMORITER_RERANKER", "onnx:nowhere")
    assert cli("recall", "bird").exit_code == 3
    cli("browse", ok=True)  # what asks nothing needs no reranker


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('stor = "x"', "did you mean store?"),
        ("store = 7", "expected text"),
        ("store =", "not valid TOML"),
        ('store = "a\\u0000b"', "NUL"),
    ],
)
def test_a_bad_settings_file_is_named(text: str, message: str, cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "memoriter.toml").write_text(text)
    result = cli("status")
    assert result.exit_code == 2
    assert "memoriter.toml" in result.stderr
    assert message in result.stderr


def test_version_is_told_both_ways(cli: Cli) -> None:
    assert (
        cli("version").stdout == cli("--version").stdout == f"memoriter {memoriter.__version__}\n"
    )
    assert cli("version", ok=True) == {"version": memoriter.__version__}


@pytest.mark.parametrize(
    ("args", "hint"),
    [
        (["recal", "x"], "did you mean recall?"),
        (["recipe", "lsit"], "did you mean list?"),
        (["recall", "x", "--limt", "1"], "did you mean --limit?"),
        (["recall"], "memoriter recall --help"),
        (["recall", "x", "--limit", "many"], "memoriter recall --help"),
        (["zzzzz"], "memoriter --help"),
    ],
)
def test_a_typing_mistake_gets_a_guess(args: list[str], hint: str, cli: Cli) -> None:
    result = cli(*args)
    assert result.exit_code == 2
    assert hint in result.stderr.splitlines()[1]
    assert result.stdout == ""


def test_a_bug_shows_one_line_and_the_way_to_more(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError("by zero")

    monkeypatch.setattr(records, "store_path", broken)
    result = cli("status")
    assert result.exit_code == 1
    assert result.stderr.splitlines()[0] == "internal error: ZeroDivisionError: by zero"
    assert "MEMORITER_DEBUG=1" in result.stderr
    assert "Traceback" not in result.stderr
    assert json.loads(cli("status", "--json").stderr)["error"] == "InternalError"
    monkeypatch.setenv("MEMORITER_DEBUG", "1")
    assert "Traceback" in cli("status").stderr


def test_an_interrupt_anywhere_is_quiet(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(records, "store_path", interrupted)
    result = cli("status")
    assert (result.exit_code, result.stdout, result.stderr) == (130, "", "")


def test_the_demo_as_data(cli: Cli) -> None:
    results = cli("demo", ok=True)["results"]
    assert [result["hits"][0]["record"]["id"] for result in results] == [
        "roll-back",
        "slow-lookups",
        "port-new",
    ]
    assert results[1]["hits"][0]["matched"] == {}


def test_a_question_is_asked_in_several_spaces(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cli("remember", "the ssh port is 22", ok=True)
    both = ("--embedder", "static, hash")
    assert cli("maintain", *both, ok=True)["embedded"] == 1
    ask = ("recall", "ssh ports", "--recipe", "semantic")
    (hit,) = cli(*ask, *both, ok=True)["hits"]
    assert hit["lanes"]["meaning"]["why"]["op"] == "max"
    monkeypatch.setenv("MEMORITER_EMBEDDER", "none")
    assert "meaning" in cli("recall", "port", ok=True)["skipped"]
    setting = cli("config", "show", ok=True)["settings"]["embedder"]
    assert setting == {"value": "none", "origin": "MEMORITER_EMBEDDER"}
    for name in ("best", "static,", "static,static"):
        result = cli("recall", "port", "--embedder", name)
        assert result.exit_code == 2
        assert "error: " in result.stderr


def test_what_opens_no_memory_has_no_embedder(cli: Cli) -> None:
    cli("remember", "a red bird", ok=True)
    result = cli("token", "list", "--embedder", "static")
    assert result.exit_code == 2
    assert "--embedder" in result.stderr
    assert "--embedder" in cli("serve", "--help").stdout


def test_claims_of_less_trusted_memories_are_reviewed(cli: Cli) -> None:
    cli("init", ok=True)
    cli("remember", "The key is in the safe", "--id", "rule", "--trust", "system", ok=True)
    page = ("The key is with me", "--id", "page", "--trust", "external", "--supersedes", "rule")
    cli("remember", *page, "--created", "2026-01-01", ok=True)
    shown = cli("review").stdout
    assert "page (external) supersedes rule (system)" in shown
    assert cli("decide", "page", "rule").exit_code == 2
    assert cli("decide", "page", "rule", "--reject").stdout == "rejected page\n"
    assert cli("review").stdout == "nothing to review\n"
