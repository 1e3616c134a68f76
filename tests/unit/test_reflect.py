"""reflect: whom it joins, what it writes, what it takes back, and what it refuses."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from typing import Any, cast

import numpy as np
import pytest
from tests.claims.corpus import VECTOR, ids, open_empty
from tests.inside import log_of
from tests.property.worlds import dump_of, open_toy

import memoriter
from memoriter.core.batch import Batch, Commit
from memoriter.core.errors import BadQuery, Conflict, InputError, NothingToRun
from memoriter.core.record import Record
from memoriter.core.times import to_datetime
from memoriter.memory.facade import Memory
from memoriter.rank.cluster import middle
from memoriter.testing.fakes import START, HandClock, ToyEmbedder

TEXTS = ("the harbour wall", "the harbour crane", "the harbour light")
EAST = (1.0, 0.0, 0.0, 0.0)


def keep(memory: Memory, *names: str, **more: Any) -> None:
    """Three memories that are near one another, or those named."""
    for name, text in zip(names or ("a", "b", "c"), TEXTS, strict=False):
        memory.remember(f"{text} {name}", **({"id": name, "vector": EAST} | more))


def near(*names: str, **more: Any) -> Memory:
    memory = open_empty("given:4")
    keep(memory, *names, **more)
    return memory


def only(memory: Memory, **how: Any) -> Record:
    (made,) = memory.reflect(**how).created
    return memory.get(made.id)


# --- whom it joins ----------------------------------------------------------------------------


@pytest.mark.parametrize("algorithm", ["propagation", "agglomerative"])
def test_a_cluster_never_crosses_agents_or_users(algorithm: Any) -> None:
    memory = near("a", "b", "c", agent="x")
    keep(memory, "d", "e", "f", agent="y")
    keep(memory, "g", "h", "i", agent="y", user="ana")
    done = memory.reflect(algorithm=algorithm)
    assert [each.members for each in done.created] == [
        ("a", "b", "c"), ("d", "e", "f"), ("g", "h", "i"),
    ]  # fmt: skip
    owners = [(memory.get(each.id).agent, memory.get(each.id).user) for each in done.created]
    assert owners == [("x", None), ("y", None), ("y", "ana")]


def test_short_notes_come_together_at_a_lower_similarity_unless_one_is_named() -> None:
    memory = memoriter.open(":memory:")
    notes = {
        "plan": "Larkfield won the Temple Quarter park; I lead the planting plan.",
        "due": "Planting plan for Temple Quarter is due with the council on 17 July.",
        "late": "Council moved the Temple Quarter hearing to autumn; our plan date stays.",
        "milk": "Oat milk goes into the morning coffee.",
    }
    for id, text in notes.items():
        memory.remember(text, id=id)
    assert memory.reflect(similarity=0.7).created == ()
    done = memory.reflect()
    assert [each.members for each in done.created] == [("due", "late", "plan")]
    assert str(done.remark).startswith("nothing came together at similarity 0.7; this did")
    again = memory.reflect()
    assert (again.created, again.kept, again.retired) == ((), (done.created[0].id,), ())


def test_nothing_that_comes_together_is_explained_by_the_nearest() -> None:
    memory = memoriter.open(":memory:")
    for text in ("Oat milk for coffee", "The train to Lyon leaves at nine", "SSH listens on 49222"):
        memory.remember(text)
    done = memory.reflect()
    assert done.created == ()
    assert str(done.remark).startswith("no memory has 2 others within similarity 0.4; the closest")
    lower = memory.reflect(similarity=0.0, dry_run=True)
    assert lower.remark is None
    memory.forget([record.id for record in memory.browse(limit=2).records])
    assert str(memory.reflect().remark).startswith("there are fewer than 3")


def test_too_few_of_each_agent_make_none() -> None:
    memory = near("a", "b", agent="x")
    keep(memory, "c", "d", agent="y")
    assert memory.reflect().created == ()


def test_sessions_may_differ_and_one_session_is_kept() -> None:
    memory = near("a", "b", session="s1")
    keep(memory, "c", session="s2")
    assert only(memory).session is None
    assert only(near(session="s1")).session == "s1"


def test_a_scope_sees_and_writes_its_own_alone() -> None:
    memory = near("a", "b", "c", agent="x")
    keep(memory, "d", "e", "f", agent="y")
    scoped = memory.scoped(agent="y")
    assert [each.members for each in scoped.reflect().created] == [("d", "e", "f")]
    assert len(scoped.reflections(vector=EAST)) == 1
    assert len(memory.scoped(agent="x").reflections(vector=EAST)) == 0
    assert len(memory.reflect().created) == 1


def test_tenants_know_nothing_of_one_another(tmp_path: Any) -> None:
    one = memoriter.open(tmp_path / "m.db", "one", embedder="given:4")
    two = memoriter.open(tmp_path / "m.db", "two", embedder="given:4")
    keep(one, "a", "b")
    keep(two, "c", "d")
    assert one.reflect().created == two.reflect().created == ()
    one.close()
    two.close()


def test_reflections_are_never_reflected_upon() -> None:
    memory = near()
    for n, name in enumerate("xyz"):
        memory.remember(f"own {n}", id=name, kind="reflection", vector=EAST)
    done = memory.reflect()
    assert [each.members for each in done.created] == [("a", "b", "c")]
    assert memory.reflect().created == ()
    assert done.considered == 3


@pytest.mark.parametrize("change", [{"archived": True}, {"expires": START}])
def test_what_is_hidden_is_no_member(change: dict[str, Any]) -> None:
    memory = near()
    memory.update("a", **change)
    assert memory.reflect().created == ()


def test_what_was_superseded_is_no_member() -> None:
    memory = near()
    memory.remember("quite another thing", supersedes="a", vector=(0, 1, 0, 0))
    assert memory.reflect().created == ()


def test_the_newest_candidates_are_compared_and_the_rest_is_counted() -> None:
    memory = near()
    memory.remember("no vector")
    keep(memory, "d", "e", "f")
    done = memory.reflect(candidates=3)
    assert [each.members for each in done.created] == [("d", "e", "f")]
    assert (done.considered, done.left_out) == (3, 4)


def test_sizes_are_bounds() -> None:
    memory = near("a", "b")
    assert memory.reflect().created == ()
    assert len(memory.reflect(min_size=2, dry_run=True).created) == 1
    keep(memory, "c")
    (large,) = memory.reflect(min_size=2, max_size=2).rejected
    assert (large.members, large.reason) == (("a", "b", "c"), "3 members, at most 2 are summed up")


def test_a_rejected_cluster_is_told_with_its_reason() -> None:
    memory = near("a", "b")
    memory.remember("the harbour wall a", id="c", vector=EAST)
    done = memory.reflect()
    assert done.to_dict()["rejected"] == [
        {"members": ["a", "b", "c"], "reason": "two members say the same"}
    ]
    assert done.created == ()


# --- what it writes ---------------------------------------------------------------------------


def test_a_reflection_tells_its_members() -> None:
    clock = HandClock()
    memory = memoriter.open(":memory:", clock=clock, embedder="given:4")
    for name, day in (("a", 0), ("b", 1), ("c", 3)):
        memory.remember(
            f"The Harbour of Ada {name} {'long ' * 40}",
            id=name, vector=EAST, occurred=START + day * 86_400_000_000, entities=["Ada"],
        )  # fmt: skip
    body = json.loads(only(memory).text)
    assert body["named_entities"] == ["Ada"]
    assert [len(one) for one in body["member_excerpts"]] == [150] * 3
    assert body["created_at"] == "2026-09-21T14:13:20Z"
    assert body["temporal_span"] == {
        "min": "2026-09-21T14:13:20Z", "max": "2026-09-24T14:13:20Z", "days": 3.0,
    }  # fmt: skip


def test_it_is_trusted_and_lasts_no_more_than_its_members() -> None:
    memory = near("a", trust="system")
    memory.remember("the harbour crane b", id="b", trust="external", vector=EAST, expires=START + 9)
    memory.remember("the harbour light c", id="c", vector=EAST, expires=START + 5)
    record = only(memory)
    assert (record.trust, record.expires) == ("external", to_datetime(START + 5))


def test_a_function_may_write_the_summary() -> None:
    memory = near()

    def summary(members: Sequence[Record]) -> str:
        return " + ".join(member.id for member in members)

    assert memory.reflect(summary=summary, dry_run=True).created[0].summary.startswith("REFLECTION")
    assert memory.reflect(summary=summary).created[0].summary == "a + b + c"
    (hit,) = memory.reflections(vector=EAST)
    assert hit.record.essence == "a + b + c"


def test_its_vector_is_the_middle_of_vectors_as_given() -> None:
    memory = open_empty("given:4")
    vectors = [(3.0, 0.0, 0.0, 0.0), (1.0, 0.5, 0.0, 0.0), (1.0, 0.0, 0.0, 0.0)]
    for text, vector in zip(TEXTS, vectors, strict=True):
        memory.remember(text, vector=vector)
    reflection = only(memory)
    kept = [row for row in dump_of(memory).vectors if row.row == reflection.row]
    expected = middle(np.array(vectors))
    assert expected is not None
    assert [(row.form, row.generation) for row in kept] == [("f8", "given:4")]
    assert np.array_equal(np.frombuffer(kept[0].body, "<f8"), expected)


def test_with_an_embedder_it_lies_in_the_space_that_serves_and_is_not_embedded() -> None:
    embedder = ToyEmbedder()
    memory = open_toy(embedder=embedder)
    memory.remember_many(TEXTS)
    calls = embedder.calls
    reflection = only(memory, similarity=0.3)
    assert embedder.calls == calls
    (row,) = [row for row in dump_of(memory).vectors if row.row == reflection.row]
    members = [np.frombuffer(v.body, "<f4") for v in dump_of(memory).vectors if v.row < row.row]
    expected = middle(np.stack(members))
    assert expected is not None
    assert np.array_equal(np.frombuffer(row.body, "<f4"), expected)
    assert memory.maintain().embedded == 0
    assert memory.reflections("the harbour")[0].lanes["meaning"].score > 0.3


def test_a_dry_run_writes_nothing_and_shows_the_same() -> None:
    memory = near()
    before = memory.status().seq
    shown = memory.reflect(dry_run=True)
    assert memory.status().seq == before
    assert shown.dry_run
    made = memory.reflect()
    assert made.created == shown.created
    assert not made.dry_run


# --- what it takes back -----------------------------------------------------------------------


def test_forgetting_a_reflection_leaves_the_members_and_it_can_be_made_again() -> None:
    memory = near()
    before = [memory.history(id) for id in "abc"]
    made = memory.reflect().created
    memory.forget(made[0].id)
    assert [memory.history(id) for id in "abc"] == before
    assert all(memory.links(id) == () for id in "abc")
    assert memory.reflect().created == made


@pytest.mark.parametrize("gone", ["forget", "archive", "move"])
def test_a_reflection_whose_member_is_gone_is_retired(gone: str) -> None:
    memory = near("a", "b", "c")
    memory.remember("the harbour gate d", id="d", vector=EAST)
    first = only(memory)
    match gone:
        case "forget":
            memory.forget("a", keep_reflections=True)
        case "archive":
            memory.update("a", archived=True)
        case _:
            memory.update("a", agent="somebody")
    shown = memory.reflect(dry_run=True)
    done = memory.reflect()
    assert done.retired == shown.retired == (first.id,)
    assert memory.get(first.id).archived
    assert [each.members for each in done.created] == [("b", "c", "d")]
    assert memory.reflect().retired == ()
    assert ids(memory.reflections(vector=EAST)) == [done.created[0].id]


def test_what_was_archived_by_hand_stays_so() -> None:
    memory = near()
    made = memory.reflect().created[0]
    memory.update(made.id, archived=True)
    again = memory.reflect()
    assert (again.created, again.kept, again.retired) == ((), (made.id,), ())
    assert memory.get(made.id).archived


def test_reflections_of_others_are_never_retired() -> None:
    memory = near()
    memory.remember("not even JSON", kind="reflection", id="own")
    memory.remember('{"member_ids": ["nobody"]}', kind="reflection", id="alike")
    assert memory.reflect().retired == ()


def test_a_reflection_that_was_rewritten_is_left_alone() -> None:
    memory = near()
    made = memory.reflect().created[0]
    memory.update(made.id, text="my own words")
    memory.forget("a", keep_reflections=True)
    assert memory.reflect().retired == ()


def test_an_updated_member_is_the_same_member() -> None:
    memory = near()
    made = memory.reflect().created[0]
    memory.update("a", text="the harbour wall, painted")
    done = memory.reflect()
    assert (done.created, done.kept, done.retired) == ((), (made.id,), ())


def test_somebody_who_reflects_meanwhile_makes_no_second_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    memory = near()
    log = log_of(memory)
    commit, asked = log.commit, 0

    def late(batch: Batch) -> Commit:
        nonlocal asked
        asked += 1
        monkeypatch.setattr(log, "commit", commit)
        memory.reflect()
        return commit(batch)

    monkeypatch.setattr(log, "commit", late)
    done = memory.reflect()
    assert asked == 1
    assert done.created == ()
    assert len(done.kept) == 1
    assert len(memory.reflections(vector=EAST)) == 1


def test_a_foreign_record_with_its_id_is_a_conflict() -> None:
    memory = near()
    (planned,) = memory.reflect(dry_run=True).created
    memory.remember("something else", id=planned.id)
    with pytest.raises(Conflict):
        memory.reflect()


# --- what it refuses --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("how", "field"),
    [
        ({"algorithm": "magic"}, "algorithm"),
        ({"similarity": 1.5}, "similarity"),
        ({"similarity": float("nan")}, "similarity"),
        ({"min_size": 1}, "min_size"),
        ({"min_size": 5, "max_size": 4}, "max_size"),
        ({"candidates": 0}, "candidates"),
        ({"candidates": 10**9}, "candidates"),
        ({"cycle": "now"}, "cycle"),
        ({"summary": "text"}, "summary"),
        ({"summary": lambda _: 7}, "summary"),
        ({"summary": lambda _: "x" * 70_000}, "summary"),
        ({"dry_run": "yes"}, "dry_run"),
        ({"colour": "red"}, "colour"),
    ],
)
def test_every_mistake_names_its_field(how: dict[str, Any], field: str) -> None:
    memory = near()
    before = memory.status().seq
    with pytest.raises(InputError) as caught:
        memory.reflect(**how)
    assert caught.value.field == field
    assert memory.status().seq == before


def test_without_vectors_it_says_what_it_needs() -> None:
    memory = open_empty()
    memory.remember("alone")
    with pytest.raises(NothingToRun, match="vectors"):
        memory.reflect()
    with open_empty("given:4") as bare:
        bare.remember("alone")
        assert (bare.reflect().considered, bare.reflect().left_out) == (0, 1)


def test_an_empty_memory_is_no_error() -> None:
    assert open_empty("given:4").reflect().to_dict() == {
        "created": [], "kept": [], "retired": [], "rejected": [], "considered": 0, "left_out": 0,
        "dry_run": False, "seq": 0, "remark": "there are fewer than 3 memories to compare",
    }  # fmt: skip
    assert len(open_empty("given:4").reflections(vector=VECTOR)) == 0


def test_reflections_keep_to_recipes_of_reflections() -> None:
    memory = near()
    memory.reflect()
    with pytest.raises(BadQuery, match="also finds memories that are not"):
        memory.reflections("harbour", recipe="lexical")
    by_words = {"recipe": "lexical", "overrides": {"select.reflections": "only"}}
    (hit,) = memory.reflections("harbour", **cast("Any", by_words))
    assert hit.record.kind == "reflection"
    assert len(memory.reflections("harbour", cycle=3)) == 1
    with pytest.raises(BadQuery, match="does not use this option"):
        memory.reflections("harbour", cycle=3, **cast("Any", by_words))
    with pytest.raises(BadQuery, match="cycle"):
        memory.reflections(cycle=cast("Any", "soon"))


def test_async_code_reflects_too() -> None:
    async def scene() -> tuple[int, int]:
        async with await memoriter.aopen(embedder="given:4") as memory:
            for text in TEXTS:
                await memory.remember(text, vector=EAST)
            done = await memory.reflect()
            return len(done.created), len(await memory.reflections(vector=EAST))

    assert asyncio.run(scene()) == (1, 1)


def test_of_equally_frequent_words_those_of_the_oldest_member_come_first_whatever_its_id() -> None:
    texts = (
        "Booked a flight to Berlin",
        "Booked a hotel in Berlin",
        "The flight to Berlin is late",
    )
    with memoriter.open(":memory:") as memory:
        for id, text in zip("cba", texts, strict=True):
            memory.remember(text, id=id)
        (made,) = memory.reflect(similarity=0.3).created
        assert made.keywords[:3] == ("berlin", "booked", "flight")
