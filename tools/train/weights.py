"""Writes trained weights as the package carries them: matrices in 8 bits with a scale a row."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np
from torch import nn

from memoriter.embed.transformer import DOWN, LAYER, OUT, QKV, UP, Transformer, Weights, interleaved
from memoriter.embed.word_pieces import WordPieces
from tools.train.network import LONGEST, Network, vectors

LEVELS: Final = 255
"""Whole steps that the largest input of a matrix is rounded to, if sums of products allow it."""
EXACT: Final = 2**24


def coded(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(rows in 8 bits, the scale of each)."""
    scales = (np.maximum(np.abs(values).max(1), 1e-12) / 127).astype(np.float32)
    return np.rint(values / scales[:, None]).astype(np.int8), scales


def packaged(model: Network) -> Weights:
    """The arrays of the package's files."""
    words, scales = coded(model.words.weight.detach().numpy())
    numbers: list[np.ndarray] = [scales, model.places.detach().numpy().reshape(-1)]
    layers = np.empty((len(model.layers), LAYER), np.int8)

    def norm(one: nn.LayerNorm) -> None:
        numbers.extend((one.weight.detach().numpy(), one.bias.detach().numpy()))

    norm(model.norm)
    for layer, own in zip(model.layers, layers, strict=True):
        matrices = (
            (QKV, layer.qkv, None),
            (OUT, layer.out, layer.norm1),
            (UP, layer.up, None),
            (DOWN, layer.down, layer.norm2),
        )
        for shape, one, after in matrices:
            codes, scales = coded(one.weight.detach().numpy())
            most = int(np.abs(codes.astype(np.int64)).sum(1).max())
            levels = min(LEVELS, (EXACT - 1) // most)
            own[shape.begin : shape.begin + shape.size] = interleaved(codes)
            numbers.extend((np.array([levels]), scales, one.bias.detach().numpy()))
            if after is not None:
                norm(after)
    return Weights(words, layers, np.concatenate([each.astype(np.float32) for each in numbers]))


def save(weights: Weights, folder: Path) -> None:
    """Write the files."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, array in weights._asdict().items():
        np.save(folder / f"{name}.npy", array)


def loss_of_rounding(model: Network, weights: Weights, texts: Sequence[str]) -> str:
    """How near the vectors of the packaged arithmetic are to those of the trained model."""
    pieces, packaged_model = WordPieces(), Transformer(weights)
    near = packaged_model.vectors([pieces.tokens(text, LONGEST) for text in texts]).astype(
        np.float64
    )
    near /= np.linalg.norm(near, axis=1, keepdims=True)
    cosines = (vectors(model, texts) * near).sum(1)
    return f"cosine to the trained model {cosines.mean():.4f}, at least {cosines.min():.4f}"
