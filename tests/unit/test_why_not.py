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
    why = memory.why_not(memory.recall(text, **ask), id)
    if why.admits:
        hits = [hit.id for hit in memory.recall(text, **why.changed(ask))]
        assert hits.index(id) + 1 == why.rank_then
    json.dumps(why.to_dict(), allow_nan=False)
    return why


def recipe(name: str = "lexical", **parts: Any) -> dict[str, Any]:
    return {**recipe_of(name).to_data(), "name": "mine", **parts}


def test_a_hit_is_there(memory: Memory) -> None:
    memory.remember("ssh port", id="a")
    why = asked(memory, "ssh", "a")
    assert (why.stage, why.admits, why.rank_then, why.change) == ("hit", True, 1, {})


def test_what_does_not_exist_or_is_gone_or_may_not_be_read_sounds_the_same(memory: Memory) -> None:
    memory.remember("ssh port", id="a", agent="bot")
    memory.remember("ssh port", id="theirs", agent="other")
    memory.remember("ssh port", id="gone", agent="bot")
    scoped = memory.scoped(agent="bot")
    result = scoped.recall("ssh")
    scoped.forget("gone")
    answers = {id: scoped.why_not(result, id) for id in ("theirs", "gone", "never")}
    for id, why in answers.items():
        assert (why.stage, why.change, why.admits) == ("view", None, False)
        assert why.reason == f"there is no record {id!r}"
        assert why.lanes == {}
    with pytest.raises(Forbidden):
        scoped.why_not(memory.recall("ssh"), "theirs")
    with pytest.raises(BadQuery):
        scoped.why_not(result, "")


def test_a_record_that_moved_into_the_scope_later_was_not_there_then(memory: Memory) -> None:
    memory.remember("ssh port", id="a", agent="other")
    memory.remember("ssh port", id="b", agent="bot")
    scoped = memory.scoped(agent="bot")
    result = scoped.recall("ssh")
    memory.update("a", agent="bot")
    assert scoped.why_not(result, "a").reason == "there is no record 'a'"


def test_a_record_written_later_needs_the_present_view(memory: Memory) -> None:
    memory.remember("ssh port", id="a")
    result = memory.recall("ssh", limit=1)
    memory.remember("the ssh port again", id="later")
    why = memory.why_not(result, "later")
    assert why.stage == "view"
    assert why.change == {"known_at": None, "limit": 2}
    assert (why.admits, why.rank_then) == (True, 2)


def test_a_record_written_after_known_at(memory: Memory, clock: HandClock) -> None:
    memory.remember("ssh port", id="a")
    before = clock.now()
    clock.move(10)
    memory.remember("ssh", id="later")
    why = asked(memory, "ssh", "later", known_at=before)
    assert (why.stage, why.change, why.rank_then) == ("view", {"known_at": None}, 1)


def test_a_record_outside_the_scope_that_was_asked_for(memory: Memory) -> None:
    memory.remember("ssh port", id="a", agent="bot", user="ana")
    memory.remember("ssh", id="b", agent="other", user="ana")
    result = memory.scoped(agent="bot", user="ana").recall("ssh")
    why = memory.why_not(result, "b")
    assert why.stage == "scope"
    assert why.reason == "the search is limited to agent 'bot', and its agent is 'other'"
    assert why.change == {"agent": None}
    assert why.rank_then == 1
    hits = [hit.id for hit in memory.scoped(user="ana").recall("ssh", **why.changed({}))]
    assert hits == ["b", "a"]


def test_a_change_of_the_filter_takes_back_the_options_that_stand_for_a_part_of_it(
    memory: Memory,
) -> None:
    memory.remember("ssh port", id="a", tags=["ops"], agent="bot", kind="fact", importance=0.2)
    memory.remember("ssh port of prod", id="b", tags=["net"], agent="other", importance=0.9)
    why = asked(memory, "ssh", "a", tags=["net"])
    assert (why.stage, why.change) == ("where", {"where": None, "tags": None})
    why = asked(memory, "ssh", "a", tags=["net"], where={"kind": "fact"})
    assert why.change == {"where": {"kind": {"eq": "fact"}}, "tags": None}
    why = asked(memory, "ssh", "a", tags="ops", where={"kind": "note"})
    assert why.change == {"where": {"tags": {"any": ["ops"]}}, "tags": None}
    why = asked(memory, "ssh", "a", agent="other", tags="net")
    assert why.change == {"agent": None, "where": None, "tags": None}
    why = asked(memory, "ssh", "a", recipe="mentisdb", overrides={"min_importance": 0.5})
    assert why.change == {"where": None, "overrides": {"min_importance": None}}


