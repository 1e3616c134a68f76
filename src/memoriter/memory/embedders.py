"""Makes the embedder that an option or the command line names.

Models that need more than numpy are imported only when they are named.
"""

from __future__ import annotations

import contextlib
import logging
import os
import re
from collections.abc import Callable, Mapping
from typing import Final, cast

from memoriter.core.errors import Corrupt, InputError, Unsupported
from memoriter.core.lazy_pattern import lazy_pattern
from memoriter.embed.calibrate import TABLE
from memoriter.embed.call import Patience
from memoriter.embed.callable import EmbedFunction, FunctionEmbedder
from memoriter.embed.hash import Hash
from memoriter.embed.kin import KinTable
from memoriter.embed.port import Deriver, Embedder, Kindred
from memoriter.embed.static import Static, read_failed, why_unreadable
from memoriter.embed.vector_space import VectorSpace, space_of
from memoriter.embed.without_model import GivenEmbedder

REMOTE_VARIABLE: Final = "MEMORITER_REMOTE_EMBEDDER"
"""Names the server that `auto` falls back to; nothing is ever sent to one that is not named."""
_HTTP: Final = lazy_pattern(r"http:(.+)@(https?://[^#]*)(?:#([1-9]\d{0,4}))?")
_log: Final = logging.getLogger(__name__)
MODEL: Final = "memory-en"
"""The packaged model."""
PACKAGED: Final = ("arctic-s", "minilm")
"""Local models whose files come inside packages."""
NAMED: Final = (MODEL, "hash", *PACKAGED)
"""Those that a store is made with and keeps, besides the packaged table."""
KNOWN: Final = (
    "auto",
    MODEL,
    "table",
    "hash",
    "given:<n>",
    *PACKAGED,
    "onnx:<folder>",
    "http:<model>@<base url>",
)
"""The forms of all names, for error messages."""


def embedder_of(what: str | Embedder | EmbedFunction | None) -> Embedder | None:
    """An embedder from its name, a function from texts to vectors, or an object; None for None.

    `auto` is the packaged model (`memory-en`); if its files cannot be read, the packaged table
    (`table`), then the server that MEMORITER_REMOTE_EMBEDDER names, and if that names none, no
    embedder. Stores written before it was named so call the table `static`.
    `onnx:<folder>` may end in `?pooling=cls` and other options (`embed.folder`).
    `http:<model>@<base url>` may end in `#<n>`, the length of its vectors; its key comes from
    MEMORITER_EMBED_KEY. Raises InputError for an unknown name.

    >>> embedder_of("auto").name, embedder_of("given:3").dimension
    ('memory-en', 3)
    """
    if what is None:
        return None
    if not isinstance(what, str):
        return _own(cast("object", what))
    if what in _PLAIN:
        return _PLAIN[what]()
    if match := re.fullmatch(r"given:([1-9]\d{0,4})", what):
        return GivenEmbedder(int(match[1]))
    return _loaded(what)


def kin_of(embedder: Embedder | None) -> Kindred | None:
    """The packaged table of similar words, for any embedder; None without an embedder or table."""
    if embedder is None or read_failed():
        return None
    return KinTable(embedder if isinstance(embedder, Static) else Static())


def vector_space(embedder: Embedder | None, patience: Patience) -> VectorSpace:
    """The space of an embedder."""
    # A subclass of the packaged table may compute otherwise, or fail.
    is_derived = type(embedder) is Static and why_unreadable() is None
    return VectorSpace(embedder, patience, is_derived)


def deriver_of(space: str) -> Deriver | None:
    """What computes the vectors of a space that the log only notes; None if nothing here does."""
    table = Static()
    return table if space == space_of(table) and why_unreadable() is None else None


