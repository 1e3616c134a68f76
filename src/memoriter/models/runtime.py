"""onnxruntime and tokenizers, the extra `[onnx]`: loaded when a model is."""

# pyright: reportMissingModuleSource=false
# The extra may be absent where types are checked; its stubs are in `typings/`.

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
_WIDEST: Final = 64
"""Characters per token that are read at most: words are shorter, and blanks must not go on."""
_INPUTS: Final = {"input_ids", "attention_mask", "token_type_ids"}


class Files(Protocol):
    """What is loaded: the files of a model and what to ask of them."""

    outputs: ClassVar[tuple[str, ...]]
    """What the answer may be called, best first; else it is the first output."""

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
        """Tokens that the model reads; what is longer is cut."""
        ...


def require(who: str) -> None:
    """Refuse at once when the extra is not installed."""
    missing = [name for name in _NEEDED if find_spec(name) is None]
    if missing:
        raise Unsupported(
            f"this {who} needs {' and '.join(missing)}",
            hint=install_hint("onnx"),
            field=who,
        )


class OnnxRuntime:
    """A model and its tokenizer on the CPU."""

    def __init__(self, files: Files, threads: int) -> None:
        try:
            self._session = _session(files.weights, threads)
            self._tokenizer = _tokenizer(files.tokenizer, files.max_length)
        except Exception as error:  # each has errors of its own, with no common root
            raise Unsupported(
                f"{files.weights}: the model cannot be loaded: {error}", hint="is it complete?"
            ) from error
        self._max_length = files.max_length
        self._types = {each.name: each.type for each in self._session.get_inputs()}
        if unknown := set(self._types) - _INPUTS:
            raise Unsupported(f"{files.weights}: the model wants {min(unknown)!r}, which we lack")
        outputs = [each.name for each in self._session.get_outputs()]
        self._output = next((name for name in files.outputs if name in outputs), outputs[0])
        # Such a model scales its numbers by the largest in the whole batch.
        self.alone = _holds(files.weights, _QUANTISED)
        """Whether texts must not share a batch, because they would change each other's numbers."""

    def encode(self, text: str) -> list[int]:
        """The tokens of a text, with those that the model puts around it, cut to its length."""
        return self._tokenizer.encode(text).ids

    def encode_pairs(self, first: str, seconds: Sequence[str]) -> list[tuple[list[int], list[int]]]:
        """For each second text (the tokens of both in one row, to which text each belongs).

        A row is cut to the model's length, the longer of the two texts first.
        """
        short = self._cut(first)
        made = [self._tokenizer.encode(short, self._cut(second)) for second in seconds]
        return [(each.ids, each.type_ids) for each in made]

    def _cut(self, text: str) -> str:
        """What one row can hold of a text.

        The tokenizer keeps what it cuts off, and of two texts every piece beside every other: two
        of 5,000 words would fill the memory. A text goes to it cut, by where its tokens end.
        """
        if len(text) <= self._max_length:
            return text
        found = self._tokenizer.encode(text[: self._max_length * _WIDEST])
        return text[: max((end for _, end in found.offsets), default=0)]

    def run(
        self,
        ids: NDArray[np.int64],
        mask: NDArray[np.int64],
        types: NDArray[np.int64] | None = None,
    ) -> NDArray[np.float32]:
        """What the model answers for these rows of tokens."""
        told = {
            "input_ids": ids,
            "attention_mask": mask,
            "token_type_ids": np.zeros_like(ids) if types is None else types,
        }
        feed = {
            name: told[name].astype(np.int32 if kind == "tensor(int32)" else np.int64)
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
    import tokenizers  # noqa: PLC0415  # as above

    made = tokenizers.Tokenizer.from_file(str(path))
    made.no_padding()
    made.enable_truncation(max_length)
    return made


def _holds(path: Path, words: bytes) -> bool:
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
        return mapped.find(words) >= 0