def test_a_filter_that_is_too_deep_without_a_part_goes_as_a_whole(memory: Memory) -> None:
    memory.remember("ssh port", id="a", kind="fact", title="x")
    deep: dict[str, Any] = {"kind": "fact"}
    for _ in range(31):
        deep = {"title": "x", "all": [deep]}
    why = asked(memory, "ssh", "a", where=deep, tags=["net"])
    assert why.change == {"where": None, "tags": None}


def test_a_lower_min_relevance_is_asked_for_with_the_one_that_was_too_high(memory: Memory) -> None:
    memory.remember("the ssh port of prod", id="a")
    why = asked(memory, "ssh tunnel of Berlin", "a", min_relevance=0.99)
    assert why.stage == "min_relevance"
    assert why.admits


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
            "its trust is external; the recipe returns only learned",
            {"select.trust": ["learned", "external"]},
        ),
        "reflection": (
            "reflections",
            "it is a reflection, and the recipe hides reflections",
            {"select.reflections": "show"},
        ),
    }
    for id, (stage, reason, overrides) in expected.items():
        why = asked(memory, "ssh port", id, overrides=trusted)
        assert (why.stage, why.reason) == (stage, reason)
        assert why.change == {"overrides": overrides}
        assert why.admits


def test_only_reflections_were_asked_for(memory: Memory) -> None:
    memory.remember("ssh port", id="a")
    why = asked(memory, "ssh", "a", overrides={"select.reflections": "only"})
    assert why.reason == "it is not a reflection, and the recipe returns only reflections"
    assert why.change == {"overrides": {"select.reflections": "show"}}


def test_what_was_not_valid_at_the_time_asked_about(memory: Memory) -> None:
    memory.remember("ssh port", id="a", valid_from="2026-01-01")
    why = asked(memory, "ssh", "a", as_of="2025-01-01")
    assert (why.stage, why.change) == ("as_of", {"as_of": None})
    assert why.reason == "it was not valid at 2025-01-01T00:00:00Z"
    append = asked(memory, "ssh", "a", as_of="2025-01-01", overrides={"select.as_of": "append"})
    assert (append.stage, append.change) == ("as_of", {"as_of": None})
    assert "had not been written" in append.reason


def test_what_replaced_another_record_only_later(memory: Memory) -> None:
    memory.remember("ssh is open", id="old", valid_from="2024-01-01")
    memory.remember("ssh was closed by Anna", id="new", valid_from="2024-01-01")
    memory.link("new", "old", "supersedes", valid_from="2026-01-01")
    late = asked(memory, "ssh", "new", as_of="2025-01-01")
    assert late.reason == "it replaced another only after 2025-01-01T00:00:00Z"


def test_the_part_of_a_filter_that_fails_is_named_and_alone_taken_away(memory: Memory) -> None:
    memory.remember("ssh port", id="a", kind="fact", tags=["ops"], metadata={"team": "red"})
    where = {
        "tags": {"any": ["ops"]},
        "all": [{"kind": "note"}, {"any": [{"metadata.team": "blue"}, {"title": "x"}]}],
        "not": {"pinned": True},
    }
    why = asked(memory, "ssh", "a", where=where)
    assert why.stage == "where"
    assert why.reason == (
        'it fails {"kind": {"eq": "note"}} and '
        '{"any": [{"metadata.team": {"any": ["blue"]}}, {"title": {"eq": "x"}}]}'
    )
    kept = [{"tags": {"any": ["ops"]}}, {"not": {"pinned": {"eq": True}}}]
    assert why.change == {"where": {"all": kept}, "tags": None}  # it may be the option's test
    bare = asked(memory, "ssh", "a", where={"kind": "note"})
    assert bare.change == {"where": None}


def test_several_things_in_the_way_are_all_taken_away(memory: Memory) -> None:
    memory.remember("ssh ssh ssh", id="first")
    memory.remember(
        "the ssh port of the house", id="a", archived=True, kind="fact", valid_until="2024-01-01"
    )
    why = asked(memory, "ssh", "a", limit=1, where={"kind": "note"}, as_of="2025-01-01")
    assert why.stage == "archived"
    assert why.change == {
        "overrides": {"select.archived": "show"}, "as_of": None, "where": None, "limit": 2,
    }  # fmt: skip


# --- lanes ----------------------------------------------------------------------------------------


