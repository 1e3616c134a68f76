"""`memoriter eval` from files on disk to what is printed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from memoriter.core.errors import InputError, UnknownRecipe
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
