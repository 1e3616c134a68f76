"""Which embedder a name means. Models that need more than numpy are loaded when they are named."""

from __future__ import annotations

import re
from typing import Final, cast

from memoriter.core.errors import InputError, Unsupported
from memoriter.embed.callable import Embed, FunctionEmbedder
from memoriter.embed.given import GivenEmbedder
from memoriter.embed.hash import Hash
from memoriter.embed.kin import KinTable
from memoriter.embed.port import Embedder, Kindred
from memoriter.embed.static import Static

PACKAGED: Final = ("arctic-s", "minilm")
"""Local models whose files come inside packages."""
KNOWN: Final = (
    "auto",
    "static",
    "hash",
    "given:<n>",
    *PACKAGED,
    "onnx:<folder>",
    "http:<model>@<base url>",
)
"""All names, as a person may write them."""


def embedder_of(what: str | Embedder | Embed | None) -> Embedder | None:
    """An embedder from its name, a function from texts to vectors, or an object; None for none.

    `auto` takes what is on the machine first, and the packaged table always is: it is `static`.
    `http:<model>@<base url>` may end in `#<n>`, the length of its vectors; its key comes from
    MEMORITER_EMBED_KEY.

    >>> embedder_of("auto").name, embedder_of("given:3").dimension
    ('static-en', 3)
    """
    if what is None:
        return None
    if not isinstance(what, str):
        return _own(cast("object", what))
    if what in {"auto", "static"}:
        return Static()
    if what == "hash":
        return Hash()
    if found := re.fullmatch(r"given:([1-9]\d{0,4})", what):
        return GivenEmbedder(int(found[1]))
    return _loaded(what)


def kin_of(embedder: Embedder | None) -> Kindred | None:
    """The packaged table of kin, whoever embeds; a memory without an embedder has words alone."""
    if embedder is None:
        return None
    return KinTable(embedder if isinstance(embedder, Static) else Static())


def _own(what: object) -> Embedder:
    if not callable(getattr(what, "embed", None)):
        if callable(what):
            return FunctionEmbedder(what)
        raise InputError(
            f"embedder: {type(what).__name__} is neither a function nor has a method embed",
            hint=_hint(),
            field="embedder",
        )
    for promised in ("name", "fingerprint"):  # a dimension may have to be asked for
        if not isinstance(getattr(what, promised, None), str):
            raise InputError(
                f"embedder: has no {promised}",
                hint="an embedder has name, fingerprint, dimension and embed(texts, side)",
                field="embedder",
            )
    return cast("Embedder", what)


def _loaded(what: str) -> Embedder:
    if found := re.fullmatch(r"http:(.+)@(https?://[^#]*)(?:#([1-9]\d{0,4}))?", what):
        from memoriter.embed.http import HttpEmbedder  # noqa: PLC0415  # loads TLS

        return HttpEmbedder(found[1], found[2], dimension=int(found[3]) if found[3] else None)
    if what in PACKAGED or what.startswith("onnx:"):
        from memoriter.embed.folder import read_embedder_folder  # noqa: PLC0415  # who names it needs it
        from memoriter.embed.onnx import OnnxEmbedder  # noqa: PLC0415  # as above
        from memoriter.embed.packaged import packaged  # noqa: PLC0415  # as above

        return OnnxEmbedder(
            packaged(what) if what in PACKAGED else read_embedder_folder(what[len("onnx:") :])
        )
    raise _unknown(what)


def _unknown(what: str) -> InputError | Unsupported:
    if what == "granite":
        return Unsupported(
            "granite: no package holds it in ONNX form",
            hint="export granite-embedding-30m-english and name its folder: onnx:<folder>",
            field="embedder",
        )
    # A URL may hold a password.
    shown = "of this URL" if "://" in what else repr(what)
    return InputError(f"there is no embedder {shown}", hint=_hint(), field="embedder")


def _hint() -> str:
    known = ", ".join(f'"{each}"' for each in KNOWN)
    return f"known: {known}, None, a function from texts to vectors, or an object with embed"
