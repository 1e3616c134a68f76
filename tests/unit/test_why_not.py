"""Why not: the first thing in a record's way, and a change that lets it in when it is run."""

from __future__ import annotations

import json
from typing import Any

import pytest

import memoriter
from memoriter.core.errors import BadQuery, Forbidden
from memoriter.memory.facade import Memory
from memoriter.pipeline.load import recipe_of
from memoriter.testing.fakes import SECOND, START, HandClock, ToyReranker
from memoriter.why.whynot import WhyNot


def asked(memory: Memory, text: str, id: str, **ask: Any) -> WhyNot:
    """Why a question is not answered with a record, after the change was asked for real."""
    ask = {"now": START, **ask}
    found = memory.why_not(memory.recall(text, **ask), id)
    if found.admits:
        hits = [hit.id for hit in memory.recall(text, **found.changed(ask))]
        assert hits.index(id) + 1 == found.rank_then
    json.dumps(found.to_dict(), allow_nan=False)
    return found


def recipe(name: str = "lexical", **parts: Any) -> dict[str, Any]:
    return {**recipe_of(name).to_data(), "name": "mine", **parts}


def test_a_hit_is_there(memory: Memory) -> None:
    memory.remember("ssh port", id="a")
    found = asked(memory, "ssh", "a")
    assert (found.stage, found.admits, found.rank_then, found.change) == ("hit", True, 1, {})


def test_what_does_not_exist_or_is_gone_or_may_not_be_read_sounds_the_same(memory: Memory) -> None:
    memory.remember("ssh port", id="a", agent="bot")
    memory.remember("ssh port", id="theirs", agent="other")
    memory.remember("ssh port", id="gone", agent="bot")
    mine = memory.scoped(agent="bot")
    result = mine.recall("ssh")
    mine.forget("gone")
    told = {id: mine.why_not(result, id) for id in ("theirs", "gone", "never")}
    for id, found in told.items():
        assert (found.stage, found.change, found.admits) == ("view", None, False)
        assert found.reason == f"there is no record {id!r}"
        assert found.lanes == {}
    with pytest.raises(Forbidden):
        mine.why_not(memory.recall("ssh"), "theirs")
    with pytest.raises(BadQuery):
        mine.why_not(result, "")


def test_a_record_that_moved_into_the_scope_later_was_not_there_then(memory: Memory) -> None:
    memory.remember("ssh port", id="a", agent="other")
    memory.remember("ssh port", id="b", agent="bot")
    mine = memory.scoped(agent="bot")
    result = mine.recall("ssh")
    memory.update("a", agent="bot")
    assert mine.why_not(result, "a").reason == "there is no record 'a'"


def test_a_record_written_later_needs_the_present_view(memory: Memory) -> None:
    memory.remember("ssh port", id="a")
    result = memory.recall("ssh", limit=1)
    memory.remember("the ssh port again", id="later")
    found = memory.why_not(result, "later")
    assert found.stage == "view"
    assert found.change == {"known_at": None, "limit": 2}
    assert (found.admits, found.rank_then) == (True, 2)


def test_a_record_written_after_known_at(memory: Memory, clock: HandClock) -> None:
    memory.remember("ssh port", id="a")
    before = clock.now()
    clock.move(10)
    memory.remember("ssh", id="later")
    found = asked(memory, "ssh", "later", known_at=before)
    assert (found.stage, found.change, found.rank_then) == ("view", {"known_at": None}, 1)


def test_a_record_outside_the_scope_that_was_asked_for(memory: Memory) -> None:
    memory.remember("ssh port", id="a", agent="bot", user="ana")
    memory.remember("ssh", id="b", agent="other", user="ana")
    result = memory.scoped(agent="bot", user="ana").recall("ssh")
    found = memory.why_not(result, "b")
    assert found.stage == "scope"
    assert found.reason == "the question was asked for agent 'bot', and it is of 'other'"
    assert found.change == {"scope": {"user": "ana"}}
    assert found.rank_then == 1
    hits = [hit.id for hit in memory.scoped(user="ana").recall("ssh", **found.changed({}))]
    assert hits == ["b", "a"]


