"""Commands that ask: recall and its options, keywords, bundles, plans, pages."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.e2e.commands import Cli


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
