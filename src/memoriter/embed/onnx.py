"""An embedder that runs a local transformer in ONNX form; no text leaves the machine."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from memoriter.core.errors import InputError
from memoriter.core.names import integer
from memoriter.embed.answers import checked_vectors, place_vectors, prepare_texts
from memoriter.embed.folder import EmbedderSetup, Pooling
from memoriter.embed.port import Side
from memoriter.models.batch import BATCH, batches, mask, padded
from memoriter.models.runtime import OnnxRuntime, require_onnx

TokenIds = list[int]


class EmbedderRuntime(Protocol):
    """A loaded model and its tokenizer, normally `models.runtime.OnnxRuntime`."""

    @property
    def unbatched(self) -> bool:
        """Whether each text must be run alone, because a batch would change its vector."""
        ...

    def encode(self, text: str) -> list[int]:
        """The tokens of a text, special tokens included, truncated to the model's length."""
        ...

    def run(self, ids: NDArray[np.int64], mask: NDArray[np.int64]) -> NDArray[np.float32]:
        """One vector per token of each text, or one per text if the model pools itself."""
        ...


LoadEmbedder = Callable[[EmbedderSetup, int], EmbedderRuntime]


class OnnxEmbedder:
    """Embeds with a local model; satisfies `Embedder`. Thread-safe.

    The model is loaded on first use. A dynamically quantised model reads one text at a time,
    because in a batch its texts would change each other's vectors. Raises Unsupported if the extra
    is missing.
    """

    def __init__(
        self, setup: EmbedderSetup, threads: int = 1, load: LoadEmbedder | None = None
    ) -> None:
        if load is None:
            require_onnx("embedder")
        self._setup = setup
        self._threads = integer(threads, "threads", 1, 256, InputError)
        self._load = load or OnnxRuntime
        self._fingerprint = setup.fingerprint
        self._lock = threading.Lock()
        self._loaded: EmbedderRuntime | None = None
        self._dimension: int | None = None

    @property
    def name(self) -> str:
        """The display name."""
        return self._setup.name

    @property
    def fingerprint(self) -> str:
        """Identifies weights, tokenizer, pooling, prefixes and length."""
        return self._fingerprint

    @property
    def window(self) -> int:
        """Words per part of a long text, so that a part fits into the model's length."""
        # A word has about one and a half tokens, a word of the prefix at most two; two tokens are
        # the special ones at the begin and the end.
        prefix = 2 * len(self._setup.record_prefix.split())
        return max((self._setup.max_length - 2 - prefix) * 2 // 3, 1)

    @property
    def dimension(self) -> int:
        """Length of every vector; learned by running the model once."""
        known = self._dimension
        if known is None:
            runtime = self._runtime()
            known = self._dimension = self._pooled(runtime, [runtime.encode("length")]).shape[1]
        return known

    def embed(self, texts: Sequence[str], side: Side) -> list[NDArray[np.float32] | None]:
        """One vector per text, in order, None for a text without tokens of its own."""
        prefix = self._setup.query_prefix if side == "query" else self._setup.record_prefix
        at, prepared = prepare_texts(texts, prefix)
        if not prepared:
            return [None] * len(texts)
        runtime = self._runtime()
        # A text that adds no token to the prefix has no vector.
        least = len(runtime.encode(self._lowered(prefix)))
        encoded = [runtime.encode(self._lowered(text)) for text in prepared]
        longer = [nth for nth, tokens in enumerate(encoded) if len(tokens) > least]
        order = sorted(longer, key=lambda nth: len(encoded[nth]))  # as `batches` requires
        most = 1 if runtime.unbatched else BATCH
        rows = [encoded[nth] for nth in order]
        tables = [self._pooled(runtime, batch) for batch in batches(rows, most)]
        if not tables:
            return [None] * len(texts)
        return place_vectors(np.concatenate(tables), [at[nth] for nth in order], len(texts))

    def _lowered(self, text: str) -> str:
        return text.lower() if self._setup.lower else text

    def _runtime(self) -> EmbedderRuntime:
        with self._lock:
            if self._loaded is None:
                self._loaded = self._load(self._setup, self._threads)
            return self._loaded

    def _pooled(self, runtime: EmbedderRuntime, batch: Sequence[TokenIds]) -> NDArray[np.floating]:
        output = runtime.run(padded(batch, self._setup.pad), mask(batch))
        vectors = pool(output, [len(each) for each in batch], self._setup.pooling)
        return checked_vectors(vectors, len(batch), self._dimension)


def pool(
    output: NDArray[np.float32], lengths: Sequence[int], pooling: Pooling
) -> NDArray[np.floating]:
    """One vector per text from the vectors of its tokens; an output already pooled is returned.

    >>> tokens = np.array([[[1.0, 0.0], [3.0, 2.0], [9.0, 9.0]]], np.float32)
    >>> pool(tokens, [2], "mean").tolist(), pool(tokens, [2], "cls").tolist()
    ([[2.0, 1.0]], [[1.0, 0.0]])
    """
    if output.ndim != 3:  # noqa: PLR2004  # texts, tokens, numbers
        return output
    if pooling == "cls":
        return output[:, 0]
    # The mean is taken over the tokens of the text only, in float64, so that neither the padding
    # nor the width of the batch changes it.
    wide = output.astype(np.float64)
    return np.stack([wide[row, :length].mean(axis=0) for row, length in enumerate(lengths)])
