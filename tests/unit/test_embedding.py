"""Spaces of vectors: parts, templates, debts, and changing the model while the old one serves."""

from __future__ import annotations

import os
import signal
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.inside import log_of

import memoriter
from memoriter.core.record import Content
from memoriter.core.times import to_datetime
from memoriter.embed.vector_space import embedded_texts, space_of
from memoriter.memory.embedders import embedder_of
from memoriter.memory.facade import Memory
from memoriter.testing.fakes import START, ToyEmbedder
from memoriter.testing.whole import whole


class Sometimes(ToyEmbedder):
    """Fails at every n-th call, in one way or another."""

    def __init__(self, every: int, how: str) -> None:
        super().__init__()
        self.every, self.how, self.calls = every, how, 0

    def embed(self, texts: Sequence[str], side: Any) -> list[Any]:
        self.calls += 1
        vectors = super().embed(texts, side)
        if self.every and self.calls % self.every == 0:
            match self.how:
                case "raises":
                    raise TimeoutError("no answer")
                case "NaN":
                    return [np.full(self.dimension, np.nan, np.float32) for _ in texts]
                case "wrong size":
                    return [np.ones(2, np.float32) for _ in texts]
                case _:
                    return vectors[:-1]
        return vectors


class Other(ToyEmbedder):
    """Another space of the same toys, which reads two words at a time."""

    fingerprint = "other/1"
    name = "other"
    window = 2


def notes(memory: Memory, count: int = 12) -> list[str]:
    return [memory.remember(f"port note number {n}", id=f"n{n}").ids[0] for n in range(count)]


@pytest.mark.parametrize("how", ["raises", "NaN", "wrong size", "too few"])
@pytest.mark.parametrize("every", [1, 2, 3])
def test_an_embedder_that_fails_loses_no_write_and_is_made_up_for(every: int, how: str) -> None:
    model = Sometimes(every, how)
    with memoriter.open(":memory:", embedder=model) as memory:
        ids = notes(memory)
        assert memory.browse(limit=50).total == len(ids)
        model.every = 0
        report = memory.maintain()
        assert (report.owed, report.behind) == (0, 0)
        assert memory.recall("port note", require={"meaning"}).status == "complete"


def test_a_question_that_cannot_be_embedded_is_answered_by_words() -> None:
    model = Sometimes(0, "raises")
    with memoriter.open(":memory:", embedder=model) as memory:
        notes(memory)
        model.every = 1
        result = memory.recall("port note")
    assert (result.status, result.used) == ("degraded", ("words", "kin"))
    assert "the embedder failed" in result.skipped["meaning"]


def test_long_texts_are_embedded_in_parts_and_the_best_part_counts() -> None:
    with memoriter.open(":memory:", embedder=Other()) as memory:
        memory.remember("cache memory port ssh queue token", id="long")
        rows = whole(log_of(memory), "default").vectors
        assert [row.part for row in rows] == [0, 1, 2]
        alone = memory.recall("queue token", recipe="semantic")[0].lanes["meaning"].score
    assert alone == pytest.approx(1.0, abs=1e-6)


def test_a_template_adds_labels_and_what_is_known_of_the_agent() -> None:
    content = Content(
        text="ships", created=to_datetime(START), tags=("ops",), concepts=("deploy",), agent="bot"
    )
    agents = {"bot": {"display_name": "Ship Bot", "owner": "ana", "aliases": ["shipper"]}}
    hashing = embedder_of("hash")
    assert embedded_texts(content, hashing, agents) == [
        "ships\nConcepts: deploy\nTags: ops\nAgent: Ship Bot\nAliases: shipper\nOwner: ana"
    ]
    assert embedded_texts(content, ToyEmbedder(), agents) == ["ships"]
    assert space_of(hashing) == "local-text-v1+labelled/1"
    assert space_of(Other()) == "other/1+title-text/1+parts/2"


