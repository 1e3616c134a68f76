"""From drafts to a batch: complete, analyse, embed. All that can be refused is refused here.

The embedder is called outside any transaction, and its failure never loses a write: the record is
kept and owes its vector.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from memoriter.core.batch import NOTHING, Act, Key, NewEdge, Put, Vector
from memoriter.core.clock import STAMPS, Clock, Entropy, Stamps, uuid7
from memoriter.core.draft import Draft
from memoriter.core.errors import BadRecord, message_of
from memoriter.core.record import Content, Record, encode
from memoriter.core.times import to_micros
from memoriter.embed.call import PATIENCE, Patience, call_with_deadline
from memoriter.embed.port import Embedder, Side
from memoriter.index.tenant import texts_of
from memoriter.text.entities import Extractor
from memoriter.text.port import Analyzer
from memoriter.write.annotate import annotated
from memoriter.write.template import (
    DEFAULT,
    Said,
    embedded_texts,
    reads_alike,
    space_of,
    template_of,
)

_log: Final = logging.getLogger(__name__)
SALT_BYTES: Final = 16
_UNIT_SLACK: Final = 0.01


@dataclass(frozen=True, slots=True)
class WriteContext:
    """What preparing a write needs."""

    analyzer: Analyzer
    embedder: Embedder | None
    clock: Clock
    entropy: Entropy
    others: Callable[[], tuple[Analyzer, ...]] = tuple[Analyzer, ...]
    """Analyzers that were added to the store: every write fills their generations too."""
    stamps: Stamps = STAMPS
    """The times of new ids; a clock of the caller's own goes with stamps of its own."""

    extractor: Extractor | None = None
    """Who names the entities of a record that comes without any."""
    registry: Callable[[], Said] = dict[str, dict[str, Any]]
    """What is known of the agents, for embedders that read it."""

    patience: Patience = PATIENCE
    """How long an embedder may take."""

    def said(self) -> Said:
        """What the registry says, if the embedder's template has a place for it."""
        plain = self.embedder is None or template_of(self.embedder) == DEFAULT
        return {} if plain else self.registry()

    @property
    def space(self) -> str:
        """The name of the vector space that records are embedded into."""
        return space_of(self.embedder)


def prepare(drafts: Sequence[Draft], write_context: WriteContext) -> tuple[Act, ...]:
    """Acts that make new records of these drafts."""
    now = write_context.clock.now()
    stamp = write_context.stamps.after(now)
    contents = [annotated(draft.complete(now), write_context.extractor) for draft in drafts]
    found = embed_all(contents, write_context)
    analyzers = (write_context.analyzer, *write_context.others())
    salts = write_context.entropy.draw(SALT_BYTES * len(drafts))
    noise = write_context.entropy.draw(10 * len(drafts))
    return tuple(
        put_of(
            draft,
            content,
            draft.id or uuid7(stamp, noise[10 * at : 10 * at + 10]),
            salts[SALT_BYTES * at : SALT_BYTES * (at + 1)],
            (write_context.space, vector, analyzers),
        )
        for at, (draft, content, vector) in enumerate(zip(drafts, contents, found, strict=True))
    )


Outcome = bytes | None | Exception
"""A vector's bytes, None where there was nothing to embed, or why it failed."""
Outcomes = tuple[Vector, ...] | Exception
"""The vectors of a record, one for each part that could be embedded, or why it failed.

Where there is nothing to embed, an empty one says so."""


def put_of(
    draft: Draft,
    content: Content,
    record_id: str,
    salt: bytes,
    made: tuple[str, Outcomes, tuple[Analyzer, ...]],
) -> Put:
    """The act that writes a new record; `made` is its space, its vectors there, who reads it."""
    space, found, analyzers = made
    owes = (space,) if isinstance(found, Exception) else ()
    vectors = given_vectors(draft.vector, space)
    vectors += () if isinstance(found, Exception) else found
    body = encode(record_id, content)
    ties = tuple(_dated(tie, content) for tie in draft.ties)
    words = _words(content, analyzers)
    return Put(record_id, content, body, salt, None, words, vectors, owes, ties, draft.key)


def _dated(tie: NewEdge, content: Content) -> NewEdge:
    """A replacing edge holds from when its record does."""
    if tie.kind in {"supersedes", "corrects", "invalidates"} and tie.valid_from is None:
        since = content.created if content.valid_from is None else content.valid_from
        return NewEdge(
            tie.target, tie.kind, tie.weight, to_micros(since), tie.valid_until, tie.metadata
        )
    return tie


