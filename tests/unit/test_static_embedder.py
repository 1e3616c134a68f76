"""The packaged static table: its files, its words, its vectors."""

from __future__ import annotations

import hashlib
from importlib import resources

import numpy as np
import pytest

from memoriter.embed.port import Embedder
from memoriter.embed.static import SHA256, Static, static_words, sums, table
from memoriter.rank.grid import unit

STATIC = Static()


def cosine(one: str, other: str) -> float:
    left, right = STATIC.embed([one, other], "record")
    assert left is not None
    assert right is not None
    return float(left.astype(np.float64) @ right.astype(np.float64))


def test_it_is_an_embedder_with_a_name_a_fingerprint_and_a_dimension() -> None:
    embedder: Embedder = STATIC
    assert embedder.name == "static-en"
    assert embedder.fingerprint == Static().fingerprint
    assert embedder.fingerprint.startswith("static-en/1:")
    assert embedder.dimension == 256


@pytest.mark.parametrize("file", SHA256)
def test_the_packaged_files_are_the_ones_the_fingerprint_names(file: str) -> None:
    body = resources.files("memoriter.embed").joinpath("static_en", file).read_bytes()
    assert hashlib.sha256(body).hexdigest() == SHA256[file]


def test_the_table_has_one_row_one_scale_and_one_entry_per_piece() -> None:
    rows, scales, entries = table()
    assert rows.shape == (29_114, 256)
    assert rows.dtype == np.int8
    assert len(scales) == len(entries) == 29_114
    assert table() is table()


def test_every_scale_keeps_the_sums_exact() -> None:
    scales = table().scales
    steps = scales.astype(np.float64) * 2**24
    assert np.isfinite(scales).all()
    assert (steps == np.rint(steps)).all()
    assert scales.min() >= float(np.finfo(np.float16).tiny)
    assert float(scales.max()) * 128 < 1.0


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("Hello, WORLD!", ["hello", "world"]),
        ("Café du_Monde", ["cafe", "du", "monde"]),
        ("ﬁn²", ["fin2"]),
        ("\ud800 a\x00b", ["a", "b"]),
    ],
)
def test_words_are_lower_case_without_marks(text: str, expected: list[str]) -> None:
    assert static_words(text) == expected


def test_a_word_outside_the_vocabulary_is_the_longest_pieces_that_fit() -> None:
    names = {row: name for name, row in table().entries.items()}
    assert [names[row] for row in STATIC.tokens("embeddings happy")] == [
        "em", "##bed", "##ding", "##s", "happy",
    ]  # fmt: skip


def test_a_character_that_begins_no_piece_is_skipped() -> None:
    names = {row: name for name, row in table().entries.items()}
    assert [names[row] for row in STATIC.tokens("cat\U00010400s")] == ["cat", "##s"]


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("cache latency", "memory lookups are slow", 0.37),
        ("happy", "joyful", 0.46),
        ("project deadlines", "task due dates", 0.44),
        ("pasta recipe", "how to cook spaghetti", 0.65),
    ],
)
def test_paraphrases_are_near(one: str, other: str, expected: float) -> None:
    assert cosine(one, other) == pytest.approx(expected, abs=0.02)


def test_a_text_without_words_has_no_vector() -> None:
    assert STATIC.embed(["", " … !", "\ud800"], "query") == [None, None, None]
    assert STATIC.embed([], "record") == []


def test_a_vector_is_the_unit_of_the_sum_and_stands_on_the_grid() -> None:
    rows, scales, entries = table()
    expected = unit(
        rows[entries["red"]].astype(np.float64) * float(scales[entries["red"]])
        + rows[entries["wine"]].astype(np.float64) * float(scales[entries["wine"]])
    )
    (vector,) = STATIC.embed(["Red wine"], "record")
    assert expected is not None
    assert vector is not None
    assert vector.dtype == np.float32
    assert vector.tolist() == expected.tolist()
    assert (vector * 2**23 == np.rint(vector * 2**23)).all()


def test_a_text_has_the_same_vector_in_any_batch_and_any_order_of_its_words() -> None:
    texts = [f"memory {n} of the red lighthouse " * (n % 40 + 1) for n in range(400)]
    texts[7] = "long " * 20_000 + "tail"
    texts[11] = ""
    together = STATIC.embed(texts, "record")
    for text, vector in zip(texts, together, strict=True):
        (alone,) = STATIC.embed([" ".join(reversed(text.split()))], "query")
        assert (alone is None) == (vector is None)
        if alone is not None and vector is not None:
            assert alone.tolist() == vector.tolist()


def test_sums_are_the_integers_they_stand_for() -> None:
    rows, scales, _ = table()
    texts = [[5, 17, 5], [29_113], list(range(9_000))]
    steps = (scales.astype(np.float64) * 2**24).astype(np.int64)
    flat = np.array([token for text in texts for token in text], np.uint16)
    made = sums(flat, np.array([len(text) for text in texts], np.int64))
    for tokens, total in zip(texts, made, strict=True):
        exact = (rows[tokens].astype(np.int64) * steps[tokens, np.newaxis]).sum(axis=0)
        assert (total * 2**24).astype(np.int64).tolist() == exact.tolist()
