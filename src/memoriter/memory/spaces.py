"""The vector spaces that an opened memory reads: the one that serves, and others beside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, cast

import numpy as np
from numpy.typing import NDArray

from memoriter.core.errors import BadQuery, InputError, message_of
from memoriter.core.names import number
from memoriter.core.query import Query
from memoriter.core.words import RecordWords
from memoriter.embed.call import EmbedderTimeout, Patience
from memoriter.embed.port import Embedder
from memoriter.index.cache import IndexCache
from memoriter.index.view import View
from memoriter.lanes.port import Skipped
from memoriter.memory.embedders import embedder_of
from memoriter.rank.grid import unit
from memoriter.write.prepare import WriteContext, embed

MOST: Final = 4
"""So many spaces are read at most."""
Made = NDArray[np.float32] | Skipped
"""The query's vector in a space, or why there is none."""


class Wordless:
    """An analyzer that finds no words: for indexes that are read for their vectors alone."""

    name = "wordless"
    about = "no words"
    fingerprint = "wordless/1"
    fields = ("text",)

    def terms(self, text: str) -> list[str]:
        """None."""
        del text
        return []

    def analyse(self, texts: Mapping[str, Sequence[str]]) -> RecordWords:
        """None."""
        del texts
        return RecordWords((), (), (0,), ((),))

    def tokens(self, text: str, *, prefix: bool = False) -> list[tuple[str, int]]:
        """None."""
        del text, prefix
        return []


@dataclass(frozen=True, slots=True)
class OtherSpaces:
    """A space that is read beside the one that serves."""

    write_context: WriteContext
    index_cache: IndexCache


def embedders_of(what: object) -> list[Embedder | None]:
    """The embedders of a memory, the one that serves first."""
    told = list(cast("Sequence[object]", what)) if isinstance(what, list | tuple) else [what]
    if not 0 < len(told) <= MOST:
        raise InputError(f"embedder: one to {MOST} of them, got {len(told)}", field="embedder")
    made = [embedder_of(cast("str | Embedder | None", one)) for one in told]
    if len(made) > 1 and None in made:
        raise InputError("embedder: None has no place in a list", field="embedder")
    marks = [one.fingerprint for one in made if one is not None]
    if len(set(marks)) < len(marks):
        raise InputError("embedder: the same one comes twice", field="embedder")
    return made


def patience_of(told: object) -> Patience:
    """How long to wait: one number of seconds, or one for writes and one for questions."""
    if told is None:
        return Patience()
    pair = list(cast("Sequence[object]", told)) if isinstance(told, list | tuple) else [told, told]
    if len(pair) != 2:  # noqa: PLR2004  # writes and questions
        raise InputError(
            "embed_timeout: expected seconds, or a pair of them",
            hint="(30, 5): 30 for writes, 5 for questions",
            field="embed_timeout",
        )
    return Patience(*(number(one, "embed_timeout", 0.001, 1e6, InputError) for one in pair))


def name_of(write_context: WriteContext) -> str:
    """Who embeds."""
    return "none" if write_context.embedder is None else write_context.embedder.name


def vector_in(write_context: WriteContext, query: Query, view: View) -> Made:
    """The query's vector in a space: the caller's own, or what the embedder answers."""
    embedder = write_context.embedder
    if embedder is None:
        return Skipped("this memory has no embedder")
    if query.given is not None:
        return _given(query.given, _size(embedder, view))
    if not query.text.strip():
        return Skipped("the query has no text")
    (outcome,) = embed([query.text], "query", embedder, write_context.patience)
    if isinstance(outcome, Exception):
        why = message_of(outcome)
        late = isinstance(outcome, EmbedderTimeout)
        return Skipped(f"the embedder {why}" if late else f"the embedder failed: {why}")
    if outcome is None:
        return Skipped("nothing in the query can be embedded")
    return np.frombuffer(outcome, "<f4")


def _given(vector: tuple[float, ...], size: int | None) -> Made:
    """The caller's own vector, if it is of the right length; one of zeros stays as it is."""
    if not vector:
        return Skipped("the vector that comes with the query is empty")
    if size is not None and len(vector) != size:
        raise BadQuery(
            f"vector: expected {size} numbers, got {len(vector)}",
            hint=f"records here have vectors of {size} numbers",
            field="vector",
        )
    made = unit(np.array(vector))
    return np.zeros(len(vector), np.float32) if made is None else made


def _size(embedder: Embedder, view: View) -> int | None:
    """How long vectors are, as far as it is known without asking a server."""
    known = getattr(embedder, "known_dimension", -1)
    if known == -1:
        return embedder.dimension
    widths = (s.arrays["vectors.matrix"].shape[1] for s in view.segments)
    return known or next((width for width in widths if width), None)
