"""Each gate by one cluster that it keeps back, and by one that passes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from memoriter.core.record import Record, Source
from memoriter.rank.grid import unit
from memoriter.write.gates import Group, refusal

NEAR = [(1.0, 0.1), (1.0, 0.2), (1.0, 0.3), (1.0, 0.4)]


def record(text: str, **more: Any) -> Record:
    fixed: dict[str, Any] = {"id": text, "row": 1, "position": 0, "committed": 0, "created": 0}
    return Record(text=text, **{**fixed, **more})


def group(
    *texts: str, phrases: Any = (("red car", 1.0),), vectors: Any = None, **more: Any
) -> Group:
    units = [unit(np.array(one)) for one in vectors or NEAR[: len(texts)]]
    made = np.stack([one for one in units if one is not None])
    return Group(tuple(record(text, **more) for text in texts), made, tuple(phrases))


def test_a_plain_cluster_passes() -> None:
    assert refusal(group("the car was washed", "the car was sold", "the car was found")) is None


def test_two_members_that_say_the_same() -> None:
    assert refusal(group("one", "two", "two")) == "two members say the same"


def test_three_quarters_of_personas() -> None:
    personas = ["she is a baker", "born in 1971, far away", "he is the mayor"]
    assert refusal(group(*personas, "the car was sold")) == "most members only describe a person"
    spoken = [f"[USER] {each}" for each in personas]
    assert refusal(group(*spoken, "the car was sold")) is None


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("I stopped running", "I began to run"),
        ("we hate it", "Amazing stuff"),
        ("I can’t", "we can"),
    ],
)
def test_members_that_contradict_one_another(left: str, right: str) -> None:
    assert refusal(group(left, "plain words", right)) == "members contradict one another"
    assert refusal(group(left, "plain words", "others")) is None


def test_one_member_may_contradict_itself() -> None:
    reason = refusal(group("first love, then hate", "plain words", "others"))
    assert reason == "members contradict one another"


def test_a_loose_cluster() -> None:
    # Cosines 0, .707 and .707: mean .471. Then 0, 0 and 1: mean .333.
    fine = [(1.0, 0.0), (0.0, 1.0), (1.0, 1.0)]
    loose = [(1.0, 0.0), (0.0, 1.0), (1.0, 0.0)]
    assert refusal(group("one", "two", "three", vectors=fine)) is None
    assert refusal(group("one", "two", "three", vectors=loose)) == "the mean cosine lies below 0.4"


def test_what_reflection_made_itself() -> None:
    own = Source(channel="dreaming:0123")
    reason = refusal(group("one", "two", "three", source=own))
    assert reason == "members were made by reflection"
    assert refusal(group("one", "two", "three", source=Source(channel="mail"))) is None


def test_members_share_an_entity_with_the_first() -> None:
    reason = "too few members share an entity with the first"
    named = [("one", ["Ada"]), ("two", ["ADA", "Bob"]), ("three", ["Cyd"]), ("four", ["Cyd"])]

    def refusal_of(count: int) -> str | None:
        plain = group(*(text for text, _ in named[:count]))
        members = tuple(record(text, entities=tuple(names)) for text, names in named[:count])
        return refusal(Group(members, plain.vectors, plain.phrases))

    assert refusal_of(3) is None  # two of three
    assert refusal_of(4) == reason  # two of four
    assert refusal(group("one car", "Paris is far", "Rome is farther")) is None


def test_key_phrases_that_tell_nothing() -> None:
    generic = [("various things", 1.0), ("new stuff", 1.0)]
    reason = refusal(group("one", "two", "three", phrases=generic))
    assert reason == "every key phrase is generic"
    mixed = [*generic, ("red car", 1.0)]
    assert refusal(group("one", "two", "three", phrases=mixed)) is None
    assert refusal(group("one", "two", "three", phrases=())) is None
