"""The folder of a local model: where its files lie, and what they say that every model says."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Final, TypeVar

from pydantic import BaseModel, ConfigDict

from memoriter.core.errors import InputError, NotFound
from memoriter.models.parsed import parsed

_LONGEST: Final = 8_192
USUAL: Final = 512
"""Tokens that a model reads when nobody says."""
_OFFSET: Final = {"roberta": 2, "xlm-roberta": 2, "camembert": 2, "mpnet": 2}
"""Positions that these kinds of model count but do not use."""


class DeclaredModel(BaseModel):
    """What a file of the folder says, as far as we ask."""

    model_config = ConfigDict(extra="ignore")


class Config(DeclaredModel):
    """`config.json`: the architecture."""

    model_type: str = ""
    max_position_embeddings: int | None = None
    pad_token_id: int | None = None


class _Tokens(DeclaredModel):
    model_max_length: float | None = None


_Any = TypeVar("_Any")


class Folder:
    """A model folder, or one `.onnx` file in it; an error names who wanted it."""

    def __init__(self, place: str | Path, who: str) -> None:
        path = Path(place).expanduser().absolute()
        self._who = who
        if path.suffix == ".onnx" and path.is_file():
            inside = path.parent
            self.path = inside.parent if inside.name == "onnx" else inside
            self.weights = path
        elif path.is_dir():
            self.path, self.weights = path, self._found(path)
        else:
            raise NotFound(
                f"there is no model folder {path}", hint="give a folder or an .onnx file", field=who
            )
        self.tokenizer = self.path / "tokenizer.json"
        if not self.tokenizer.is_file():
            raise NotFound(
                f"{self.path} has no tokenizer.json",
                hint="export the model with its tokenizer",
                field=who,
            )

    def _found(self, folder: Path) -> Path:
        for usual in (folder / "model.onnx", folder / "onnx" / "model.onnx"):
            if usual.is_file():
                return usual
        found = sorted((folder / "onnx").glob("model*.onnx"))
        if not found:
            raise NotFound(
                f"{folder} has no model.onnx", hint="export the model to ONNX", field=self._who
            )
        if len(found) > 1:
            names = ", ".join(path.name for path in found)
            raise InputError(
                f"{folder} has several models: {names}",
                hint="name one of the files",
                field=self._who,
            )
        return found[0]

    def read(self, name: str, kind: type[_Any], absent: _Any) -> _Any:
        """What a JSON file of the folder says; `absent` where there is none."""
        path = self.path / name
        if not path.is_file():
            return absent
        try:
            return parsed(path.read_bytes(), kind)
        except ValueError as wrong:
            raise InputError(f"{path}: {wrong}", field=self._who) from None
        except OSError as error:
            raise NotFound(f"{path}: {error.strerror}", field=self._who) from None

    def length(self, config: Config, told: float | None = None) -> int:
        """The least of what the files say: a longer text would be cut or break the model."""
        positions = config.max_position_embeddings
        every = [
            told,
            self.read("tokenizer_config.json", _Tokens, _Tokens()).model_max_length,
            None if positions is None else positions - _OFFSET.get(config.model_type, 0),
        ]
        known = [each for each in every if each is not None and each > 0]
        return int(min([*known, _LONGEST])) if known else USUAL


def digests(weights: Path, tokenizer: Path) -> list[str]:
    """The digests of all files that decide what a model answers."""
    return [sha256(path) for path in (weights, *_beside(weights), tokenizer)]


def _beside(weights: Path) -> Sequence[Path]:
    """Large models keep their numbers in further files: `model.onnx_data`, `model.onnx.data`."""
    return sorted(path for path in weights.parent.glob(f"{weights.name}?*") if path.is_file())


def sha256(path: Path) -> str:
    """The digest of a file; one that did not change is read once."""
    try:
        state = path.stat()
        return _sha256(path, state.st_size, state.st_mtime_ns)
    except OSError as error:
        raise NotFound(f"{path}: {error.strerror}", hint="is the model complete?") from None


@lru_cache(maxsize=64)
def _sha256(path: Path, size: int, changed: int) -> str:
    del size, changed  # another size or time is another file
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
