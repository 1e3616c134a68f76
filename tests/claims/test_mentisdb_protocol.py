"""What MentisDB publishes, on its own terms: MD-54."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from memoriter.core.errors import InputError
from memoriter.evaluate.command import EvalData, run_eval
from memoriter.evaluate.data import Dataset, EvalCase, EvalQuestion, EvalRecord
from memoriter.evaluate.protocols import protocol_of, with_ablations
from memoriter.pipeline.load import recipe_of
from memoriter.systems.mentisdb.protocol import pool_conversations


def talk(word: str) -> dict[str, Any]:
    """A conversation of two sessions whose third turn holds a word."""
    turns = [f"turn number {n}" for n in range(1, 8)]
    turns[2] = f"we spoke of the {word}"
    session_turns = [
        {"speaker": "Ann", "dia_id": f"D1:{n}", "text": text} for n, text in enumerate(turns, 1)
    ]
    conversation = {
        "session_1": session_turns,
        "session_2": [{"speaker": "Bob", "dia_id": "D2:1", "text": "bye"}],
    }
    asked = {"question": f"What of the {word}?", "evidence": ["D1:3"], "category": 1}
    return {"conversation": conversation, "qa": [asked]}


@pytest.fixture
def locomo(tmp_path: Path) -> Path:
    path = tmp_path / "locomo.json"
    path.write_text(json.dumps([talk("zebra"), talk("quokka")]))
    return path


def turns(talks: int) -> Dataset:
    records = tuple(
        EvalRecord(f"D1:{n}", f"turn {n}", None, "1" if n < 6 else "2") for n in range(8)
    )
    asked = (EvalQuestion("turn", frozenset({"D1:4"}), "1"),)
    return Dataset("talks", "", tuple(EvalCase(records, asked) for _ in range(talks)))


def test_md_54_every_conversation_lies_in_one_store_and_neighbours_are_gold() -> None:
    made = pool_conversations(turns(2))
    assert made is not None
    (case,) = made.cases
    assert [record.id for record in case.records] == [f"{t}/D1:{n}" for t in "01" for n in range(8)]
    wanted = {f"0/D1:{n}" for n in (2, 3, 4, 5)}  # two on each side, within the session
    assert case.questions[0].gold == wanted
    assert [record.importance for record in case.records[:3]] == [0.8, 0.2, 0.8]
    linked = [[link["target"] for link in record.links] for record in case.records[5:8]]
    assert linked == [["0/D1:4"], [], ["0/D1:6"]]
    assert pool_conversations(turns(1)) is None
    replayed = tuple(replace(case, replay=True) for case in turns(2).cases)
    assert pool_conversations(Dataset("replayed", "", replayed)) is None


def test_md_54_the_protocol_is_asked_for_by_name_apart_from_the_strict_one(
    locomo: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def rows(protocol: str, without: Sequence[str] = ()) -> dict[str, Any]:
        asked = EvalData(locomo, protocol=protocol)
        assert run_eval(asked, ["mentisdb"], json_out=True, without=without) == 0
        (data,) = json.loads(capsys.readouterr().out)["data"]
        return {score["recipe"]: {**data, **score} for score in data["scores"]}

    lenient = rows("mentisdb", ["cohesion"])
    assert list(lenient) == ["mentisdb", "mentisdb -cohesion"]
    for row in lenient.values():
        assert (row["stores"], row["questions"], row["hit@10"]) == (1, 2, 1.0)
        assert "R@10" not in row
    strict = rows("strict")
    assert strict["mentisdb"]["stores"] == 2
    assert "R@10" in strict["mentisdb"]
    assert "in its own store" in strict["mentisdb"]["protocol"]


def test_md_54_recipes_are_set_as_their_harness_sets_them() -> None:
    ours = {label: recipe_of(label) for label in ("mentisdb", "memoriter")}
    settings = protocol_of("mentisdb").settings
    made = with_ablations(ours, settings, ["cohesion"])
    walk = made["mentisdb"].to_data()["lanes"]["links"]
    chosen = [walk[name] for name in ("enabled", "max_depth", "max_visited", "include_seeds")]
    assert chosen == [True, 3, 200, False]
    assert made["memoriter"] == ours["memoriter"]
    assert made["mentisdb -cohesion"].boosts["cohesion"].enabled is False
    assert list(made) == ["mentisdb", "mentisdb -cohesion", "memoriter"]


def test_what_cannot_be_asked_so_is_said(locomo: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="protocol 'nice'"):
        run_eval(EvalData(locomo, protocol="nice"), [], json_out=True)
    with pytest.raises(InputError, match="'magic'") as caught:
        run_eval(EvalData(locomo), [], json_out=True, without=["magic"])
    assert "meaning" in caught.value.hint
    alone = tmp_path / "one.json"
    alone.write_text(json.dumps([talk("zebra")]))
    with pytest.raises(InputError, match="cannot use"):
        run_eval(EvalData(alone, protocol="mentisdb"), [], json_out=True)
