"""Loads and runs ONNX models with onnxruntime and tokenizers, which the extra `[onnx]` installs.

Both packages are imported when a model is loaded, not when this module is. `embed.onnx` and
`rerank.onnx` run their models through `OnnxRuntime`.
"""

# pyright: reportMissingModuleSource=false
# The extra may be absent when types are checked; its stubs are in `typings/`.

from __future__ import annotations

import mmap
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Final, Protocol

import numpy as np
from numpy.typing import NDArray

from memoriter.core.errors import Unsupported, install_hint

if TYPE_CHECKING:
    import onnxruntime
    import tokenizers

_NEEDED: Final = ("onnxruntime", "tokenizers")
_QUANTISED: Final = b"DynamicQuantizeLinear"
"""The operator that a dynamically quantised model contains."""
_WIDEST: Final = 64
"""Characters per token to tokenize at most. Tokens are shorter; only runs of blanks are longer."""
_INPUTS: Final = {"input_ids", "attention_mask", "token_type_ids"}


class ModelFiles(Protocol):
    """The files of a model and which of its outputs to read."""

    outputs: ClassVar[tuple[str, ...]]
    """Output names to look for, in this order; if the model has none of them, its first output."""

    @property
    def weights(self) -> Path:
        """The `.onnx` file."""
        ...

    @property
    def tokenizer(self) -> Path:
        """`tokenizer.json`."""
        ...

    @property
    def max_length(self) -> int:
        """Tokens that the model reads; longer texts are truncated."""
        ...


def require_onnx(option: str) -> None:
    """Raise Unsupported if the extra is not installed; `option` is the one that needs it."""
    missing = [name for name in _NEEDED if find_spec(name) is None]
    if missing:
        raise Unsupported(
            f"{option}: models in ONNX need packages that are not installed: {', '.join(missing)}",
            hint=install_hint("onnx"),
            field=option,
        )


class OnnxRuntime:
    """A loaded model and its tokenizer on the CPU; raises Unsupported if it cannot be loaded."""

    def __init__(self, files: ModelFiles, threads: int) -> None:
        try:
            self._session = _session(files.weights, threads)
            self._tokenizer = _tokenizer(files.tokenizer, files.max_length)
        except Exception as error:  # both packages raise their own types, without a common base
            raise Unsupported(
                f"the model {files.weights} cannot be loaded: {error}",
                hint="check that the file is complete, or export the model again",
            ) from error
        self._max_length = files.max_length
        self._types = {each.name: each.type for each in self._session.get_inputs()}
        if unknown := set(self._types) - _INPUTS:
            raise Unsupported(
                f"{files.weights}: the model needs an input {min(unknown)!r}, which is not"
                " supported",
                hint=f"export it as a text model with the inputs {', '.join(sorted(_INPUTS))}",
            )
        outputs = [each.name for each in self._session.get_outputs()]
        self._output = next((name for name in files.outputs if name in outputs), outputs[0])
        # Dynamic quantisation scales activations by the largest value in the whole batch, so the
        # result for one text would depend on the others in its batch.
        self.unbatched = _contains(files.weights, _QUANTISED)
        """Whether each text must be run alone."""

    def encode(self, text: str) -> list[int]:
        """The tokens of a text, special tokens included, truncated to the model's length."""
        return self._tokenizer.encode(text).ids

    def encode_pairs(self, first: str, seconds: Sequence[str]) -> list[tuple[list[int], list[int]]]:
        """For each second text, (the tokens of both texts in one row, their token types).

        A row is truncated to the model's length, the longer of the two texts first.
        """
        short = self._cut(first)
        encoded = [self._tokenizer.encode(short, self._cut(second)) for second in seconds]
        return [(each.ids, each.type_ids) for each in encoded]

    def _cut(self, text: str) -> str:
        """The beginning of a text that one row can hold.

        The tokenizer keeps what it truncates as overflow rows, and for a pair every overflow of
        one text combined with every overflow of the other: two texts of 5,000 words would exhaust
        the memory. So each text is cut at the end of its last usable token beforehand.
        """
        if len(text) <= self._max_length:  # a token has at least one character
            return text
        encoded = self._tokenizer.encode(text[: self._max_length * _WIDEST])
        return text[: max((end for _, end in encoded.offsets), default=0)]

    def run(
        self,
        ids: NDArray[np.int64],
        mask: NDArray[np.int64],
        types: NDArray[np.int64] | None = None,
    ) -> NDArray[np.float32]:
        """The model's output for rows of tokens; `types` are token types, all 0 by default."""
        inputs = {
            "input_ids": ids,
            "attention_mask": mask,
            "token_type_ids": np.zeros_like(ids) if types is None else types,
        }
        feed = {
            name: inputs[name].astype(np.int32 if kind == "tensor(int32)" else np.int64)
            for name, kind in self._types.items()
        }
        return self._session.run([self._output], feed)[0]


def _session(weights: Path, threads: int) -> onnxruntime.InferenceSession:
    import onnxruntime  # noqa: PLC0415  # an extra, and slow to load

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(str(weights), options, providers=["CPUExecutionProvider"])


def _tokenizer(path: Path, max_length: int) -> tokenizers.Tokenizer:
    import tokenizers  # noqa: PLC0415  # an extra, and slow to load

    tokenizer = tokenizers.Tokenizer.from_file(str(path))
    tokenizer.no_padding()
    tokenizer.enable_truncation(max_length)
    return tokenizer


def _contains(path: Path, pattern: bytes) -> bool:
    # Mapped, because the file may be larger than the memory that we want to use for a search.
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
        return mapped.find(pattern) >= 0
