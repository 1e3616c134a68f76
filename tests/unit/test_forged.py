"""Receipts that somebody made up, with a digest and a fingerprint that fit: each is noticed."""

from __future__ import annotations

import base64
import json
import struct
from collections.abc import Callable
from typing import Any

import pytest
from tests.compat.make_receipts import filled
from tests.unit.receipts import ALL, copied, resealed

import memoriter
from memoriter.core.canonical import canonical
from memoriter.core.errors import BadQuery

Data = dict[str, Any]


def problems(body: Data) -> tuple[str, ...]:
    return memoriter.verify(resealed(body)).problems


# -- what took no part -----------------------------------------------------------------------------


def test_the_least_score_cannot_be_left_out() -> None:
    body = copied("ordered")
    body["recipe"]["data"]["final"]["min_score"] = 0.9
    body["moves"] = [move for move in body["moves"] if move["name"] != "min_score"]
    body["skipped"]["min_score"] = "not today"
    assert problems(body) == (
        "skipped/min_score: the recipe has no such step, or it is never skipped",
    )


@pytest.mark.parametrize("name", ["collapse", "cap", "mmr"])
def test_an_ordering_that_is_on_cannot_be_left_out(name: str) -> None:
    body = copied("ordered")
    body["moves"] = [move for move in body["moves"] if move["name"] != name]
    body["skipped"][name] = "no time for it"
    assert f"skipped/{name}: it is on and always runs, so it cannot be skipped" in problems(body)


def test_a_boost_that_is_on_cannot_be_left_out() -> None:
    body = copied("weighted")
    body["skipped"]["session"] = "nothing beside it"
    assert "skipped/session: it is on and always runs, so it cannot be skipped" in problems(body)


@pytest.mark.parametrize(
    ("name", "spec"),
    [
        ("words", lambda recipe: recipe["lanes"]["words"]),
        ("session", lambda recipe: recipe["boosts"]["session"]),
    ],
)
def test_what_a_recipe_switches_off_takes_no_part_and_nothing_else(
    name: str, spec: Callable[[Data], Data]
) -> None:
    body = copied("weighted")
    body["skipped"][name] = "switched off"
    assert f"skipped/{name}: the recipe has it on" in problems(body)
    body = copied("weighted")
    spec(body["recipe"]["data"])["enabled"] = False
    assert f"skipped/{name}: the recipe has it off" in problems(body)


def test_a_lane_outside_the_mode_takes_no_part() -> None:
    body = copied("memoriter")
    body["query"]["mode"] = "bm25"
    assert "skipped/kin: the mode of the query does not have it, yet it ran" in problems(body)


def test_a_reranker_is_asked_unless_a_rule_says_otherwise() -> None:
    body = copied("rerank")
    body["outcomes"]["rerank"] = {"skipped": "unanimity: of course"}
    body["skipped"]["rerank"] = "unanimity: of course"
    assert any(each.startswith("outcomes/rerank/asked: ") for each in problems(body))


# -- vectors ---------------------------------------------------------------------------------------


def test_a_vector_that_is_too_long_is_noticed() -> None:
    body = copied("semantic")
    ((row, spelled), *_) = body["vectors"]["best"]["toy"].items()
    numbers = struct.unpack("<8f", base64.b64decode(spelled))
    longer = struct.pack("<8f", *(3.0 * number for number in numbers))
    body["vectors"]["best"]["toy"][row] = base64.b64encode(longer).decode()
    assert f"vectors/best/toy/{row}: is not a unit vector on the grid" in problems(body)


def test_a_cosine_cannot_be_replaced_by_what_a_fresh_vector_counts() -> None:
    body = copied("semantic")
    body["evidence"][0]["meaning"] = {"label": "freshness", "op": "leaf", "value": 1.0}
    assert any(each.startswith("evidence/0/meaning/freshness/") for each in problems(body))


@pytest.mark.parametrize("op", ["sum", "min", "product", "max"])
def test_a_cosine_cannot_hang_in_another_tree(op: str) -> None:
    body = copied("semantic")
    leaf = body["evidence"][0]["meaning"]
    body["evidence"][0]["meaning"] = {**leaf, "label": "meaning", "op": op, "parts": [leaf]}
    assert "evidence/0/meaning/meaning: a vector score has no such node" in problems(body)


# -- numbers of the recipe -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "lane", "key", "value"),
    [
        ("lexical", "words", "pool", 1),
        ("semantic", "meaning", "pool", 4),
        ("semantic", "meaning", "min_cosine", 0.99),
        ("memoriter", "kin", "min_cosine", 0.999),
        ("lexical", "words", "k1", 1.3),
        ("lexical", "words", "b", 0.5),
    ],
)
def test_a_number_of_a_lane_that_its_answer_contradicts_is_noticed(
    name: str, lane: str, key: str, value: float
) -> None:
    body = copied(name)
    body["recipe"]["data"]["lanes"][lane][key] = value
    assert problems(body)


# -- evidence --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("lane", "fact"),
    [("words", "records"), ("words", "df"), ("words", "mean"), ("kin", "records"), ("kin", "norm")],
)
def test_what_counts_for_a_lane_is_the_same_at_every_hit(lane: str, fact: str) -> None:
    body = copied("memoriter")
    word = {"words": "term", "kin": "asked"}[lane]
    first, second = ([part["facts"] for part in body["evidence"][n][lane]["parts"]] for n in (0, 1))
    both = {facts[word] for facts in first}
    facts = next(facts for facts in second if facts[word] in both)
    facts[fact] += 1
    key = facts[word]
    at = {"records": fact, "mean": f"mean/{facts.get('field')}"}.get(fact, f"{fact}/{key}")
    assert any(f"{at} of other hits" in each for each in problems(body)), problems(body)


