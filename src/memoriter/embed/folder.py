"""Reads the configuration of a sentence-transformers model folder for `embed.onnx`."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar, Final, Literal
from urllib.parse import parse_qsl

from pydantic import Field

from memoriter.core.canonical import canonical, digest
from memoriter.core.errors import InputError, Unsupported
from memoriter.core.lazy_dataclass import dataclass
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
_OPTIONS: Final = ("pooling", "query_prefix", "record_prefix")
"""What may stand behind the folder in the name of an embedder."""
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


def read_embedder_folder(
    place: str | Path,
    *,
    pooling: str | None = None,
    query_prefix: str | None = None,
    record_prefix: str | None = None,
) -> EmbedderSetup:
    """The setup of a model folder, or of one `.onnx` file in it.

    Args:
        place: The folder or the file.
        pooling: `cls` or `mean`, whatever the folder declares.
        query_prefix: What stands before every query, whatever the folder declares.
        record_prefix: The same for records.

    Raises as `models.folder.Folder`, InputError if nothing says how to pool, and Unsupported for a
    pooling or a module not known here.

    """
    folder = Folder(place, "embedder")
    prompts = folder.read("config_sentence_transformers.json", _Prompts, _Prompts())
    sentences = folder.read("sentence_bert_config.json", _Sentences, _Sentences())
    config = folder.read("config.json", ModelConfig, ModelConfig())
    own = prompts.of("query"), prompts.of("document", "passage")
    return EmbedderSetup(
        name=f"onnx:{folder.path.name}",
        weights=folder.weights,
        tokenizer=folder.tokenizer,
        pooling=_pooling(folder, pooling),
        query_prefix=own[0] if query_prefix is None else query_prefix,
        record_prefix=own[1] if record_prefix is None else record_prefix,
        max_length=folder.length(config, sentences.max_seq_length),
        pad=config.pad_token_id or 0,
        lower=sentences.do_lower_case,
    )


def read_embedder_name(name: str) -> EmbedderSetup:
    """The setup that `<folder>` or `<folder>?pooling=cls&query_prefix=q:+` names.

    Options are written as in a URL, `+` for a space. Raises as `read_embedder_folder`, and
    InputError for an option that is unknown, given twice or not readable.
    """
    place, mark, text = name.rpartition("?")
    if not mark or Path(name).expanduser().exists():  # a folder's own name may contain `?`
        return read_embedder_folder(name)
    try:
        pairs = parse_qsl(text, keep_blank_values=True, strict_parsing=True)
    except ValueError as wrong:
        raise _bad_option(f"the options {text!r} cannot be read: {wrong}") from None
    options = dict(pairs)
    if unknown := options.keys() - set(_OPTIONS):
        raise _bad_option(f"there is no option {min(unknown)!r}")
    if len(options) < len(pairs):
        twice = next(key for key in options if [each for each, _ in pairs].count(key) > 1)
        raise _bad_option(f"the option {twice!r} is given twice")
    return read_embedder_folder(place, **options)


def _bad_option(reason: str) -> InputError:
    return InputError(
        f"embedder: {reason}",
        hint=f"the options are {', '.join(_OPTIONS)}; for example onnx:<folder>?pooling=cls",
        field="embedder",
    )


def _pooling(folder: Folder, option: str | None) -> Pooling:
    modules = folder.read("modules.json", list[_Module], [])
    if other := [each.step for each in modules if each.step not in _STEPS]:
        raise Unsupported(
            f"{folder.path}: the module {other[0]!r} of the model is not supported",
            hint="use a model whose modules.json has only Transformer, Pooling and Normalize",
        )
    subfolder = next((each.path for each in modules if each.step == "Pooling"), "1_Pooling")
    config = f"{subfolder}/config.json"
    modes = [option] if option is not None else folder.read(config, _Pooling, _Pooling()).modes()
    if modes == ["cls"]:
        return "cls"
    if modes == ["mean"]:
        return "mean"
    if not modes:
        # Neither is a safe guess: with the wrong one a model finds much less, and nobody notices.
        raise InputError(
            f"{folder.path} does not say how token vectors are pooled",
            hint="the model card names the pooling: write onnx:<folder>?pooling=cls or"
            " onnx:<folder>?pooling=mean, or put the model's 1_Pooling/config.json into the folder",
            field="embedder",
        )
    where = "option pooling" if option is not None else str(folder.path / config)
    raise Unsupported(
        f"{where}: pooling is {' and '.join(modes)}, but only cls or mean is supported",
        hint="use a model with one of these two poolings",
        field="embedder",
    )
