"""A local transformer in ONNX form: nothing leaves the machine, and meaning costs milliseconds."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from memoriter.core.errors import InputError
from memoriter.core.names import integer
from memoriter.embed.answers import checked, placed, told
from memoriter.embed.folder import EmbedderSetup, Pooling
from memoriter.embed.port import Side
from memoriter.models.batch import BATCH, batches, mask, padded
from memoriter.models.runtime import OnnxRuntime, require

Tokens = list[int]


class EmbedderRuntime(Protocol):
    """A model that is loaded."""

    @property
    def alone(self) -> bool:
        """Whether texts must not share a batch, because they would change each other's vectors."""
        ...

    def encode(self, text: str) -> list[int]:
        """The tokens of a text, with those that the model puts around it, cut to its length."""
        ...

    def run(self, ids: NDArray[np.int64], mask: NDArray[np.int64]) -> NDArray[np.float32]:
        """A vector for each token of each text, or one for each text."""
        ...


Load = Callable[[EmbedderSetup, int], EmbedderRuntime]


class OnnxEmbedder:
    """Embeds with a local model; it satisfies `Embedder` and is safe to share.

    The model is loaded when it is first asked. A model with dynamic quantisation reads one text at
    a time: in a batch, its texts would change each other's vectors.
    """

    def __init__(self, setup: EmbedderSetup, threads: int = 1, load: Load | None = None) -> None:
        if load is None:
            require("embedder")
        self._setup = setup
        self._threads = integer(threads, "threads", 1, 256, InputError)
        self._load = load or OnnxRuntime
        self._fingerprint = setup.fingerprint
        self._lock = threading.Lock()
        self._loaded: EmbedderRuntime | None = None
        self._dimension: int | None = None

    @property
    def name(self) -> str:
        """What a person calls it."""
        return self._setup.name

    @property
    def fingerprint(self) -> str:
        """Names weights, tokenizer, pooling, prefixes and length."""
        return self._fingerprint

    @property
    def window(self) -> int:
        """Words per part of a long text: a word is seldom more than a token and a half."""
        prefix = 2 * len(self._setup.record_prefix.split())
        return max((self._setup.max_length - 2 - prefix) * 2 // 3, 1)

    @property
    def dimension(self) -> int:
        """Length of every vector; the model is asked once."""
        known = self._dimension
        if known is None:
            runtime = self._runtime()
            known = self._dimension = self._pooled(runtime, [runtime.encode("length")]).shape[1]
        return known

    def embed(self, texts: Sequence[str], side: Side) -> list[NDArray[np.float32] | None]:
        """One vector per text, in order, or None where no token is left."""
        prefix = self._setup.query_prefix if side == "query" else self._setup.record_prefix
        at, asked = told(texts, prefix)
        if not asked:
            return [None] * len(texts)
        runtime = self._runtime()
        least = len(runtime.encode(self._lowered(prefix)))
        encoded = [runtime.encode(self._lowered(text)) for text in asked]
        longer = [nth for nth, tokens in enumerate(encoded) if len(tokens) > least]
        order = sorted(longer, key=lambda nth: len(encoded[nth]))
        most = 1 if runtime.alone else BATCH
        rows = [encoded[nth] for nth in order]
        tables = [self._pooled(runtime, batch) for batch in batches(rows, most)]
        if not tables:
            return [None] * len(texts)
        return placed(np.concatenate(tables), [at[nth] for nth in order], len(texts))

    def _lowered(self, text: str) -> str:
        return text.lower() if self._setup.lower else text

    def _runtime(self) -> EmbedderRuntime:
        with self._lock:
            if self._loaded is None:
                self._loaded = self._load(self._setup, self._threads)
            return self._loaded

    def _pooled(self, runtime: EmbedderRuntime, batch: Sequence[Tokens]) -> NDArray[np.floating]:
        made = runtime.run(padded(batch, self._setup.pad), mask(batch))
        answer = pool(made, [len(each) for each in batch], self._setup.pooling)
        return checked(answer, len(batch), self._dimension)


def pool(
    answer: NDArray[np.float32], lengths: Sequence[int], pooling: Pooling
) -> NDArray[np.floating]:
    """One vector per text from those of its tokens; an answer that is pooled already stays.

    >>> tokens = np.array([[[1.0, 0.0], [3.0, 2.0], [9.0, 9.0]]], np.float32)
    >>> pool(tokens, [2], "mean").tolist(), pool(tokens, [2], "cls").tolist()
    ([[2.0, 1.0]], [[1.0, 0.0]])
    """
    if answer.ndim != 3:  # noqa: PLR2004  # texts, tokens, numbers
        return answer
    if pooling == "cls":
        return answer[:, 0]
    wide = answer.astype(np.float64)
    return np.stack([wide[row, :length].mean(axis=0) for row, length in enumerate(lengths)])
