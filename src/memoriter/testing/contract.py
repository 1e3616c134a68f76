"""The contract of a store as tests: a backend subclasses `StoreContract` and says how to open it.

class TestMyStore(StoreContract):
    store = staticmethod(lambda folder: MyStore(folder / "log"))
    reopen = store          # leave it out for a store that is not durable
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from memoriter.core.batch import Commit, Embed
from memoriter.core.errors import BadRecord, Conflict, Unsupported
from memoriter.core.times import to_datetime
from memoriter.store.port import Dump, Head, Log, Manifest, SegmentRef
from memoriter.store.ram import Ram
from memoriter.store.rows import RESERVED, read_tomb
from memoriter.store.stretches import verify_stretch
from memoriter.store.verify import verify_log
from memoriter.testing.acts import SPACE, batch, enrol, forget_act, link_act, make_key, put, vector
from memoriter.testing.contract_base import (
    EdgeTests,
    KeyTests,
    NumberTests,
    StoreTestBase,
    T,
    everything,
)
from memoriter.testing.fakes import START
from memoriter.testing.whole import whole

__all__ = ["StoreContract"]


def embedded_in(log: Log, tenant: str) -> dict[str, list[int]]:
    """By generation the rows that have a vector in it, of all parts together."""
    out: dict[str, list[int]] = {}
    for part in log.embedded(tenant):
        for generation, rows in part.items():
            out.setdefault(generation, []).extend(sorted(rows))
    return out


def without_words(dump: Dump) -> Dump:
    """A dump without its words and segment count, which a restore computes again."""
    return replace(dump, head=replace(dump.head, published=0), words=[])


class ForgetTests(StoreTestBase):
    """A forget erases a record and everything derived from it; the chain stays valid."""

    def fill(self, log: Log) -> None:
        """Write two records with vectors, debts, entities, versions and edges."""
        rich: dict[str, Any] = {
            "vectors": (vector(1, 0), vector(3, 4, space="given:2", form="f8")),
            "owes": ("late/1",),
            "entities": ("Ann",),
        }
        log.commit(batch(put("a", "secret", **rich), put("b", "other", **rich)))
        log.commit(batch(put("a", "secret two", replaces=1, **rich)))
        log.commit(batch(link_act("a", "b"), link_act("b", "a"), link_act("b", "b")))

    def test_all_that_hangs_on_a_record_goes(self, log: Log) -> None:
        """Rows, words, vectors, mentions, edges, debts: of every version."""
        self.fill(log)
        log.commit(batch(forget_act("a")))
        dump, delta = whole(log, T), everything(log)
        assert {r.id for r in dump.records} == {"b"}
        rows = {r.row for r in dump.records}
        assert {v.row for v in dump.vectors} == {m.row for m in dump.mentions} == rows
        assert {d.row for d in dump.debts} == {d.row for d in log.debts(T, 9)} == rows
        assert [(e.source, e.target) for e in dump.edges] == [(1, 1)]
        assert set(delta.words) == {r.row for r in delta.records} == rows
        assert log.versions(T, "a", 99) == []
        assert log.latest(T, "a", 99) is None
        assert log.records(T, [1]) == [None]
        assert log.vectors(T, 1) == []
        assert log.edges(T, 0, 99) == []

    def test_what_is_forgotten_waits_until_it_is_scrubbed(self, log: Log) -> None:
        """How many records, since when, and what of them to look for; a scrub ends it."""
        self.fill(log)
        assert (log.unerased(T).count, log.unerased(T).since) == (0, 0)
        log.commit(batch(forget_act("a"), now=START + 5))
        log.commit(batch(put("c"), forget_act("b"), now=START + 9))
        waiting, seq = log.unerased(T), log.head(T).seq
        assert (waiting.count, waiting.since, waiting.upto) == (2, START + 5, seq)
        assert (sorted(waiting.positions), len(waiting.rows)) == ([0, 1], 3)
        first = whole(log, T).tombs[0].seq
        assert log.scrub(T, first)
        assert (log.unerased(T).count, log.unerased(T).since) == (1, START + 9)
        assert log.scrub(T, waiting.upto)
        assert log.unerased(T).count == log.unerased("other").count == 0
        log.commit(batch(forget_act("c"), now=START + 20))
        assert log.unerased(T).since == START + 20
        log.restore("copy", whole(log, T))
        assert log.unerased("copy").count == 0, "a dump holds nothing of what was forgotten"

    def test_keys_of_a_forgotten_record_do_not_name_it(self, log: Log) -> None:
        """A retry gets the first commit back all the same, with the id that it names itself."""
        first = log.commit(batch(put("a", key=make_key("k"))))
        log.commit(batch(put("b")))
        log.commit(batch(link_act("a", "b", key=make_key("l"))))
        log.commit(batch(forget_act("a", make_key("f"))))
        assert {row.id for row in whole(log, T).keys} == {""}
        assert log.commit(batch(put("a", key=make_key("k")))) == first
        assert log.commit(batch(put("new", key=make_key("k")))).ids == ("new",)
        assert {r.id for r in whole(log, T).records} == {"b"}
        verify_log(T, whole(log, T))

    def test_the_chain_still_verifies(self, log: Log) -> None:
        """It keeps the digests, which tell nothing without the salts."""
        self.fill(log)
        links = [row.link for row in whole(log, T).chain]
        log.commit(batch(forget_act("a")))
        dump = whole(log, T)
        verify_log(T, dump)
        assert [row.link for row in dump.chain][:-1] == links

    def test_the_tombstone_names_numbers_and_no_words(self, log: Log) -> None:
        """Deltas carry it, so that every index learns what is gone."""
        self.fill(log)
        rows = log.versions(T, "a", 99)
        edges = [e.seq for e in log.edges(T, 0, 99)]
        vectors = [v.seq for row in rows for v in log.vectors(T, row) if v.form != "unit"]
        gone = log.commit(batch(forget_act("a")))
        (tomb,) = everything(log).tombs
        assert (tomb.seq, read_tomb(tomb)) == (gone.seq, (0, rows, edges, vectors))
        assert b"secret" not in tomb.body
        assert everything(log, gone.seq - 1).tombs == []

    def test_an_id_may_come_back_at_a_new_position(self, log: Log) -> None:
        """Also within one batch; the old position stays a hole."""
        log.commit(batch(put("a")))
        log.commit(batch(forget_act("a"), put("a", "new")))
        back = log.latest(T, "a", 99)
        assert back
        assert log.versions(T, "a", 99) == [back.row]
        assert (back.text, back.position) == ("new", 1)
        verify_log(T, whole(log, T))

    def test_a_record_is_not_written_and_forgotten_at_once(self, log: Log) -> None:
        """Such a batch is a mistake."""
        self.refused(log, BadRecord, put("a"), forget_act("a"))

    def test_an_edge_made_and_orphaned_in_one_batch_is_gone(self, log: Log) -> None:
        """The chain still counts it."""
        log.commit(batch(put("a"), put("b")))
        log.commit(batch(link_act("a", "b"), forget_act("a")))
        assert whole(log, T).edges == []
        verify_log(T, whole(log, T))


class UpkeepTests(StoreTestBase):
    """Debts, keys, agents, published segments, dump and restore, isolation of tenants."""

    def test_debts_are_paid_by_vectors(self, log: Log) -> None:
        """The oldest first; a vector that cannot be made pays as well."""
        owing = log.commit(batch(*(put(x, owes=(SPACE, "z")) for x in "abc")))
        assert owing.debt == len(log.debts(T, 99))
        assert [tuple(d) for d in log.debts(T, 3)] == [(1, SPACE), (1, "z"), (2, SPACE)]
        every = log.debts(T, 99)
        assert [log.debts(T, 1, debt) for debt in every] == [[debt] for debt in every[1:]] + [[]]
        log.owe(T, 0, 2, every[1:2])
        assert log.debts(T, 99) == every[1:2] + every[4:]
        log.owe(T, 0, 2, every[:4])
        assert log.debts(T, 99) == every
        paid = log.commit(batch(Embed(1, SPACE, vector(1, 0)), Embed(2, SPACE, None)))
        assert (paid.seq, paid.debt) == (4, 0)
        assert [tuple(d) for d in log.debts(T, 9)] == [(1, "z"), (2, "z"), (3, SPACE), (3, "z")]
        assert [(v.seq, v.row) for v in log.vectors(T, 1)] == [(4, 1)]
        verify_log(T, whole(log, T))

    def test_who_has_a_vector_is_told_for_each_space(self, log: Log) -> None:
        """One that is empty counts: there is nothing to embed."""
        log.commit(batch(*(put(x, owes=(SPACE,)) for x in "abc")))
        log.commit(batch(Embed(1, SPACE, vector(1, 0)), Embed(2, SPACE, vector())))
        log.commit(batch(Embed(1, "z", vector(1, 0, space="z"))))
        assert embedded_in(log, T) == {SPACE: [1, 2], "z": [1]}
        log.commit(batch(forget_act("a")))
        assert embedded_in(log, T) == {SPACE: [2]}
        assert embedded_in(log, "other") == {}
        assert [tuple(d) for d in log.debts(T, 9)] == [(3, SPACE)]
        verify_log(T, whole(log, T))

    def test_keys_tell_what_was_written_under_them(self, log: Log) -> None:
        """Unknown ones are left out; a forgotten record leaves its key, and no digest."""
        log.commit(batch(put("a", key=make_key("k")), put("b", key=make_key("l")), put("c")))
        known = log.keys(T, ["k", "l", "never", "k"])
        assert {name: (row.id, row.asked) for name, row in known.items()} == {
            "k": ("a", make_key("k").asked),
            "l": ("b", make_key("l").asked),
        }
        log.commit(batch(forget_act("a")))
        assert log.keys(T, ["k"])["k"].asked == b""
        assert log.keys(T, []) == log.keys("nobody", ["k"]) == {}

    def test_a_debt_paid_without_a_vector_takes_no_number(self, log: Log) -> None:
        """And moves no commit in time."""
        log.commit(batch(put("a", owes=(SPACE,))))
        commits = whole(log, T).commits
        log.commit(batch(Embed(1, SPACE, None), now=START + 9))
        assert (log.head(T).seq, log.debts(T, 9), whole(log, T).commits) == (1, [], commits)
        assert log.seq_at(T, START) == 1

    def test_a_vector_for_a_forgotten_record_is_dropped(self, log: Log) -> None:
        """The embedder may have taken its time."""
        log.commit(batch(put("a", owes=(SPACE,))))
        log.commit(batch(forget_act("a")))
        before = whole(log, T)
        log.commit(batch(Embed(1, SPACE, vector(1, 0))))
        assert whole(log, T) == before

    def test_agents_by_name_as_of_a_view(self, log: Log) -> None:
        """The last state of each."""
        log.commit(batch(enrol("z"), enrol("a", owner="ann")))
        log.commit(batch(enrol("a", owner="bob")))
        owners = [
            [json.loads(a.body).get("owner") for a in log.agents(T, upto)] for upto in range(4)
        ]
        assert owners == [[], [None], ["ann", None], ["bob", None]]

    def test_a_registry_entry_under_a_reserved_name_is_one_like_any_other(self, log: Log) -> None:
        """Settings and calibrations of spaces are kept so: per tenant, as of a view, chained."""
        name = f"{RESERVED}calibration some/1:space+title-text/1"
        log.commit(batch(put("a"), enrol(name, texts=200)))
        log.commit(batch(enrol(name, texts=300)))
        texts = [[json.loads(a.body)["texts"] for a in log.agents(T, upto)] for upto in range(4)]
        assert texts == [[], [], [200], [300]]
        assert log.agents("other", 9) == []
        assert len(whole(log, T).chain) == log.head(T).seq

    def test_segments_are_published_by_compare_and_swap(self, log: Log) -> None:
        """The loser gets False; each index of each tenant has a manifest of its own."""
        log.commit(batch(put("a")))
        one = Manifest((SegmentRef("x.seg", 0, 1, 1),), 0)
        two = Manifest((SegmentRef("y.seg", 0, 1, 1),), 1)
        assert log.publish(T, "i", Manifest(), one)
        assert not log.publish(T, "i", Manifest(), two)
        assert log.manifest(T, "i") == one
        assert log.publish(T, "i", one, two)
        assert log.head(T).published == len([one, two])
        assert (log.manifest(T, "i"), log.manifest(T, "j")) == (two, Manifest())
        assert log.manifest("other", "i") == Manifest()
        assert log.publish(T, "h", Manifest(), one)
        assert log.manifests(T) == {"h": one, "i": two}
        assert log.manifests("other") == {}
        assert log.publish(T, "h", one, Manifest())
        log.commit(batch(put("b")))
        assert log.head(T).published == len([one, two, one, Manifest()]), (
            "a commit does not touch the segments"
        )

    def test_a_dump_restores_to_an_equal_tenant(self, log: Log) -> None:
        """Every number, time, digest, key and debt; and the log goes on from there."""
        ForgetTests.fill(ForgetTests(), log)
        log.commit(batch(enrol("bot"), forget_act("b"), put("c", key=make_key("k"), owes=("l/1",))))
        log.publish(T, "i", Manifest(), Manifest((SegmentRef("x", 0, 1, 1),), 0))
        dump = whole(log, T)
        verify_log(T, dump)
        log.commit(batch(put("elsewhere"), tenant="spare"))
        with pytest.raises(Conflict):
            log.restore(T, dump)
        with pytest.raises(Conflict):
            log.restore("spare", dump)
        log.restore("copy", dump)
        assert without_words(whole(log, "copy")) == without_words(dump)
        assert log.manifest("copy", "i") == Manifest()
        assert log.seq_at("copy", START) == log.seq_at(T, START)
        more = log.commit(batch(put("d"), tenant="copy"))
        assert (more.seq, log.head("copy").positions) == (dump.head.seq + 1, 4)

    def test_stretches_appended_one_by_one_make_an_equal_tenant(self, log: Log) -> None:
        """Also if a record is forgotten, or a debt paid, after its stretch was appended."""
        ForgetTests.fill(ForgetTests(), log)
        log.commit(batch(put("k", key=make_key("k"), owes=("l/1",), entities=("e",))))
        other, copied = Ram(), Head()
        part = log.stretch(T, copied.seq, 2)
        for turn in range(12):
            part = log.stretch(T, copied.seq, 2)
            if not part.commits:
                break
            verify_stretch(T, part, copied)
            other.append(T, part, copied)
            copied = other.head(T)
            if turn == 1:
                log.commit(batch(forget_act("a"), put("c"), Embed(1, "late/1", None)))
        other.append(T, log.stretch(T, copied.seq, 2), copied)
        assert without_words(whole(other, T)) == without_words(whole(log, T))
        assert sorted(other.words(T)) == sorted(log.words(T))
        verify_log(T, whole(other, T))
        with pytest.raises(Conflict):
            other.append(T, log.stretch(T, 0, 2), Head())
        with pytest.raises(Conflict):
            verify_stretch(T, log.stretch(T, 1, 2), Head(1, 0, 0, b"another link"))
        log.commit(batch(put("b"), tenant="spare"))
        log.append("spare", log.stretch("spare", 1, 9), log.head("spare"))
        for name in (T, "spare"):
            verify_log(name, whole(log, name))

    def test_a_stretch_from_elsewhere_is_appended(self, log: Log) -> None:
        """Into an empty tenant, then after it; what was forgotten meanwhile goes."""
        other = Ram()
        ForgetTests.fill(ForgetTests(), other)
        part = other.stretch(T, 0, 9)
        log.append(T, part, Head())
        assert log.head(T).seq == part.head.seq
        other.commit(batch(forget_act("a"), put("c", key=make_key("k"))))
        while (part := other.stretch(T, log.head(T).seq, 1)).commits:
            log.append(T, part, log.head(T))
        log.append(T, part, log.head(T))
        assert without_words(whole(log, T)) == without_words(whole(other, T))
        assert sorted(log.words(T)) == sorted(other.words(T))
        assert everything(log).records[-1].id == "c"
        assert log.commit(batch(put("d"))).seq == other.head(T).seq + 1
        with pytest.raises(Conflict):
            log.append(T, part, other.head(T))
        verify_log(T, whole(log, T))

    def test_tenants_share_nothing(self, log: Log) -> None:
        """Equal ids, keys and numbers in two tenants are strangers."""
        for tenant in ("zoe", "abe"):
            same = put(
                "a", f"of {tenant}", key=make_key("k", tenant), owes=(SPACE,), entities=("e",)
            )
            log.commit(batch(same, put("b"), link_act("a", "b"), enrol("bot"), tenant=tenant))
        assert log.tenants() == ["abe", "zoe"]
        before = whole(log, "abe")
        log.commit(batch(forget_act("a"), tenant="zoe"))
        assert whole(log, "abe") == before
        of_abe = log.records("abe", log.versions("abe", "a", 99))
        assert [r and r.text for r in of_abe] == ["of abe"]
        assert log.versions("zoe", "a", 99) == []
        assert before.head.link != whole(log, "zoe").chain[len(before.chain) - 1].link

    def test_closing_twice_is_fine(self, tmp_path: Path) -> None:
        """Close is idempotent."""
        log = type(self).store(tmp_path)
        log.commit(batch(put("a")))
        log.close()
        log.close()


class DurabilityTests(StoreTestBase):
    """For stores that outlive their process."""

    def test_what_was_committed_is_there_after_opening_again(self, tmp_path: Path) -> None:
        """The same rows, the same head, and the next number follows."""
        cls = type(self)
        log = cls.store(tmp_path)
        ForgetTests.fill(ForgetTests(), log)
        log.commit(batch(enrol("bot"), forget_act("b")))
        before = whole(log, T)
        log.close()
        if cls.reopen is None:
            pytest.skip("this store forgets")
        again = cls.reopen(tmp_path)
        assert whole(again, T) == before
        verify_log(T, whole(again, T))
        assert again.commit(batch(put("c"))).seq == before.head.seq + 1
        again.close()

    def test_a_closed_store_refuses_and_closing_twice_is_fine(self, tmp_path: Path) -> None:
        """Every call after closing raises; none returns silently."""
        log = type(self).store(tmp_path)
        log.commit(batch(put("a")))
        log.close()
        log.close()
        for act in (lambda: log.head(T), lambda: log.commit(batch(put("b"))), log.check):
            with pytest.raises(Unsupported, match="closed"):
                act()

    def test_two_handles_on_one_store_see_each_other(self, tmp_path: Path) -> None:
        """Each commit of one is there for the other at once."""
        cls = type(self)
        if cls.reopen is None:
            pytest.skip("this store has one handle")
        one, two = cls.store(tmp_path), cls.reopen(tmp_path)
        one.commit(batch(put("a")))
        assert two.commit(batch(put("b"))) == Commit(T, 2, to_datetime(START), ("b",))
        with pytest.raises(Conflict):
            one.commit(batch(put("b")))
        assert whole(one, T) == whole(two, T)
        one.close()
        two.close()


class StoreContract(NumberTests, KeyTests, EdgeTests, ForgetTests, UpkeepTests, DurabilityTests):
    """All tests of a store."""
