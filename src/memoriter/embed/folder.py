"""What a folder of a sentence-transformers model says about itself."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Final, Literal

from pydantic import Field

from memoriter.core.canonical import canonical, digest
from memoriter.core.errors import Unsupported
from memoriter.models.folder import USUAL, Config, DeclaredModel, Folder, digests

Pooling = Literal["cls", "mean"]
"""How the vectors of the tokens become one: that of the first token, or the mean of all."""

_RULES: Final = 1
"""Version of the arithmetic in `embed.onnx`; another number is another space."""
_STEPS: Final = {"Transformer", "Pooling", "Normalize"}


@dataclass(frozen=True, slots=True)
class EmbedderSetup:
    """All that decides the vectors of a model."""

    outputs: ClassVar[tuple[str, ...]] = ("last_hidden_state", "token_embeddings")
    """What the vectors are called in a model; else they are its first output."""
    name: str
    weights: Path
    tokenizer: Path
    pooling: Pooling
    query_prefix: str = ""
    record_prefix: str = ""
    max_length: int = USUAL
    """Tokens that the model reads; what is longer is cut."""
    pad: int = 0
    lower: bool = False

    @property
    def fingerprint(self) -> str:
        """Names weights, tokenizer, pooling, prefixes and length; not where the files lie."""
        files = digests(self.weights, self.tokenizer)
        rest = [self.pooling, self.query_prefix, self.record_prefix, self.max_length, self.lower]
        return "onnx/1:" + digest("onnx", canonical([_RULES, files, rest])).hex()[:16]


# --- the files of the folder -----------------------------------------------------------------


class _Pooling(DeclaredModel):
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


class _Module(DeclaredModel):
    type: str
    path: str = ""

    @property
    def step(self) -> str:
        return self.type.rpartition(".")[2]


class _Prompts(DeclaredModel):
    prompts: dict[str, str | None] = Field(default_factory=dict[str, str | None])
    default_prompt_name: str | None = None

    def of(self, *names: str) -> str:
        for each in (*names, self.default_prompt_name):
            if each is not None and self.prompts.get(each):
                return self.prompts[each] or ""
        return ""


class _Sentences(DeclaredModel):
    max_seq_length: int | None = None
    do_lower_case: bool = False


def read_folder(place: str | Path) -> EmbedderSetup:
    """The setup of a model folder, or of one `.onnx` file in it."""
    folder = Folder(place, "embedder")
    prompts = folder.read("config_sentence_transformers.json", _Prompts, _Prompts())
    sentences = folder.read("sentence_bert_config.json", _Sentences, _Sentences())
    config = folder.read("config.json", Config, Config())
    return EmbedderSetup(
        name=f"onnx:{folder.path.name}",
        weights=folder.weights,
        tokenizer=folder.tokenizer,
        pooling=_pooling(folder),
        query_prefix=prompts.of("query"),
        record_prefix=prompts.of("document", "passage"),
        max_length=folder.length(config, sentences.max_seq_length),
        pad=config.pad_token_id or 0,
        lower=sentences.do_lower_case,
    )


def _pooling(folder: Folder) -> Pooling:
    modules = folder.read("modules.json", list[_Module], [])
    if other := [each.step for each in modules if each.step not in _STEPS]:
        raise Unsupported(f"{folder.path}: the model has a step {other[0]!r} that we do not know")
    where = next((each.path for each in modules if each.step == "Pooling"), "1_Pooling")
    config = f"{where}/config.json"
    modes = folder.read(config, _Pooling, _Pooling(pooling_mode="mean")).modes()
    if modes == ["cls"]:
        return "cls"
    if modes == ["mean"]:
        return "mean"
    raise Unsupported(
        f"{folder.path / config}: pooling is {' and '.join(modes) or 'not said'}, not cls or mean"
    )
