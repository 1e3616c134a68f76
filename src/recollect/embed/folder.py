"""What a folder of a sentence-transformers model says about itself."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from recollect.core.canonical import canonical, digest
from recollect.core.errors import InputError, NotFound, Unsupported

Pooling = Literal["cls", "mean"]
"""How the vectors of the tokens become one: that of the first token, or the mean of all."""

_RULES: Final = 1
"""Version of the arithmetic in `embed.onnx`; another number is another space."""
_LONGEST: Final = 8_192
_USUAL: Final = 512
_OFFSET: Final = {"roberta": 2, "xlm-roberta": 2, "camembert": 2, "mpnet": 2}
"""Positions that these kinds of model count but do not use."""
_STEPS: Final = {"Transformer", "Pooling", "Normalize"}


@dataclass(frozen=True, slots=True)
class Setup:
    """All that decides the vectors of a model."""

    name: str
    weights: Path
    tokenizer: Path
    pooling: Pooling
    query_prefix: str = ""
    record_prefix: str = ""
    max_length: int = _USUAL
    """Tokens that the model reads; what is longer is cut."""
    pad: int = 0
    lower: bool = False

    @property
    def fingerprint(self) -> str:
        """Names weights, tokenizer, pooling, prefixes and length; not where the files lie."""
        files = [sha256(path) for path in (self.weights, *_beside(self.weights), self.tokenizer)]
        rest = [self.pooling, self.query_prefix, self.record_prefix, self.max_length, self.lower]
        return "onnx/1:" + digest("onnx", canonical([_RULES, files, rest])).hex()[:16]


def _beside(weights: Path) -> list[Path]:
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


# --- the files of the folder -----------------------------------------------------------------


class _File(BaseModel):
    model_config = ConfigDict(extra="ignore")


class _Pooling(_File):
    pooling_mode: str | None = None
    pooling_mode_cls_token: bool = False
    pooling_mode_mean_tokens: bool = False
    pooling_mode_max_tokens: bool = False
    pooling_mode_mean_sqrt_len_tokens: bool = False
    pooling_mode_weightedmean_tokens: bool = False
    pooling_mode_lasttoken: bool = False

    def modes(self) -> list[str]:
        if self.pooling_mode is not None:
            return [self.pooling_mode]
        told = self.model_dump(exclude={"pooling_mode"})
        return [key.split("_")[2] for key, chosen in told.items() if chosen]


class _Module(_File):
    type: str
    path: str = ""

    @property
    def step(self) -> str:
        return self.type.rpartition(".")[2]


class _Prompts(_File):
    prompts: dict[str, str | None] = {}
    default_prompt_name: str | None = None

    def of(self, *names: str) -> str:
        for each in (*names, self.default_prompt_name):
            if each is not None and self.prompts.get(each):
                return self.prompts[each] or ""
        return ""


class _Sentences(_File):
    max_seq_length: int | None = None
    do_lower_case: bool = False


class _Tokens(_File):
    model_max_length: float | None = None


class _Model(_File):
    model_type: str = ""
    max_position_embeddings: int | None = None
    pad_token_id: int | None = None


_Any = TypeVar("_Any")


def _read(path: Path, kind: type[_Any], absent: _Any) -> _Any:
    if not path.is_file():
        return absent
    try:
        return TypeAdapter(kind).validate_json(path.read_bytes())
    except ValidationError as wrong:
        first = wrong.errors(include_input=False, include_url=False)[0]
        where = ".".join(str(step) for step in first["loc"])
        raise InputError(f"{path}: {where} {first['msg']}", field="embedder") from None


def read_folder(place: str | Path) -> Setup:
    """The setup of a model folder, or of one `.onnx` file in it."""
    path = Path(place).expanduser().absolute()
    if path.suffix == ".onnx" and path.is_file():
        inside = path.parent
        folder = inside.parent if inside.name == "onnx" else inside
        weights = path
    elif path.is_dir():
        folder, weights = path, _weights(path)
    else:
        raise NotFound(f"there is no model folder {path}", hint="give a folder or an .onnx file")
    tokenizer = folder / "tokenizer.json"
    if not tokenizer.is_file():
        raise NotFound(
            f"{folder} has no tokenizer.json", hint="export the model with its tokenizer"
        )
    prompts = _read(folder / "config_sentence_transformers.json", _Prompts, _Prompts())
    sentences = _read(folder / "sentence_bert_config.json", _Sentences, _Sentences())
    model = _read(folder / "config.json", _Model, _Model())
    return Setup(
        name=f"onnx:{folder.name}",
        weights=weights,
        tokenizer=tokenizer,
        pooling=_pooling(folder),
        query_prefix=prompts.of("query"),
        record_prefix=prompts.of("document", "passage"),
        max_length=_length(folder, sentences, model),
        pad=model.pad_token_id or 0,
        lower=sentences.do_lower_case,
    )


def _weights(folder: Path) -> Path:
    for usual in (folder / "model.onnx", folder / "onnx" / "model.onnx"):
        if usual.is_file():
            return usual
    found = sorted((folder / "onnx").glob("model*.onnx"))
    if not found:
        raise NotFound(f"{folder} has no model.onnx", hint="export the model to ONNX")
    if len(found) > 1:
        names = ", ".join(path.name for path in found)
        raise InputError(
            f"{folder} has several models: {names}", hint="name one of the files", field="embedder"
        )
    return found[0]


def _pooling(folder: Path) -> Pooling:
    modules = _read(folder / "modules.json", list[_Module], [])
    if other := [each.step for each in modules if each.step not in _STEPS]:
        raise Unsupported(f"{folder}: the model has a step {other[0]!r} that we do not know")
    where = next((each.path for each in modules if each.step == "Pooling"), "1_Pooling")
    config = folder / where / "config.json"
    modes = _read(config, _Pooling, _Pooling(pooling_mode="mean")).modes()
    if modes == ["cls"]:
        return "cls"
    if modes == ["mean"]:
        return "mean"
    raise Unsupported(f"{config}: pooling is {' and '.join(modes) or 'not said'}, not cls or mean")


def _length(folder: Path, sentences: _Sentences, model: _Model) -> int:
    """The least of what the files say: a longer text would be cut or break the model."""
    tokens = _read(folder / "tokenizer_config.json", _Tokens, _Tokens())
    positions = model.max_position_embeddings
    told = [
        sentences.max_seq_length,
        tokens.model_max_length,
        None if positions is None else positions - _OFFSET.get(model.model_type, 0),
    ]
    known = [each for each in told if each is not None and each > 0]
    return int(min([*known, _LONGEST])) if known else _USUAL
