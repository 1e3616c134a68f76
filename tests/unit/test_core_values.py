"""Values of the core: slates, explanations, times, ids, canonical bytes."""

from __future__ import annotations

import copy
import json
import math
import uuid
from dataclasses import FrozenInstanceError, replace
from datetime import UTC, date, datetime, timedelta, timezone

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import memoriter
from memoriter.core.canonical import canonical, checksum, digest
from memoriter.core.clock import SystemClock, SystemEntropy, uuid7
from memoriter.core.errors import BadQuery, BadRecord, Corrupt, InvariantError, MemoriterError
from memoriter.core.explanation import Explanation, reconciles
from memoriter.core.ranking import Ranking
from memoriter.core.record import Record, decode, encode
from memoriter.core.slate import Slate, Step
from memoriter.core.times import MAX_TIME, MIN_TIME, iso, micros, to_datetime

NAN = math.nan


def slate() -> Slate:
    columns = {"a": np.array([1.0, 2.0, NAN]), "b": np.array([0.5, NAN, 4.0])}
    return Slate(np.array([7, 8, 9]), columns)


@pytest.mark.parametrize(
    ("op", "made"),
    [
        ("sum", [1.5, 2.0, 4.0]),
        ("product", [0.5, 2.0, 4.0]),
        ("max", [1.0, 2.0, 4.0]),
        ("min", [0.5, 2.0, 4.0]),
    ],
)
def test_a_step_leaves_out_what_is_absent(op: str, made: list[float]) -> None:
    scored = slate().scored(Step("x", op, ("a", "b"), "out"), {})  # type: ignore[arg-type]
    assert_array_equal(scored.score, made)
    assert set(slate().columns) == {"a", "b"}, "a slate does not change"


def test_a_slate_only_gains_columns_and_loses_rows() -> None:
    scored = slate().scored(Step("x", "sum", ("a", "c"), "s"), {"c": np.array([1.0, 1.0, 1.0])})
    moved = scored.ordered("mmr", np.array([2, 0]))
    assert moved.rows.tolist() == [9, 7]
    assert_array_equal(moved.columns["mmr.from"], [3.0, 1.0])
    assert_array_equal(moved.score, [1.0, 2.0])
    assert moved.head(1).rows.tolist() == [9]
    assert moved.head(99).rows.tolist() == [9, 7]
    with pytest.raises(InvariantError, match="two steps"):
        scored.scored(Step("y", "sum", ("a",), "s"), {})
    with pytest.raises(InvariantError, match="two steps"):
        scored.scored(Step("y", "sum", ("a",), "t"), {"a": np.ones(3)})
    with pytest.raises(InvariantError, match="one value per candidate"):
        Slate(np.array([1]), {"a": np.ones(2)})


def test_a_product_is_rounded_to_the_grid() -> None:
    third = Slate(np.array([1]), {"a": np.array([1 / 3]), "b": np.array([1.0])})
    assert third.scored(Step("x", "product", ("a", "b"), "p"), {}).score[0] == 1431655765 / 2**32


@pytest.mark.parametrize(
    ("rows", "scores"),
    [([1, 2], [1.0]), ([1, 2], [1.0, 2.0]), ([1, 1], [2.0, 1.0]), ([1], [NAN]), ([1], [math.inf])],
)
def test_a_ranking_is_checked_once(rows: list[int], scores: list[float]) -> None:
    with pytest.raises(InvariantError):
        Ranking(np.array(rows), np.array(scores))


def test_reconciliation_of_every_op() -> None:
    def leaf(value: float) -> Explanation:
        return Explanation("leaf", value)

    step = 2.0**-32
    parts = (leaf(0.25), leaf(0.5))
    assert reconciles(Explanation("x", 0.75, "sum", parts))
    assert not reconciles(Explanation("x", 0.75 + step, "sum", parts))
    assert reconciles(Explanation("x", 0.125 + step, "product", parts))
    assert not reconciles(Explanation("x", 0.125 + 2 * step, "product", parts))
    assert reconciles(Explanation("x", 0.5, "max", parts))
    assert reconciles(Explanation("x", 0.25, "min", parts))
    assert not reconciles(Explanation("x", 0.25, "max", parts))
    assert not reconciles(Explanation("x", 0.5, "min", parts))
    deep = Explanation("x", 0.75, "sum", (Explanation("y", 0.75, "sum", (leaf(0.7),)),))
    assert not reconciles(deep)
    assert reconciles(Explanation("nothing", 0.0, "sum"))


