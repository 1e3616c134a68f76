"""Runs the search of a receipt again, unchanged (`replay`) or with changes (`why_not`)."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from memoriter.core.errors import BadQuery, Expired, Forbidden, MemoriterError, NotFound
from memoriter.core.names import name
from memoriter.core.query import Query
from memoriter.core.ranking import Scores
from memoriter.core.scope import Scope
from memoriter.core.work_limit import WorkLimit
from memoriter.embed.port import Kindred
from memoriter.embed.vector_space import VectorSpace, parse_space
from memoriter.index.spaces import IndexSpaces
from memoriter.index.view import View
from memoriter.lanes.effects import AskReranker, Effects
from memoriter.lanes.port import Context, InSpace, Skipped, Wording, in_space
from memoriter.memory.embedders import deriver_of, embedder_of, kin_of, packaged_embedder
from memoriter.memory.engine import IN_MEMORY, Engine
from memoriter.memory.search import live_reranker, needs_vector
from memoriter.memory.spaces import query_vector
from memoriter.pipeline.bind import bind
from memoriter.pipeline.plan import plan
from memoriter.pipeline.recipe import Recipe
from memoriter.pipeline.run import run_plan
from memoriter.store.rows import read_tomb
from memoriter.text.analyzers import analyzer, analyzer_by_fingerprint
from memoriter.text.port import Analyzer
from memoriter.why.answer import answer
from memoriter.why.case import Case, Finished, ReceiptLike, receipt_from, with_outcomes
from memoriter.why.replay import Replay, check_vectors, missing_from, named_in, replay_of
from memoriter.why.whynot import WhyNot, why_not

RUNS: Final = 5
"""All runs of a case together may take the filter work of so many searches."""
ENTRIES: Final = 5_000_000
"""How many entries of the log a replay reads at most, to see what was forgotten since."""


def run_replay(engine: Engine, scope: Scope, what: ReceiptLike) -> Replay:
    """Run the search of a receipt again on its view and compare; see `Memory.replay`.

    The outcomes of embedder and reranker are taken from the receipt; a query vector of the packaged
    model or table is computed again and compared. Raises Expired if forgotten records make it
    impossible, TooCostly if the log has grown too much.
    """
    _check_receipt(what, "replay(memory.recall({query!r}))")
    receipt = receipt_from(what)
    case = case_within(Case.of(receipt), scope)
    again = Rerun(engine, case)
    gone: tuple[str, ...] = ()
    # A forget pierces every view, so that even the past view of the receipt may have lost records.
    forgotten = _forgotten(engine, case)
    if forgotten:
        gone = missing_from(again.view, named_in(receipt, case.query))
    try:
        ended = again(_without(case.query, gone), case.recipe)
    except MemoriterError as error:
        if not gone:
            raise
        raise Expired(
            f"{', '.join(gone)} {'was' if len(gone) == 1 else 'were'} forgotten, so the search"
            f" cannot run again: {error.message}",
            hint=error.hint,
        ) from None
    check_vectors(case, receipt, ended.result)
    wrong = ("outcomes.vector",) if _another_vector(case, ended.ctx.embedded) else ()
    return replay_of(receipt, ended.result, gone, forgotten, wrong)


def _another_vector(case: Case, embedded: str) -> bool:
    """Whether the packaged embedder gives another query vector than the receipt says it gave."""
    if case.query.vector is not None or not isinstance(case.vector, np.ndarray):
        return False
    embedder = packaged_embedder(parse_space(case.generations.vectors).fingerprint)
    if embedder is None:
        return False
    (outcome,) = VectorSpace(embedder).embed([embedded], "query")
    return not isinstance(outcome, bytes) or outcome != case.vector.tobytes()


def _check_receipt(what: object, call: str) -> None:
    """Raise BadQuery for a text that names no file: most likely it is a query."""
    if isinstance(what, str) and not os.path.isfile(what):  # noqa: PTH113  # unlike Path, it never raises
        raise BadQuery(
            f"receipt: there is no file {what[:80]!r}",
            hint="check the path; if this is a query, recall first:"
            f" {call.format(query=what[:80])}",
            field="receipt",
        )


def case_within(case: Case, scope: Scope) -> Case:
    """The case, if it lies within the scope; else raises Forbidden."""
    if case.query.scope.tenant != scope.tenant:
        raise Forbidden(
            "the receipt belongs to another tenant",
            hint="open the memory of the receipt's tenant",
            field="tenant",
        )
    filters = case.query.scope.filters()
    for key, value in scope.filters().items():
        if filters.get(key) != value:
            raise Forbidden(
                f"{key}: this memory is limited to {key} {value!r}, but the search of the"
                " receipt was not",
                hint="open the memory with the scope that the receipt was made in",
                field=key,
            )
    return case


def _forgotten(engine: Engine, case: Case) -> int:
    """How many records of the case's view have been forgotten since."""
    tenant = case.query.scope.tenant
    upto = engine.log.head(tenant).seq
    WorkLimit(ENTRIES, "replay", "recall again for a newer receipt").spend(upto - case.seq)
    return sum(
        any(row <= case.seq for row in read_tomb(tomb).rows)
        for delta in engine.log.deltas(tenant, min(case.seq, upto), upto, ("", ""))
        for tomb in delta.tombs
    )


