"""Commands that write one memory: its fields, changes, links, and what is forgotten."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.e2e.commands import Cli


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
    assert cli("history", "x").stdout.count("version of ") == 2
    upto = str(versions[1]["row"] - 1)
    assert cli("history", "x", "--upto", upto, ok=True)["versions"] == versions[:1]
    assert cli("history", "x", "--limit", "1", ok=True)["versions"] == versions[1:]
    assert cli("history", "x", "--upto", "0").stdout == "no earlier versions\n"
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
