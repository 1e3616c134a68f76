"""Many memories at once: import and export."""

from __future__ import annotations

import re
from pathlib import Path

from tests.e2e.commands import Cli


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
