"""Times: aware datetimes in Python, ISO 8601 at every door, durations wherever one is taken."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields, is_dataclass
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any, cast

import pytest
from tests.unit.objects import MADE, stored
from typer.testing import CliRunner

import memoriter
from memoriter.core.errors import InputError
from memoriter.core.times import to_datetime
from memoriter.doors.cli.main import app
from memoriter.doors.operations import BY_NAME
from memoriter.doors.tenant_session import TenantSession
from memoriter.memory.facade import Memory
from memoriter.testing.fakes import SECOND, START, HandClock
from memoriter.why.receipt import Receipt

NOW = to_datetime(START)
DAY = timedelta(days=1)
YEARS = 20 * 365 * 86_400 * SECOND
SPELLED: list[Any] = ["2d", timedelta(days=2), "-2d"]


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


@pytest.fixture
def memory(clock: HandClock) -> Memory:
    memory = memoriter.open(":memory:", clock=clock)
    memory.remember("The port is 22", id="old")
    clock.time += 10 * 86_400 * SECOND
    memory.remember("The port is 49222", id="new")
    return memory


# -- what comes out --------------------------------------------------------------------------------


def is_time(value: object) -> bool:
    """Whether a number looks like microseconds of these years."""
    return type(value) in (int, float) and abs(cast("float", value) - START) < YEARS


def inside(value: object, path: str, depth: int = 5) -> Iterable[str]:
    """Paths to numbers that are times; what receipts and the log keep is left out."""
    if is_time(value):
        yield path
    elif depth == 0 or isinstance(value, str | bytes | Receipt):
        return
    elif isinstance(value, Mapping):
        for key, each in cast("Mapping[object, object]", value).items():
            yield from inside(each, f"{path}[{key!r}]", depth - 1)
    elif isinstance(value, list | tuple | set | frozenset):
        for each in cast("Iterable[object]", value):
            yield from inside(each, f"{path}[]", depth - 1)
    elif type(value).__module__.startswith("memoriter"):
        for name in names_of(value):
            yield from inside(getattr(value, name), f"{path}.{name}", depth - 1)


def names_of(value: object) -> set[str]:
    """The public attributes of an object that are no methods."""
    kind = type(value)
    names = {each.name for each in fields(value)} if is_dataclass(value) else set[str]()
    names |= {name for name in dir(kind) if isinstance(getattr(kind, name, None), property)}
    return {name for name in names if not name.startswith("_")}


APART = ("AsyncMemory", "AsyncMemory, scoped", "Block, bare", "Commit of many")
"""Lines of text, and objects some of whose attributes refuse to be read."""


@pytest.mark.parametrize("name", [each for each in MADE if each not in APART])
def test_no_public_attribute_is_a_time_as_a_number(name: str, tmp_path: Path) -> None:
    shown = MADE[name](stored(), tmp_path)
    assert list(inside(shown, name)) == []
    if hasattr(shown, "to_dict"):
        assert list(inside(shown.to_dict(), f"{name}.to_dict()", 12)) == []


def test_a_number_that_is_a_time_would_be_seen() -> None:
    assert list(inside({"a": [{"time": START}]}, "x")) == ["x['a'][]['time']"]


def test_public_times_are_aware_and_in_utc(memory: Memory) -> None:
    memory.update("old", expires="30d", valid_from="1d", occurred=date(2026, 1, 1))
    memory.link("old", "new", valid_from="1d", valid_until="1d")
    record, edge = memory.get("old"), memory.links("old")[0]
    times = [
        record.created, record.committed, record.expires, record.valid_from, record.occurred,
        edge.valid_from, edge.valid_until, memory.status().time, memory.remember("x").time,
    ]  # fmt: skip
    assert all(isinstance(each, datetime) and each.utcoffset() == timedelta(0) for each in times)


COMMANDS = [
    "recall port", "keywords port", "bundles port", "plan port", "explain old --query port",
    "why-not old --query 49222", "replay r.json", "diff r.json s.json", "verify r.json", "browse",
    "get old", "history old", "links old", "agents list", "status", "verify-store", "token list",
    "token create --expires 30d", "embed status", "analyzer list", "update old --expires 30d",
    "remember x --expires 30d", "expire old --at 2h", "reflect --dry-run", "forget old",
]  # fmt: skip


def test_no_command_prints_a_time_as_a_number(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with memoriter.open("memoriter.db", clock=HandClock()) as memory:
        memory.remember("The port is 22", id="old", expires="9000d", valid_from="2d")
        memory.remember("The port is 49222", id="new", links=[{"target": "old", "kind": "x"}])
        memory.recall("port").receipt.save("r.json")
        memory.recall("port", now="2030-01-01").receipt.save("s.json")
    for line in COMMANDS:
        done = CliRunner().invoke(app, [*line.split(), "--json"])
        assert done.exit_code == 0, (line, done.stderr)
        assert list(inside(json.loads(done.stdout), line, 20)) == []


def test_receipts_keep_what_they_always_kept(memory: Memory) -> None:
    body: Any = memory.recall("port", where={"created": {"gte": "30d"}}).receipt.body
    bound = body["query"]["where"]["created"]["gte"]
    assert bound == START - 20 * 86_400 * SECOND


# -- what goes in ----------------------------------------------------------------------------------


@pytest.mark.parametrize("spelled", SPELLED)
def test_a_question_takes_durations(memory: Memory, spelled: Any) -> None:
    lately, before = {"created": {"gte": spelled}}, {"created": {"lt": spelled}}
    for verb in (memory.recall, memory.keywords):
        assert {hit.id for hit in verb("port", where=lately)} == {"new"}
        assert {hit.id for hit in verb("port", where=before)} == {"old"}
        assert {hit.id for hit in verb("port", known_at=spelled)} == {"old"}
        assert {hit.id for hit in verb("port", as_of=spelled)} >= {"old"}
        assert len(verb("port", now=spelled)) == 2
    assert memory.count(where=lately) == memory.count(known_at=spelled) == 1
    assert [record.id for record in memory.browse(where=before).records] == ["old"]
    assert memory.get("old", known_at=spelled).id == "old"
    assert len(memory.history("old", known_at=spelled)) == 1
    assert memory.plan("port", as_of=spelled)
    assert {bundle.seed.id for bundle in memory.bundles("port", where=lately)} == {"new"}


def test_a_duration_counts_from_the_time_that_a_question_names(memory: Memory) -> None:
    then = to_datetime(START) + DAY
    for verb in (memory.recall, memory.keywords):
        hits = verb("port", now=then, where={"created": {"lt": "2h"}})
        assert {hit.id for hit in hits} == {"old"}


def test_a_record_takes_durations_back_and_ahead(clock: HandClock) -> None:
    memory = memoriter.open(":memory:", clock=clock)
    memory.remember(
        "x", id="x", created="3d", occurred="1w", valid_from="2d", valid_until="2d", expires="1y"
    )
    record = memory.get("x")
    assert record.created == NOW - 3 * DAY
    assert record.occurred == NOW - 7 * DAY
    assert (record.valid_from, record.valid_until) == (NOW - 2 * DAY, NOW + 2 * DAY)
    assert record.expires == NOW + 365 * DAY
    memory.update("x", expires="+2h")
    assert memory.get("x").expires == NOW + timedelta(hours=2)
    memory.expire("x", "1d")
    assert memory.get("x").expires == NOW + DAY
    memory.remember("y", links=[{"target": "x", "kind": "of", "valid_from": "1d"}])
    assert memory.links("x")[0].valid_from == NOW - DAY


def write(data: dict[str, Any], operation: str) -> Callable[[TenantSession], object]:
    return lambda tenant_session: BY_NAME[operation].run(tenant_session, data)


def test_doors_take_durations_as_text(clock: HandClock) -> None:
    tenant_session = TenantSession(memory := memoriter.open(":memory:", clock=clock))
    write({"text": "x port", "id": "x", "expires": "30d", "created": "2d"}, "remember")(
        tenant_session
    )
    write({"text": "y", "id": "y"}, "remember")(tenant_session)
    write({"id": "x", "valid_from": "1d"}, "update")(tenant_session)
    write({"source": "x", "target": "y", "valid_from": "1d", "valid_until": "1d"}, "link")(
        tenant_session
    )
    write({"id": "y", "at": "2h"}, "expire")(tenant_session)
    assert memory.get("x").expires == NOW + 30 * DAY
    assert memory.get("x").valid_from == NOW - DAY
    assert memory.links("x")[0].valid_until == NOW + DAY
    assert memory.get("y").expires == NOW + timedelta(hours=2)
    where = {"created": {"lt": "1d"}}
    for operation in ("recall", "keywords", "bundles", "plan", "context"):
        write({"query": "port", "where": where, "as_of": "0s", "known_at": "0s"}, operation)(
            tenant_session
        )
    assert cast("Any", write({"where": where}, "browse")(tenant_session))["total"] == 1
    for operation in ("get", "history"):
        write({"id": "x", "known_at": "0s"}, operation)(tenant_session)


def retried(memory: Memory) -> list[object]:
    link: Any = {"target": "old", "kind": "of", "valid_from": "1d", "valid_until": "9d"}
    return [
        memory.remember("a", key="a", expires="2d", links=[link]),
        memory.remember("b", key="b", valid_from="2d", supersedes="old"),
        memory.remember("c", key="c", created=timedelta(days=2), corrects=["old", "new"]),
        memory.link("old", "new", valid_from="1d", valid_until=timedelta(days=2), key="d"),
        memory.expire("new", "2d", key="e"),
        memory.update("new", valid_until="2d", key="f"),
    ]


def test_a_duration_under_a_key_is_the_same_when_it_is_tried_again(
    memory: Memory, clock: HandClock
) -> None:
    first = retried(memory)
    clock.time += 3600 * SECOND
    assert retried(memory) == first
    with pytest.raises(memoriter.Conflict):
        memory.link("old", "new", valid_from="2d", valid_until="2d", key="d")


@pytest.mark.parametrize("wrong", ["soon", "2 days", "1.5h", "2026-13-01", 1.5, "d2"])
def test_what_is_no_time_is_told_what_is_one(memory: Memory, wrong: Any) -> None:
    for act in (
        lambda: memory.recall("port", as_of=wrong),
        lambda: memory.remember("x", expires=wrong),
        lambda: memory.link("old", "new", valid_from=wrong),
        lambda: memory.browse(where={"created": {"gte": wrong}}),
    ):
        with pytest.raises(InputError) as caught:
            act()
        assert "datetime" in str(caught.value)


def test_a_receipt_may_be_verified_by_its_result(memory: Memory) -> None:
    result = memory.recall("port", now=datetime(2030, 1, 1, tzinfo=UTC))
    assert memoriter.verify(result).ok
    assert memoriter.verify(receipt=result.receipt).ok


@pytest.mark.parametrize("seconds", [1_700_000_000, 1_700_000_000_000])
def test_seconds_and_milliseconds_are_not_taken_for_microseconds(
    memory: Memory, seconds: int
) -> None:
    for act in (
        lambda: memory.remember("x", created=seconds),
        lambda: memory.recall("port", as_of=seconds),
    ):
        with pytest.raises(InputError, match="counts microseconds") as caught:
            act()
        assert "fromtimestamp" in caught.value.hint


def test_a_time_that_equals_a_duration_is_refused_with_a_comparison(memory: Memory) -> None:
    with pytest.raises(InputError) as caught:
        memory.recall("port", where={"created": "7d"})
    assert '{"gte": "7d"}' in caught.value.hint
    assert memory.recall("port", where={"created": {"gte": "7d"}}).status == "complete"


def test_a_store_that_is_verified_as_a_receipt_leads_to_the_check_of_stores(
    tmp_path: Path,
) -> None:
    with memoriter.open(tmp_path / "agent.db") as memory:
        memory.remember("x")
    with pytest.raises(InputError, match="verify_store"):
        memoriter.verify(tmp_path / "agent.db")


def test_a_duration_counts_forward_for_times_that_lie_ahead(memory: Memory) -> None:
    memory.remember("soon over", id="brief", expires="3d")
    for where, ids in (
        ({"expires": {"lt": "7d"}}, ["brief"]),
        ({"expires": {"gt": "7d"}}, []),
        ({"expires": {"gt": "-1d"}}, ["brief"]),
    ):
        assert [record.id for record in memory.browse(where=where)] == ids


def test_why_not_says_times_as_people_read_them(memory: Memory) -> None:
    memory.remember("late port", id="late")
    result = memory.recall("late port", where={"created": {"lt": "2024-01-01"}})
    assert '{"created": {"lt": "2024-01-01T00:00:00Z"}}' in memory.why_not(result, "late").reason