def packaged_embedder(fingerprint: str) -> Embedder | None:
    """The packaged embedder of a fingerprint, whose vectors are the same bits everywhere."""
    embedder: Embedder | None = None
    with contextlib.suppress(Corrupt):
        if fingerprint.startswith(f"{MODEL}/"):
            embedder = packaged_model()
        elif fingerprint.startswith(TABLE) and not read_failed():
            embedder = Static()
    return embedder if embedder and embedder.fingerprint == fingerprint else None


def _auto() -> Embedder | None:
    """The packaged model or table, else the server that somebody configured, else none."""
    try:
        return packaged_model()
    except Corrupt as damage:
        _log.warning("%s: the packaged table is used", damage.message)
    why = why_unreadable()
    if why is None:
        return Static()
    remote = os.environ.get(REMOTE_VARIABLE, "").strip()
    if not remote:
        _log.warning(
            "the packaged embedder cannot be read (%s): searches go by words alone; install the "
            "package again, or name a server in %s",
            why,
            REMOTE_VARIABLE,
        )
        return None
    if not _HTTP.fullmatch(remote):
        raise InputError(
            f"{REMOTE_VARIABLE}: expected an embedder on a server, to be used instead of the"
            " packaged one",
            hint="write http:<model>@<base url>, for example http:bge-m3@http://localhost:8080/v1",
            field="embedder",
        )
    _log.warning("the packaged embedder cannot be read (%s): the remote one is used", why)
    return _loaded(remote)


def packaged_model() -> Embedder:
    """The model that comes with the package; raises Corrupt if its files cannot be read."""
    from memoriter.embed.memory_en import MemoryModel  # noqa: PLC0415  # the table does without

    return MemoryModel()


_PLAIN: Final[Mapping[str, Callable[[], Embedder | None]]] = {
    "auto": _auto, MODEL: packaged_model, "table": Static, "static": Static, "hash": Hash,
}  # fmt: skip
"""What needs nothing but its name."""


def _own(what: object) -> Embedder:
    if not callable(getattr(what, "embed", None)):
        if callable(what):
            return FunctionEmbedder(what)
        raise InputError(
            f"embedder: {type(what).__name__} is not a function and has no method embed",
            hint=_hint(),
            field="embedder",
        )
    for promised in ("name", "fingerprint"):  # not `dimension`: reading it may need a request
        if not isinstance(getattr(what, promised, None), str):
            raise InputError(
                f"embedder: {type(what).__name__} must have an attribute `{promised}` of type str",
                hint="an embedder has `name`, `fingerprint`, `dimension` and `embed(texts, side)`",
                field="embedder",
            )
    return cast("Embedder", what)


def _loaded(what: str) -> Embedder:
    if match := _HTTP.fullmatch(what):
        from memoriter.embed.http import HttpEmbedder  # noqa: PLC0415  # imports TLS, which is slow

        return HttpEmbedder(match[1], match[2], dimension=int(match[3]) if match[3] else None)
    if what in PACKAGED or what.startswith("onnx:"):
        from memoriter.embed.folder import read_embedder_name  # noqa: PLC0415  # onnxruntime
        from memoriter.embed.onnx import OnnxEmbedder  # noqa: PLC0415  # as above
        from memoriter.embed.packaged import packaged  # noqa: PLC0415  # as above

        return OnnxEmbedder(
            packaged(what) if what in PACKAGED else read_embedder_name(what.removeprefix("onnx:"))
        )
    raise _unknown(what)


def _unknown(what: str) -> InputError | Unsupported:
    if what == "granite":
        return Unsupported(
            "granite: no package holds it in ONNX form",
            hint="export granite-embedding-30m-english and name its folder: onnx:<folder>",
            field="embedder",
        )
    # A URL may contain a password, so it is not repeated in the error.
    shown = "of this URL" if "://" in what else repr(what)
    return InputError(f"there is no embedder {shown}", hint=_hint(), field="embedder")


def _hint() -> str:
    known = ", ".join(f'"{each}"' for each in KNOWN)
    return f"known: {known}, None, a function from texts to vectors, or an object with embed"
