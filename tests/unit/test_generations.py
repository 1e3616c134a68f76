"""Spaces over time: texts without anything to embed, updates, names, models that are gone."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from tests.inside import index_of, log_of

import memoriter
from memoriter.core.errors import Unsupported
from memoriter.embed.callable import FunctionEmbedder
from memoriter.embed.hash import Hash
from memoriter.embed.vector_space import parse_space, space_of
from memoriter.memory import embedding
from memoriter.memory.embedders import embedder_of
from memoriter.memory.facade import Memory
from memoriter.pipeline.load import recipe_of
from memoriter.testing.fakes import ToyEmbedder

BLANK = "👍 !!!"


def weight(memory: Memory) -> Any:
    """What a cosine counts by MentisDB's recipe, and who is behind."""
    steps = memory.plan("port", recipe="mentisdb").steps
    shows = next(step.shows for step in steps if step.name == "meaning")
    return shows["weight"], shows.get("vectors")


def test_a_text_with_nothing_to_embed_makes_no_space_stale() -> None:
    memory = memoriter.open(":memory:")
    memory.remember("port")
    memory.remember(BLANK, id="blank")
    assert weight(memory) == (0.5, None)
    assert memory.maintain().embedded == 0
    assert [hit.record.text for hit in memory.recall("port", recipe="semantic")] == ["port"]
    memory.update("blank", tags=["x"])
    assert weight(memory) == (0.5, None)
    memory.update("blank", text="a harbour")
    assert len(memory.recall("port", recipe="semantic")) == 2


