"""The packaged model: its tokens, its arithmetic, and that every machine gets the same bits."""

from __future__ import annotations

import ctypes
import hashlib
import os
import random
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.texts_and_tokens import TEXTS, tokens_of, weights

import memoriter
from memoriter.core.errors import Corrupt
from memoriter.embed import memory_en
from memoriter.embed.memory_en import MemoryModel
from memoriter.embed.static import Static
from memoriter.embed.transformer import (
    DOWN,
    INNER,
    LAYER,
    LONGEST,
    OUT,
    QKV,
    UP,
    WIDTH,
    Linear,
    MatrixShape,
    Transformer,
    Weights,
    blocks_of,
    exponentials,
    interleaved,
    linear,
    normal_shares,
    pooled,
    separated,
)
from memoriter.embed.word_pieces import BEGIN, END, PIECES, SIZE, WordPieces
from memoriter.kernel.calls import transformed
from memoriter.kernel.library import Library, address, native_library

# --- tokens ------------------------------------------------------------------------------------


def test_a_text_is_its_word_pieces_and_marks_between_two_ends() -> None:
    table = Static()
    first, *inner, last = WordPieces().tokens("Keys? Unrepeatable!", 16)
    assert (first, last) == (BEGIN, END)
    words = [token for token in inner if token < PIECES]
    assert words == table.tokens("keys unrepeatable")
    assert len(inner) == len(words) + 2  # a question mark and an exclamation mark


def test_accents_and_capitals_make_no_difference() -> None:
    pieces = WordPieces()
    assert pieces.tokens("CAFÉ au lait", 16) == pieces.tokens("cafe au lait", 16)


@pytest.mark.parametrize("text", ["", " ", "…", "?!", "🙂", "--- ***"])
def test_a_text_without_a_word_has_no_vector(text: str) -> None:
    assert WordPieces().tokens(text, LONGEST) == []
    assert MemoryModel().embed([text], "record") == [None]


def test_a_long_text_ends_at_the_length_of_the_model() -> None:
    tokens = WordPieces().tokens("word " * 1000, LONGEST)
    assert (len(tokens), tokens[0], tokens[-1]) == (LONGEST, BEGIN, END)


# --- arithmetic, by hand -----------------------------------------------------------------------


def test_a_product_rounds_its_input_to_whole_steps_of_the_largest() -> None:
    # The largest is 3, three levels: steps of 1; 1.4 becomes 1. Sums 3·2 + 1·5 = 11, 3·(−1) = −3.
    use = Linear(
        np.float32(3), blocks_of(np.array([[2, -1], [5, 0]], np.int8), 1, 1),
        np.array([0.5, 2], np.float32),
        np.array([1, 0], np.float32),
    )  # fmt: skip
    assert linear(np.array([[3, 1.4]], np.float32), use).tolist() == [[6.5, -6.0]]


def test_a_product_of_nothing_is_the_bias() -> None:
    ones = np.ones(1, np.float32)
    use = Linear(np.float32(255), blocks_of(np.ones((2, 1), np.int8), 2, 1), ones, 7 * ones)
    assert linear(np.zeros((1, 2), np.float32), use).tolist() == [[7.0]]


def test_a_vector_in_bytes_has_127_as_its_largest_number() -> None:
    sums = np.array([[2.0, -1.0, 0.5], [0.0, 0.0, 0.0]])
    assert pooled(sums).tolist() == [[127, -64, 32], [0, 0, 0]]


def test_tables_have_the_values_of_their_functions() -> None:
    assert exponentials()[[0, 512]].tolist() == [32768.0, 12055.0]  # 2^15 · e^-1 = 12054.7
    assert exponentials()[-1] == 0.0
    assert normal_shares()[[0, 1536, -1]].tolist() == [0.0, 0.5, 1.0]


def test_an_interleaved_matrix_can_be_separated() -> None:
    matrix = np.arange(-64, 64, dtype=np.int8).reshape(32, 4)
    flat = interleaved(matrix)
    assert flat[:4].tolist() == [matrix[0, 0], matrix[0, 1], matrix[1, 0], matrix[1, 1]]
    assert np.array_equal(separated(flat, MatrixShape(0, 32, 4)), matrix)


def test_no_sum_of_products_can_leave_the_range_where_floats_are_exact() -> None:
    words, layers, numbers = weights()
    at = len(words) + LONGEST * WIDTH + 2 * WIDTH
    assert layers.shape[1] == LAYER
    for own in layers:
        for shape in (QKV, OUT, UP, DOWN):
            levels = float(numbers[at])
            whole = separated(own[shape.begin : shape.begin + shape.size], shape).astype(np.int64)
            assert levels * np.abs(whole).sum(axis=1).max() < 2**24
            assert levels == int(levels)
            at += 1 + 2 * shape.outputs + (2 * WIDTH if shape in (OUT, DOWN) else 0)
    assert at == numbers.size
    assert UP.outputs == INNER


# --- the same bits everywhere ------------------------------------------------------------------


def test_a_text_has_the_same_vector_alone_and_among_others_in_any_order() -> None:
    model, texts = Transformer(weights()), tokens_of(TEXTS)
    together = model.vectors(texts)
    order = list(range(len(texts)))
    random.Random(3).shuffle(order)
    shuffled = model.vectors([texts[at] for at in order])
    assert np.array_equal(shuffled, together[order])
    for each, own in zip(texts, together, strict=True):
        assert np.array_equal(model.vectors([each])[0], own)


