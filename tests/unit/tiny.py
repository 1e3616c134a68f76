"""Models of a few numbers that a real runtime runs, and a tokenizer of 32 words."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

MISSING = [name for name in ("onnxruntime", "tokenizers", "onnx") if find_spec(name) is None]
needs_extra = pytest.mark.skipif(
    bool(MISSING),
    reason=f'not installed: {", ".join(MISSING)}; pip install ".[onnx]" onnx runs this',
)


def embedding(at: Path, *, quantised: bool = False) -> Path:
    """A model that looks each token up in a table of random numbers; its folder says mean."""
    steps: list[tuple[Any, ...]] = [("Gather", ["table", "input_ids"], ["last_hidden_state"])]
    if quantised:
        steps = [
            ("Gather", ["table", "input_ids"], ["raw"]),
            ("DynamicQuantizeLinear", ["raw"], ["q", "scale", "zero"]),
            ("DequantizeLinear", ["q", "scale", "zero"], ["last_hidden_state"]),
        ]
    table = np.random.default_rng(7).standard_normal((32, 6)).astype(np.float32)
    np.save(at_made(at) / "table.npy", table)
    (at_made(at / "1_Pooling") / "config.json").write_text('{"pooling_mode": "mean"}')
    inputs = ("input_ids", "attention_mask")
    return _saved(at, steps, inputs, ("last_hidden_state", [None, None, 6]), {"table": table})


def cross_encoder(at: Path, *, labels: int = 1) -> Path:
    """A model that adds up numbers of its tokens, those of the second text twice."""
    steps: list[tuple[Any, ...]] = [
        ("Gather", ["table", "input_ids"], ["each"]),
        ("Add", ["attention_mask", "token_type_ids"], ["counts"]),
        ("Mul", ["counts", "attention_mask"], ["counted"]),
        ("Cast", ["counted"], ["weights"], {"to": 1}),
        ("Unsqueeze", ["weights", "last"], ["wide"]),
        ("Mul", ["each", "wide"], ["weighed"]),
        ("ReduceSum", ["weighed", "tokens"], ["logits"], {"keepdims": 0}),
    ]
    table = np.random.default_rng(11).standard_normal((32, labels)).astype(np.float32) / 4
    np.save(at_made(at) / "table.npy", table)
    numbers = {"table": table, "last": np.array([2]), "tokens": np.array([1])}
    inputs = ("input_ids", "attention_mask", "token_type_ids")
    return _saved(at, steps, inputs, ("logits", [None, labels]), numbers)


def at_made(at: Path) -> Path:
    at.mkdir(parents=True, exist_ok=True)
    return at


def _saved(
    at: Path,
    steps: list[tuple[Any, ...]],
    inputs: tuple[str, ...],
    output: tuple[str, list[int | None]],
    numbers: dict[str, np.ndarray],
) -> Path:
    onnx: Any = import_module("onnx")
    helper: Any = import_module("onnx.helper")
    arrays: Any = import_module("onnx.numpy_helper")
    info = helper.make_tensor_value_info
    graph = helper.make_graph(
        [
            helper.make_node(kind, taken, given, **(more[0] if more else {}))
            for kind, taken, given, *more in steps
        ],
        "tiny",
        [info(name, onnx.TensorProto.INT64, ["texts", "tokens"]) for name in inputs],
        [info(output[0], onnx.TensorProto.FLOAT, output[1])],
        [arrays.from_array(values, name) for name, values in numbers.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.save(model, str(at / "model.onnx"))
    _save_tokenizer(at)
    return at


def _save_tokenizer(at: Path) -> None:
    """Words w0 to w27 are the tokens 4 to 31."""
    tokenizers: Any = import_module("tokenizers")
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *(f"w{nth}" for nth in range(28))]
    numbers = {word: nth for nth, word in enumerate(words)}
    made = tokenizers.Tokenizer(tokenizers.models.WordLevel(numbers, unk_token=words[1]))
    made.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    made.post_processor = tokenizers.processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 2), ("[SEP]", 3)],
    )
    made.enable_padding(length=64)
    made.save(str(at / "tokenizer.json"))
