"""The vector spaces that an opened memory searches: the serving one, and others next to it.

`memory.engine` uses this to get the query's vector in each space, `memory.status` to tell whether a
space is calibrated.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final, Literal, cast

import numpy as np
from numpy.typing import NDArray

from memoriter.core.calibration import Calibration
from memoriter.core.errors import BadQuery, InputError, message_of
from memoriter.core.lazy_dataclass import dataclass
from memoriter.core.names import number
from memoriter.core.query import Query
from memoriter.core.shown import plain, shown
from memoriter.core.times import iso, to_datetime
from memoriter.core.words import RecordWords
from memoriter.embed.calibrate import packaged_calibration
from memoriter.embed.call import EmbedderTimeout, Patience
from memoriter.embed.port import Embedder
from memoriter.embed.vector_space import VectorSpace
from memoriter.index.cache import IndexCache
from memoriter.index.calibrations import Compared, committed_calibration
from memoriter.index.view import View
from memoriter.lanes.port import Skipped
from memoriter.memory.embedders import embedder_of
from memoriter.rank.grid import unit
from memoriter.store.rows import AgentRow

MOST: Final = 4
"""The most embedders of one memory: each query is embedded by all of them."""
QueryVector = NDArray[np.float32] | Skipped
"""The query's vector in a space, or the reason why there is none."""


class Wordless:
    """An analyzer that finds no words, for the indexes that are read for their vectors only."""

    name = "wordless"
    about = "no words"
    fingerprint = "wordless/1"
    fields = ("text",)

    def terms(self, text: str) -> list[str]:
        """Return no terms."""
        del text
        return []

    def analyse(self, texts: Mapping[str, Sequence[str]]) -> RecordWords:
        """Return one empty field."""
        del texts
        return RecordWords((), (), (0,), ((),))

    def tokens(self, text: str, *, prefix: bool = False) -> list[tuple[str, int]]:
        """Return no tokens."""
        del text, prefix
        return []


@dataclass(frozen=True, slots=True)
class OtherSpace:
    """A space that is searched next to the serving one, with an index of its vectors."""

    vectors: VectorSpace
    index_cache: IndexCache


def embedders_of(what: object) -> list[Embedder | None]:
    """The embedders that the option `embedder` names, the serving one first.

    Raises InputError for more than four, for duplicates, and for None in a list.
    """
    specs = list(cast("Sequence[object]", what)) if isinstance(what, list | tuple) else [what]
    if not 0 < len(specs) <= MOST:
        raise InputError(
            f"embedder: expected 1 to {MOST} embedders, got {len(specs)}",
            field="embedder",
        )
    embedders = [embedder_of(cast("str | Embedder | None", spec)) for spec in specs]
    if len(embedders) > 1 and None in embedders:
        raise InputError(
            "embedder: None is not allowed in a list of embedders",
            hint="name embedders only",
            field="embedder",
        )
    fingerprints = [one.fingerprint for one in embedders if one is not None]
    if len(set(fingerprints)) < len(fingerprints):
        raise InputError(
            "embedder: the list names the same embedder twice",
            hint="name every embedder once",
            field="embedder",
        )
    return embedders


def patience_of(timeout: object) -> Patience:
    """The deadlines that `embed_timeout` names: seconds, or a pair for writes and queries."""
    if timeout is None:
        return Patience()
    pair = (
        list(cast("Sequence[object]", timeout))
        if isinstance(timeout, list | tuple)
        else [timeout, timeout]
    )
    if len(pair) != 2:  # noqa: PLR2004  # writes and queries
        raise InputError(
            "embed_timeout: expected a number of seconds, or a pair of such numbers",
            hint="for example (30, 5): wait 30 seconds when writing, 5 when answering a question",
            field="embed_timeout",
        )
    return Patience(*(number(one, "embed_timeout", 0.001, 1e6, InputError) for one in pair))


