"""The first half of the store contract: sequence numbers, views, times, idempotency keys, edges."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import ClassVar

import pytest

from memoriter.core.batch import Act, Commit
from memoriter.core.errors import BadRecord, Conflict, NotFound
from memoriter.core.times import to_datetime, to_micros
from memoriter.store.port import Delta, Head, Log, Manifest
from memoriter.store.verify import verify_log
from memoriter.testing.acts import (
    SPACE,
    WORDS,
    batch,
    enrol,
    forget_act,
    link_act,
    make_key,
    put,
    vector,
)
from memoriter.testing.fakes import START
from memoriter.testing.whole import whole

T = "default"


def everything(log: Log, upto: int | None = None, after: int = 0) -> Delta:
    """The log in (after, upto] as one delta."""
    last = log.head(T).seq if upto is None else upto
    whole = Delta(last)
    for part in log.deltas(T, after, last, (WORDS, SPACE)):
        whole.records.extend(part.records)
        whole.words.update(part.words)
        whole.vectors.extend(part.vectors)
        whole.edges.extend(part.edges)
        whole.tombs.extend(part.tombs)
    return whole


class StoreTestBase:
    """Base class: gives each test a new store."""

    store: ClassVar[Callable[[Path], Log]]
    reopen: ClassVar[Callable[[Path], Log] | None] = None

    @pytest.fixture
    def log(self, tmp_path: Path) -> Iterator[Log]:
        """An empty store."""
        opened = type(self).store(tmp_path)
        yield opened
        opened.close()

    def refused(self, log: Log, error: type[Exception], *acts: Act) -> None:
        """The batch is refused and leaves no trace."""
        before = whole(log, T), log.tenants()
        with pytest.raises(error):
            log.commit(batch(*acts))
        assert (whole(log, T), log.tenants()) == before
        verify_log(T, whole(log, T))


class NumberTests(StoreTestBase):
    """Sequence, positions, versions, views and times."""

    def test_an_unknown_tenant_stands_at_zero(self, log: Log) -> None:
        """Nothing is invented for a tenant that never wrote."""
        assert log.head("nobody") == Head()
        assert log.tenants() == []
        assert log.seq_at("nobody", START) == 0
        assert log.versions("nobody", "a", 9) == []
        assert log.latest("nobody", "a", 9) is None
        assert log.agents("nobody", 9) == log.debts("nobody", 9) == []
        assert log.manifest("nobody", "x") == Manifest()
        assert whole(log, "nobody").records == []

    def test_every_entry_takes_the_next_number(self, log: Log) -> None:
        """Records, vectors, mentions, edges, agents and tombstones share one sequence."""
        first = log.commit(batch(put("a", entities=("Ann", "Bob"), vectors=(vector(1, 0),))))
        assert first == Commit(T, 4, to_datetime(START), ("a",))
        second = log.commit(batch(put("b"), link_act("b", "a"), enrol("bot"), forget_act("a")))
        assert second == Commit(T, 8, to_datetime(START), ("b", "b", "bot", "a"))
        dump = whole(log, T)
        assert [row.row for row in dump.records] == [5]
        assert [row.seq for row in dump.chain] == [1, 5, 6, 7, 8]

    def test_positions_count_records_alone_and_stay(self, log: Log) -> None:
        """Edges and versions take no position; the position of a forgotten record is not reused."""
        log.commit(batch(put("a"), put("b"), link_act("a", "b"), put("c")))
        log.commit(batch(put("b", "changed", replaces=2)))
        log.commit(batch(forget_act("a")))
        log.commit(batch(put("d"), put("a", "again")))
        places = {row.id: row.position for row in whole(log, T).records}
        assert places == {"b": 1, "c": 2, "d": 3, "a": 4}
        assert log.head(T).positions == 1 + max(places.values())

    def test_versions_end_one_another(self, log: Log) -> None:
        """All versions are there, oldest first, and `upto` shows the past."""
        log.commit(batch(put("a", "one")))
        log.commit(batch(put("b")))
        log.commit(batch(put("a", "two", replaces=1)))
        seen = {upto: log.versions(T, "a", upto) for upto in range(5)}
        assert seen == {0: [], 1: [1], 2: [1], 3: [1, 3], 4: [1, 3]}
        assert [r and r.position for r in log.records(T, [1, 3])] == [0, 0]
        newest = {upto: log.latest(T, "a", upto) for upto in range(5)}
        assert {upto: r and r.text for upto, r in newest.items()} == {
            0: None, 1: "one", 2: "one", 3: "two", 4: "two"
        }  # fmt: skip
        bodies = {row.row: row.body for row in whole(log, T).records}
        assert log.sizes(T, [3, 99, 1]) == [len(bodies[3]), 0, len(bodies[1])]
        assert [r and r.text for r in log.records(T, [3, 1, 99])] == ["two", "one", None]

    def test_a_version_must_follow_the_one_that_stands(self, log: Log) -> None:
        """A lost race is a conflict, never a silent overwrite."""
        log.commit(batch(put("a")))
        log.commit(batch(put("a", "two", replaces=1)))
        self.refused(log, Conflict, put("a", "three", replaces=1))
        self.refused(log, Conflict, put("x", replaces=1))

    def test_deltas_are_cut_anywhere(self, log: Log) -> None:
        """Any cut of the log gives the same entries, once each."""
        log.commit(batch(put("a", vectors=(vector(1, 0),), entities=("e",)), put("b")))
        log.commit(batch(link_act("a", "b"), put("a", "two", replaces=1), forget_act("b")))
        whole, head = everything(log), log.head(T).seq
        for cut in range(head + 1):
            left, right = everything(log, cut), everything(log, head, cut)
            assert left.records + right.records == whole.records
            assert {**left.words, **right.words} == whole.words
            assert left.vectors + right.vectors == whole.vectors
            assert left.edges + right.edges == whole.edges
            assert left.tombs + right.tombs == whole.tombs
        assert list(log.deltas(T, head, head, (WORDS, SPACE))) in ([], [Delta(head)])

    def test_deltas_hold_the_generations_asked_for(self, log: Log) -> None:
        """Words and vectors of other generations stay away."""
        words = ((WORDS, b"own"), ("words/2", b"other"))
        log.commit(batch(put("a", words=words, vectors=(vector(1, 0), vector(0, 1, space="z")))))
        assert everything(log).words == {1: b"own"}
        assert [v.generation for v in everything(log).vectors] == [SPACE]
        assert [v.generation for v in log.vectors(T, 1)] == [SPACE, "z"]

    def test_commit_time_never_runs_backwards(self, log: Log) -> None:
        """A commit's time is the later of the last one and the clock."""
        times = [START, START, START - 5, START + 7, START + 6]
        made = [log.commit(batch(put(str(n)), now=now)) for n, now in enumerate(times)]
        committed = [to_micros(commit.time) for commit in made]
        assert committed == [START, START, START, START + 7, START + 7]
        assert [to_micros(r.committed) for r in everything(log).records] == committed

    def test_a_moment_names_the_last_commit_at_or_before_it(self, log: Log) -> None:
        """Of commits at one moment, the last; before the first, the empty view."""
        for n, now in enumerate([START, START, START - 5, START + 7]):
            log.commit(batch(put(str(n), entities=("e",)), now=now))
        moments = [START - 1, START, START + 6, START + 7, START + 99]
        assert [log.seq_at(T, moment) for moment in moments] == [0, 6, 6, 8, 8]

    def test_nothing_to_write_is_no_commit(self, log: Log) -> None:
        """An empty batch takes no number and no time."""
        log.commit(batch(put("a")))
        before = whole(log, T)
        assert log.commit(batch(now=START + 9)) == Commit(T, 1, to_datetime(START), ())
        assert whole(log, T) == before