def test_no_word_in_common(memory: Memory) -> None:
    memory.remember("ssh port", id="a")
    memory.remember("the sea", id="sea")
    why = asked(memory, "ssh port", "sea", recipe="lexical")
    assert why.stage == "lanes"
    assert why.lanes == {"words": "it has none of the words ssh, port"}
    assert why.change == {"lists": {"given": [["sea", 1.0]]}}
    assert why.admits
    strict = asked(memory, '"ssh port" AND sea', "a", recipe="lexical")
    assert strict.lanes == {"words": "it does not fit the query"}


def test_a_list_gets_a_label_that_is_free(memory: Memory) -> None:
    memory.remember("ssh port", id="a")
    memory.remember("the sea", id="sea")
    ask: dict[str, Any] = {"recipe": "lexical", "lists": {"given": [("a", 1.0)]}}
    why = asked(memory, "ssh port", "sea", **ask)
    assert why.lanes["given"] == "it is not on the list"
    assert why.change == {"lists": {"given1": [["sea", 1.0]]}}


def test_outside_the_pool(memory: Memory) -> None:
    for n in range(5):
        memory.remember("ssh " * (5 - n) + "and the house by the sea", id=f"r{n}")
    why = asked(memory, "ssh", "r3", recipe="lexical", overrides={"lanes.words.pool": 2})
    assert why.lanes == {"words": "it is at rank 4 there, outside the pool of 2"}
    assert why.change == {"overrides": {"lanes.words.pool": 4}}
    assert why.rank_then == 4


def test_below_the_least_cosine(memory: Memory) -> None:
    memory.remember("ssh port of the server", id="a")
    memory.remember("a walk by the sea", id="sea")
    high = {"lanes.meaning.min_cosine": 0.6}
    why = asked(memory, "ssh port server", "sea", recipe="semantic", overrides=high)
    assert "lies below min_cosine = 0.6" in why.lanes["meaning"]
    assert why.change is not None
    (path,) = why.change["overrides"]  # pyright: ignore[reportGeneralTypeIssues]  # a mapping
    assert path == "lanes.meaning.min_cosine"
    assert why.admits


def test_a_cosine_below_the_floor_and_outside_the_pool(memory: Memory) -> None:
    memory.remember("ssh port of the server", id="a")
    memory.remember("a walk by the sea", id="sea")
    tight = {"lanes.meaning.min_cosine": 0.6, "lanes.meaning.pool": 1, "lanes.meaning.stale": 0.5}
    why = asked(memory, "ssh port server", "sea", recipe="semantic", overrides=tight)
    assert why.change is not None
    assert sorted(why.change["overrides"]) == ["lanes.meaning.min_cosine", "lanes.meaning.pool"]  # pyright: ignore[reportArgumentType]  # a mapping
    assert why.admits


def test_without_a_vector() -> None:
    memory = memoriter.open(":memory:", embedder="given:2", clock=HandClock())
    memory.remember("ssh", id="a", vector=[1.0, 0.0])
    memory.remember("port", id="bare")
    why = asked(memory, "", "bare", recipe="semantic", vector=[1.0, 0.0])
    assert why.lanes == {"meaning": "it has no vector yet: maintain computes it"}
    assert why.change == {"lists": {"given": [["bare", 1.0]]}}


def test_kin_that_is_too_far(memory: Memory) -> None:
    memory.remember("the wedding was lovely", id="wed")
    memory.remember("they are married", id="married")
    custom = recipe("memoriter", lanes={"kin": recipe_of("memoriter").to_data()["lanes"]["kin"]})
    custom |= {"modes": {}, "boosts": {}, "relevance": None, "apart": []}
    custom["pass"] = [{"fuse": {"kind": "rrf"}}]
    far = {"lanes.kin.min_cosine": 0.99}
    why = asked(memory, "married", "wed", recipe=custom, overrides=far)
    assert why.lanes["kin"].startswith("its nearest word: married ~ wedding, cosine 0.")
    assert why.change is not None
    assert list(why.change["overrides"]) == ["lanes.kin.min_cosine"]  # pyright: ignore[reportArgumentType]  # a mapping
    few = {"lanes.kin.neighbours": 1}
    why = asked(memory, "married", "wed", recipe=custom, overrides=few)
    assert why.change == {"overrides": {"lanes.kin.neighbours": 32}}
    memory.remember("xyzzy", id="no")
    why = asked(memory, "married", "no", recipe=custom)
    assert why.lanes["kin"] == "no word of it is near a word of the query"


