"""A reranker that runs a local cross-encoder in ONNX form, which reads query and text together."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import ClassVar, Final, Protocol

import numpy as np
from numpy.typing import NDArray

from memoriter.core.canonical import canonical, digest
from memoriter.core.errors import InputError, Unsupported
from memoriter.core.lazy_dataclass import dataclass
from memoriter.core.names import integer
from memoriter.models.batch import BATCH, batches, mask, padded
from memoriter.models.folder import Folder, ModelConfig, file_digests
from memoriter.models.runtime import OnnxRuntime, require_onnx
from memoriter.models.texts import encodable

_RULES: Final = 1
"""Version of the arithmetic in this file. Part of the fingerprint: a change changes scores."""
_THREADS: Final = 4
"""Threads used by default, if the machine has as many cores."""


@dataclass(frozen=True, slots=True)
class RerankerSetup:
    """The files and settings that determine a model's scores."""

    outputs: ClassVar[tuple[str, ...]] = ("logits",)
    name: str
    weights: Path
    tokenizer: Path
    max_length: int
    """Tokens of query and text together; the longer of the two is truncated."""
    pad: int
    """The id of the padding token."""

    @property
    def fingerprint(self) -> str:
        """Identifies weights, tokenizer and length by content; the paths do not matter."""
        identity = [_RULES, file_digests(self.weights, self.tokenizer), self.max_length]
        return "rerank-onnx/1:" + digest("rerank-onnx", canonical(identity)).hex()[:16]


def read_reranker_folder(place: str | Path) -> RerankerSetup:
    """The setup of a model folder, or of one `.onnx` file in it; raises as `Folder`."""
    folder = Folder(place, "reranker")
    config = folder.read("config.json", ModelConfig, ModelConfig())
    return RerankerSetup(
        name=f"onnx:{folder.path.name}",
        weights=folder.weights,
        tokenizer=folder.tokenizer,
        max_length=folder.length(config),
        pad=config.pad_token_id or 0,
    )


class RerankerRuntime(Protocol):
    """A loaded model and its tokenizer, normally `models.runtime.OnnxRuntime`."""

    @property
    def unbatched(self) -> bool:
        """Whether each pair must be run alone, because a batch would change its score."""
        ...

    def encode_pairs(self, first: str, seconds: Sequence[str]) -> list[tuple[list[int], list[int]]]:
        """For each second text, (the tokens of both texts in one row, their token types)."""
        ...

    def run(
        self, ids: NDArray[np.int64], mask: NDArray[np.int64], types: NDArray[np.int64]
    ) -> NDArray[np.float32]:
        """The logits of each pair."""
        ...


LoadReranker = Callable[[RerankerSetup, int], RerankerRuntime]


@dataclass(frozen=True, slots=True)
class _Pair:
    at: int
    ids: list[int]
    types: list[int]

    def __len__(self) -> int:
        return len(self.ids)


class OnnxReranker:
    """Reranks with a local model; satisfies `Reranker`. Thread-safe.

    The model is loaded and tried on construction, because a search has no time to wait for that. A
    dynamically quantised model reads one pair at a time, so that a score depends on its pair alone.
    Raises Unsupported if the extra is missing or the model is not a reranker.
    """

    def __init__(
        self, setup: RerankerSetup, threads: int | None = None, load: LoadReranker | None = None
    ) -> None:
        if load is None:
            require_onnx("reranker")
        cores = min(os.cpu_count() or 1, _THREADS) if threads is None else threads
        self._setup = setup
        self._fingerprint = setup.fingerprint
        self._runtime = (load or OnnxRuntime)(setup, integer(cores, "threads", 1, 256, InputError))
        self.score("question", ["text"])

    @property
    def name(self) -> str:
        """The display name: `onnx:` and the folder."""
        return self._setup.name

    @property
    def fingerprint(self) -> str:
        """Identifies weights, tokenizer and length."""
        return self._fingerprint

    def score(self, query: str, texts: Sequence[str]) -> list[float]:
        """The probability that each text answers the query, in the order of the texts."""
        safe = [encodable(text) for text in texts]
        encoded = self._runtime.encode_pairs(encodable(query), safe)
        # Sorted by length, as `batches` requires; `at` brings each score back to its text.
        pairs = sorted((_Pair(at, *each) for at, each in enumerate(encoded)), key=len)
        scores = [0.0] * len(pairs)
        for batch in batches(pairs, 1 if self._runtime.unbatched else BATCH):
            for pair, score in zip(batch, self._read(batch), strict=True):
                scores[pair.at] = score
        return scores

    def _read(self, batch: Sequence[_Pair]) -> list[float]:
        ids = [pair.ids for pair in batch]
        types = padded([pair.types for pair in batch], 0)
        logits = self._runtime.run(padded(ids, self._setup.pad), mask(ids), types)
        try:
            return probabilities(logits, len(batch))
        except ValueError as wrong:
            raise Unsupported(
                f"the model {self._setup.name} cannot be used as a reranker: {wrong}",
                hint="use a cross-encoder: a sequence classifier with one label or two",
                field="reranker",
            ) from None


def probabilities(logits: NDArray[np.floating], count: int) -> list[float]:
    """The probability of each pair from its one or two logits; raises ValueError for other shapes.

    One logit goes through the logistic function. Of two, the second means "relevant", and the
    logistic function of their difference is its softmax.

    >>> one, two = np.array([[0.0], [2.0]]), np.array([[1.0, 1.0], [-1.0, 1.0]])
    >>> probabilities(one, 2) == probabilities(two, 2)
    True
    """
    table = logits.astype(np.float64)
    table = table[:, None] if table.ndim == 1 else table
    if table.shape not in {(count, 1), (count, 2)}:
        raise ValueError(f"it returned an array of shape {logits.shape} for {count} pairs")
    odds = table[:, -1] - (table[:, 0] if table.shape[1] > 1 else 0.0)
    return [_logistic(each) for each in odds.tolist()]


def _logistic(value: float) -> float:
    small = math.exp(-abs(value))  # at most 1; exp of a large positive number would overflow
    return 1.0 / (1.0 + small) if value >= 0.0 else small / (1.0 + small)
