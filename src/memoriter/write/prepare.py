"""Turns drafts into the acts of a batch: completes, analyses and embeds them.

Called by `write.writer` and imports. Everything that can be refused without reading the log is
refused here or earlier. The embedder is called outside any transaction, and its failure never loses
a write: the record is written without a vector and owes it (debt).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Final, NamedTuple

import numpy as np

from memoriter.core.batch import DERIVED, NOTHING, Act, Key, NewEdge, Put, Vector
from memoriter.core.clock import STAMPS, Clock, Entropy, Stamps, uuid7
from memoriter.core.draft import Draft
from memoriter.core.edge import REPLACING
from memoriter.core.errors import BadRecord, InputError
from memoriter.core.fields import TRUST
from memoriter.core.lazy_dataclass import dataclass
from memoriter.core.names import choice
from memoriter.core.record import Content, Record, encode
from memoriter.core.times import to_micros
from memoriter.embed.vector_space import AgentRegistry, VectorSpace, embedded_texts, reads_alike
from memoriter.index.texts import texts_of
from memoriter.text.entities import Extractor
from memoriter.text.port import Analyzer
from memoriter.write.annotate import annotated
from memoriter.write.ceiling import FREE, least_trust

SALT_BYTES: Final = 16
AT_ONCE: Final = 8_000
"""Characters that a write embeds itself at most, if the embedder `fills_later`."""
_NOISE_BYTES: Final = 10
"""Random bytes of a UUIDv7."""


def no_analyzers(spaces: Sequence[str] | None) -> tuple[Analyzer, ...]:
    """None were added."""
    del spaces
    return ()


def _nothing_to_found(clock: Clock, entropy: Entropy) -> None:
    """Nothing is to be said before a commit."""
    del clock, entropy


def _nobody_fills() -> None:
    """Vectors stay owed until `maintain`."""


@dataclass(frozen=True, slots=True)
class WriteContext:
    """What preparing a write needs besides the draft: models, clock, randomness, registry."""

    analyzer: Analyzer
    vectors: VectorSpace
    clock: Clock
    entropy: Entropy
    added_analyzers: Callable[[Sequence[str] | None], tuple[Analyzer, ...]] = no_analyzers
    """Returns the analyzers among spaces, read anew if None: every write stores their words too."""
    stamps: Stamps = STAMPS
    """The timestamps of new ids; a memory with a clock of its own has stamps of its own."""
    extractor: Extractor | None = None
    """Finds the entities of a record that comes without any."""
    registry: Callable[[], AgentRegistry] = dict[str, dict[str, Any]]
    """Returns the registry of agents, for embedders whose template mentions the agent."""
    founding: Callable[[Clock, Entropy], None] = _nothing_to_found
    """Called before a commit: a new tenant says which embedder it is made with."""
    owed: Callable[[], None] = _nobody_fills
    """Called after a commit that leaves vectors owed."""
    ceiling: str = FREE
    """The highest trust that a record may be given (`write.ceiling`)."""

    def under(self, ceiling: str) -> WriteContext:
        """The same with a ceiling, unless it has a lower one; raises InputError."""
        wanted = choice(ceiling, "trust", TRUST, InputError)
        return replace(self, ceiling=least_trust([wanted, self.ceiling]))

    @property
    def space(self) -> str:
        """The name of the vector space that records are embedded into."""
        return self.vectors.name

    @property
    def analyzers(self) -> tuple[Analyzer, ...]:
        """The analyzers that a write stores words of; those of our own are derived by the index."""
        return self.added_analyzers(None)


Outcomes = tuple[Vector, ...] | Exception
"""The vectors of a record, one for each part that could be embedded, or the embedder's error.