def test_links_that_are_too_many(memory: Memory) -> None:
    for n in range(5):
        memory.remember("ssh port" if n == 0 else f"note {n}", id=f"r{n}")
    for n in range(4):
        memory.link(f"r{n}", f"r{n + 1}")
    why = asked(memory, "ssh", "r3", recipe="linked")
    assert why.lanes["links"] == "it is 3 links from 1 seed, and max_depth = 2"
    assert why.change == {"overrides": {"lanes.links.max_depth": 3}}
    memory.remember("alone", id="alone")
    why = asked(memory, "ssh", "alone", recipe="linked")
    assert why.lanes["links"] == "no path from 1 seed leads to it"


def test_lanes_that_did_not_run(memory: Memory) -> None:
    memory.remember("we ran by the river", id="a", occurred=START - 86_400 * SECOND)
    off = {"lanes.meaning.enabled": False, "lanes.kin.enabled": False}
    why = asked(memory, "zebra", "a", overrides=off)
    assert why.lanes["meaning"] == "did not run: switched off"
    assert why.change is not None
    assert why.admits
    why = asked(memory, "zebra stripes", "a", mode="bm25")
    assert why.lanes["meaning"] == "did not run: not in mode bm25"
    assert why.admits


def test_a_time_that_is_too_far(memory: Memory) -> None:
    custom = recipe("memoriter", lanes={"moment": {"kind": "moment", "pool": 10, "min_score": 0.5}})
    custom |= {"modes": {}, "boosts": {}, "relevance": None}
    custom["pass"] = [{"fuse": {"kind": "rrf"}}]
    memory.remember("we ran", id="near", occurred=START - 86_400 * SECOND)
    memory.remember("we ran", id="far", occurred=START - 5 * 86_400 * SECOND)
    why = asked(memory, "what did we do yesterday?", "far", recipe=custom)
    assert "lies below min_score = 0.5" in why.lanes["moment"]
    assert why.admits


def test_entities_attributes_and_sources_say_why(memory: Memory) -> None:
    lanes = {
        **recipe()["lanes"],
        "entity": {"kind": "entity", "seeds": ["words"]},
        "by": {"kind": "by", "by": "-cycle"},
        "origins": {"kind": "sources", "seeds": ["words"]},
    }
    custom = recipe("lexical", lanes=lanes)
    custom["pass"] = [{"fuse": {"kind": "rrf"}}]
    memory.remember("ssh port", id="a", entities=["Ana"], cycle=1)
    memory.remember("the sea", id="sea")
    why = asked(memory, "ssh", "sea", recipe=custom)
    assert why.lanes == {
        "words": "it has none of the words ssh",
        "entity": "it shares no entity with the best hits",
        "by": "it does not have that attribute",
        "origins": "no reflection that was found was made from it",
    }
    assert why.admits


def test_a_record_that_was_brought_and_has_no_score(memory: Memory) -> None:
    lanes = {**recipe()["lanes"], "origins": {"kind": "sources", "seeds": ["words"]}}
    custom = recipe("lexical", lanes=lanes)
    memory.remember("the sea", id="sea")
    memory.remember(
        "ssh port",
        id="sum",
        kind="reflection",
        links=[{"target": "sea", "kind": "consolidated_from"}],
    )
    result = memory.recall("ssh", recipe=custom)
    assert [hit.id for hit in result] == ["sum"]
    why = asked(memory, "ssh", "sea", recipe=custom)
    assert why.stage == "score"
    assert why.reason == "lane origins found it, but gives no score; no other lane gave it one"
    assert why.admits


# --- orderings, the least score, the limit --------------------------------------------------------


def test_below_the_least_score(memory: Memory) -> None:
    memory.remember("ssh ssh port", id="a")
    memory.remember("a port of call on the way to the sea", id="b")
    why = asked(memory, "ssh port", "b", recipe="lexical", overrides={"final.min_score": 0.9})
    assert why.stage == "min_score"
    assert "lies below min_score = 0.9" in why.reason
    assert why.admits


def test_over_the_cap(memory: Memory) -> None:
    for n in range(4):
        memory.remember(f"ssh port {'sea ' * n}", id=f"r{n}", kind="reflection")
    custom = recipe("lexical", order=[{"kind": "cap", "share": 0.29}], window=7)
    why = asked(memory, "ssh", "r3", recipe=custom)
    assert (why.stage, why.reason) == (
        "cap",
        "it is reflection number 4, and at most 2 are shown",
    )
    assert why.change is not None
    assert list(why.change["overrides"]) == ["order.0.share"]  # pyright: ignore[reportArgumentType]  # a mapping
    small = recipe("lexical", order=[{"kind": "cap", "share": 0.5}], window=2)
    why = asked(memory, "ssh", "r3", recipe=small)
    assert why.change == {"overrides": {"order.0.enabled": False}}


