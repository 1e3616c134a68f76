"""Finds the files of a local ONNX model and reads the settings that all models share.

`embed.folder` and `rerank.onnx` build their setups from it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Final, TypeVar

from pydantic import BaseModel, ConfigDict

from memoriter.core.errors import InputError, NotFound
from memoriter.models.parse_json import parse_json

_LONGEST: Final = 8_192
"""Upper bound of `max_length`: some tokenizers declare 10^30 for "no limit"."""
DEFAULT_MAX_LENGTH: Final = 512
"""Tokens that a model reads if its files name no limit."""
_OFFSET: Final = {"roberta": 2, "xlm-roberta": 2, "camembert": 2, "mpnet": 2}
"""Position embeddings that models of these types reserve and cannot use for tokens."""


class ConfigFile(BaseModel):
    """A JSON file of a model folder; keys that are not declared are ignored."""

    model_config = ConfigDict(extra="ignore")


class ModelConfig(ConfigFile):
    """The keys of `config.json` that are used here."""

    model_type: str = ""
    max_position_embeddings: int | None = None
    pad_token_id: int | None = None


class _Tokens(ConfigFile):
    model_max_length: float | None = None


_Any = TypeVar("_Any")


class Folder:
    """A model folder: its path, its `.onnx` file and its tokenizer.

    Args:
        place: The folder, or one `.onnx` file in it or in its subfolder `onnx`.
        option: The option that named the model; errors carry it as their field.

    Raises NotFound if a file is missing and InputError if several `.onnx` files could be meant.

    """

    def __init__(self, place: str | Path, option: str) -> None:
        path = Path(place).expanduser().absolute()
        self._option = option
        if path.suffix == ".onnx" and path.is_file():
            inside = path.parent
            self.path = inside.parent if inside.name == "onnx" else inside
            self.weights = path
        elif path.is_dir():
            self.path, self.weights = path, self._find_weights(path)
        else:
            raise NotFound(
                f"{option}: there is no model at {path}",
                hint="give the folder of a model, or the path of an .onnx file",
                field=option,
            )
        self.tokenizer = self.path / "tokenizer.json"
        if not self.tokenizer.is_file():
            raise NotFound(
                f"the model folder {self.path} has no file tokenizer.json",
                hint="export the model to ONNX together with its tokenizer",
                field=option,
            )

    def _find_weights(self, folder: Path) -> Path:
        for usual in (folder / "model.onnx", folder / "onnx" / "model.onnx"):
            if usual.is_file():
                return usual
        # Quantised exports have names such as onnx/model_int8.onnx; one alone is not ambiguous.
        files = sorted((folder / "onnx").glob("model*.onnx"))
        if not files:
            raise NotFound(
                f"the folder {folder} has no file model.onnx",
                hint="export the model to ONNX into this folder, or name another folder",
                field=self._option,
            )
        if len(files) > 1:
            names = ", ".join(path.name for path in files)
            raise InputError(
                f"the folder {folder} has several models: {names}",
                hint="give the path of one of these files",
                field=self._option,
            )
        return files[0]

    def read(self, name: str, kind: type[_Any], absent: _Any) -> _Any:
        """A JSON file of the folder as a value of type `kind`; `absent` if there is no such file.

        Raises InputError if the file is not of that shape and NotFound if it cannot be read.
        """
        path = self.path / name
        if not path.is_file():
            return absent
        try:
            return parse_json(path.read_bytes(), kind)
        except ValueError as wrong:
            raise InputError(
                f"{path} is not a valid file of a model: {wrong}",
                hint="export or download the model again",
                field=self._option,
            ) from None
        except OSError as error:
            raise NotFound(
                f"{path} cannot be read: {error.strerror}",
                hint="check the permissions of the file, or name another folder",
                field=self._option,
            ) from None

    def length(self, config: ModelConfig, declared: float | None = None) -> int:
        """The number of tokens that the model reads: the smallest limit that its files declare.

        `declared` is a limit from a file that only the caller reads.
        """
        positions = config.max_position_embeddings
        every = [
            declared,
            self.read("tokenizer_config.json", _Tokens, _Tokens()).model_max_length,
            None if positions is None else positions - _OFFSET.get(config.model_type, 0),
        ]
        known = [each for each in every if each is not None and each > 0]
        return int(min([*known, _LONGEST])) if known else DEFAULT_MAX_LENGTH


def file_digests(weights: Path, tokenizer: Path) -> list[str]:
    """The SHA-256 of every file that decides what a model answers; raises NotFound."""
    return [sha256(path) for path in (weights, *_external_data(weights), tokenizer)]


def _external_data(weights: Path) -> Sequence[Path]:
    """The files in which a large model keeps its weights: `model.onnx_data`, `model.onnx.data`."""
    return sorted(path for path in weights.parent.glob(f"{weights.name}?*") if path.is_file())


def sha256(path: Path) -> str:
    """The SHA-256 of a file, cached until its size or modification time changes."""
    try:
        state = path.stat()
        return _sha256(path, state.st_size, state.st_mtime_ns)
    except OSError as error:
        raise NotFound(
            f"{path}: {error.strerror}",
            hint="check that this file of the model exists and can be read",
        ) from None


@lru_cache(maxsize=64)
def _sha256(path: Path, size: int, changed: int) -> str:
    del size, changed  # only part of the cache key
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
