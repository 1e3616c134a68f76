"""`memoriter eval` from files on disk to what is printed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import memoriter
from memoriter.core.errors import InputError, UnknownRecipe
from memoriter.doors.cli.main import app
from memoriter.evaluate.command import EvalData, run_eval


@pytest.fixture
def sky(tmp_path: Path) -> Path:
    folder = tmp_path / "sky"
    (folder / "qrels").mkdir(parents=True)
    texts = ["Cells divide.", "Stars burn hydrogen.", "Comets are made of ice.", "Moss is green."]
    corpus = [{"_id": str(n), "title": "", "text": text} for n, text in enumerate(texts)]
    (folder / "corpus.jsonl").write_text("\n".join(map(json.dumps, corpus)))
    queries = [{"_id": "a", "text": "stars burn"}, {"_id": "b", "text": "comets and ice"}]
    (folder / "queries.jsonl").write_text("\n".join(map(json.dumps, queries)))
    (folder / "qrels" / "test.tsv").write_text("q\td\ts\na\t1\t1\nb\t2\t1\n")
    return folder


def test_it_says_what_was_measured_and_how(sky: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_eval(EvalData(sky), [], json_out=False) == 0
    out, err = capsys.readouterr()
    assert not err
    assert "share of the gold" in out
    assert "the packaged embedder" in out
    assert "sky (BEIR)" in out
    assert "1 stores, 4 records, 2 questions" in out
    lines = [line.split() for line in out.splitlines()]
    (at,) = [at for at, words in enumerate(lines) if words[:1] == ["recipe"]]
    assert lines[at] == ["recipe", "hit@1", "hit@3", "R@10", "nDCG@10", "n", "seconds"]
    rows = {words[0]: words[1:] for words in lines[at + 1 :]}
    assert list(rows) == ["memoriter", "lexical", "semantic"]
    assert rows["lexical"][:9] == ["100.0", "(100–100)"] * 4 + ["2"]


def test_json_holds_the_same_and_two_runs_agree(
    sky: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    seen: list[dict[str, Any]] = []
    for _ in range(2):
        assert run_eval(EvalData(sky, 1), ["lexical"], json_out=True) == 0
        table = json.loads(capsys.readouterr().out)
        (data,) = table["data"]
        (score,) = data["scores"]
        assert data["questions"] == score["questions"] == 1
        assert score["R@10"] == score["nDCG@10"] == 1.0
        del score["seconds"]
        seen.append(table)
    assert seen[0] == seen[1]
    assert seen[0]["recipes"]["lexical"]["fingerprint"]


def test_a_recipe_may_be_a_file(
    sky: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    recipe = tmp_path / "mine.toml"
    recipe.write_text(
        'format = 1\nname = "mine"\nversion = 3\nanalyzer = "memoriter"\n'
        '[lanes.words]\nkind = "bm25"\npool = 10\nk1 = 1.0\nb = 0.5\nfields = { text = 1.0 }\n'
        '[[pass]]\nfuse = { kind = "weighted", scale = "max", weights = { words = 1.0 } }\n'
    )
    assert run_eval(EvalData(sky), [str(recipe), "lexical"], json_out=False) == 0
    assert "mine v3" in capsys.readouterr().out


def test_what_is_wrong_is_said_before_anything_runs(sky: Path) -> None:
    with pytest.raises(UnknownRecipe):
        run_eval(EvalData(sky), ["nosuch"], json_out=False)
    with pytest.raises(InputError):
        run_eval(EvalData(sky, 0), [], json_out=False)


# --- memories and questions of one's own ------------------------------------------------------

MEMORIES: dict[str, list[dict[str, Any]]] = {
    "home": [
        {"id": "old", "text": "The gate code is 1111.", "created": "2026-01-01"},
        {"id": "new", "text": "The gate code is 2222.", "created": "2026-02-01"},
        {"id": "cake", "text": "Two eggs, flour", "created": "2026-02-02", "speaker": "Marcus"},
    ],
    "work": [{"id": "port", "text": "The ssh port is 49222.", "created": "2026-01-05"}],
}
MEMORIES["home"][1]["supersedes"] = "old"
QUESTIONS: dict[str, list[dict[str, Any]]] = {
    "home": [
        {"question": "gate code", "asked_at": "2026-01-15", "gold": ["old"], "type": "current"},
        {"question": "gate code", "asked_at": "2026-03-01", "gold": ["new"], "type": "current"},
        {"question": "Marcus eggs", "asked_at": "2026-03-01", "answer": "flour", "type": "who"},
        {"question": "zeppelin", "asked_at": "2026-03-01", "gold": [], "type": "absent"},
        {"question": "gate colour", "asked_at": "2026-03-01", "gold": [], "type": "absent"},
    ],
    "work": [{"question": "ssh port", "asked_at": "2026-03-01", "gold": ["port"], "type": "who"}],
}


@pytest.fixture
def everyday(tmp_path: Path) -> Path:
    place = tmp_path / "everyday"
    for name, memories in MEMORIES.items():
        (place / name).mkdir(parents=True)
        for file, lines in (("memories", memories), ("questions", QUESTIONS[name])):
            (place / name / f"{file}.jsonl").write_text("\n".join(map(json.dumps, lines)))
    return place


def command(*args: str) -> Any:
    result = CliRunner().invoke(app, list(args))
    assert result.exit_code == 0, result.stderr
    assert not result.stderr
    return json.loads(result.stdout) if "--json" in args else result.stdout


def test_everyday_questions_are_replayed_and_counted_by_type(everyday: Path) -> None:
    asked = ("eval", "--data", str(everyday), "--recipe", "lexical", "--cross", "--remove-gold")
    (data,) = command(*asked, "--json")["data"]
    (score,) = data["scores"]
    assert (data["stores"], data["records"], data["questions"], score["questions"]) == (2, 4, 6, 4)
    assert (score["hit@1"], score["intervals"]["hit@1"]) == (1.0, [1.0, 1.0])
    assert {name: each["questions"] for name, each in score["types"].items()} == {
        "current": 2,
        "who": 2,
    }
    kinds = score["abstention"]["kinds"]
    # Of the two absent ones, no word of one is known: an empty answer.
    assert kinds["absent"]["none"]["value"] == 0.5
    assert kinds["other stores"] == {
        "questions": 4,
        "none": {"value": 1.0, "interval": [1.0, 1.0]},
        "AUC": {"value": 1.0, "interval": [1.0, 1.0]},
    }
    assert kinds["gold removed"]["questions"] == 4
    assert score["abstention"]["wrongly_none"]["questions"] == 4


def test_everyday_questions_are_printed_by_type(everyday: Path) -> None:
    out = command("eval", "--data", str(everyday), "--recipe", "lexical", "--embedder", "none")
    lines = [line.split() for line in out.splitlines()]
    assert "no embedder" in out
    assert ["current", *["100.0", "(100–100)"] * 4, "2"] in lines
    assert ["absent", "50.0", "(0–100)", "0.75", "(0.50–1.00)", "2"] in lines
    assert "wrongly none: 0.0 (0–0) of 4 with gold in the first ten" in out


def test_two_recipes_are_compared_question_by_question(everyday: Path, tmp_path: Path) -> None:
    # A recipe of which no lane finds anything in the text: it searches titles, which are not there.
    blind = tmp_path / "blind.toml"
    blind.write_text(
        'format = 1\nname = "blind"\nversion = 1\nanalyzer = "memoriter"\n'
        '[lanes.words]\nkind = "bm25"\npool = 10\nk1 = 1.0\nb = 0.5\nfields = { title = 1.0 }\n'
        '[[pass]]\nfuse = { kind = "weighted", scale = "max", weights = { words = 1.0 } }\n'
    )
    asked = ("recipe", "compare", str(blind), "lexical", "--data", str(everyday))
    (data,) = command(*asked, "--json")["data"]
    assert list(data["types"]) == ["all", "current", "who"]
    assert data["types"]["all"]["hit@1"] == {
        "first": 0.0, "second": 1.0, "difference": 1.0, "interval": [1.0, 1.0],
        "p": 2 / 16, "questions": 4, "higher": 4, "lower": 0,
    }  # fmt: skip
    assert data["types"]["who"]["hit@1"]["p"] == 2 / 4
    assert data["unanswerable"]["absent"]["none"]["difference"] == -0.5
    out = command(*asked)
    row = "all hit@1 0.0 100.0 +100.0 +100.0 to +100.0 0.1250 4 0 4"
    assert row.split() in [line.split() for line in out.splitlines()]


def test_a_single_store_has_no_other_to_ask(everyday: Path, tmp_path: Path) -> None:
    asked = ["eval", "--data", str(everyday / "home"), "--cross"]
    result = CliRunner().invoke(app, asked)
    assert result.exit_code == 2
    assert "single store" in result.stderr
    result = CliRunner().invoke(app, ["recipe", "compare", "lexical", "lexical"])
    assert result.exit_code == 2
    assert "nothing to compare" in result.stderr


def test_one_file_is_asked_by_the_program_itself(tmp_path: Path) -> None:
    lines: list[dict[str, Any]] = [
        {"text": "The ssh port is 49222"},
        {"text": "Ann drinks green tea"},
        {"question": "Which port does ssh use?", "answer": "49222"},
        {"question": "What is the capital of Peru?", "gold": []},
    ]
    (tmp_path / "mine.jsonl").write_text("\n".join(map(json.dumps, lines)))
    args = ["eval", "--data", "mine.jsonl", "--recipe", "memoriter", "--json"]
    kept = {key: value for key, value in os.environ.items() if not key.startswith("MEMORITER_")}
    source = Path(memoriter.__file__).parents[1]
    done = subprocess.run(  # noqa: S603  # our own program
        [sys.executable, "-m", "memoriter", *args], cwd=tmp_path, capture_output=True, check=False,
        env={**kept, "PYTHONPATH": str(source), "XDG_CONFIG_HOME": str(tmp_path)}, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert not done.stderr
    (data,) = json.loads(done.stdout)["data"]
    (score,) = data["scores"]
    assert (data["name"], score["questions"], score["hit@1"]) == ("mine.jsonl", 1, 1.0)
    assert list(score["abstention"]["kinds"]) == ["unanswerable"]