def test_another_record_stands_for_it(memory: Memory) -> None:
    for n in range(3):
        memory.remember("ssh port", id=f"same{n}", created=START + n)
    memory.remember("the ssh port of the house by the sea", id="other")
    custom = recipe("lexical", order=[{"kind": "collapse"}])
    why = asked(memory, "ssh", "same1", recipe=custom)
    assert why.stage == "collapse"
    assert why.reason == "it is one of 3 duplicates by fingerprint; same0 was kept"
    assert why.change == {"overrides": {"order.0.most": 2}}
    assert asked(memory, "ssh", "same2", recipe=custom).change == {"overrides": {"order.0.most": 3}}
    newest = recipe("lexical", order=[{"kind": "collapse", "keep": "newest"}])
    why = asked(memory, "ssh", "same0", recipe=newest)
    assert "same2 was kept" in why.reason
    assert why.change == {"overrides": {"order.0.most": 3}}


def test_what_diversity_did_not_take(memory: Memory) -> None:
    for n, text in enumerate(("ssh port", "ssh port here", "ssh sea")):
        memory.remember(text, id=f"r{n}")
    custom = recipe("lexical", order=[{"kind": "mmr", "take": 1, "drop": True}])
    result = memory.recall("ssh", recipe=custom, now=START)
    assert len(result) == 1
    why = asked(memory, "ssh", "r2", recipe=custom)
    assert why.stage == "mmr"
    assert why.change == {"overrides": {"order.0.drop": False}}


def test_behind_the_limit(memory: Memory) -> None:
    for n in range(5):
        memory.remember("ssh port " + "sea " * n, id=f"r{n}")
    why = asked(memory, "ssh port", "r4", limit=2, recipe="lexical")
    assert (why.stage, why.change) == ("limit", {"limit": 5})
    assert why.reason == "it is at rank 5 of 5, and the limit is 2"


def test_below_the_head_of_a_reranker_that_is_asked_again() -> None:
    judge = ToyReranker()
    memory = memoriter.open(":memory:", reranker=judge, clock=HandClock())
    for n in range(6):
        memory.remember("ssh port " + "sea " * n, id=f"r{n}")
    custom = recipe("lexical")
    custom["pass"] = [*custom["pass"], {"head": 3, "rerank": {"timeout_ms": 5000}}]
    why = asked(memory, "ssh port", "r5", limit=2, recipe=custom)
    assert (why.stage, why.change) == ("limit", {"limit": 6})
    tight = {"lanes.words.pool": 1}
    why = asked(memory, "ssh port", "r1", recipe=custom, overrides=tight)
    assert why.change == {"overrides": {"lanes.words.pool": 2}}


def test_a_change_is_asked_for_with_what_was_asked() -> None:
    why = WhyNot("a", "limit", "", {"overrides": {"x": 1}, "limit": 5, "agent": None}, admits=True)
    assert why.changed({"overrides": {"x": 3, "y": 2}, "where": None, "agent": "bot"}) == {
        "overrides": {"y": 2, "x": 1}, "where": None, "limit": 5, "agent": None,
    }  # fmt: skip
    assert why.changed({"overrides": None})["overrides"] == {"x": 1}


def test_an_entry_that_does_not_fit_the_budget(memory: Memory) -> None:
    memory.remember("ssh port", id="a")
    memory.remember("ssh port " + "by the sea " * 30, id="long")
    memory.remember("the ssh port of prod", id="b")
    for budget in ({"budget_tokens": 120}, {"budget_chars": 400}):
        assert [hit.id for hit in memory.recall("ssh port", now=START, **budget)] == ["a", "b"]  # pyright: ignore[reportArgumentType]  # one of two
        why = asked(memory, "ssh port", "long", **budget)
        assert why.stage == "budget"
        assert "its entry does not fit" in why.reason
        assert list(why.change or ()) == list(budget)
        assert why.admits
    behind = asked(memory, "ssh port", "long", limit=1, budget_tokens=120)
    assert behind.stage == "limit"
    assert set(behind.change or ()) == {"limit", "budget_tokens"}
