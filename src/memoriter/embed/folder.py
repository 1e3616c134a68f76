"""Reads the configuration of a sentence-transformers model folder for `embed.onnx`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Final, Literal

from pydantic import Field

from memoriter.core.canonical import canonical, digest
from memoriter.core.errors import Unsupported
from memoriter.models.folder import (
    DEFAULT_MAX_LENGTH,
    ConfigFile,
    Folder,
    ModelConfig,
    file_digests,
)

Pooling = Literal["cls", "mean"]
"""How token vectors are reduced to one: the first token's vector, or the mean of all."""

_RULES: Final = 1
"""Version of the arithmetic in `embed.onnx`. Part of the fingerprint: a change changes vectors."""
_STEPS: Final = {"Transformer", "Pooling", "Normalize"}
"""The modules of a model that `embed.onnx` reproduces."""


@dataclass(frozen=True, slots=True)
class EmbedderSetup:
    """The files and settings that determine a model's vectors."""

    outputs: ClassVar[tuple[str, ...]] = ("last_hidden_state", "token_embeddings")
    """Output names to look for; if the model has none of them, its first output is read."""
    name: str
    weights: Path
    tokenizer: Path
    pooling: Pooling
    query_prefix: str = ""
    record_prefix: str = ""
    max_length: int = DEFAULT_MAX_LENGTH
    """Tokens that the model reads; longer texts are truncated."""
    pad: int = 0
    """The id of the padding token."""
    lower: bool = False
    """Whether texts are lower-cased first."""

    @property
    def fingerprint(self) -> str:
        """Identifies weights, tokenizer, pooling, prefixes and length; the paths do not matter."""
        files = file_digests(self.weights, self.tokenizer)
        rest = [self.pooling, self.query_prefix, self.record_prefix, self.max_length, self.lower]
        return "onnx/1:" + digest("onnx", canonical([_RULES, files, rest])).hex()[:16]


# --- the JSON files of the folder ------------------------------------------------------------


class _Pooling(ConfigFile):
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
        # Older folders have one flag per mode; `pooling_mode_cls_token` → "cls".
        flags = self.model_dump(exclude={"pooling_mode"})
        return [key.split("_")[2] for key, chosen in flags.items() if chosen]


class _Module(ConfigFile):
    type: str
    path: str = ""

    @property
    def step(self) -> str:
        return self.type.rpartition(".")[2]


class _Prompts(ConfigFile):
    prompts: dict[str, str | None] = Field(default_factory=dict[str, str | None])
    default_prompt_name: str | None = None

    def of(self, *names: str) -> str:
        for each in (*names, self.default_prompt_name):
            if each is not None and self.prompts.get(each):
                return self.prompts[each] or ""
        return ""


class _Sentences(ConfigFile):
    max_seq_length: int | None = None
    do_lower_case: bool = False


def read_embedder_folder(place: str | Path) -> EmbedderSetup:
    """The setup of a model folder, or of one `.onnx` file in it.

    Raises as `models.folder.Folder`, and Unsupported for a pooling or a module not known here.
    """
    folder = Folder(place, "embedder")
    prompts = folder.read("config_sentence_transformers.json", _Prompts, _Prompts())
    sentences = folder.read("sentence_bert_config.json", _Sentences, _Sentences())
    config = folder.read("config.json", ModelConfig, ModelConfig())
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
    subfolder = next((each.path for each in modules if each.step == "Pooling"), "1_Pooling")
    config = f"{subfolder}/config.json"
    # Without a pooling file it is a bare transformer; sentence-transformers then takes the mean.
    modes = folder.read(config, _Pooling, _Pooling(pooling_mode="mean")).modes()
    if modes == ["cls"]:
        return "cls"
    if modes == ["mean"]:
        return "mean"
    raise Unsupported(
        f"{folder.path / config}: pooling is {' and '.join(modes) or 'not said'}, not cls or mean"
    )
