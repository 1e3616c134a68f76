"""`Memory`, the public class: every method validates its arguments and delegates.

Reading goes through `Engine`, writing through `Writer`. Modules that few programs need are imported
inside the methods, so that opening a memory stays fast.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

from memoriter.core.batch import Commit
from memoriter.core.edge import Edge
from memoriter.core.errors import BadQuery, BadRecord
from memoriter.core.names import integer
from memoriter.core.options import check_known, explained, takes
from memoriter.core.query import OFFSET_LIMIT, Query
from memoriter.core.record import Record
from memoriter.core.similar import OnSimilar, SimilarRecord
from memoriter.core.times import TimeLike
from memoriter.index.pages import Sort
from memoriter.memory.analyzers import Analyzers
from memoriter.memory.embedding import Embedding
from memoriter.memory.engine import again_if_damaged
from memoriter.memory.opened import OpenedMemory
from memoriter.memory.options import (
    ARGUMENTS,
    BrowseKwargs,
    DraftFields,
    ForgetKwargs,
    LinkKwargs,
    RememberKwargs,
    SearchKwargs,
    UpdateKwargs,
    WhereLike,
)
from memoriter.memory.writing_options import MessagesKwargs, ReflectKwargs
from memoriter.write.erasure import Erasure
from memoriter.write.progress import ProgressCallback, show_progress

if TYPE_CHECKING:
    from memoriter.memory.agents import Agents
    from memoriter.memory.backups import Backup
    from memoriter.memory.browsing import Page
    from memoriter.memory.capturing import Captured
    from memoriter.memory.importing import Imported
    from memoriter.memory.reviewing import Claim
    from memoriter.memory.spaces import SpaceCalibration
    from memoriter.memory.status import Report, Status
    from memoriter.pipeline.plan import Plan
    from memoriter.pipeline.recipe import Recipe
    from memoriter.why.bundles import Bundles
    from memoriter.why.case import ReceiptLike
    from memoriter.why.replay import Replay
    from memoriter.why.result import Result
    from memoriter.why.whynot import WhyNot
    from memoriter.write.doctor import Checkup
    from memoriter.write.reflect import Reflected


@explained(ARGUMENTS)
class Memory(OpenedMemory):
    """A memory, limited to one scope. Safe to share between threads."""

    def __len__(self) -> int:
        return self.count()

    def scoped(
        self, agent: str | None = None, user: str | None = None, session: str | None = None
    ) -> Memory:
        """The same memory for one agent, user or session.

        Reads return only records of that scope, and writes are stamped with it.
        """
        scope = self._scope.narrowed({"agent": agent, "user": user, "session": session})
        return Memory(self._engine, self._writer.context, scope)

    def with_ceiling(self, trust: str) -> Memory:
        """The same memory, whose writes may have at most this trust; more raises Forbidden."""
        return Memory(self._engine, self._writer.context.under(trust), self._scope)

    # -- writing -------------------------------------------------------------------------------

    def _wrote(self, commit: Commit) -> Commit:
        self._engine.index_cache.wrote(commit.tenant, len(commit.ids))
        return commit

    @takes(RememberKwargs)
    def remember(
        self, text: str, *, on_similar: OnSimilar = "keep", **fields: Unpack[RememberKwargs]
    ) -> Commit:
        """Write one memory: its text and other fields."""
        if on_similar == "keep":
            return self._wrote(self._writer.remember({"text": text, **fields}))
        from memoriter.memory.similar import remember_beside  # noqa: PLC0415  # imports the pipeline

        new = {"text": text, **fields}
        return self._wrote(remember_beside(self._engine, self._writer, new, on_similar))

    def similar(self, text: str, *, limit: int = 20) -> tuple[SimilarRecord, ...]:
        """The memories that a new text would copy, contradict or replace; writes nothing."""
        from memoriter.memory.similar import similar_records  # noqa: PLC0415  # imports the pipeline

        return similar_records(self._engine, self._scope, text, limit)

    def remember_many(
        self, drafts: Iterable[str | DraftFields], *, progress: bool | ProgressCallback = False
    ) -> Commit:
        """Write many memories, a thousand per transaction."""
        total = len(drafts) if isinstance(drafts, Sequence) else None
        index_cache, tenant, before = self._engine.index_cache, self._scope.tenant, 0
        with show_progress(progress, "remembering", total) as report:

            def wrote(count: int) -> None:  # upkeep does not wait for the last batch
                nonlocal before
                index_cache.loaded(tenant, count - before)
                before = count
                report(count)

            return self._writer.remember_many(drafts, wrote)

    @takes(MessagesKwargs)
    def remember_messages(
        self, messages: Iterable[Mapping[str, object]], **options: Unpack[MessagesKwargs]
    ) -> Captured:
        """Write the turns of a conversation; one that was written before is not written again."""
        from memoriter.memory.capturing import capture_messages  # noqa: PLC0415  # rarely used

        return capture_messages(self._engine, self._writer, messages, options)

    @takes(UpdateKwargs)
    def update(self, id: str, **changes: Unpack[UpdateKwargs]) -> Commit:
        """Change fields of a memory by writing a new version; the old one stays in its history.

        None removes an optional field.
        """
        fields: dict[str, object] = {k: v for k, v in changes.items() if k != "key"}
        return self._wrote(self._writer.update(id, fields, changes.get("key")))

    def expire(self, id: str, at: TimeLike | None = None, *, key: str | None = None) -> Commit:
        """Hide a memory from answers from a moment on, now by default; `update` can undo it."""
        return self._wrote(self._writer.expire(id, at, key))

    @takes(LinkKwargs)
    def link(
        self, source: str, target: str, kind: str = "related_to", **options: Unpack[LinkKwargs]
    ) -> Commit:
        """Link two memories by a typed edge."""
        check_known(options, LinkKwargs, BadRecord, "source", "target", "kind")
        fields: dict[str, object] = {k: v for k, v in options.items() if k != "key"}
        return self._wrote(self._writer.link(source, target, kind, fields, options.get("key")))

    @takes(ForgetKwargs)
    def forget(
        self, id: str | Sequence[str] | None = None, **options: Unpack[ForgetKwargs]
    ) -> Erasure:
        """Forget memories, by id or by a filter: hidden at once, from past views too, then erased.

        Upkeep erases their bytes from all files within seconds; `status` says what still waits.
        """
        from memoriter.memory.forgetting import forget  # noqa: PLC0415  # rarely used

        return forget(self._engine, self._writer, id, options)

    @takes(ReflectKwargs)
    def reflect(self, *, dry_run: bool = False, **options: Unpack[ReflectKwargs]) -> Reflected:
        """Write reflections that summarise clusters of memories; archive orphaned ones."""
        from memoriter.memory.reflecting import reflect  # noqa: PLC0415  # rarely used

        return reflect(self._engine, self._writer, options, dry_run=dry_run)

    def review(self, *, limit: int = 100) -> tuple[Claim, ...]:
        """What records would replace or contradict although they are trusted less, oldest first."""
        from memoriter.memory.reviewing import claims_to_review  # noqa: PLC0415  # rarely used

        return claims_to_review(self._engine, self._scope, limit)

    def decide(self, source: str, target: str | Sequence[str], *, accept: bool) -> Commit:
        """Decide a claim of `review`: trust its source as much as its target, or end the link.

        Several targets are decided at once; accepting needs all that it would put into force.
        """
        from memoriter.memory.reviewing import decide_claim  # noqa: PLC0415  # rarely used

        return self._wrote(decide_claim(self._engine, self._writer, source, target, accept=accept))

    @property
    def analyzers(self) -> Analyzers:
        """The analyzers whose words the store keeps."""
        return Analyzers(self._engine)

    @property
    def embedding(self) -> Embedding:
        """The vector spaces of the tenant, and how to change the embedder."""
        return Embedding(self._engine, self._writer)

    @property
    def agents(self) -> Agents:
        """The registry of agents."""
        from memoriter.memory.agents import Agents  # noqa: PLC0415  # rarely used

        return Agents(self._engine, self._writer, self._scope.tenant)

    # -- reading -------------------------------------------------------------------------------

    @takes(SearchKwargs)
    def recall(
        self, query: str, limit: int | None = None, **options: Unpack[SearchKwargs]
    ) -> Result:
        """Search: ranked memories, each with the exact arithmetic of its score."""
        from memoriter.memory.search import search  # noqa: PLC0415  # imports the pipeline

        return again_if_damaged(lambda: search(self._engine, *self._query(query, limit, options)))

    @takes(SearchKwargs)
    def plan(self, query: str, limit: int | None = None, **options: Unpack[SearchKwargs]) -> Plan:
        """The plan of a `recall`: which lanes and passes would run, without running them."""
        from memoriter.memory.search import plan_search  # noqa: PLC0415  # imports the pipeline

        return plan_search(self._engine, *self._query(query, limit, options))

    @takes(SearchKwargs)
    def keywords(
        self, query: str, limit: int | None = None, **options: Unpack[SearchKwargs]
    ) -> Result:
        """Search by the word lanes of a recipe only; a reranker is left out, as `skipped` says."""
        from memoriter.memory.build_query import word_lanes_only  # noqa: PLC0415  # a write needs no recipe
        from memoriter.memory.search import keyword_search  # noqa: PLC0415  # imports the pipeline

        only_words = word_lanes_only(options, self._engine.clock.now)
        return keyword_search(self._engine, *self._query(query, limit, only_words))

    @takes(SearchKwargs)
    def bundles(
        self,
        query: str,
        limit: int | None = None,
        *,
        offset: int = 0,
        **options: Unpack[SearchKwargs],
    ) -> Bundles:
        """Search by words; each hit comes with the records linked to it.

        The default recipe is `linked`. A reranker is left out, as `skipped` says.
        """
        from memoriter.memory.search import run_bundles  # noqa: PLC0415  # imports the pipeline

        integer(offset, "offset", 0, OFFSET_LIMIT, BadQuery)
        built, recipe = self._query(query, limit, {"recipe": "linked", **options})
        return run_bundles(self._engine, built, recipe, offset)

    @takes(SearchKwargs)
    def reflections(
        self, query: str = "", limit: int | None = None, **options: Unpack[SearchKwargs]
    ) -> Result:
        """Search reflections only, by meaning; without a query, all of them.

        With a cycle, age counts too. The recipe `reflections` leaves a reranker out, as `skipped`
        says.
        """
        from memoriter.memory.search import reflections  # noqa: PLC0415  # imports the pipeline

        return reflections(
            self._engine, *self._query(query, limit, {"recipe": "reflections", **options})
        )

    def replay(self, receipt: ReceiptLike) -> Replay:
        """Run the search of a receipt again on its view, and compare the results."""
        from memoriter.memory.receipts import run_replay  # noqa: PLC0415  # rarely used

        return run_replay(self._engine, self._scope, receipt)

    def why_not(self, receipt: ReceiptLike, id: str) -> WhyNot:
        """Why a search did not return a record, and the smallest change that would."""
        from memoriter.memory.receipts import run_why_not  # noqa: PLC0415  # rarely used

        return run_why_not(self._engine, self._scope, receipt, id)

    def _query(self, query: str, limit: int | None, options: SearchKwargs) -> tuple[Query, Recipe]:
        from memoriter.memory.build_query import build_query  # noqa: PLC0415  # a write needs no recipe

        return build_query(query, limit, options, self._scope, self._engine.clock.now)

    @takes(BrowseKwargs)
    def browse(
        self,
        sort: Sort = "newest",
        *,
        cursor: str | None = None,
        limit: int = 20,
        **options: Unpack[BrowseKwargs],
    ) -> Page:
        """Records by date, in stable pages over one view, with the total count."""
        from memoriter.memory.browsing import browse_page  # noqa: PLC0415  # no search needs it

        at = (self._engine, self._scope)
        return browse_page(*at, options=options, sort=sort, cursor=cursor, limit=limit)

    @takes(BrowseKwargs)
    def count(self, **options: Unpack[BrowseKwargs]) -> int:
        """How many memories `browse` would list with the same options."""
        return self.browse(limit=1, **options).total

    def get(self, id: str, *, known_at: TimeLike | None = None) -> Record:
        """One memory, as it is now or as it was known at a moment; raises NotFound."""
        from memoriter.memory.browsing import latest_version  # noqa: PLC0415  # as above

        return latest_version(self._engine, self._scope, id, known_at)

    def history(
        self, id: str, *, known_at: TimeLike | None = None, limit: int = 50, upto: int | None = None
    ) -> tuple[Record, ...]:
        """The newest versions of a memory, up to a row if given, oldest first; raises NotFound."""
        from memoriter.memory.browsing import versions_of  # noqa: PLC0415  # as above

        return versions_of(self._engine, self._scope, id, known_at=known_at, limit=limit, upto=upto)

    def links(self, id: str) -> tuple[Edge, ...]:
        """The edges from and to a memory, the latest of each (source, target, kind, valid_from)."""
        from memoriter.memory.browsing import edges_at  # noqa: PLC0415  # as above

        return edges_at(self._engine, self._scope.tenant, self.get(id).position)

    # -- maintaining -------------------------------------------------------------------------------

    def export(self, path: str | Path, *, where: WhereLike | None = None) -> int:
        """Write the whole tenant to a file that `load` restores; with a filter, JSON lines.

        Returns how many lines were written. What is damaged is left out, and raises Corrupt.
        """
        from memoriter.memory.exporting import export_file  # noqa: PLC0415  # rarely used

        return export_file(self._engine, self._scope, Path(path), where)

    def load(self, path: str | Path) -> int:
        """Restore an export into this tenant, which must be empty; returns how many records."""
        from memoriter.memory.importing import load_export  # noqa: PLC0415  # rarely used

        return load_export(self._engine, self._writer, Path(path))

    def import_file(
        self,
        path: str | Path,
        format: str = "auto",
        *,
        dry_run: bool = False,
        progress: bool | ProgressCallback = False,
    ) -> Imported:
        """Import a file of another system, of notes or of chats; importing it twice is harmless."""
        from memoriter.memory.importing import import_rows  # noqa: PLC0415  # rarely used

        at = (self._engine, self._writer, Path(path))
        return import_rows(*at, format, show=progress, dry_run=dry_run)

    def backup(
        self, path: str | Path, *, verify: bool = False, progress: bool | ProgressCallback = False
    ) -> Backup:
        """Copy the whole store, all its tenants, to a file while it is in use; see `restore`."""
        from memoriter.memory.backups import write_backup  # noqa: PLC0415  # rarely used

        return write_backup(self._engine, Path(path), verify=verify, show=progress)

    def verify_store(self) -> Checkup:
        """Verify all digests, chain links, checksums and segments of the store; changes nothing."""
        from memoriter.memory.status import check_store  # noqa: PLC0415  # rarely used

        return check_store(self._engine, repair=False)

    def doctor(self) -> Checkup:
        """Verify the store and repair derived data: words, vectors, segments; never a record."""
        from memoriter.memory.status import check_store  # noqa: PLC0415  # rarely used

        return check_store(self._engine, repair=True)

    def maintain(self, *, limit: int = 10_000, progress: bool | ProgressCallback = False) -> Report:
        """Run upkeep now: embed what lacks a vector, publish and merge the index, erase."""
        from memoriter.memory.status import run_upkeep  # noqa: PLC0415  # rarely used

        return run_upkeep(self._engine, self._writer, limit, progress=progress)

    def calibrate(self, space: str | None = None) -> SpaceCalibration:
        """Measure and commit the cosines of unrelated texts in a vector space (the serving one)."""
        from memoriter.memory.calibrating import calibrate  # noqa: PLC0415  # rarely used

        return calibrate(self._engine, self._writer, space)

    def status(self, by: str | None = None, *, repeats: bool = False) -> Status:
        """Counts and state; `by` counts by an attribute, `repeats` looks for texts that repeat."""
        from memoriter.memory.status import status_of  # noqa: PLC0415  # rarely used

        return status_of(self._engine, self._scope.tenant, by, repeats=repeats)

    def seq(self) -> int:
        """The last entry of the log that this memory sees; after a write, at least that of it."""
        return self._engine.log.head(self._scope.tenant).seq

    def wait_for(self, seq: int, *, timeout: float = 5.0) -> None:
        """Wait until the store has an entry that was written elsewhere, late on a standby."""
        self._engine.wait_for(self._scope.tenant, seq, timeout)
