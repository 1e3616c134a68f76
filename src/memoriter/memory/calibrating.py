"""Calibrates a vector space (`Memory.calibrate`): measures it and commits the numbers.

The packaged probe questions are embedded and compared with records of the tenant, if at least
`ENOUGH` have a vector in the space, else with the packaged probe notes. Only quantiles of the
cosines are kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from memoriter.core.batch import RegisterAgent
from memoriter.core.errors import Corrupt, InputError, NotFound, Unavailable, message_of
from memoriter.core.names import text
from memoriter.embed.calibrate import calibration_of, probes
from memoriter.embed.port import Side
from memoriter.embed.vector_space import VectorSpace
from memoriter.index.calibrations import CalibrationEntry
from memoriter.index.spaces import IndexSpaces
from memoriter.index.vectors import embedded_rows, part_vectors
from memoriter.index.view import View
from memoriter.memory.chosen_embedder import embedding_settings
from memoriter.memory.embedders import deriver_of, embedder_of, vector_space
from memoriter.memory.embedding import embedder_names
from memoriter.memory.engine import Engine
from memoriter.memory.spaces import SpaceCalibration, Wordless, space_calibration
from memoriter.write.prepare import SALT_BYTES
from memoriter.write.writer import Writer

ENOUGH: Final = 200
"""From so many records with vectors on, questions are compared with these."""
SAMPLED: Final = 2_000
"""The most records that are compared with each question."""
_BATCH: Final = 16
"""Probe texts per call of the embedder."""


def calibrate(engine: Engine, writer: Writer, space: str | None) -> SpaceCalibration:
    """Measure a space, by default the serving one, and commit the result if it differs.

    Raises NotFound for an unknown space, InputError for one whose vectors come from callers,
    Unavailable if the embedder fails.
    """
    vectors = _space_called(engine, writer.tenant, space)
    entry = _measure(engine, writer, vectors)
    kept = calibration_now(engine, writer.tenant, vectors)
    # What is packaged was made from the probes, too.
    numbers = (kept.calibration, kept.compared or "probes", kept.texts or entry.texts)
    if numbers == (entry.calibration, entry.compared, entry.texts):
        return kept
    key, body = entry.encode(vectors.name)
    writer.commit([RegisterAgent(key, body, writer.context.entropy.draw(SALT_BYTES))])
    return calibration_now(engine, writer.tenant, vectors)


def calibration_now(engine: Engine, tenant: str, vectors: VectorSpace) -> SpaceCalibration:
    """The calibration of a space by everything committed by now."""
    return space_calibration(engine.log.agents(tenant, 2**62), vectors.name, vectors.embedder_name)


def _space_called(engine: Engine, tenant: str, wanted: str | None) -> VectorSpace:
    """The space of this name, or whose embedder has it; one that can embed texts."""
    vectors = engine.vectors if wanted is None else _looked_up(engine, tenant, wanted)
    if not vectors.embeds:
        why = "no embedder" if vectors.embedder is None else "only vectors that callers pass"
        raise InputError(
            f"space: the vector space {vectors.name} has {why}, but calibration must embed texts",
            hint="open the memory with an embedding model, or name the vector space of a model",
            field="space",
        )
    return vectors


def _looked_up(engine: Engine, tenant: str, wanted: str) -> VectorSpace:
    wanted = text(wanted, "space", InputError)
    for vectors in (engine.vectors, *(each.vectors for each in engine.other_spaces)):
        if wanted in (vectors.name, vectors.embedder_name):
            return vectors
    for space, embedder in embedder_names(embedding_settings(engine.log, tenant)).items():
        if wanted in (space, embedder):
            vectors = vector_space(embedder_of(embedder), engine.vectors.patience)
            if vectors.name == space:  # else the model was replaced by another of its name
                return vectors
    raise NotFound(
        f"space: this memory has no vector space {wanted!r}",
        hint="to see the vector spaces and their embedders, use embedding.status()",
        field="space",
    )


def _measure(engine: Engine, writer: Writer, vectors: VectorSpace) -> CalibrationEntry:
    view = _view(engine, writer.tenant, vectors)
    if view.damage is not None:
        raise Corrupt(view.damage, hint="run `memoriter doctor`, then `memoriter maintain`")
    questions = _embedded(vectors, probes().questions, "query")
    time, agent = writer.context.clock.now(), writer.scope.agent
    rows = embedded_rows(view)
    if rows.size < ENOUGH:
        notes = _embedded(vectors, probes().notes, "record")
        numbers = calibration_of(questions, np.array(notes))
        return CalibrationEntry(numbers, "probes", len(notes), time, agent)
    count = min(rows.size, SAMPLED)
    # Spread evenly over the log, so that the sample depends on the view alone.
    owners, parts = part_vectors(view, rows[np.arange(count) * rows.size // count])
    starts = np.unique(owners, return_index=True)[1]
    numbers = calibration_of(questions, parts, starts)
    return CalibrationEntry(numbers, "records", count, time, agent)


def _view(engine: Engine, tenant: str, vectors: VectorSpace) -> View:
    """The view of everything committed by now, with the vectors of a space."""
    if vectors.name == engine.vectors.name:
        return engine.view(tenant, None)
    for each in engine.other_spaces:
        if each.vectors.name == vectors.name:
            return each.index_cache.view(tenant)
    seq = engine.log.head(tenant).seq
    spaces = IndexSpaces(Wordless(), vectors.name, None, deriver_of(vectors.name))
    return engine.index_cache.past(tenant, seq, spaces)


def _embedded(vectors: VectorSpace, texts: Sequence[str], side: Side) -> list[NDArray[np.float32]]:
    """The vectors of probe texts, without those in which the embedder knows no word."""
    # A few at a time: the deadline of an embedder holds for each call.
    batches = (texts[at : at + _BATCH] for at in range(0, len(texts), _BATCH))
    outcomes = [outcome for batch in batches for outcome in vectors.embed(batch, side)]
    for outcome in outcomes:
        if isinstance(outcome, Exception):
            raise Unavailable(
                f"embedder {vectors.embedder_name} fails: {message_of(outcome)}",
                hint="try again when the embedder works",
            )
    made = [np.frombuffer(each, "<f4") for each in outcomes if isinstance(each, bytes)]
    if not made:
        raise Unavailable(
            f"embedder {vectors.embedder_name} returned no vector for any probe text, so it"
            " cannot be calibrated",
            hint="calibration uses English texts: it needs an embedder that reads English",
        )
    return made