class KeyTests(StoreTestBase):
    """A retry is applied once."""

    def test_the_same_key_and_payload_give_the_same_commit(self, log: Log) -> None:
        """However often, whatever came between."""
        first = log.commit(batch(put("a", key=make_key("k"), owes=(SPACE,))))
        log.commit(batch(put("b"), now=START + 5))
        before = whole(log, T)
        assert log.commit(batch(put("other", key=make_key("k")), now=START + 9)) == first
        assert whole(log, T) == before

    def test_another_payload_under_the_key_conflicts(self, log: Log) -> None:
        """And nothing is written, not even the acts before it."""
        log.commit(batch(put("a", key=make_key("k", "one"))))
        self.refused(log, Conflict, put("b"), put("c", key=make_key("k", "two")))

    def test_a_key_twice_in_one_batch_writes_once(self, log: Log) -> None:
        """The second act is a retry of the first."""
        acts = put("a", key=make_key("k")), put("b", key=make_key("k")), put("c", key=make_key("l"))
        first = log.commit(batch(*acts))
        assert first.ids == ("a", "a", "c")
        assert [r.id for r in everything(log).records] == ["a", "c"]
        assert log.commit(batch(*acts)) == first
        self.refused(
            log, Conflict, put("x", key=make_key("m", "1")), put("y", key=make_key("m", "2"))
        )

    def test_a_retry_beside_something_new_writes_the_new(self, log: Log) -> None:
        """Half of a batch may have been written before."""
        log.commit(batch(put("a", key=make_key("k"))))
        again = log.commit(batch(put("x", key=make_key("k")), put("b")))
        assert (again.ids, again.seq) == (("a", "b"), 2)

    def test_keys_of_links_and_forgets(self, log: Log) -> None:
        """A forget under a key can be retried after the record is gone."""
        log.commit(batch(put("a", key=make_key("k")), put("b")))
        linked = log.commit(batch(link_act("a", "b", key=make_key("l"))))
        assert log.commit(batch(link_act("a", "b", key=make_key("l")))) == linked
        gone = log.commit(batch(forget_act("a", make_key("f"))))
        assert log.commit(batch(forget_act("a", make_key("f")))) == gone
        digests = {row.key: row.asked for row in whole(log, T).keys}
        assert digests["k"] == b"", "the request of a forgotten record is forgotten too"

    def test_keys_belong_to_a_tenant(self, log: Log) -> None:
        """The same key elsewhere is another key."""
        log.commit(batch(put("a", key=make_key("k", "one"))))
        log.commit(batch(put("a", key=make_key("k", "two")), tenant="other"))
        assert log.head("other").seq == 1