def test_what_the_recipe_hides(memory: Memory) -> None:
    memory.remember("ssh port", id="old")
    memory.remember("ssh port new", id="new", supersedes="old")
    memory.remember("ssh port", id="archived", archived=True)
    memory.remember("ssh port", id="expired", expires=START - SECOND)
    memory.remember("ssh port", id="external", trust="external")
    memory.remember("ssh port", id="reflection", kind="reflection")
    trusted = {"select.trust": ["learned"], "select.reflections": "hide"}
    expected = {
        "old": ("superseded", "new took its place", {"select.superseded": "show"}),
        "archived": ("archived", "it is archived", {"select.archived": "show"}),
        "expired": (
            "expired",
            "it expired at 2026-09-21T14:13:19Z",
            {"select.expired": "show"},
        ),
        "external": (
            "trust",
            "its trust is external; the recipe keeps to learned",
            {"select.trust": ["learned", "external"]},
        ),
        "reflection": (
            "reflections",
            "it is a reflection, and those are hidden",
            {"select.reflections": "show"},
        ),
    }
    for id, (stage, reason, overrides) in expected.items():
        found = asked(memory, "ssh port", id, overrides=trusted)
        assert (found.stage, found.reason) == (stage, reason)
        assert found.change == {"overrides": overrides}
        assert found.admits


def test_only_reflections_were_asked_for(memory: Memory) -> None:
    memory.remember("ssh port", id="a")
    found = asked(memory, "ssh", "a", overrides={"select.reflections": "only"})
    assert found.reason == "it is no reflection, and only those were asked for"
    assert found.change == {"overrides": {"select.reflections": "show"}}


def test_what_was_not_valid_at_the_time_asked_about(memory: Memory) -> None:
    memory.remember("ssh port", id="a", valid_from="2026-01-01")
    found = asked(memory, "ssh", "a", as_of="2025-01-01")
    assert (found.stage, found.change) == ("as_of", {"as_of": None})
    assert found.reason == "it was not valid at 2025-01-01T00:00:00Z"
    append = asked(memory, "ssh", "a", as_of="2025-01-01", overrides={"select.as_of": "append"})
    assert (append.stage, append.change) == ("as_of", {"as_of": None})
    assert "had not been written" in append.reason


def test_the_part_of_a_filter_that_fails_is_named_and_alone_taken_away(memory: Memory) -> None:
    memory.remember("ssh port", id="a", kind="fact", tags=["ops"], metadata={"team": "red"})
    where = {
        "tags": {"any": ["ops"]},
        "all": [{"kind": "note"}, {"any": [{"metadata.team": "blue"}, {"title": "x"}]}],
        "not": {"pinned": True},
    }
    found = asked(memory, "ssh", "a", where=where)
    assert found.stage == "where"
    assert found.reason == (
        'it fails {"kind": {"eq": "note"}} and '
        '{"any": [{"metadata.team": {"any": ["blue"]}}, {"title": {"eq": "x"}}]}'
    )
    kept = [{"tags": {"any": ["ops"]}}, {"all": []}, {"not": {"pinned": {"eq": True}}}]
    assert found.change == {"where": {"all": kept}}
    bare = asked(memory, "ssh", "a", where={"kind": "note"})
    assert bare.change == {"where": None}


def test_several_things_in_the_way_are_all_taken_away(memory: Memory) -> None:
    memory.remember("ssh ssh ssh", id="first")
    memory.remember(
        "the ssh port of the house", id="a", archived=True, kind="fact", valid_until="2024-01-01"
    )
    found = asked(memory, "ssh", "a", limit=1, where={"kind": "note"}, as_of="2025-01-01")
    assert found.stage == "archived"
    assert found.change == {
        "overrides": {"select.archived": "show"}, "as_of": None, "where": None, "limit": 2,
    }  # fmt: skip


# --- lanes ----------------------------------------------------------------------------------------


def test_no_word_in_common(memory: Memory) -> None:
    memory.remember("ssh port", id="a")
    memory.remember("the sea", id="sea")
    found = asked(memory, "ssh port", "sea", recipe="lexical")
    assert found.stage == "lanes"
    assert found.lanes == {"words": "it has none of the words ssh, port"}
    assert found.change == {"lists": {"mine": [["sea", 1.0]]}}
    assert found.admits
    strict = asked(memory, '"ssh port" AND sea', "a", recipe="lexical")
    assert strict.lanes == {"words": "it does not fit the query"}