def _without(query: Query, gone: Sequence[str]) -> Query:
    """The query without the forgotten ids in its seeds and lists."""
    if not gone:
        return query
    lost = set(gone)
    seeds = {lane: tuple(i for i in ids if i not in lost) for lane, ids in query.seeds.items()}
    lists = {
        label: tuple(pair for pair in pairs if pair[0] not in lost)
        for label, pairs in query.lists.items()
    }
    return replace(query, seeds={lane: ids for lane, ids in seeds.items() if ids}, lists=lists)


class Rerun:
    """Runs a case again, also with changes; only if `live` may it call embedder and reranker."""

    def __init__(self, engine: Engine, case: Case, *, live: bool = False) -> None:
        self._engine = engine
        self._case = case
        self._live = live
        self._tenant = case.query.scope.tenant
        self._words = _words(case)
        self._kin = _kin(engine, case)
        self._work = engine.filter_limit(RUNS)  # of all runs together
        self.view = self._view(case.seq)

    def _view(self, seq: int) -> View:
        engine, case = self._engine, self._case
        head = engine.log.head(self._tenant).seq
        if seq > head:  # perhaps of another process, and the standby that was asked is behind
            head = engine.log.catch_up(self._tenant).seq
        if seq > head:
            raise NotFound(
                f"the receipt was made at log entry {seq}, but the log of this store ends at"
                f" entry {head}",
                hint="open the store that the receipt was made on; if this is the one, it was"
                " restored to an earlier state, for example from a backup",
                field="view",
            )
        space = case.generations.vectors
        spaces = IndexSpaces(engine.analyzer, space, self._kin, deriver_of(space))
        own = self._words.fingerprint == engine.analyzer.fingerprint
        if not own and self._words.fingerprint not in engine.log.spaces():
            total = engine.index_cache.past(self._tenant, seq, spaces).total
            if total > IN_MEMORY:
                raise Expired(
                    f"this answer needs the words of the analyzer {self._words.name}, which the"
                    f" store no longer keeps; {total:,} records are too many to analyse again",
                    hint=f"add the analyzer again: memoriter analyzer add {self._words.name}",
                )
        view = engine.index_cache.past(self._tenant, seq, replace(spaces, analyzer=self._words))
        _fits(case, view)
        return view

    def __call__(self, query: Query, recipe: Recipe, *, present: bool = False) -> Finished:
        """The finished search on the case's view, or on the present one."""
        case = self._case
        view = self._view(self._engine.log.head(self._tenant).seq) if present else self.view
        recorded = None if query.as_of is None else case.recorded
        # `recorded` limits as_of to what was appended by then; it depends on the view.
        if present and recorded is not None and query.as_of is not None:
            recorded = min(self._engine.log.seq_at(self._tenant, query.as_of), view.seq)
        reranker = self._recorded_reranker(query)
        effects = Effects(self._engine.fetch(self._tenant), reranker, self._work)
        wording = Wording(analyzer(recipe.analyzer), case.unread, self._kin)
        ctx = bind(query, recipe, view=view, effects=effects, wording=wording, recorded=recorded)
        serving = in_space(case.space, view, self._vector(ctx, recipe))
        ctx = replace(ctx, spaces=(serving, *self._other_spaces(view.seq)))
        ran = with_outcomes(run_plan(plan(recipe, ctx), ctx), ctx, case.generations)
        return Finished(ran, ctx, answer(ran, ctx))

    def _other_spaces(self, seq: int) -> tuple[InSpace, ...]:
        """The further spaces that were searched; raises Expired if one is not open now."""
        known = {each.vectors.embedder_name: each.index_cache for each in self._engine.other_spaces}
        if gone := [name for name in self._case.beside if name not in known]:
            raise Expired(
                f"the receipt needs vectors of {gone[0]}, but the memory was opened without this"
                " embedder",
                hint="open the memory with the same embedders as when the receipt was made",
            )
        return tuple(
            in_space(name, known[name].view(self._tenant, seq), vector)
            for name, vector in self._case.beside.items()
        )

    def _vector(self, ctx: Context, recipe: Recipe) -> NDArray[np.float32] | Skipped | None:
        """The recorded vector; a changed recipe may need one that was not recorded."""
        if self._case.vector is not None or not needs_vector(recipe, ctx.query.mode):
            return self._case.vector
        if self._live and self._engine.vectors.name == self._case.generations.vectors:
            return query_vector(self._engine.vectors, ctx.query, ctx.embedded, self.view)
        return Skipped("no vector was made then")

    def _recorded_reranker(self, query: Query) -> AskReranker | None:
        recorded = self._case.judgement
        if recorded is None:
            return None

        def ask(rows: Sequence[int], texts: Sequence[str], timeout_ms: int) -> Scores | str:
            if isinstance(recorded, str):  # the reranker failed, with this reason
                return recorded
            unknown = [row for row in rows if row not in recorded]
            if not unknown:
                return np.array([recorded[row] for row in rows], np.float64)
            ask = live_reranker(self._engine, query) if self._live else None
            if ask is not None:
                return ask(rows, texts, timeout_ms)
            return f"rerank_failed: {len(unknown)} of {len(rows)} rows were not judged then"

        return ask


