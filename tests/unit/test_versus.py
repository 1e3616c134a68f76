"""What separates two hits: every part of both scores, and the differences add up."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any, cast

import pytest
from typer.testing import CliRunner

import memoriter
from memoriter.core.errors import BadQuery, NothingToRun
from memoriter.doors.cli.main import app
from memoriter.memory.facade import Memory
from memoriter.pipeline.load import library

QUESTION = "which ssh port in march?"


def fill(memory: Memory) -> None:
    memory.remember("Prod SSH port is 49222 since March", id="port", session="s")
    memory.remember("The firewall knows that port", id="wall", session="s", importance=0.9)
    memory.remember("SSH keys instead of words", id="keys", entities=["Ana"])
    memory.link("keys", "port", "derived_from")


@pytest.mark.parametrize("recipe", sorted(library()))
def test_the_differences_add_up_as_they_are_shown(recipe: str) -> None:
    memory = memoriter.open(":memory:")
    fill(memory)
    try:
        result = memory.recall(QUESTION, recipe=recipe)
    except NothingToRun:
        pytest.skip("it needs seeds or a list")
    for first in result:
        for second in result:
            compared = first.versus(second)
            for column, total in enumerate(map(Decimal, compared.texts)):
                assert sum(Decimal(part.texts[column]) for part in compared.parts) == total
            for one, two, gap in (compared.texts, *(part.texts for part in compared.parts)):
                assert Decimal(one) - Decimal(two) == Decimal(gap)
            gaps = [part.difference for part in compared.parts]
            assert sum(gaps) == pytest.approx(first.score - second.score, abs=1e-6)
            assert [abs(gap) for gap in gaps] == sorted(map(abs, gaps), reverse=True)


def test_a_part_that_only_one_hit_has_counts_as_nothing_for_the_other() -> None:
    memory = memoriter.open(":memory:")
    fill(memory)
    result = memory.recall("ssh port", recipe="lexical")
    first, second = result[0], result[1]
    compared = first.versus(second)
    assert first.id == "port"
    assert compared.summary == (
        f"the score of port is {compared.texts[2]} above that of {second.id}"
    )
    back = second.versus(first)
    assert " below that of port" in back.summary
    assert [-part.difference for part in back.parts] == [p.difference for p in compared.parts]
    assert "as high as" in first.versus(first).summary
    data = cast("dict[str, Any]", compared.to_dict())
    assert data["first"]["rank"] == 1
    assert repr(compared).startswith("<Versus 'port' against ")


def test_scores_of_different_stages_are_said_not_to_compare() -> None:
    def judge(query: str, texts: list[str]) -> list[float]:
        return [float(len(text)) for text in texts]

    memory = memoriter.open(":memory:", reranker=judge)
    fill(memory)
    result = memory.recall("ssh port", overrides={"pass.1.head": 1})
    scaled = [hit for hit in result if "rerank" in hit.moves and "before" in hit.moves["rerank"]]
    assert scaled
    assert len(scaled) < len(result)
    other = next(hit for hit in result if hit not in scaled)
    assert any("cannot be compared" in note for note in scaled[0].versus(other).notes)


def test_what_is_no_hit_is_refused_with_a_way_on() -> None:
    memory = memoriter.open(":memory:")
    fill(memory)
    hit = memory.recall("ssh port")[0]
    with pytest.raises(BadQuery, match="expected a hit, not str") as refused:
        hit.versus(cast("Any", "wall"))
    assert "another hit of the same answer" in refused.value.hint


def test_the_command_line_compares_two_hits(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    with memoriter.open(path) as memory:
        fill(memory)
        first, second = memory.recall("ssh port").hits[:2]
    ask = ["explain", first.id, "--query", "ssh port", "--store", str(path), "--versus"]
    shown = CliRunner().invoke(app, [*ask, second.id])
    assert shown.exit_code == 0
    assert first.versus(second).summary in shown.output
    missing = CliRunner().invoke(app, [*ask, "nobody"])
    assert missing.exit_code == 3
    assert "'nobody' is not a hit of this answer" in missing.output