def test_texts_with_nothing_to_embed_keep_nobody_waiting(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    with memoriter.open(path, embedder=None) as memory:
        memory.remember_many([*[BLANK] * 30, *(f"port {n}" for n in range(20))])
    with memoriter.open(path, flush_rows=10) as memory:
        memory.remember("port ssh")
        assert weight(memory) == (0.3, "50 rows behind")
        reports = [memory.maintain(limit=25) for _ in range(3)]
        assert [(r.embedded, r.behind) for r in reports] == [(25, 25), (25, 0), (0, 0)]
        assert weight(memory) == (0.5, None)
        (space,) = memory.embedding.status()
        assert (space.rows, space.of) == (51, 51)
        assert memory.verify_store().sound
        memory.export(tmp_path / "out.jsonl")
    shutil.rmtree(tmp_path / "m.db.idx")
    with memoriter.open(path) as memory, memoriter.open(":memory:") as other:
        other.load(tmp_path / "out.jsonl")
        assert weight(memory) == weight(other) == (0.5, None)


def test_a_space_may_serve_whatever_has_nothing_to_embed() -> None:
    memory = memoriter.open(":memory:", embedder=ToyEmbedder())
    memory.remember_many(["!!!"] * 300 + ["port"])
    space = memory.embedding.migrate("table")
    assert (space.rows, space.of) == (301, 301)
    memory.embedding.promote("table")


def test_a_vector_goes_when_its_own_template_reads_otherwise() -> None:
    memory = memoriter.open(":memory:", embedder=["table", "hash"])
    memory.remember("one two", id="a", tags=["alpha"])
    memory.remember("three", id="b")
    memory.maintain()

    def kept() -> dict[str, bytes]:
        rows = log_of(memory).vectors("default", memory.get("a").row)
        return {row.generation: row.body for row in rows}

    before = kept()
    memory.update("a", tags=["omega"])
    static, theirs = space_of(embedder_of("table")), space_of(Hash())
    assert kept() == {static: before[static]}
    assert "1 row behind" in str(memory.plan("one", recipe="semantic"))
    memory.maintain()
    (fresh,) = Hash().embed(["one two\nTags: omega"], "record")
    assert fresh is not None
    assert kept()[theirs] == fresh.tobytes()
    memory.update("a", importance=0.9)
    assert len(kept()) == 2


@pytest.mark.parametrize("name", ["table", "hash"])
def test_the_name_of_a_space_tells_its_parts(name: str) -> None:
    model = embedder_of(name)
    assert model is not None
    fingerprint, template, window = parse_space(space_of(model))
    assert fingerprint == model.fingerprint
    assert template == getattr(model, "template", "title-text/1")
    assert window == getattr(model, "window", None)


def test_a_space_has_a_name_before_it_serves_and_after(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    with memoriter.open(path) as memory:
        memory.remember("port")
        memory.embedding.migrate("hash")
    with memoriter.open(path) as memory:
        assert {space.embedder for space in memory.embedding.status()} == {"table", "hash"}
        memory.embedding.promote("hash")
        memory.embedding.promote("hash")
        memory.embedding.rollback()
        serving = {space.embedder: space.serves for space in memory.embedding.status()}
        assert serving == {"table": True, "hash": False}


def test_a_model_of_the_callers_own_has_no_name_to_serve_by() -> None:
    memory = memoriter.open(":memory:")
    own = FunctionEmbedder(lambda texts: [[len(text), 1.0] for text in texts], "length", 2)
    memory.remember("port")
    memory.embedding.migrate(own)
    with pytest.raises(memoriter.InputError, match="expected the name of an embedder") as caught:
        memory.embedding.promote(own)  # pyright: ignore[reportArgumentType]  # wrong on purpose
    assert "embedder=" in caught.value.hint
    with pytest.raises(memoriter.InputError, match="gate"):
        memory.embedding.promote("hash", gate=3)  # pyright: ignore[reportArgumentType]  # wrong on purpose


def test_a_migration_says_why_it_cannot_go_on() -> None:
    memory = memoriter.open(":memory:")
    memory.remember("port")
    away = ToyEmbedder()
    away.failing = True
    with pytest.raises(memoriter.Unavailable, match="told to fail; 0 records are embedded"):
        memory.embedding.migrate(away)


def test_a_serving_model_that_is_gone_costs_its_vectors_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "m.db"
    with memoriter.open(path) as memory:
        memory.remember("port 22", id="old")
        memory.embedding.migrate("hash")
        memory.embedding.promote("hash")

    def gone(what: Any) -> Any:
        if what == "hash":
            raise Unsupported("hash: its files are not installed", hint="install them")
        return embedder_of(what)

    with monkeypatch.context() as patched:
        patched.setattr(embedding, "embedder_of", gone)
        with memoriter.open(path) as memory:
            commit = memory.remember("port 23", id="new")
            assert commit.debt == 1
            result = memory.recall("port")
            assert {hit.id for hit in result} == {"old", "new"}
            assert "its files are not installed" in result.skipped["meaning"]
    with memoriter.open(path) as memory:
        assert memory.maintain().owed == 0
        assert memory.recall("port", require={"meaning"}).status == "complete"
    with monkeypatch.context() as patched:
        patched.setattr(embedding, "embedder_of", gone)
        with memoriter.open(path) as memory:
            memory.embedding.rollback()
        with memoriter.open(path) as memory:
            memory.maintain()
            assert memory.recall("port", require={"meaning"}).status == "complete"


def test_at_the_lowest_floor_everything_is_a_candidate() -> None:
    memory = memoriter.open(":memory:", embedder="given:3")
    vector = [0.267261, 0.534522, 0.801784]
    memory.remember("away", vector=[-one for one in vector])
    recipe = recipe_of("semantic").to_data()
    recipe["lanes"]["meaning"]["min_cosine"] = -1.0
    for n in range(50):
        asked = [one * (1.0 + n / 97.0) + n * 1e-9 for one in vector]
        assert len(memory.recall("", recipe=recipe, vector=asked)) == 1


def test_codes_count_as_memory() -> None:
    memory = memoriter.open(":memory:", embedder="given:64")
    memory.remember_many({"text": "x", "vector": [1.0, n, *[0.5] * 62]} for n in range(100))
    index = index_of(memory)
    index.view()
    before = index.nbytes
    memory.recall("", vector=[1.0] * 64, overrides={"lanes.meaning.exact_up_to": 10})
    assert index.nbytes - before == 100 * 64 * 2 // 8