def test_a_word_of_the_question_meets_one_word() -> None:
    body = copied("memoriter")
    parts = body["evidence"][0]["kin"]["parts"]
    parts.append(parts[0])
    assert any("/asked: is 2, expected 1" in each for each in problems(body))


def test_a_count_of_several_fields_has_no_slack() -> None:
    body = copied("weighted")
    node = next(each["words"] for each in body["evidence"] if "words" in each)["parts"][0]
    node["facts"]["tf"] += 2.0**-40
    assert any("/tf: is " in each for each in problems(body))


def test_a_distance_is_the_length_of_its_path() -> None:
    body = json.loads(filled().recall("49222", recipe="linked").receipt.to_bytes())
    links = next(each["links"] for each in body["evidence"] if "links" in each)
    links["facts"]["path"].append({"id": "x", "kind": "supports"})
    assert any("/distance: is " in each for each in problems(body))


def test_a_path_leads_to_its_hit() -> None:
    body = json.loads(filled().recall("49222", recipe="linked").receipt.to_bytes())
    links = next(each["links"] for each in body["evidence"] if "links" in each)
    links["facts"]["path"][-1]["id"] = "another"
    assert any("/path: is 'another'" in each for each in problems(body))


def test_nobody_stands_beside_himself() -> None:
    body = copied("weighted")
    own = body["slate"]["rows"][0]
    body["slate"]["columns"]["session.row"]["whole"][0] = own
    assert f"slate/columns/session.row: row {own} is its own neighbour" in problems(body)


# -- the envelope ----------------------------------------------------------------------------------


def test_a_key_twice_is_no_receipt() -> None:
    twice = b'{"hits":["another"],' + canonical(ALL["lexical"])[1:]
    with pytest.raises(BadQuery, match="a key twice"):
        memoriter.verify(twice)


def test_what_somebody_added_is_told_as_attested() -> None:
    body = copied("lexical")
    body["approved"] = "by everybody"
    verdict = memoriter.verify(resealed(body))
    assert verdict.ok
    assert "approved" in verdict.attested


def test_counts_are_told_as_attested_not_as_checked() -> None:
    verdict = memoriter.verify(ALL["lexical"])
    assert "evidence/facts" in verdict.attested
    assert "evidence/0/words" in verdict.checked


def test_no_size_is_negative() -> None:
    receipt = filled().recall("ssh port", budget_chars=500).receipt
    body = json.loads(receipt.to_bytes())
    body["budget"]["head"] = [-1000, -1000]
    assert "budget/sizes: a size is negative" in problems(body)


# -- what a receipt is about -----------------------------------------------------------------------


def test_view_and_query_are_of_one_tenant() -> None:
    body = copied("lexical")
    body["view"]["tenant"] = "another"
    assert problems(body) == ("view/tenant: is 'another', expected 'default'",)


def test_labels_of_evidence_are_said_to_be_attested() -> None:
    assert "evidence/labels" in memoriter.verify(ALL["memoriter"]).attested


def test_row_numbers_are_attested_and_their_order_is_checked() -> None:
    verdict = memoriter.verify(ALL["memoriter"])
    assert "slate/rows" in verdict.attested
    assert "slate/rows" not in verdict.checked


def test_matched_words_stand_in_the_question_or_are_named_as_attested() -> None:
    body = json.loads(filled().recall("ssh port", recipe="lexical").receipt.to_bytes())
    assert "evidence/0/words/term 'port'" in memoriter.verify(body).checked
    body["query"]["text"] = "who is the boss of Ana?"
    verdict = memoriter.verify(resealed(body))
    assert "evidence/0/words/term 'port'" in verdict.attested
    assert "evidence/0/words/term 'port'" not in verdict.checked


@pytest.mark.parametrize(
    "ask",
    [{"where": {"tags": "ops", "importance": {"gte": 0.5}}}, {"user": "ana"}],
    ids=["where", "scope"],
)
def test_a_hit_that_does_not_pass_the_filter_is_noticed(ask: Data) -> None:
    with memoriter.open(":memory:", embedder=None) as memory:
        memory.remember("port 22", tags=["ops", "prod"], importance=0.7, user="ana")
        memory.remember("port 80", user="ben")
        body = json.loads(memory.recall("port", **ask).receipt.to_bytes())
    assert "filtered/0/passes" in memoriter.verify(body).checked
    name = "tags" if "where" in ask else "user"
    body["filtered"][0][name] = ["dev"] if name == "tags" else "ben"
    assert problems(body) == ("filtered/0: the hit does not pass the filter of the query",)


def test_a_filter_on_the_words_of_a_record_is_attested() -> None:
    with memoriter.open(":memory:", embedder=None) as memory:
        memory.remember("port 22 of the secret machine", tags=["ops"])
        receipt = memory.recall("port", where={"text": {"prefix": "port"}}).receipt
    assert "filtered/0/passes" in memoriter.verify(receipt).attested
    assert b"secret" not in receipt.to_bytes()