def test_a_list_gets_a_label_that_is_free(memory: Memory) -> None:
    memory.remember("ssh port", id="a")
    memory.remember("the sea", id="sea")
    ask: dict[str, Any] = {"recipe": "lexical", "lists": {"mine": [("a", 1.0)]}}
    found = asked(memory, "ssh port", "sea", **ask)
    assert found.lanes["mine"] == "it is not on the list"
    assert found.change == {"lists": {"mine1": [["sea", 1.0]]}}


def test_outside_the_pool(memory: Memory) -> None:
    for n in range(5):
        memory.remember("ssh " * (5 - n) + "and the house by the sea", id=f"r{n}")
    found = asked(memory, "ssh", "r3", recipe="lexical", overrides={"lanes.words.pool": 2})
    assert found.lanes == {"words": "it is at rank 4 there, outside the pool of 2"}
    assert found.change == {"overrides": {"lanes.words.pool": 4}}
    assert found.rank_then == 4


def test_below_the_least_cosine(memory: Memory) -> None:
    memory.remember("ssh port of the server", id="a")
    memory.remember("a walk by the sea", id="sea")
    high = {"lanes.meaning.min_cosine": 0.6}
    found = asked(memory, "ssh port server", "sea", recipe="semantic", overrides=high)
    assert "lies below min_cosine = 0.6" in found.lanes["meaning"]
    assert found.change is not None
    (path,) = found.change["overrides"]  # pyright: ignore[reportGeneralTypeIssues]  # a mapping
    assert path == "lanes.meaning.min_cosine"
    assert found.admits


def test_a_cosine_below_the_floor_and_outside_the_pool(memory: Memory) -> None:
    memory.remember("ssh port of the server", id="a")
    memory.remember("a walk by the sea", id="sea")
    tight = {"lanes.meaning.min_cosine": 0.6, "lanes.meaning.pool": 1, "lanes.meaning.stale": 0.5}
    found = asked(memory, "ssh port server", "sea", recipe="semantic", overrides=tight)
    assert found.change is not None
    assert sorted(found.change["overrides"]) == ["lanes.meaning.min_cosine", "lanes.meaning.pool"]  # pyright: ignore[reportArgumentType]  # a mapping
    assert found.admits


def test_without_a_vector() -> None:
    memory = memoriter.open(":memory:", embedder="given:2", clock=HandClock())
    memory.remember("ssh", id="a", vector=[1.0, 0.0])
    memory.remember("port", id="bare")
    found = asked(memory, "", "bare", recipe="semantic", vector=[1.0, 0.0])
    assert found.lanes == {"meaning": "it has no vector"}
    assert found.change == {"lists": {"mine": [["bare", 1.0]]}}


def test_kin_that_is_too_far(memory: Memory) -> None:
    memory.remember("the wedding was lovely", id="wed")
    memory.remember("they are married", id="married")
    mine = recipe("memoriter", lanes={"kin": recipe_of("memoriter").to_data()["lanes"]["kin"]})
    mine |= {"modes": {}, "boosts": {}}
    mine["pass"] = [{"fuse": {"kind": "rrf"}}]
    far = {"lanes.kin.min_cosine": 0.99}
    found = asked(memory, "married", "wed", recipe=mine, overrides=far)
    assert found.lanes["kin"].startswith("its nearest word: married ~ wedding, cosine 0.")
    assert found.change is not None
    assert list(found.change["overrides"]) == ["lanes.kin.min_cosine"]  # pyright: ignore[reportArgumentType]  # a mapping
    few = {"lanes.kin.neighbours": 1}
    found = asked(memory, "married", "wed", recipe=mine, overrides=few)
    assert found.change == {"overrides": {"lanes.kin.neighbours": 32}}
    memory.remember("xyzzy", id="no")
    found = asked(memory, "married", "no", recipe=mine)
    assert found.lanes["kin"] == "no word of it is near a word of the query"