def query_vector(vectors: VectorSpace, query: Query, asked: str, view: View) -> QueryVector:
    """The query's vector in a space: the caller's own, or that of `asked` by the embedder.

    Raises BadQuery if the caller's own vector has the wrong size.
    """
    embedder = vectors.embedder
    if embedder is None:
        return Skipped("this memory has no embedder")
    if query.vector is not None:
        return _own_vector(query.vector, _dimension(embedder, view))
    if not asked.strip():
        return Skipped("the query has no text")
    (outcome,) = vectors.embed([asked], "query")
    if isinstance(outcome, Exception):
        why = message_of(outcome)
        late = isinstance(outcome, EmbedderTimeout)
        return Skipped(why if late else f"the embedder failed: {why}")
    if outcome is None:
        return Skipped("nothing in the query can be embedded")
    return np.frombuffer(outcome, "<f4")


def _own_vector(vector: tuple[float, ...], size: int | None) -> QueryVector:
    """The caller's own vector at unit length; a vector of zeros stays as it is."""
    if not vector:
        return Skipped("the vector that comes with the query is empty")
    if size is not None and len(vector) != size:
        raise BadQuery(
            f"vector: expected {size} numbers, got {len(vector)}",
            hint=f"the vectors of this store have {size} numbers: compute yours with the same"
            " model",
            field="vector",
        )
    normalised = unit(np.array(vector))
    return np.zeros(len(vector), np.float32) if normalised is None else normalised


def _dimension(embedder: Embedder, view: View) -> int | None:
    """The length of vectors; None if only a call of the embedder's server could tell."""
    # A remote embedder has `known_dimension`, None until its first answer; reading `dimension`
    # would make a request. Its stored vectors tell the length too.
    known = getattr(embedder, "known_dimension", -1)
    if known == -1:
        return embedder.dimension
    widths = (s.arrays["vectors.matrix"].shape[1] for s in view.segments)
    return known or next((width for width in widths if width), None)


@dataclass(frozen=True, slots=True)
class SpaceCalibration:
    """Whether a vector space is calibrated, and by which numbers."""

    space: str
    embedder: str | None
    """The name of its embedder; None if unknown."""
    state: Literal["committed", "packaged", "none"]
    calibration: Calibration | None = None
    compared: Compared | None = None
    """What the probe questions were compared with; None if nothing was committed."""
    texts: int | None = None
    """How many records or notes were compared with each question."""
    time: datetime | None = None
    """When it was committed."""
    agent: str | None = None
    """The agent in whose scope it was committed."""

    def __repr__(self) -> str:
        return shown(f"SpaceCalibration {plain(self.embedder or self.space, 40)}", self.summary)

    @property
    def summary(self) -> str:
        """The state in a few words, as status reports print it."""
        if self.time is None:
            return "packaged" if self.state == "packaged" else "not calibrated"
        by = f" by {plain(self.agent, 40)}" if self.agent else ""
        texts = "probe notes" if self.compared == "probes" else "records"
        return f"{iso(self.time)}{by}, {self.texts:,} {texts}"

    def to_dict(self) -> dict[str, object]:
        """The state as plain data; what is unknown is left out."""
        cosines = None if self.calibration is None else self.calibration.to_dict()
        out: dict[str, object | None] = {
            "space": self.space,
            "embedder": self.embedder,
            "state": self.state,
            "cosines": cosines,
            "compared": self.compared,
            "texts": self.texts,
            "time": None if self.time is None else iso(self.time),
            "agent": self.agent,
        }
        return {key: value for key, value in out.items() if value is not None}


def space_calibration(
    registry: Sequence[AgentRow], space: str, embedder: str | None
) -> SpaceCalibration:
    """The calibration of a space by the rows of a tenant's registry, as a view of them has it."""
    entry = committed_calibration(registry, space)
    if entry is not None:
        numbers, time = entry.calibration, to_datetime(entry.time)
        origin = (entry.compared, entry.texts, time, entry.agent)
        return SpaceCalibration(space, embedder, "committed", numbers, *origin)
    packaged = packaged_calibration(space)
    state = "none" if packaged is None else "packaged"
    return SpaceCalibration(space, embedder, state, packaged)