def given_vectors(vector: tuple[float, ...] | None, space: str) -> tuple[Vector, ...]:
    """A caller's own vector, kept as given; a memory of such vectors takes one size only."""
    if vector is None:
        return ()
    own = f"given:{len(vector)}"
    if space.startswith("given:") and space != own:
        size = space.removeprefix("given:")
        raise BadRecord(f"vector: expected {size} numbers, got {len(vector)}", field="vector")
    return (Vector(own, 0, "f8", np.array(vector, "<f8").tobytes()),)


def _words(content: Content, analyzers: tuple[Analyzer, ...]) -> tuple[tuple[str, bytes], ...]:
    texts = texts_of(content)
    return tuple((each.fingerprint, each.analyse(texts).encode()) for each in analyzers)


def prepare_version(
    record: Record,
    content: Content,
    kept: tuple[Vector, ...],
    write_context: WriteContext,
    key: Key | None,
) -> Put:
    """An act that makes a new version; a vector stays where its embedder reads the same."""
    said = write_context.registry()
    vectors = tuple(
        v for v in kept if v.form != "unit" or reads_alike(v.generation, record, content, said)
    )
    owes: tuple[str, ...] = ()
    if not any(v.generation == write_context.space for v in vectors):
        (found,) = embed_all([content], write_context)
        owes = (write_context.space,) if isinstance(found, Exception) else ()
        vectors += () if isinstance(found, Exception) else found
    salt = write_context.entropy.draw(SALT_BYTES)
    words = _words(content, (write_context.analyzer, *write_context.others()))
    body = encode(record.id, content)
    return Put(record.id, content, body, salt, record.row, words, vectors, owes, (), key)


def embed_all(contents: Sequence[Content], write_context: WriteContext) -> list[Outcomes]:
    """The vectors of records, all texts in one call; a record fails with any of its parts."""
    said = write_context.said()
    texts = [embedded_texts(content, write_context.embedder, said) for content in contents]
    made = iter(
        embed(
            [part for parts in texts for part in parts],
            "record",
            write_context.embedder,
            write_context.patience,
        )
    )
    nothing = (
        (Vector(write_context.space, 0, "unit", NOTHING),)
        if _embeds(write_context.embedder)
        else ()
    )
    out: list[Outcomes] = []
    for parts in texts:
        mine = [next(made) for _ in parts]
        failed = next((one for one in mine if isinstance(one, Exception)), None)
        vectors = tuple(
            Vector(write_context.space, n, "unit", one)
            for n, one in enumerate(mine)
            if isinstance(one, bytes)
        )
        out.append((vectors or nothing) if failed is None else failed)
    return out


def embed(
    texts: Sequence[str], side: Side, embedder: Embedder | None, patience: Patience = PATIENCE
) -> list[Outcome]:
    """Each text's vector as bytes; an embedder that fails, or is late, gives its error for each."""
    if embedder is None or not _embeds(embedder) or not texts:
        return [None] * len(texts)

    def asked() -> list[Outcome]:
        vectors = zip(texts, embedder.embed(texts, side), strict=True)
        return [None if v is None else sound(v, embedder.dimension).tobytes() for _, v in vectors]

    try:
        return call_with_deadline(asked, embedder, patience.seconds(side, len(texts)))
    except Exception as error:
        _log.warning("embedder %s failed: %s", embedder.name, message_of(error))
        return [error] * len(texts)


def _embeds(embedder: Embedder | None) -> bool:
    """Whether somebody embeds, and not the caller."""
    return embedder is not None and not embedder.fingerprint.startswith("given:")


def sound(vector: np.ndarray, dimension: int) -> np.ndarray:
    """A vector that is what an embedder promises: right size, finite, unit length, float32."""
    if vector.shape != (dimension,):
        raise ValueError(f"expected {dimension} numbers, got shape {vector.shape}")
    if not np.isfinite(vector).all():
        raise ValueError("the vector holds NaN or infinity")
    if abs(float(np.sum(vector.astype(np.float64) ** 2)) - 1.0) > _UNIT_SLACK:
        raise ValueError("the vector is not of unit length")
    return vector.astype("<f4")
