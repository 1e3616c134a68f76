"""onnxruntime and tokenizers, the extra `[onnx]`: loaded when a model is first asked."""

# pyright: reportMissingModuleSource=false
# The extra may be absent where types are checked; its stubs are in `typings/`.

from __future__ import annotations

import mmap
from importlib.util import find_spec
from pathlib import Path
from typing import Final, Protocol

import numpy as np
from numpy.typing import NDArray

from recollect.core.errors import Unsupported
from recollect.embed.folder import Setup

_NEEDED: Final = ("onnxruntime", "tokenizers")
_OUTPUTS: Final = ("last_hidden_state", "token_embeddings")
_QUANTISED: Final = b"DynamicQuantizeLinear"


class Runtime(Protocol):
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


def require() -> None:
    """Refuse at once when the extra is not installed."""
    missing = [name for name in _NEEDED if find_spec(name) is None]
    if missing:
        raise Unsupported(
            f"this embedder needs {' and '.join(missing)}",
            hint='pip install "recollect[onnx]"',
            field="embedder",
        )


class OnnxRuntime:
    """A model and its tokenizer on the CPU."""

    def __init__(self, setup: Setup, threads: int) -> None:
        import onnxruntime  # noqa: PLC0415  # an extra, and slow to load
        import tokenizers  # noqa: PLC0415  # as above

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        options.log_severity_level = 3
        self._session = onnxruntime.InferenceSession(
            str(setup.weights), options, providers=["CPUExecutionProvider"]
        )
        self._types = {each.name: each.type for each in self._session.get_inputs()}
        known = {"input_ids", "attention_mask", "token_type_ids"}
        if unknown := set(self._types) - known:
            raise Unsupported(f"{setup.weights}: the model wants {min(unknown)!r}, which we lack")
        outputs = [each.name for each in self._session.get_outputs()]
        self._output = next((name for name in _OUTPUTS if name in outputs), outputs[0])
        self._tokenizer = tokenizers.Tokenizer.from_file(str(setup.tokenizer))
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(setup.max_length)
        # Such a model scales its numbers by the largest in the whole batch.
        self.alone = _holds(setup.weights, _QUANTISED)

    def encode(self, text: str) -> list[int]:
        """The tokens of a text."""
        return self._tokenizer.encode(text).ids

    def run(self, ids: NDArray[np.int64], mask: NDArray[np.int64]) -> NDArray[np.float32]:
        """A vector for each token of each text, or one for each text."""
        told = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        feed = {
            name: told[name].astype(np.int32 if kind == "tensor(int32)" else np.int64)
            for name, kind in self._types.items()
        }
        return self._session.run([self._output], feed)[0]


def _holds(path: Path, words: bytes) -> bool:
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
        return mapped.find(words) >= 0
