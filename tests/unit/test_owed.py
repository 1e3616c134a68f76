"""A record whose vector is owed keeps its place: what the other lanes cover stands for it."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.inside import context_of, engine_of, log_of, view_of
from tests.property.worlds import drop_index
from tests.sound import sound
from tests.unit.receipts import resealed

import memoriter
from memoriter.core.explanation import Explanation, contributions
from memoriter.core.scope import Scope
from memoriter.memory.facade import Memory
from memoriter.pipeline.load import recipe_of
from memoriter.testing.fakes import HandClock, ToyEmbedder
from memoriter.why.result import Result
from memoriter.write.writer import Writer

QUESTION = "which port for ssh?"
LACKS = "its vector is not computed yet; words and kin stand for it"
STEP = 2.0**-32
Data = dict[str, Any]


class Later(ToyEmbedder):
    """A model whose vectors a test orders one by one."""

    fills_later = True


def opened(place: str | Path = ":memory:", **more: Any) -> Memory:
    return memoriter.open(place, embedder=Later(), clock=HandClock(), maintenance="manual", **more)


def owing(memory: Memory, texts: dict[str, str]) -> Memory:
    """The memory with these texts by id, whose vectors are owed."""
    embedder: Any = engine_of(memory).vectors.embedder
    embedder.failing = True
    for name, text in texts.items():
        memory.remember(text, id=name)
    embedder.failing = False
    return memory


UNCOVERED = {"words": "coverage", "kin": "coverage", "moment": "coverage", "meaning": "max"}
TEXTS = {"new": "The ssh port of the new server is 22", "wed": "Wedding plans for June"}


@pytest.fixture
def memory() -> Iterator[Memory]:
    with opened() as made:
        made.calibrate()
        made.remember("Prod SSH port is 49222", id="ssh")
        yield owing(made, TEXTS)


def ask(memory: Memory, question: str = QUESTION, **more: Any) -> Result:
    return sound(memory.recall(question, **more))


def hit(result: Result, name: str) -> Any:
    (one,) = [each for each in result if each.id == name]
    return one


def leaves(node: Explanation) -> dict[str, Explanation]:
    if node.op == "leaf":
        return {node.label: node}
    return {label: leaf for part in node.parts for label, leaf in leaves(part).items()}


def snap(value: float) -> float:
    return round(value / STEP) * STEP


# -- the numbers -----------------------------------------------------------------------------------


def test_the_missing_share_is_the_weighted_mean_of_words_and_kin(memory: Memory) -> None:
    own = leaves(hit(ask(memory), "new").explanation)
    words, kin = own["words"].facts["scaled"], own["kin"].facts["scaled"]
    assert isinstance(words, float)
    assert isinstance(kin, float)
    mean = snap((snap(0.2 * words) + snap(0.3 * kin)) / 0.5)
    assert own["meaning"].facts == {"owed": 1, "scaled": mean, "weight": snap(0.6)}
    assert own["meaning"].value == snap(snap(0.6) * mean)
    # By hand, from the numbers as they are printed: (0.2 · 0.3774 + 0.3 · 0.6291) / 0.5 = 0.5284.
    assert [round(one, 4) for one in (words, kin, mean)] == [0.3774, 0.6291, 0.5284]


def test_a_lane_without_a_value_counts_nothing_in_the_mean(memory: Memory) -> None:
    own = leaves(hit(ask(memory), "wed").explanation)
    kin = own["kin"].facts["scaled"]
    assert isinstance(kin, float)
    assert "words" not in own
    assert own["meaning"].facts["scaled"] == snap(snap(0.3 * kin) / 0.5)


def test_a_record_does_not_lose_its_place_while_its_vector_is_owed(memory: Memory) -> None:
    assert [each.id for each in ask(memory)] == ["new", "ssh", "wed"]
    without = ask(memory, overrides={"relevance": None, "pass.0.fuse.scale": UNCOVERED})
    assert [each.id for each in without] == ["ssh", "new", "wed"]
    assert not any(each.owed for each in without)


def test_nothing_changes_for_a_record_that_has_its_vector(memory: Memory) -> None:
    before = hit(ask(memory), "ssh")
    memory.maintain()
    after = ask(memory)
    assert hit(after, "ssh").explanation == before.explanation
    assert hit(after, "ssh").relevance == before.relevance
    assert not any(each.owed for each in after)
    assert "owed" not in after.receipt.body


def test_relevance_follows_from_what_stands_for_the_vector(memory: Memory) -> None:
    one = hit(ask(memory), "new")
    own = leaves(one.explanation)
    covered = sum(own[label].value for label in ("words", "kin", "meaning")) / 1.1
    assert one.relevance_explanation.facts["lanes"] == pytest.approx(covered, abs=2 * STEP)


def test_a_selection_without_any_vector_ranks_exactly_by_words_and_kin(memory: Memory) -> None:
    owing(memory, {"b": "ssh and the port of a ship", "c": "a port in Spain", "d": "for ssh"})
    chosen = {"where": {"not": {"id": "ssh"}}, "overrides": {"boosts": {}}}
    with_all = ask(memory, where=chosen["where"])
    two = ask(
        memory, where=chosen["where"], mode="hybrid", overrides={"lanes.meaning.enabled": False}
    )
    assert [each.id for each in with_all] == [each.id for each in two]
    for one, other in zip(with_all, two, strict=True):
        # words · 0.2 + kin · 0.3 is the half of the weights: the mean stands for 0.6 of 0.5.
        assert one.score == pytest.approx(other.score * 1.1 / 0.5, abs=4 * STEP)
        assert one.relevance == pytest.approx(other.relevance, abs=1e-6)


def test_a_store_with_every_vector_owed_ranks_by_words_and_kin_in_their_proportion() -> None:
    texts = {"b": "ssh and the port of a ship", "c": "a port in Spain", "d": "use ssh at home"}
    texts |= TEXTS
    with owing(opened(), texts) as memory:
        result = ask(memory)
        assert result.used == ("words", "kin")
        sums = {}
        for each in result:
            own = leaves(each.explanation)
            sums[each.id] = sum(
                weight * float(own[label].facts["scaled"])  # pyright: ignore[reportArgumentType]  # a number
                for label, weight in (("words", 0.2), ("kin", 0.3))
                if label in own
            )
        assert [each.id for each in result] == sorted(sums, key=lambda name: -sums[name])
        assert memoriter.verify(result.receipt).ok


# -- where it does not apply -----------------------------------------------------------------------


def test_a_record_below_the_least_cosine_is_not_owed(memory: Memory) -> None:
    memory.maintain()
    result = ask(memory, overrides={"lanes.meaning.min_cosine": 0.999})
    assert not any(each.owed or "meaning" in each.lanes for each in result)
    assert "owed" not in result.receipt.body


def test_a_record_with_nothing_to_embed_is_not_owed(memory: Memory) -> None:
    memory.remember("22 49222", id="digits")  # a text without a letter has no vector
    one = hit(ask(memory, "port 22"), "digits")
    assert "meaning" not in leaves(one.explanation)
    assert not one.owed


def test_an_answer_without_owed_rows_has_no_trace_of_the_rule(memory: Memory) -> None:
    result = ask(memory, where={"id": "ssh"})
    assert view_of(memory).behind == 2
    assert "owed" not in result.receipt.body
    assert "owed" not in json.dumps(result.receipt.to_dict())
    assert "owed" not in result[0].to_dict()


def test_a_search_by_vectors_alone_has_nothing_to_stand_for_them(memory: Memory) -> None:
    result = ask(memory, recipe="semantic")
    assert [each.id for each in result] == ["ssh"]
    assert "owed" not in result.receipt.body


def test_ranks_are_fused_as_before(memory: Memory) -> None:
    data = recipe_of("memoriter").to_data()
    fuse = {"kind": "rrf", "weights": {"words": 1.0, "kin": 1.0, "meaning": 1.0}}
    first = {**data["pass"][0], "fuse": fuse, "boosts": []}
    result = ask(memory, recipe={**data, "pass": [first], "boosts": {}, "relevance": None})
    assert not any(each.owed for each in result)
    assert "owed" not in result.receipt.body


def test_vectors_that_callers_give_are_never_owed() -> None:
    with memoriter.open(":memory:", embedder="given:2") as memory:
        memory.remember("ssh port 22", id="one", vector=[1.0, 0.0])
        memory.remember("ssh port 23", id="two")
        result = ask(memory, vector=[1.0, 0.0])
        assert not any(each.owed for each in result)
        assert "owed" not in result.receipt.body


def test_a_question_that_points_nowhere_owes_nothing(memory: Memory) -> None:
    assert not any(each.owed for each in ask(memory, vector=[0.0] * 8))


# -- what is said of it ----------------------------------------------------------------------------


def test_a_hit_says_that_its_vector_is_not_computed_and_what_stands_for_it(memory: Memory) -> None:
    result = ask(memory)
    assert {each.id: dict(each.owed) for each in result} == {
        "new": {"meaning": LACKS},
        "ssh": {},
        "wed": {"meaning": "its vector is not computed yet; kin stands for it"},
    }
    one = hit(result, "new")
    assert one.to_dict()["owed"] == {"meaning": LACKS}
    assert set(one.lanes) == {"words", "kin"}
    assert ("meaning", one.explanation.value) not in contributions(one.explanation)
    assert LACKS in one._repr_html_()


def test_the_plan_says_how_many_rows_are_behind(memory: Memory) -> None:
    assert "vectors 2 rows behind" in str(ask(memory).plan)


def test_what_if_gives_the_answer_that_recall_would(memory: Memory) -> None:
    changed = {"pass.0.fuse.model_weights": {"words": 0.5, "kin": 0.1, "meaning": 1.0}}
    one, two = ask(memory).what_if(changed), ask(memory, overrides=changed)
    assert [(each.id, each.score) for each in one] == [(each.id, each.score) for each in two]
    assert one.receipt.body["owed"] == two.receipt.body["owed"]


def test_why_not_finds_the_limit_and_nothing_else(memory: Memory) -> None:
    why = memory.why_not(ask(memory, limit=1), "wed")
    assert (why.stage, why.reason) == ("limit", "it is at rank 3 of 3, and the limit is 1")


def test_no_record_outside_of_the_pools_is_above_the_bound_of_the_plan() -> None:
    texts = {f"n{n}": f"ssh port {'of a ship ' * n}" for n in range(1, 9)}
    with opened() as memory:
        memory.calibrate()
        memory.remember("ssh", id="done")
        owing(memory, texts)
        small = {f"lanes.{label}.pool": 2 for label in ("words", "kin", "meaning")}
        narrow = memory.recall(QUESTION, overrides={**small, "boosts.around.enabled": False})
        wide = memory.recall(QUESTION, 100, overrides={"boosts.around.enabled": False})
        outside = {each.id: each.score for each in wide} | {each.id: -1.0 for each in narrow}
        (shown,) = [step.shows for step in narrow.plan.steps if step.name == "fuse"]
        assert max(outside.values()) > 0.0
        assert max(outside.values()) <= float(str(shown["outside"]).rpartition(" ")[2]) + 1e-3


# -- receipts --------------------------------------------------------------------------------------


def test_a_receipt_says_which_rows_were_owed_and_verifies(memory: Memory) -> None:
    result = ask(memory)
    rows = sorted(hit(result, name).record.row for name in ("new", "wed"))
    assert result.receipt.body["owed"] == {"meaning": {"lanes": ["kin", "words"], "rows": rows}}
    report = memoriter.verify(result.receipt)
    assert report.ok
    assert "owed" in report.attested
    assert "slate/columns/fuse.meaning" in report.checked


def forged(memory: Memory) -> Data:
    return copy.deepcopy(json.loads(ask(memory).receipt.to_bytes()))


def problems(body: Data) -> str:
    return "\n".join(memoriter.verify(resealed(body)).problems)


def test_a_flag_that_is_left_out_does_not_agree_with_the_numbers(memory: Memory) -> None:
    body = forged(memory)
    del body["owed"]["meaning"]["rows"][0]
    assert "slate/columns/fuse.meaning" in problems(body)
    body = forged(memory)
    del body["owed"]
    assert "slate/columns/fuse.meaning" in problems(body)


def test_a_flag_for_a_row_that_the_lane_scored_is_refused(memory: Memory) -> None:
    body = forged(memory)
    body["owed"]["meaning"]["rows"] = sorted(body["slate"]["rows"])
    assert "owed/meaning/rows: has a row that the lane scored" in problems(body)
    body = forged(memory)
    body["owed"]["meaning"]["rows"].append(99)
    assert "owed/meaning/rows: are not rows of the slate" in problems(body)


@pytest.mark.parametrize("by", [[], ["kin"], ["words"], ["kin", "moment", "words"]])
def test_other_lanes_cannot_stand_for_it(memory: Memory, by: Sequence[str]) -> None:
    body = forged(memory)
    body["owed"]["meaning"]["lanes"] = list(by)
    assert problems(body)


@pytest.mark.parametrize("label", ["words", "moment", "nobody"])
def test_no_other_lane_can_owe_anything(memory: Memory, label: str) -> None:
    body = forged(memory)
    body["owed"] = {label: body["owed"]["meaning"]}
    assert problems(body)


def test_a_key_that_names_no_lane_is_refused(memory: Memory) -> None:
    body = json.loads(ask(memory, where={"id": "ssh"}).receipt.to_bytes())
    body["owed"] = {}
    assert problems(body) == "owed: is there, but names no lane"


def test_a_number_that_stands_for_a_vector_cannot_be_changed_by_a_step(memory: Memory) -> None:
    body = forged(memory)
    body["slate"]["columns"]["fuse.meaning"]["grid"][0] += 1
    assert "slate/columns/fuse.meaning" in problems(body)


def test_a_past_answer_is_replayed_after_its_vectors_were_computed(tmp_path: Path) -> None:
    """Also from an index that was built when they were there."""
    path = tmp_path / "m.db"
    with opened(path) as memory:
        memory.calibrate()
        memory.remember("Prod SSH port is 49222", id="ssh")
        result = ask(owing(memory, TEXTS))
        assert result.receipt.body["owed"]
        memory.maintain()
        assert not view_of(memory).behind
        assert memory.replay(result).same
        drop_index(memory)
    with opened(path) as memory:
        replay = memory.replay(result.receipt)
        assert replay.same, replay.differences


# -- several spaces --------------------------------------------------------------------------------


class Mirror(ToyEmbedder):
    name = "mirror"
    fingerprint = "mirror/1"


def test_only_the_serving_space_decides_what_is_owed() -> None:
    one, two = Later(), Mirror()
    with memoriter.open(":memory:", embedder=(one, two), maintenance="manual") as memory:
        memory.remember("Prod SSH port is 49222", id="ssh")  # in the serving space alone
        result = ask(memory)
        assert not any(each.owed for each in result)
        one.failing = True
        memory.remember("the ssh port of the new server", id="new")
        one.failing = False
        assert dict(hit(ask(memory), "new").owed) == {"meaning": LACKS}


def test_a_part_of_the_rows_can_be_computed_before_the_others(memory: Memory) -> None:
    writer = Writer(log_of(memory), context_of(memory), Scope.of(memory.scope.tenant))
    list(writer.embed_rows([hit(ask(memory), "wed").record.row]))
    result = ask(memory)
    assert [each.id for each in result if each.owed] == ["new"]
    assert memoriter.verify(result.receipt).ok