def test_records_from_before_an_embedder_are_filled_in(tmp_path: Path) -> None:
    with memoriter.open(tmp_path / "m.db", embedder=None) as memory:
        notes(memory)
    with memoriter.open(tmp_path / "m.db", embedder=ToyEmbedder()) as memory:
        memory.remember("port and another", id="new")
        assert "12 rows behind" in str(memory.plan("port"))
        report = memory.maintain()
        assert (report.embedded, report.behind) == (12, 0)
        assert "behind" not in str(memory.plan("port"))
        assert len(memory.recall("port", 50, recipe="semantic")) == 13


def test_freshness_weighs_a_cosine(tmp_path: Path) -> None:
    weights = {"lanes.meaning.fresh": 0.5, "lanes.meaning.stale": 0.25}
    with memoriter.open(tmp_path / "m.db", embedder=None) as memory:
        memory.remember("port of nothing")
    with memoriter.open(tmp_path / "m.db", embedder=ToyEmbedder()) as memory:
        memory.remember("port ssh", id="a")
        ask: dict[str, Any] = {"recipe": "semantic", "overrides": weights}
        stale = memory.recall("port ssh", **ask)[0].lanes["meaning"]
        memory.maintain()
        fresh = memory.recall("port ssh", **ask)[0].lanes["meaning"]
    assert (stale.score, fresh.score) == (pytest.approx(0.25), pytest.approx(0.5))
    assert [part.label for part in fresh.why.parts] == ["cosine", "freshness"]


def serving(memory: Memory) -> str:
    """The space that serves."""
    (space,) = [each.space for each in memory.embedding.status() if each.serves]
    return space


def test_a_model_is_changed_while_the_old_one_serves(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    with memoriter.open(path) as memory:
        notes(memory)
        served = memory.recall("port note number 3")[0].score
        space = memory.embedding.migrate("hash")
        assert (space.rows, space.serves) == (12, False)
        assert memory.recall("port note number 3")[0].score == served
        memory.remember("written meanwhile", id="late")
        memory.embedding.promote("hash")
    with memoriter.open(path) as memory:
        assert serving(memory).startswith("local-text-v1")
        assert memory.recall("written meanwhile", require={"meaning"})[0].id == "late"
        assert memory.agents.list() == []
        spaces = {space.embedder: space for space in memory.embedding.status()}
        assert (spaces["hash"].rows, spaces["hash"].serves) == (13, True)
        memory.embedding.rollback()
    with memoriter.open(path) as memory:
        assert serving(memory).startswith("static-en")
        assert memory.recall("port note number 3")[0].score == pytest.approx(served, abs=0.2)
        assert memory.verify_store().sound


def test_a_space_with_gaps_or_a_closed_gate_is_not_promoted(tmp_path: Path) -> None:
    with memoriter.open(tmp_path / "m.db") as memory:
        memory.remember_many(f"note {n}" for n in range(300))
        with pytest.raises(memoriter.Conflict, match="300 records have no vector"):
            memory.embedding.promote("hash")
        memory.embedding.migrate("hash")
        with pytest.raises(memoriter.Conflict, match="gate"):
            memory.embedding.promote("hash", gate=lambda: False)
        with pytest.raises(memoriter.NotFound):
            memory.embedding.rollback()
        memory.embedding.promote("hash", gate=lambda: True)


def test_a_migration_killed_in_the_middle_loses_nothing(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    with memoriter.open(path) as memory:
        memory.remember_many(f"note {n} about ports" for n in range(700))
        before = [(hit.id, hit.score) for hit in memory.recall("note ports", 20)]
    child = os.fork()
    if not child:
        with memoriter.open(path) as memory:
            memory.embedding.migrate("hash", progress=_die_at_256)
        os._exit(0)
    assert os.waitpid(child, 0)[1] == signal.SIGKILL
    with memoriter.open(path) as memory:
        assert [(hit.id, hit.score) for hit in memory.recall("note ports", 20)] == before
        assert memory.verify_store().sound
        progress: list[int] = []
        assert memory.embedding.migrate("hash", progress=progress.append).rows == 700
        assert progress[-1] == 700 - 256
        memory.embedding.promote("hash")


def _die_at_256(done: int) -> None:
    if done >= 256:
        os.kill(os.getpid(), signal.SIGKILL)