def _words(case: Case) -> Analyzer:
    """The analyzer of the view; raises Expired if this version does not have it."""
    one = analyzer_by_fingerprint(case.generations.words)
    if one is None:
        raise Expired(
            f"the analyzer of this receipt, {case.generations.words}, is not installed",
            hint="install the version of memoriter that made the receipt, or the package that has"
            " this analyzer",
        )
    return one


def _kin(engine: Engine, case: Case) -> Kindred | None:
    """The kin table of the view; raises Expired if this version does not have it."""
    if case.generations.kin is None:
        return None
    table = engine.kin or kin_of(embedder_of("table"))
    if table is None or table.fingerprint != case.generations.kin:
        raise Expired(
            f"the table of similar words of this receipt, {case.generations.kin}, is not installed",
            hint="install the version of memoriter that made the receipt",
        )
    return table


def _fits(case: Case, view: View) -> None:
    """Raise BadQuery if the receipt's vector has another size than those of the view."""
    if case.vector is None or isinstance(case.vector, Skipped):
        return
    widths = {
        matrix.shape[1]
        for segment in view.segments
        if (matrix := segment.arrays["vectors.matrix"]).shape[0]
    }
    if widths - {case.vector.size}:
        raise BadQuery(
            f"receipt: its query vector has {case.vector.size} numbers, but the vectors of"
            f" this store have {min(widths)}",
            hint="open the store that the receipt was made on; `memoriter verify` checks the"
            " receipt alone",
            field="vector",
        )


def run_why_not(engine: Engine, scope: Scope, what: ReceiptLike, id: str) -> WhyNot:
    """Why a search did not return a record; records outside the scope seem not to exist."""
    if not isinstance(id, str):  # pyright: ignore[reportUnnecessaryIsInstance]  # from outside
        raise BadQuery(
            f"id: expected text, got {type(id).__name__}",
            hint="the answer comes first, then the id of a memory, as text: why_not(result, id)",
            field="id",
        )
    id = name(id, "id", BadQuery)
    _check_receipt(what, f"why_not(memory.recall({{query!r}}), {id!r})")
    case = case_within(Case.of(receipt_from(what)), scope)
    run = Rerun(engine, case, live=True)
    log, tenant = engine.log, scope.tenant
    then = log.latest(tenant, id, case.seq) or log.latest(tenant, id, log.head(tenant).seq)
    if then is None or not scope.contains(then):
        return WhyNot(id, "view", f"there is no record {id!r}")
    return why_not(run, case, id)