If there is nothing to embed, it is a single vector with an empty body."""


class Derived(NamedTuple):
    """What is computed from a record and stored with it."""

    space: str
    vectors: Outcomes
    analyzers: tuple[Analyzer, ...]


def prepare(
    drafts: Sequence[Draft], context: WriteContext, spaces: Sequence[str] | None = None
) -> tuple[Act, ...]:
    """The acts that write these drafts as new records; all texts are embedded in one call.

    Words are made for the analyzers among `spaces`, for those that the store has now if it is None.

    Raises BadRecord for a vector of the wrong size.
    """
    now = context.clock.now()
    stamp = context.stamps.after(now)
    contents = [annotated(draft.complete(now), context.extractor) for draft in drafts]
    outcomes = embed_all(contents, context)
    analyzers = context.added_analyzers(spaces)
    # One draw for all salts and one for all ids: tests replay the entropy in this order.
    salts = context.entropy.draw(SALT_BYTES * len(drafts))
    noise = context.entropy.draw(_NOISE_BYTES * len(drafts))
    space = context.space
    return tuple(
        put_of(
            draft,
            content,
            draft.id or uuid7(stamp, noise[_NOISE_BYTES * at : _NOISE_BYTES * (at + 1)]),
            salts[SALT_BYTES * at : SALT_BYTES * (at + 1)],
            Derived(space, vectors, analyzers),
        )
        for at, (draft, content, vectors) in enumerate(zip(drafts, contents, outcomes, strict=True))
    )


def put_of(draft: Draft, content: Content, record_id: str, salt: bytes, derived: Derived) -> Put:
    """The act that writes a new record; without vectors, if the embedder failed, it owes them."""
    space, made, analyzers = derived
    owes = (space,) if isinstance(made, Exception) else ()
    vectors = given_vectors(draft.vector, space)
    vectors += () if isinstance(made, Exception) else made
    body = encode(record_id, content, {"created", "entities", *draft.fields})
    edges = tuple([_dated(edge, content) for edge in draft.edges])
    words = _words(content, analyzers)
    return Put(
        id=record_id,
        content=content,
        body=body,
        salt=salt,
        replaces=None,
        words=words,
        vectors=vectors,
        owes=owes,
        edges=edges,
        key=draft.key,
    )


def _dated(edge: NewEdge, content: Content) -> NewEdge:
    """A replacing edge without a date is valid from the moment that its record is."""
    if edge.kind in REPLACING and edge.valid_from is None:
        since = content.created if content.valid_from is None else content.valid_from
        return NewEdge(
            edge.target,
            edge.kind,
            weight=edge.weight,
            valid_from=to_micros(since),
            valid_until=edge.valid_until,
            metadata=edge.metadata,
        )
    return edge


def given_vectors(vector: tuple[float, ...] | None, space: str) -> tuple[Vector, ...]:
    """The caller's own vector, stored as float64.

    Raises BadRecord if the memory was opened for the caller's vectors and the size differs.
    """
    if vector is None:
        return ()
    own = f"given:{len(vector)}"
    if space.startswith("given:") and space != own:
        size = space.removeprefix("given:")
        raise BadRecord(
            f"vector: expected {size} numbers, got {len(vector)}",
            hint=f"give {size} numbers: this memory was opened with the embedder given:{size}",
            field="vector",
        )
    return (Vector(own, 0, "f8", np.array(vector, "<f8").tobytes()),)


def _words(content: Content, analyzers: tuple[Analyzer, ...]) -> tuple[tuple[str, bytes], ...]:
    if not analyzers:
        return ()
    texts = texts_of(content)
    return tuple((each.fingerprint, each.analyse(texts).encode()) for each in analyzers)


def prepare_version(
    record: Record,
    content: Content,
    kept: tuple[Vector, ...],
    context: WriteContext,
    key: Key | None,
) -> Put:
    """The act that writes a new version.

    Of the previous vectors (`kept`), those stay whose embedder would read the same text again.
    """
    registry = context.registry()
    vectors = tuple(
        v for v in kept if v.form != "unit" or reads_alike(v.generation, record, content, registry)
    )
    owes: tuple[str, ...] = ()
    if not any(v.generation == context.space for v in vectors):
        (made,) = embed_all([content], context)
        owes = (context.space,) if isinstance(made, Exception) else ()
        vectors += () if isinstance(made, Exception) else made
    salt = context.entropy.draw(SALT_BYTES)
    words = _words(content, context.analyzers)
    body = encode(record.id, content)
    return Put(
        id=record.id,
        content=content,
        body=body,
        salt=salt,
        replaces=record.row,
        words=words,
        vectors=vectors,
        owes=owes,
        edges=(),
        key=key,
    )


OWED: Final = Exception("computed later")
"""In place of an embedder's error, for a vector that a write does not wait for."""


def embed_all(
    contents: Sequence[Content], context: WriteContext, *, now: bool = False
) -> list[Outcomes]:
    """The vectors of records, all texts in one call; a record fails if any of its parts does.

    Vectors that the index derives are only noted. Those of much text are owed to upkeep, if
    their embedder takes long and they are not wanted `now`.
    """
    vectors, space = context.vectors, context.space
    if vectors.is_derived:
        return [(Vector(space, 0, "unit", DERIVED),)] * len(contents)
    if not vectors.embeds:
        return [()] * len(contents)
    much = sum(len(each.text) for each in contents) > AT_ONCE
    if much and not now and getattr(vectors.embedder, "fills_later", False):
        return [OWED] * len(contents)
    registry: AgentRegistry = context.registry() if vectors.reads_registry else {}
    texts = [embedded_texts(content, vectors.embedder, registry) for content in contents]
    made = iter(vectors.embed([part for parts in texts for part in parts], "record"))
    # An empty vector marks "nothing to embed", so that upkeep does not try the record again.
    nothing = (Vector(space, 0, "unit", NOTHING),)
    out: list[Outcomes] = []
    for parts in texts:
        outcomes = [next(made) for _ in parts]
        failed = next((one for one in outcomes if isinstance(one, Exception)), None)
        bodies = tuple(
            Vector(space, n, "unit", vectors.body_of(one))
            for n, one in enumerate(outcomes)
            if isinstance(one, bytes)
        )
        out.append((bodies or nothing) if failed is None else failed)
    return out
