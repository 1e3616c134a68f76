"""What MentisDB claims of its one call and its filters, by number: MD-01 to MD-10."""

from __future__ import annotations

from typing import Any

import pytest
from tests.claims.corpus import ids, open_empty, scores
from tests.inside import clock_of

from memoriter.core.errors import BadFilter, BadRecipe, InputError
from memoriter.core.times import iso, to_datetime
from memoriter.memory.facade import Memory
from memoriter.testing.fakes import SECOND, START
from memoriter.why.result import Result


def ask(memory: Memory, text: str, **knobs: Any) -> Result:
    """A question with MentisDB's own knobs."""
    return memory.recall(text, 1000, recipe="mentisdb", overrides=knobs)


def ids_found(memory: Memory, text: str, **knobs: Any) -> set[str]:
    return set(ids(ask(memory, text, **knobs)))


@pytest.fixture
def team() -> Memory:
    """Six thoughts about a port, of several kinds, roles and agents."""
    memory = open_empty()
    say = memory.remember
    say("the port is 22", id="0", kind="Decision", agent="ann", tags=["Ops"], concepts=["SSH"])
    say("a port of call", id="1", kind="Insight", agent="bob", tags=["cart"], importance=0.9)
    say("the port moves", id="2", kind="Decision", role="Summary", agent="bob", confidence=0.4)
    say("port plans", id="3", kind="Plan", agent="Ann", tags=["ops", "net"], confidence=0.9)
    say("lunch", id="4", kind="Decision", agent="ann", importance=0.2, entity_type="place")
    say("a port again", id="5", kind="Decision", agent="ann", entity_type="place", session="s")
    return memory


def test_md_01_one_call_runs_every_step_and_the_plan_lists_them_in_order(vectors: Memory) -> None:
    overrides = {"graph": True, "enable_reranking": True}
    ask: Any = {"recipe": "mentisdb", "overrides": overrides, "vector": [0.0, 0.9, 0.2, 0.0]}
    steps = [
        "select", "words", "meaning", "links", "every", "fuse",
        "importance", "confidence", "recency", "cohesion", "again", "limit",
    ]  # fmt: skip
    assert [step.name for step in vectors.plan("pricing berlin", **ask).steps] == steps
    result = vectors.recall("pricing berlin", 5, **ask)
    assert [step.name for step in result.plan.steps] == steps
    assert [step.name for step in result.plan.steps if step.skipped] == ["every"]
    chosen = result.plan.steps[0].shows
    assert list(chosen)[-2:] == ["after as_of", "after where"]
    for hit in result:  # scores, terms, sources and paths: no second question is needed
        assert hit.scores["total"] == hit.score
        assert set(hit.matched) <= {"price", "berlin"}
        assert hit.lanes["links"].why.facts["path"] if "links" in hit.lanes else True


def test_md_03_filters_narrow_before_anything_is_ranked(team: Memory) -> None:
    assert ids_found(team, "port", thought_types=["Decision"]) == {"0", "2", "5"}
    assert ids_found(team, "port", thought_types=["Decision", "Plan"]) == {"0", "2", "3", "5"}
    assert ids_found(team, "port", thought_types=["decision"]) == {"0", "2", "5"}
    assert ids_found(team, "port", roles=["Summary"]) == {"2"}
    assert ids_found(team, "port", agent_ids=["bob"]) == {"1", "2"}
    assert ids_found(team, "port", agent_ids=["ann"]) == {"0", "5"}  # case counts
    assert ids_found(team, "port", tags_any=["net", "cart"]) == {"1", "3"}
    assert ids_found(team, "port", concepts_any=["ssh"]) == {"0"}
    assert ids_found(team, "port", thought_types=["Decision"], agent_ids=["bob"]) == {"2"}
    for nothing in ("thought_types", "roles", "agent_ids", "tags_any", "concepts_any"):
        assert ids_found(team, "port", **{nothing: []}) == set()


def test_md_04_the_filter_means_the_same_without_a_question(team: Memory) -> None:
    for where in (
        {"kind": "Decision"},
        {"agent": {"in": ["ann", "bob"]}, "tags": {"exists": True}},
        {"not": {"importance": {"gte": 0.5}}},
        {"position": {"gte": 2, "lte": 4}},
    ):
        plain = {record.id for record in team.browse(where=where, limit=100).records}
        blank = team.recall("", 1000, recipe="mentisdb", where=where)
        assert set(ids(blank)) == plain != set()
        worded = team.recall("port", 1000, recipe="mentisdb", where=where)
        assert set(ids(worded)) == plain - {"4"}


