"""A local cross-encoder in ONNX form: it reads question and text together, on this machine."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Final, Protocol

import numpy as np
from numpy.typing import NDArray

from memoriter.core.canonical import canonical, digest
from memoriter.core.errors import InputError, Unsupported
from memoriter.core.names import integer
from memoriter.models.batch import BATCH, batches, mask, padded
from memoriter.models.folder import Config, Folder, digests
from memoriter.models.runtime import OnnxRuntime, require
from memoriter.models.texts import encodable

_RULES: Final = 1
"""Version of the arithmetic here; another number is another scale."""
_THREADS: Final = 4


@dataclass(frozen=True, slots=True)
class RerankerSetup:
    """All that decides the scores of a model."""

    outputs: ClassVar[tuple[str, ...]] = ("logits",)
    name: str
    weights: Path
    tokenizer: Path
    max_length: int
    """Tokens of question and text together; the longer of the two is cut."""
    pad: int

    @property
    def fingerprint(self) -> str:
        """Names weights, tokenizer and length; not where the files lie."""
        told = [_RULES, digests(self.weights, self.tokenizer), self.max_length]
        return "rerank-onnx/1:" + digest("rerank-onnx", canonical(told)).hex()[:16]


def read_folder(place: str | Path) -> RerankerSetup:
    """The setup of a model folder, or of one `.onnx` file in it."""
    folder = Folder(place, "reranker")
    config = folder.read("config.json", Config, Config())
    return RerankerSetup(
        name=f"onnx:{folder.path.name}",
        weights=folder.weights,
        tokenizer=folder.tokenizer,
        max_length=folder.length(config),
        pad=config.pad_token_id or 0,
    )


class RerankerRuntime(Protocol):
    """A model that is loaded."""

    @property
    def alone(self) -> bool:
        """Whether pairs must not share a batch, because they would change each other's scores."""
        ...

    def encode_pairs(self, first: str, seconds: Sequence[str]) -> list[tuple[list[int], list[int]]]:
        """For each second text (the tokens of both in one row, to which text each belongs)."""
        ...

    def run(
        self, ids: NDArray[np.int64], mask: NDArray[np.int64], types: NDArray[np.int64]
    ) -> NDArray[np.float32]:
        """The labels of each pair, as logits."""
        ...


Load = Callable[[RerankerSetup, int], RerankerRuntime]


@dataclass(frozen=True, slots=True)
class _Pair:
    at: int
    ids: list[int]
    types: list[int]

    def __len__(self) -> int:
        return len(self.ids)


class OnnxReranker:
    """Reranks with a local model; it satisfies `Reranker` and is safe to share.

    The model is loaded and tried at once: a question has no time to wait for that. A model with
    dynamic quantisation reads one pair at a time, so that a score depends on its pair alone.
    """

    def __init__(
        self, setup: RerankerSetup, threads: int | None = None, load: Load | None = None
    ) -> None:
        if load is None:
            require("reranker")
        cores = min(os.cpu_count() or 1, _THREADS) if threads is None else threads
        self._setup = setup
        self._fingerprint = setup.fingerprint
        self._runtime = (load or OnnxRuntime)(setup, integer(cores, "threads", 1, 256, InputError))
        self.score("question", ["text"])

    @property
    def name(self) -> str:
        """What a person calls it."""
        return self._setup.name

    @property
    def fingerprint(self) -> str:
        """Names weights, tokenizer and length."""
        return self._fingerprint

    def score(self, query: str, texts: Sequence[str]) -> list[float]:
        """How likely each text answers the question, from 0 to 1."""
        told = [encodable(text) for text in texts]
        encoded = self._runtime.encode_pairs(encodable(query), told)
        pairs = sorted((_Pair(at, *each) for at, each in enumerate(encoded)), key=len)
        scores = [0.0] * len(pairs)
        for batch in batches(pairs, 1 if self._runtime.alone else BATCH):
            for pair, score in zip(batch, self._read(batch), strict=True):
                scores[pair.at] = score
        return scores

    def _read(self, batch: Sequence[_Pair]) -> list[float]:
        ids = [pair.ids for pair in batch]
        types = padded([pair.types for pair in batch], 0)
        answer = self._runtime.run(padded(ids, self._setup.pad), mask(ids), types)
        try:
            return likely(answer, len(batch))
        except ValueError as wrong:
            raise Unsupported(
                f"{self._setup.name}: {wrong}",
                hint="a reranker is a sequence classifier with one label or two",
                field="reranker",
            ) from None


def likely(logits: NDArray[np.floating], count: int) -> list[float]:
    """The logistic function of one label, or of how far the second lies above the first.

    The second of two labels is the one that says yes, and this is its share of their softmax.

    >>> likely(np.array([[0.0], [2.0]]), 2) == likely(np.array([[1.0, 1.0], [-1.0, 1.0]]), 2)
    True
    """
    table = logits.astype(np.float64)
    table = table[:, None] if table.ndim == 1 else table
    if table.shape not in {(count, 1), (count, 2)}:
        raise ValueError(f"the model answers numbers of shape {logits.shape} for {count} pairs")
    odds = table[:, -1] - (table[:, 0] if table.shape[1] > 1 else 0.0)
    return [_logistic(each) for each in odds.tolist()]


def _logistic(value: float) -> float:
    small = math.exp(-abs(value))  # never too large for a float
    return 1.0 / (1.0 + small) if value >= 0.0 else small / (1.0 + small)