def test_links_that_are_too_many(memory: Memory) -> None:
    for n in range(5):
        memory.remember("ssh port" if n == 0 else f"note {n}", id=f"r{n}")
    for n in range(4):
        memory.link(f"r{n}", f"r{n + 1}")
    found = asked(memory, "ssh", "r3", recipe="linked")
    assert found.lanes["links"] == "it is 3 links from 1 seed, and max_depth = 2"
    assert found.change == {"overrides": {"lanes.links.max_depth": 3}}
    memory.remember("alone", id="alone")
    found = asked(memory, "ssh", "alone", recipe="linked")
    assert found.lanes["links"] == "no path from 1 seed leads to it"


def test_lanes_that_did_not_run(memory: Memory) -> None:
    memory.remember("we ran by the river", id="a", occurred=START - 86_400 * SECOND)
    off = {"lanes.meaning.enabled": False, "lanes.kin.enabled": False}
    found = asked(memory, "zebra", "a", overrides=off)
    assert found.lanes["meaning"] == "did not run: switched off"
    assert found.change is not None
    assert found.admits
    found = asked(memory, "zebra stripes", "a", mode="bm25")
    assert found.lanes["meaning"] == "did not run: not in mode bm25"
    assert found.admits


def test_a_time_that_is_too_far(memory: Memory) -> None:
    mine = recipe("memoriter", lanes={"moment": {"kind": "moment", "pool": 10, "min_score": 0.5}})
    mine |= {"modes": {}, "boosts": {}}
    mine["pass"] = [{"fuse": {"kind": "rrf"}}]
    memory.remember("we ran", id="near", occurred=START - 86_400 * SECOND)
    memory.remember("we ran", id="far", occurred=START - 5 * 86_400 * SECOND)
    found = asked(memory, "what did we do yesterday?", "far", recipe=mine)
    assert "lies below min_score = 0.5" in found.lanes["moment"]
    assert found.admits


def test_entities_attributes_and_sources_say_why(memory: Memory) -> None:
    lanes = {
        **recipe()["lanes"],
        "entity": {"kind": "entity", "seeds": ["words"]},
        "by": {"kind": "by", "by": "-cycle"},
        "origins": {"kind": "sources", "seeds": ["words"]},
    }
    mine = recipe("lexical", lanes=lanes)
    mine["pass"] = [{"fuse": {"kind": "rrf"}}]
    memory.remember("ssh port", id="a", entities=["Ana"], cycle=1)
    memory.remember("the sea", id="sea")
    found = asked(memory, "ssh", "sea", recipe=mine)
    assert found.lanes == {
        "words": "it has none of the words ssh",
        "entity": "it shares no entity with the best hits",
        "by": "it does not have that attribute",
        "origins": "it is no source of a reflection that was found",
    }
    assert found.admits


def test_a_record_that_was_brought_and_has_no_score(memory: Memory) -> None:
    lanes = {**recipe()["lanes"], "origins": {"kind": "sources", "seeds": ["words"]}}
    mine = recipe("lexical", lanes=lanes)
    memory.remember("the sea", id="sea")
    memory.remember(
        "ssh port",
        id="sum",
        kind="reflection",
        links=[{"target": "sea", "kind": "consolidated_from"}],
    )
    result = memory.recall("ssh", recipe=mine)
    assert [hit.id for hit in result] == ["sum"]
    found = asked(memory, "ssh", "sea", recipe=mine)
    assert found.stage == "score"
    assert found.reason == "lane origins brought it, and nothing gave it a score"
    assert found.admits


# --- orderings, the least score, the limit --------------------------------------------------------


def test_below_the_least_score(memory: Memory) -> None:
    memory.remember("ssh ssh port", id="a")
    memory.remember("a port of call on the way to the sea", id="b")
    found = asked(memory, "ssh port", "b", recipe="lexical", overrides={"final.min_score": 0.9})
    assert found.stage == "min_score"
    assert "lies below min_score = 0.9" in found.reason
    assert found.admits


def test_over_the_cap(memory: Memory) -> None:
    for n in range(4):
        memory.remember(f"ssh port {'sea ' * n}", id=f"r{n}", kind="reflection")
    mine = recipe("lexical", order=[{"kind": "cap", "share": 0.29}], window=7)
    found = asked(memory, "ssh", "r3", recipe=mine)
    assert (found.stage, found.reason) == (
        "cap",
        "it is reflection number 4, and at most 2 are shown",
    )
    assert found.change is not None
    assert list(found.change["overrides"]) == ["order.0.share"]  # pyright: ignore[reportArgumentType]  # a mapping
    small = recipe("lexical", order=[{"kind": "cap", "share": 0.5}], window=2)
    found = asked(memory, "ssh", "r3", recipe=small)
    assert found.change == {"overrides": {"order.0.enabled": False}}