def test_md_05_since_and_until_take_positions_and_times_both_inclusive(memory: Memory) -> None:
    for n in range(5):
        memory.remember("port", id=f"{n}")
        clock_of(memory).move(1)
    assert ids_found(memory, "port", since=3) == {"3", "4"}
    assert ids_found(memory, "port", until=1) == {"0", "1"}
    assert ids_found(memory, "port", since=1, until=3) == {"1", "2", "3"}
    third = memory.get("3").committed
    assert third == to_datetime(START + 3 * SECOND)
    assert ids_found(memory, "port", since=iso(third)) == {"3", "4"}
    assert ids_found(memory, "port", until=iso(third)) == {"0", "1", "2", "3"}
    assert ids_found(memory, "port", since=1, until=iso(third)) == {"1", "2", "3"}
    with pytest.raises(BadFilter, match="since") as caught:
        ask(memory, "port", since="whenever")
    assert caught.value.field == "since"


def test_md_06_what_the_filter_removed_is_never_scored_and_takes_no_place() -> None:
    """M12."""
    memory = open_empty("given:2")
    for _ in range(20):
        memory.remember("exact words of mine", kind="noise", vector=[1.0, 0.0])
    memory.remember("words", id="kept", kind="fact", vector=[0.6, 0.8])
    for _ in range(70):
        memory.remember("beside the point", kind="noise", vector=[0.9, 0.1])
    tight = {"lanes.words.pool": 1, "lanes.meaning.pool": 1, "thought_types": ["fact"]}
    result = memory.recall(
        "exact words of mine", 10_000, recipe="mentisdb", vector=[1.0, 0.0], overrides=tight
    )
    assert [(hit.id, sorted(hit.lanes)) for hit in result] == [("kept", ["meaning", "words"])]
    assert result.total == 1


def test_md_07_a_filter_changes_no_lexical_score(team: Memory) -> None:
    """M3."""
    whole = dict(scores(ask(team, "port call")))
    for knobs in ({"agent_ids": ["bob"]}, {"thought_types": ["Decision"]}, {"since": 2}):
        some = dict(scores(ask(team, "port call", **knobs)))
        assert some == {id: whole[id] for id in some}
        assert some
    assert scores(ask(team, "port call")) == scores(ask(team, "port call"))


def test_md_08_tags_match_whole_any_of_and_ignoring_case(team: Memory) -> None:
    assert ids_found(team, "port", tags_any=["OPS"]) == {"0", "3"}
    assert ids_found(team, "port", tags_any=["art"]) == set()  # not a part of "cart"
    assert ids_found(team, "port", tags_any=["art", "CART"]) == {"1"}
    for blank in ("", "  "):
        assert ids_found(team, "port", tags_any=[blank]) == set()
        assert ids_found(team, "port", concepts_any=[blank, "ssh"]) == {"0"}


def test_md_08_a_scope_narrows_and_never_widens(team: Memory) -> None:
    own = team.scoped(agent="ann")
    assert ids_found(own, "port") == {"0", "5"}
    assert ids_found(own, "port", tags_any=["ops"]) == {"0"}
    assert ids_found(own.scoped(session="s"), "port") == {"5"}
    assert ids_found(own, "port", agent_ids=["bob"]) == set()


def test_md_09_bounds_keep_what_reaches_them(team: Memory) -> None:
    assert ids_found(team, "port", min_importance=0.5) == {"0", "1", "2", "3", "5"}
    assert ids_found(team, "port", min_importance=0.9) == {"1"}
    assert ids_found(team, "port", min_confidence=0.4) == {"2", "3"}  # none is not enough
    assert ids_found(team, "port", min_confidence=0.41) == {"3"}


def test_md_10_an_entity_type_holds_beside_any_other_filter(team: Memory) -> None:
    assert ids_found(team, "", entity_type="place") == {"4", "5"}
    assert ids_found(team, "", entity_type="Place") == set()
    assert ids_found(team, "port", entity_type="place", thought_types=["Decision"]) == {"5"}
    assert ids_found(team, "", entity_type="place", min_importance=0.5) == {"5"}


def test_every_name_of_mentisdb_leads_somewhere(team: Memory) -> None:
    with pytest.raises(BadRecipe, match="as_of") as caught:
        ask(team, "port", as_of="2026-01-01")
    assert caught.value.hint == "recall(…, as_of=…)"
    with pytest.raises(BadRecipe, match="sideways") as caught:
        ask(team, "port", graph=True, mode="sideways")
    assert "bidirectional" in caught.value.hint
    for mode in ("bidirectional", "outgoing_only", "incoming_only", "both"):
        assert ids_found(team, "port", graph=True, mode=mode) == {"0", "1", "2", "3", "5"}
    with pytest.raises(InputError, match="thought_types"):
        ask(team, "port", thought_types="Decision")