class EdgeTests(StoreTestBase):
    """Edges, refs, and the ids that they need."""

    def test_an_existing_id_conflicts(self, log: Log) -> None:
        """Also when it was made earlier in the same batch."""
        log.commit(batch(put("a")))
        self.refused(log, Conflict, put("b"), put("a"))
        self.refused(log, Conflict, put("c"), put("c", "again"))

    def test_an_edge_needs_both_ends(self, log: Log) -> None:
        """An unknown end refuses the whole batch."""
        log.commit(batch(put("a")))
        self.refused(log, NotFound, put("b"), link_act("a", "nobody"))
        self.refused(log, NotFound, link_act("nobody", "a"))
        self.refused(log, NotFound, put("c", edges=(link_act("c", "nobody").edge,)))
        self.refused(log, NotFound, forget_act("nobody"))

    def test_edges_may_be_cyclic_and_lie_inside_one_batch(self, log: Log) -> None:
        """Order inside the batch is order in the log."""
        log.commit(batch(put("a"), put("b", edges=(link_act("b", "a").edge,)), link_act("a", "b")))
        ends = [(e.source, e.target) for e in log.edges(T, 0, 9)]
        assert ends == [(1, 0), (0, 1)]
        assert log.edges(T, 1, 3) == log.edges(T, 0, 3)

    def test_a_later_edge_of_the_same_key_is_beside_the_first(self, log: Log) -> None:
        """The log keeps both; readers take the last of each (source, target, kind, valid_from)."""
        log.commit(batch(put("a"), put("b")))
        log.commit(batch(link_act("a", "b", weight=1.0), link_act("a", "b", weight=0.25)))
        weights = [json.loads(e.body)["weight"] for e in log.edges(T, 0, 9)]
        assert weights == [1.0, 0.25]
        assert [e.seq for e in log.edges(T, 0, 3)] == [3]

    def test_refs_make_edges_to_positions(self, log: Log) -> None:
        """To records that were there, and to earlier ones of the batch."""
        log.commit(batch(put("a")))
        log.commit(batch(put("b"), put("c", refs=(0, 1))))
        edges = [json.loads(e.body) for e in log.edges(T, 2, 9)]
        assert [(t["source"], t["target"], t["kind"]) for t in edges] == [
            ("c", "a", "references"),
            ("c", "b", "references"),
        ]

    def test_a_missing_position_refuses_the_batch(self, log: Log) -> None:
        """A hole, the future, and the record itself are all missing."""
        log.commit(batch(put("a"), put("b")))
        log.commit(batch(forget_act("a")))
        for position in (0, 2, 3, 99):
            self.refused(log, BadRecord, enrol("x"), put("c", refs=(1, position)))
        self.refused(log, BadRecord, forget_act("b"), put("c", refs=(1,)))
        assert log.commit(batch(put("c", refs=(1,)))).ids == ("c",)