def test_another_record_stands_for_it(memory: Memory) -> None:
    for n in range(3):
        memory.remember("ssh port", id=f"same{n}", created=START + n)
    memory.remember("the ssh port of the house by the sea", id="other")
    mine = recipe("lexical", order=[{"kind": "collapse"}])
    found = asked(memory, "ssh", "same1", recipe=mine)
    assert found.stage == "collapse"
    assert found.reason == "3 records are one by fingerprint: same0 stands for it"
    assert found.change == {"overrides": {"order.0.most": 2}}
    assert asked(memory, "ssh", "same2", recipe=mine).change == {"overrides": {"order.0.most": 3}}
    newest = recipe("lexical", order=[{"kind": "collapse", "keep": "newest"}])
    found = asked(memory, "ssh", "same0", recipe=newest)
    assert "same2 stands for it" in found.reason
    assert found.change == {"overrides": {"order.0.most": 3}}


def test_what_diversity_did_not_take(memory: Memory) -> None:
    for n, text in enumerate(("ssh port", "ssh port here", "ssh sea")):
        memory.remember(text, id=f"r{n}")
    mine = recipe("lexical", order=[{"kind": "mmr", "take": 1, "drop": True}])
    result = memory.recall("ssh", recipe=mine, now=START)
    assert len(result) == 1
    found = asked(memory, "ssh", "r2", recipe=mine)
    assert found.stage == "mmr"
    assert found.change == {"overrides": {"order.0.drop": False}}


def test_behind_the_limit(memory: Memory) -> None:
    for n in range(5):
        memory.remember("ssh port " + "sea " * n, id=f"r{n}")
    found = asked(memory, "ssh port", "r4", limit=2, recipe="lexical")
    assert (found.stage, found.change) == ("limit", {"limit": 5})
    assert found.reason == "it stands at rank 5 of 5; 2 were asked for"


def test_below_the_head_of_a_reranker_that_is_asked_again() -> None:
    judge = ToyReranker()
    memory = memoriter.open(":memory:", reranker=judge, clock=HandClock())
    for n in range(6):
        memory.remember("ssh port " + "sea " * n, id=f"r{n}")
    mine = recipe("lexical")
    mine["pass"] = [*mine["pass"], {"head": 3, "rerank": {"timeout_ms": 5000}}]
    found = asked(memory, "ssh port", "r5", limit=2, recipe=mine)
    assert (found.stage, found.change) == ("limit", {"limit": 6})
    tight = {"lanes.words.pool": 1}
    found = asked(memory, "ssh port", "r1", recipe=mine, overrides=tight)
    assert found.change == {"overrides": {"lanes.words.pool": 2}}


def test_a_change_is_asked_for_with_what_was_asked() -> None:
    found = WhyNot("a", "limit", "", {"overrides": {"x": 1}, "limit": 5, "scope": {}}, admits=True)
    assert found.changed({"overrides": {"y": 2}, "where": None}) == {
        "overrides": {"y": 2, "x": 1}, "where": None, "limit": 5,
    }  # fmt: skip


def test_an_entry_that_does_not_fit_the_budget(memory: Memory) -> None:
    memory.remember("ssh port", id="a")
    memory.remember("ssh port " + "by the sea " * 30, id="long")
    memory.remember("the ssh port", id="b")
    for budget in ({"budget_tokens": 120}, {"budget_chars": 400}):
        assert [hit.id for hit in memory.recall("ssh port", now=START, **budget)] == ["a", "b"]  # pyright: ignore[reportArgumentType]  # one of two
        found = asked(memory, "ssh port", "long", **budget)
        assert found.stage == "budget"
        assert "its entry does not fit" in found.reason
        assert list(found.change or ()) == list(budget)
        assert found.admits
    behind = asked(memory, "ssh port", "long", limit=1, budget_tokens=120)
    assert behind.stage == "limit"
    assert set(behind.change or ()) == {"limit", "budget_tokens"}