def test_times() -> None:
    assert micros("1970-01-01", "t") == 0
    assert micros(date(1970, 1, 2), "t") == 86_400_000_000
    assert micros("2026-10-01T12:30:00.000001+02:00", "t") == 1790850600000001
    assert micros(datetime(1969, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC), "t") == -1
    assert micros(datetime(1970, 1, 1, 1, tzinfo=timezone(timedelta(hours=1))), "t") == 0
    assert (micros(MIN_TIME, "t"), micros(MAX_TIME, "t")) == (MIN_TIME, MAX_TIME)
    assert iso(MIN_TIME) == "0001-01-01T00:00:00Z"
    assert iso(MAX_TIME) == "9999-12-31T23:59:59.999999Z"
    assert iso(1790850600000001) == "2026-10-01T10:30:00.000001Z"
    for moment in (0, -1, MIN_TIME, MAX_TIME, 1790850600000001):
        assert micros(iso(moment), "t") == moment


def test_times_that_nobody_can_tell() -> None:
    for wrong in (MAX_TIME + 1, MIN_TIME - 1, 10**5000, True, 1.0, None, "noon", b"2026-01-01"):
        with pytest.raises(BadQuery) as caught:
            micros(wrong, "as_of", BadQuery)
        assert caught.value.field == "as_of"
    with pytest.raises(BadRecord, match="no time zone"):
        micros(datetime(2026, 1, 1), "created")  # noqa: DTZ001  # the mistake to be refused


def test_ids_are_uuid7() -> None:
    made = uuid7(1_700_000_000_123_456, bytes(range(10)))
    parsed = uuid.UUID(made)
    assert (parsed.version, parsed.variant) == (7, uuid.RFC_4122)
    assert parsed.int >> 80 == 1_700_000_000_123
    assert made == "018bcfe5-687b-7001-8203-040506070809"
    assert uuid7(0, b"\xff" * 10) == "00000000-0000-7fff-bfff-ffffffffffff"
    assert uuid7(1000, bytes(10)) < uuid7(2000, bytes(10))


def test_the_machine_has_a_clock_and_randomness() -> None:
    assert SystemClock().now() > 1_700_000_000_000_000
    assert len(SystemEntropy().draw(16)) == 16
    assert SystemEntropy().draw(16) != SystemEntropy().draw(16)


def test_canonical_bytes() -> None:
    assert canonical({"b": [1.0, 1e300, -0.0], "a": "é\n\u2028"}) == (
        '{"a":"é\\n\u2028","b":[1.0,1e+300,-0.0]}'.encode()
    )
    with pytest.raises(ValueError, match="JSON compliant"):
        canonical([NAN])
    assert digest("t", b"ab", b"c") != digest("t", b"a", b"bc") != digest("u", b"ab", b"c")
    assert len(checksum(b"x")) == 8


def test_errors_are_data() -> None:
    def tree(kind: type[MemoriterError]) -> list[type[MemoriterError]]:
        return [kind, *(each for sub in kind.__subclasses__() for each in tree(sub))]

    for kind in tree(MemoriterError):
        data = kind("what", hint="do this", field="f").to_dict()
        assert json.loads(canonical(data))["error"] == kind.__name__
        assert 1 <= kind.exit_code <= 12
        assert 400 <= kind.status <= 599


@pytest.mark.parametrize("body", [b"[]", b"{}", b'{"created":0,"id":"a","text":"b","more":1}'])
def test_a_body_with_other_fields_is_damaged(body: bytes) -> None:
    with pytest.raises(Corrupt, match="cannot be read"):
        decode(body, 1, 0, 0)


def test_a_record_that_was_read_equals_one_that_was_made() -> None:
    made = Record(
        id="a", text="b", created=to_datetime(1), row=1, position=0, committed=to_datetime(2)
    )
    read = decode(encode("a", made), 1, 0, 2)
    assert read == made
    assert replace(read, text="c") == replace(made, text="c")
    assert copy.deepcopy(read) == made
    assert decode(encode("a", made), 1, 0, 2).metadata is not read.metadata
    with pytest.raises(FrozenInstanceError):
        setattr(read, "text", "c")  # noqa: B010  # a plain assignment is a type error already


def test_a_record_names_the_field_that_another_word_means() -> None:
    memory = memoriter.open(embedder=None)
    memory.remember("port 22", id="a")
    record = memory.get("a")
    words = {"content": "text", "body": "text", "memory_id": "id", "date": "created"}
    for word, meant in words.items():
        with pytest.raises(AttributeError, match=f"use {meant}"):
            getattr(record, word)
