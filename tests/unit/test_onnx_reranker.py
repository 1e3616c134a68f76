"""Cross-encoders in a folder: pairs, batches, labels, and real runs."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.unit.tiny import cross_encoder, embedding, needs_extra

import memoriter
from memoriter.core.errors import InputError, NotFound, Unsupported
from memoriter.rerank.onnx import OnnxReranker, RerankerSetup, probabilities, read_reranker_folder
from memoriter.rerank.port import Reranker


def folder(at: Path, files: dict[str, Any] | None = None) -> Path:
    at.mkdir(parents=True, exist_ok=True)
    for name, body in {"model.onnx": "weights", "tokenizer.json": {}, **(files or {})}.items():
        (at / name).write_text(body if isinstance(body, str) else json.dumps(body))
    return at


def logistic(value: float) -> float:
    return 1.0 / (1.0 + math.exp(-value))


# --- a runtime without the extra: the tokens of a text are its characters ---------------------


class Toy:
    """Counts the letters of the text that stand in the question too, minus two."""

    def __init__(self, setup: RerankerSetup, threads: int) -> None:
        self.setup = setup
        self.threads = threads
        self.shapes: list[tuple[int, ...]] = []

    unbatched = False

    def encode_pairs(self, first: str, seconds: Sequence[str]) -> list[tuple[list[int], list[int]]]:
        return [
            ([*map(ord, first), *map(ord, second)], [0] * len(first) + [1] * len(second))
            for second in seconds
        ]

    def run(
        self, ids: NDArray[np.int64], mask: NDArray[np.int64], types: NDArray[np.int64]
    ) -> NDArray[np.float32]:
        self.shapes.append(ids.shape)
        assert ((ids == self.setup.pad) | (mask == 1)).all()
        rows = [
            [len(set(row[(kind == 0) & (on == 1)]) & set(row[(kind == 1) & (on == 1)])) - 2.0]
            for row, kind, on in zip(ids, types, mask, strict=True)
        ]
        return np.array(rows, np.float32)


class Alone(Toy):
    unbatched = True


class Loader:
    """Loads a toy, and keeps it at hand."""

    def __init__(self, kind: type[Toy] = Toy) -> None:
        self.kind = kind
        self.loaded: list[Toy] = []

    def __call__(self, setup: RerankerSetup, threads: int) -> Toy:
        self.loaded.append(self.kind(setup, threads))
        return self.loaded[-1]


def reranker(at: Path, load: Any = Toy, files: dict[str, Any] | None = None) -> OnnxReranker:
    return OnnxReranker(read_reranker_folder(folder(at, files)), load=load)


def test_scores_come_back_in_the_order_of_the_texts(tmp_path: Path) -> None:
    onnx: Reranker = reranker(tmp_path)
    texts = ["x" * 60, "abc", "", "ab" + "y" * 30, "a"]
    shared = [0, 3, 0, 2, 1]
    assert onnx.score("abc", texts) == [logistic(count - 2.0) for count in shared]


def test_batches_hold_pairs_of_like_length(tmp_path: Path) -> None:
    loader = Loader()
    onnx = reranker(tmp_path, loader)
    (toy,) = loader.loaded
    toy.shapes.clear()  # of the pair that tries the model when it is opened
    onnx.score("ab", ["a" * (nth % 64 + 1) for nth in range(64)])
    assert toy.shapes == [(32, 34), (32, 66)]


def test_a_model_whose_pairs_would_mix_reads_one_at_a_time(tmp_path: Path) -> None:
    loader = Loader(Alone)
    onnx = reranker(tmp_path, loader)
    (toy,) = loader.loaded
    toy.shapes.clear()  # as above
    onnx.score("a", ["abc", "a"])
    assert toy.shapes == [(1, 2), (1, 4)]


def test_a_model_is_tried_when_it_is_opened(tmp_path: Path) -> None:
    class Three(Toy):
        def run(
            self, ids: NDArray[np.int64], mask: NDArray[np.int64], types: NDArray[np.int64]
        ) -> NDArray[np.float32]:
            return np.repeat(super().run(ids, mask, types), 3, axis=1)

    with pytest.raises(Unsupported, match=r"shape \(1, 3\) for 1 pairs") as caught:
        OnnxReranker(read_reranker_folder(folder(tmp_path)), load=Three)
    assert "one label or two" in caught.value.hint


def test_one_label_and_two_labels_become_a_likelihood() -> None:
    assert probabilities(np.array([[-800.0], [0.0], [800.0]]), 3) == [0.0, 0.5, 1.0]
    assert probabilities(np.array([0.0, 1.0]), 2) == [0.5, logistic(1.0)]
    assert probabilities(np.array([[1.0, 3.0], [3.0, 1.0]]), 2) == pytest.approx(
        [logistic(2.0), logistic(-2.0)]
    )
    for wrong in (np.zeros((2, 3)), np.zeros((1, 1)), np.zeros((2, 4, 8)), np.zeros((2, 0))):
        with pytest.raises(ValueError, match="shape"):
            probabilities(wrong, 2)


def test_the_order_is_that_of_the_logits() -> None:
    logits = np.sort(np.random.default_rng(3).uniform(-12, 12, (200, 1)), axis=0)
    assert (np.diff(probabilities(logits, 200)) > 0).all()


# --- what a folder says ------------------------------------------------------------------------


def test_a_folder_says_length_and_padding(tmp_path: Path) -> None:
    files = {
        "config.json": {
            "model_type": "xlm-roberta", "max_position_embeddings": 130, "pad_token_id": 1,
        },
        "tokenizer_config.json": {"model_max_length": 1e30},
    }  # fmt: skip
    setup = read_reranker_folder(folder(tmp_path / "bge", files))
    assert (setup.name, setup.max_length, setup.pad) == ("onnx:bge", 128, 1)
    assert read_reranker_folder(folder(tmp_path / "silent")).max_length == 512


def test_the_fingerprint_names_all_that_decides_a_score_and_no_place(tmp_path: Path) -> None:
    one = read_reranker_folder(folder(tmp_path / "one"))
    assert read_reranker_folder(folder(tmp_path / "two")).fingerprint == one.fingerprint
    others: list[dict[str, Any]] = [
        {"model.onnx": "other"},
        {"model.onnx_data": "more"},
        {"tokenizer.json": {"other": 1}},
        {"tokenizer_config.json": {"model_max_length": 64}},
    ]
    prints = {
        read_reranker_folder(folder(tmp_path / f"other{nth}", files)).fingerprint
        for nth, files in enumerate(others)
    }
    assert len(prints | {one.fingerprint}) == len(others) + 1


def test_what_is_missing_or_damaged_is_named(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="there is no model at") as caught:
        read_reranker_folder(tmp_path / "nowhere")
    assert caught.value.field == "reranker"
    with pytest.raises(InputError, match=r"config\.json is not a valid .*Invalid JSON"):
        read_reranker_folder(folder(tmp_path, {"config.json": "{"}))


def test_without_the_extra_the_error_names_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memoriter.models.runtime.find_spec", lambda _: None)
    with pytest.raises(Unsupported, match="not installed: onnxruntime, tok") as caught:
        OnnxReranker(read_reranker_folder(folder(tmp_path)))
    assert caught.value.hint == 'in a clone of Memoriter: pip install ".[onnx]"'


# --- the real runtime --------------------------------------------------------------------------


def by_hand(table: NDArray[np.float64], query: list[int], text: list[int]) -> float:
    first, second = [2, *query, 3], [*text, 3]
    total = table[first].sum(axis=0) + 2.0 * table[second].sum(axis=0)
    return logistic(total[-1] - (total[0] if len(total) > 1 else 0.0))


@needs_extra
@pytest.mark.parametrize("labels", [1, 2])
def test_a_real_model_reads_question_and_text_together(tmp_path: Path, labels: int) -> None:
    onnx = OnnxReranker(read_reranker_folder(cross_encoder(tmp_path, labels=labels)), threads=2)
    table = np.load(tmp_path / "table.npy").astype(np.float64)
    texts = ["w5", "w6 w7 w8 w9", "", "w1 \ud800", *(f"w{nth}" for nth in range(28))]
    ids = [[9], [10, 11, 12, 13], [], [5, 1], *([nth + 4] for nth in range(28))]
    made = onnx.score("w3 w4", texts)
    assert made == pytest.approx([by_hand(table, [7, 8], each) for each in ids], abs=1e-6)


@needs_extra
def test_a_real_model_cuts_what_is_too_long_for_it(tmp_path: Path) -> None:
    (cross_encoder(tmp_path) / "tokenizer_config.json").write_text('{"model_max_length": 7}')
    onnx = OnnxReranker(read_reranker_folder(tmp_path))
    short, long = onnx.score("w1 w2", ["w3 w4", "w3 w4 w9 w9 w9"])
    assert short == long
    (one,) = onnx.score("w1 " * 5000, ["w2    " * 5000])
    (other,) = onnx.score("w1 w1", ["w2 w2"])
    assert one == other


@needs_extra
def test_a_memory_opens_with_a_folder_and_asks_it_within_the_deadline(tmp_path: Path) -> None:
    at = cross_encoder(tmp_path / "model")
    with memoriter.open(":memory:", reranker=f"onnx:{at}") as memory:
        memory.remember_many(["w1 w2", "w1 w3"])
        result = memory.recall("w1")
        assert len(result) == 2
        assert result.trace["reranked"]


@needs_extra
def test_a_model_that_is_no_cross_encoder_is_refused_when_it_is_opened(tmp_path: Path) -> None:
    with pytest.raises(Unsupported, match="returned an array of shape"):
        memoriter.open(":memory:", reranker=f"onnx:{embedding(tmp_path / 'embedder')}")
    with pytest.raises(Unsupported, match=r"cannot be loaded"):
        memoriter.open(":memory:", reranker=f"onnx:{folder(tmp_path / 'damaged')}")