@pytest.mark.skipif(native_library() is None, reason="the native kernel is not installed")
def test_the_native_kernel_gives_the_bits_of_numpy() -> None:
    fast, pieces = native_library(), WordPieces()
    assert fast is not None
    rnd = random.Random(5)
    words = [each for text in TEXTS for each in text.split()]
    drawn = [
        " ".join(rnd.choices(words, k=rnd.choice((1, 2, 3, 7, 20, 60, 300)))) for _ in range(60)
    ]
    texts = [made for text in drawn if (made := pieces.tokens(text, LONGEST))]
    ours = transformed(fast, weights(), (exponentials(), normal_shares()), texts)
    assert np.array_equal(ours, Transformer(weights()).vectors(texts))


@pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler")
@pytest.mark.parametrize("tile", ["tile_plain", "tile_half", "tile_wide"])
def test_every_instruction_set_gives_the_same_bits(tile: str, tmp_path: Path) -> None:
    flags = Path("/proc/cpuinfo").read_text() if Path("/proc/cpuinfo").exists() else ""
    needed = {"tile_plain": "", "tile_half": "avx2", "tile_wide": "avx512_vnni"}[tile]
    if needed not in flags:
        pytest.skip(f"this machine has no {needed}")
    made = tmp_path / "one.so"
    source = Path(__file__).parents[2] / "native/c/transformer.c"
    options = ["-std=c11", "-O2", "-ffp-contract=off", "-fno-math-errno", "-fPIC", "-shared"]
    command = ["cc", *options, f"-DTILE={tile}", "-o", str(made), str(source), "-lm"]
    subprocess.run(command, check=True)  # noqa: S603  # our own source
    texts = tokens_of(TEXTS)
    sizes = np.array([len(each) for each in texts], np.int64)
    flat, out = np.concatenate(texts).astype(np.int64), np.empty((len(texts), WIDTH), np.int8)
    words, layers, numbers = (np.ascontiguousarray(each) for each in weights())
    exps, shares = exponentials(), normal_shares()
    call: Any = ctypes.CDLL(str(made)).kernel_transform
    given = [address(words), len(words), address(layers), len(layers), address(numbers)]
    given += [address(exps), exps.size, address(shares), address(flat), address(sizes), len(texts)]
    call.argtypes = [ctypes.c_int64] * 12
    assert call(*given, address(out)) == 0
    assert np.array_equal(out, Transformer(weights()).vectors(texts))


PRINTED = """
import hashlib
from tests.texts_and_tokens import TEXTS, tokens_of, weights
from memoriter.embed.transformer import Transformer
print(hashlib.sha256(Transformer(weights()).vectors(tokens_of(TEXTS)).tobytes()).hexdigest())
"""


@pytest.mark.parametrize("core", ["Prescott", "Haswell", "SkylakeX"])
@pytest.mark.parametrize("threads", ["1", "2"])
def test_every_library_of_linear_algebra_gives_the_same_bits(core: str, threads: str) -> None:
    expected = hashlib.sha256(
        Transformer(weights()).vectors(tokens_of(TEXTS)).tobytes()
    ).hexdigest()
    env = {**os.environ, "OPENBLAS_CORETYPE": core, "OPENBLAS_NUM_THREADS": threads}
    env["PYTHONPATH"] = str(Path(__file__).parents[2])
    done = subprocess.run(  # noqa: S603  # our own script
        [sys.executable, "-c", PRINTED], env=env, capture_output=True, text=True, check=False
    )
    assert done.stdout.strip() == expected, done.stderr


# --- the embedder ------------------------------------------------------------------------------


def test_other_words_are_nearer_than_other_things() -> None:
    asked, answer, other = MemoryModel().embed(
        ["how do I get in when locked out?", "The spare key is under the pot", "We ate soup"],
        "query",
    )
    assert asked is not None
    assert answer is not None
    assert other is not None
    assert float(asked @ answer) > float(asked @ other) + 0.1


def test_the_files_are_those_that_the_fingerprint_names() -> None:
    folder = Path(memory_en.__file__).parent / "memory_en"
    for name, known in memory_en.SHA256.items():
        assert hashlib.sha256((folder / name).read_bytes()).hexdigest() == known


def test_files_that_cannot_be_read_are_said_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory_en, "LOADED", memory_en.LoadedModel())
    monkeypatch.setattr(memory_en, "mapped_array", lambda file: np.load(Path("/nowhere") / "x"))
    with pytest.raises(Corrupt, match="the packaged model cannot be read") as caught:
        MemoryModel()
    assert caught.value.hint == "install memoriter again"


def test_without_the_kernel_the_vectors_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    with_kernel = MemoryModel().embed(TEXTS, "record")
    nothing: Library | None = None
    monkeypatch.setattr(memory_en, "native_library", lambda: nothing)
    for one, two in zip(with_kernel, MemoryModel().embed(TEXTS, "record"), strict=True):
        assert one is not None
        assert two is not None
        assert np.array_equal(one, two)


def test_every_part_of_a_dense_text_is_read() -> None:
    log = " ".join(f"[2026-11-{n:02}T10:{n:02}:00.123+01:00]:gw/pay=0x{n:04x};" for n in range(30))
    with memoriter.open(":memory:", embedder="memory-en") as memory:
        memory.remember(f"{log} The wedding of Anna takes place in Lisbon.", id="dense")
        memory.remember("Bread is baked on Tuesdays", id="other")
        (first, _) = memory.recall("when does she get married?", recipe="semantic")
    assert first.id == "dense"


def test_arrays_of_other_sizes_are_refused_before_anything_reads_them() -> None:
    words, layers, numbers = weights()
    assert Weights(words, layers, numbers).fit(SIZE)
    assert not Weights(words[:, :300], layers, numbers).fit(SIZE)
    assert not Weights(words, layers[:2], numbers).fit(SIZE)
    wide: Any = numbers.astype(np.float64)
    assert not Weights(words, layers, wide).fit(SIZE)
