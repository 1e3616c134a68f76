"""Makes the reranker that an option or the command line names; it is imported only then."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, cast

from memoriter.core.errors import InputError
from memoriter.rerank.callable import FunctionReranker, RerankFunction
from memoriter.rerank.port import Reranker

if TYPE_CHECKING:
    from memoriter.rerank.http import Shape

KNOWN: Final = ("onnx:<folder>", "http:<model>@<base url>", "llm:<model>@<base url>", "llm")
"""The forms of all names, for error messages."""


def reranker_of(what: str | Reranker | RerankFunction | None) -> Reranker | None:
    """A reranker from its name, a function of a query and texts, or an object; None for None.

    `http:<model>@<base url>` may end in `#tei` for a server with that API; its key comes from
    MEMORITER_RERANK_KEY. `llm:<model>@<base url>` asks a language model, `llm` the one that the
    environment names; its key comes from MEMORITER_LLM_KEY. Raises InputError for an unknown name.

    >>> reranker_of("http:bge-reranker-v2-m3@http://localhost:8080#tei").name
    'http:bge-reranker-v2-m3@http://localhost:8080'
    """
    if what is None:
        return None
    if isinstance(what, str):
        return _loaded(what)
    if callable(getattr(what, "score", None)):
        return _own(cast("Reranker", what))
    if callable(what):
        return FunctionReranker(what)
    raise InputError(
        f"reranker: {type(what).__name__} is not a function and has no method score",
        hint=_hint(),
        field="reranker",
    )


def _own(what: Reranker) -> Reranker:
    for promised in ("name", "fingerprint"):
        if not isinstance(getattr(what, promised, None), str):
            raise InputError(
                f"reranker: {type(what).__name__} must have an attribute `{promised}` of type str",
                hint=_hint(),
                field="reranker",
            )
    return what


def _loaded(what: str) -> Reranker:
    if match := re.fullmatch(r"http:(.+)@(https?://[^#]*)(?:#(cohere|tei))?", what):
        from memoriter.rerank.http import HttpReranker  # noqa: PLC0415  # imports TLS, which is slow

        return HttpReranker(match[1], match[2], shape=cast("Shape", match[3] or "cohere"))
    if what == "llm" or re.fullmatch(r"llm:.+@https?://.+", what):
        return _judge(what)
    if what.startswith("onnx:") and what != "onnx:":
        from memoriter.rerank.onnx import OnnxReranker, read_reranker_folder  # noqa: PLC0415  # imports onnxruntime

        return OnnxReranker(read_reranker_folder(what.removeprefix("onnx:")))
    shown = "of this URL" if "://" in what else repr(what)  # a URL may contain a password
    raise InputError(f"there is no reranker {shown}", hint=_hint(), field="reranker")


def _judge(what: str) -> Reranker:
    from memoriter.models.language_model import (  # noqa: PLC0415  # imports TLS, which is slow
        MODEL_VARIABLE,
        URL_VARIABLE,
        LanguageModel,
        configured_model,
    )
    from memoriter.rerank.judge import JudgeReranker  # noqa: PLC0415  # as above

    if match := re.fullmatch(r"llm:(.+)@(https?://.+)", what):
        return JudgeReranker(LanguageModel(match[1], match[2]))
    model = configured_model()
    if model is None:
        raise InputError(
            'reranker: "llm" means the language model set in environment variables, but none is'
            " set",
            hint=f"set {URL_VARIABLE} and {MODEL_VARIABLE}, or name the model: llm:<model>@<base"
            " url>",
            field="reranker",
        )
    return JudgeReranker(model)


def _hint() -> str:
    known = ", ".join(f'"{each}"' for each in KNOWN)
    return f"known: {known}, None, a function of a question and texts, or an object with score"
