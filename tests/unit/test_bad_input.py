"""Whatever a caller gives: a typed error that names the field and no trace, or it is kept."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import apsw
import pytest
from tests.inside import log_of
from tests.night import NIGHT

import memoriter
from memoriter import (
    BadFilter,
    BadQuery,
    BadRecipe,
    BadRecord,
    Conflict,
    InputError,
    MemoriterError,
    Memory,
    NotFound,
    NothingToRun,
    UnknownRecipe,
)
from memoriter.testing.fakes import CountedEntropy, HandClock
from memoriter.testing.whole import whole

NAN, INF, LONE = float("nan"), float("inf"), "a\ud800b"
NAIVE = datetime(2026, 1, 1)  # noqa: DTZ001  # the mistake to be refused
HUGE = 10**400
ENDLESS = 10**5000


@pytest.fixture(scope="module")
def held() -> Iterator[Memory]:
    memory = memoriter.open(
        ":memory:", embedder="given:2", clock=HandClock(), entropy=CountedEntropy()
    )
    memory.remember("one record", id="a", vector=[1, 0])
    memory.remember("another one", id="b", vector=[0, 1])
    yield memory
    memory.close()


def nested(depth: int) -> dict[str, Any]:
    return {"a": nested(depth - 1)} if depth > 1 else {}


def dump(memory: Memory) -> object:
    return whole(log_of(memory), "default")  # nothing may be half written


def refused(
    memory: Memory, act: Callable[[], object], error: type[MemoriterError], field: str
) -> None:
    before = dump(memory)
    with pytest.raises(error) as caught:
        act()
    assert type(caught.value) is error
    assert caught.value.field is not None
    assert caught.value.field.startswith(field), caught.value.field
    assert caught.value.message
    assert dump(memory) == before


NAMED = ("kind", "role", "entity_type", "agent", "user", "session", "source_episode", "id", "key")
BAD_NAMES = ("", "a" * 513, "a\x00b", "line\nfeed", "\x7f", "\x85", LONE, 5, 1.5, True, b"x", ["a"])
LISTED = ("tags", "concepts", "entities", "supersedes", "corrects", "invalidates")
BAD_LISTS = (
    5,
    {"a": 1},
    b"ab",
    [""],
    [5],
    [None],
    ["a\x00"],
    [LONE],
    ["x" * 513],
    ["a"] * 1001,
    [["a"]],
)
SHARES = ("importance", "confidence")
BAD_SHARES = (NAN, INF, -INF, -0.1, 1.1, HUGE, ENDLESS, "0.5", True, [0.5], {}, 1 + 0j)
TIMES = ("created", "occurred", "valid_from", "valid_until", "expires")
BAD_TIMES = (
    NAIVE,
    "2026-01-01T00:00:00",
    "soon",
    "",
    NAN,
    1.5,
    True,
    HUGE,
    ENDLESS,
    2**63,
    [],
    "2026-13-01",
    "9999-12-31T23:59:59-12:00",
    "0001-01-01T00:00:00+12:00",
    LONE,
)
BAD_METADATA: tuple[object, ...] = (
    5,
    "x",
    ["a"],
    nested(9),
    {"a": NAN},
    {"a": [INF]},
    {"a": 2**60},
    {"a": 2**53 + 1},
    {5: 1},
    {None: 1},
    {"a": {"b": {1: 2}}},
    {"a": LONE},
    {LONE: 1},
    {"a": b"x"},
    {"a": {1, 2}},
    {"a": "x" * 70_000},
    {f"k{n}": "x" * 100 for n in range(700)},
    {"a": NAIVE},
    {"a": HUGE},
)
BAD_VECTORS: tuple[object, ...] = (
    5,
    "1,2",
    b"12",
    {"a": 1},
    [],
    [NAN, 1.0],
    [INF, 1.0],
    [0.0, -0.0],
    ["1", "2"],
    [True, 1.0],
    [None, 1.0],
    [1.0] * 16_385,
    [HUGE, 1.0],
    [[1.0, 2.0]],
    [1 + 0j],
)
WRONG: list[tuple[str, object]] = [
    *((field, value) for field in NAMED for value in BAD_NAMES),
    *((field, value) for field in LISTED for value in BAD_LISTS),
    *((field, value) for field in SHARES for value in BAD_SHARES),
    *((field, value) for field in TIMES for value in BAD_TIMES),
    *(("metadata", value) for value in BAD_METADATA),
    *(("vector", value) for value in BAD_VECTORS),
    *(("text", value) for value in ("", " \n\t", LONE, 5, b"x", ["x"], True)),
    *((f, v) for f in ("title", "summary") for v in (5, LONE, "x" * 65_537, ["x"])),
    *(("memory_type", v) for v in ("", "other", 5, ["semantic"], None.__class__)),
    *(("priority", v) for v in ("P0", "p1", 1, True)),
    *(("trust", v) for v in ("trusted", 1, ["system"])),
    *(
        ("source", v)
        for v in (5, "x", ["who"], {"whom": "x"}, {"who": 5}, {"path": LONE}, {5: "x"})
    ),
    *(("cycle", v) for v in (1.5, "1", True, 2**53 + 1, -(2**53) - 1, HUGE, ENDLESS, NAN)),
    *((f, v) for f in ("archived", "pinned") for v in (1, 0, "true", "", [])),
    *(
        ("refs", v)
        for v in (5, "0", {"0": 1}, [-1], [True], [0.0], ["0"], [99], [HUGE], [0] * 1001)
    ),
    *(
        ("links", v)
        for v in (
            5,
            "a",
            {"target": "a"},
            [5],
            ["a"],
            [{"target": "a"}],
            [{"kind": "x"}],
            [{"target": 5, "kind": "x"}],
            [{"target": "a", "kind": ""}],
            [{"target": "a", "kind": "x", "weight": NAN}],
            [{"target": "a", "kind": "x", "weight": "1"}],
            [{"target": "a", "kind": "x", "weigth": 1, 5: 6}],
            [{"target": "a", "kind": "x", "valid_from": NAIVE}],
            [{"target": "a", "kind": "x", "metadata": nested(9)}],
        )
    ),
]


@pytest.mark.parametrize("field", sorted({field for field, _ in WRONG}))
def test_every_wrong_value_of_every_field(held: Memory, field: str) -> None:
    for value in (value for name, value in WRONG if name == field):
        given = {"text": "fine", field: value}
        refused(held, lambda fields=given: held.remember(**fields), BadRecord, field)  # type: ignore[misc]
        many = ["fine", given]
        refused(held, lambda drafts=many: held.remember_many(drafts), BadRecord, field)  # type: ignore[misc]
        if field not in {"id", "key", "vector", "refs", "links", *LISTED[3:]}:
            refused(held, lambda wrong=value: held.update("a", **{field: wrong}), BadRecord, field)  # type: ignore[misc]


def unknown(**fields: Any) -> Any:
    """Fields that a type checker would refuse."""
    return fields


def test_fields_that_do_not_exist_name_the_likely_one(held: Memory) -> None:
    refused(held, lambda: held.remember("x", **unknown(tag=["a"])), BadRecord, "tag")
    with pytest.raises(BadRecord) as caught:
        held.remember("x", **unknown(importnce=1))
    assert caught.value.hint == "did you mean importance?"
    with pytest.raises(BadRecord) as caught:
        held.remember("x", **unknown(zzz=1))
    assert "metadata" in caught.value.hint
    refused(held, lambda: held.update("a", **unknown(position=5)), BadRecord, "position")
    refused(held, lambda: held.update("a", kind=None), BadRecord, "kind")
    refused(held, lambda: held.update("a", **unknown(refs=[0])), BadRecord, "refs")
    wrong: list[tuple[Any, str]] = [({"text": "x", 5: 1}, "5"), (5, "text")]
    for draft, field in wrong:
        refused(held, lambda given=draft: held.remember_many(["fine", given]), BadRecord, field)  # type: ignore[misc]
    for drafts in (5, "text", b"text", {"text": "x"}, None):
        refused(held, lambda given=drafts: held.remember_many(given), BadRecord, "drafts")  # type: ignore[misc]


def test_intervals_hold_a_moment(held: Memory) -> None:
    fields: dict[str, Any] = {"valid_from": "2026-01-02", "valid_until": "2026-01-02"}
    refused(held, lambda: held.remember("x", **fields), BadRecord, "valid_until")
    refused(held, lambda: held.link("a", "b", **fields), BadRecord, "valid_until")
    refused(
        held,
        lambda: held.remember("x", links=[{"target": "a", "kind": "x", **fields}]),
        BadRecord,
        "valid_until",
    )


def test_records_that_are_or_are_not_there(held: Memory) -> None:
    refused(held, lambda: held.remember("x", id="a"), Conflict, "id")
    twice: list[memoriter.DraftFields] = [{"text": "x", "id": "n"}, {"text": "x", "id": "n"}]
    refused(held, lambda: held.remember_many(twice), Conflict, "id")
    refused(held, lambda: held.remember("x", supersedes="nobody"), NotFound, "id")
    refused(held, lambda: held.link("a", "nobody"), NotFound, "id")
    refused(held, lambda: held.link("nobody", "a"), NotFound, "id")
    for verb in (held.get, held.history, held.links, held.update, held.expire, held.forget):
        refused(held, lambda act=verb: act("nobody"), NotFound, "id")  # type: ignore[misc]
        for bad in (5, "", LONE, b"a", "x\x00", "a" * 200):
            before = dump(held)
            with pytest.raises(InputError) as caught:
                verb(bad)  # type: ignore[arg-type]
            assert caught.value.field == "id"
            assert dump(held) == before


def test_links(held: Memory) -> None:
    for wrong in (
        {"weight": NAN},
        {"weight": "1"},
        {"weight": True},
        {"weight": 1e10},
        {"valid_from": NAIVE},
        {"metadata": {"a": NAN}},
        {"metadata": 5},
    ):
        refused(held, lambda fields=wrong: held.link("a", "b", **fields), BadRecord, "link")  # type: ignore[misc]
    misspelt: Any = {"wieght": 1}
    refused(held, lambda: held.link("a", "b", **misspelt), BadRecord, "wieght")
    refused(held, lambda: held.link("a", "b", ""), BadRecord, "link.kind")
    refused(held, lambda: held.link("a", "b", 5), BadRecord, "link.kind")  # type: ignore[arg-type]
    refused(held, lambda: held.link("a", "b", key=""), BadRecord, "key")


def test_cycles_of_edges_are_fine(memory: Memory) -> None:
    memory.remember("one port", id="a")
    memory.remember("two ports", id="b")
    memory.link("a", "b", "supersedes", valid_from="2020-01-01")
    memory.link("b", "a", "supersedes", valid_from="2020-01-01")
    memory.link("a", "a")
    assert [(e.source, e.target) for e in memory.links("a")] == [("a", "b"), ("b", "a"), ("a", "a")]
    assert len(memory.recall("port")) == 0
    assert len(memory.recall("port", overrides={"select.superseded": "show"})) == 2


ASKS: list[tuple[dict[str, Any], type[MemoriterError], str]] = [
    ({"query": "x" * 70_000}, BadQuery, "query"),
    ({"query": LONE}, BadQuery, "query"),
    ({"query": 5}, BadQuery, "query"),
    ({"query": None}, BadQuery, "query"),
    *(
        ({"limit": n}, BadQuery, "limit")
        for n in (0, -1, True, 10**9, 1.5, "5", HUGE, ENDLESS, NAN)
    ),
    *(({name: t}, BadQuery, name) for name in ("now", "as_of", "known_at") for t in BAD_TIMES),
    *(({"vector": v}, BadQuery, "vector") for v in BAD_VECTORS if v not in ([], [0.0, 0.0])),
    ({"vector": [1.0, 2.0, 3.0]}, BadQuery, "vector"),
    *(
        ({"recipe": r}, UnknownRecipe, "")
        for r in ("nope", "Memoriter", "", "nope.toml", Path("no.toml"), 5)
    ),
    ({"recipe": {"name": "x"}}, BadRecipe, ""),
    ({"overrides": {"lanes.words.k2": 1}}, BadRecipe, "lanes.words.k2"),
    ({"overrides": {"lanes.nope.pool": 1}}, BadRecipe, "lanes.nope.pool"),
    ({"overrides": {"lanes.words.pool": 0}}, BadRecipe, "lanes.words"),
    ({"overrides": {"lanes.words.pool": "many"}}, BadRecipe, "lanes.words"),
    ({"overrides": {"lanes.words.b": 1.5}}, BadRecipe, "lanes.words"),
    *(
        ({"overrides": o}, BadRecipe, "overrides")
        for o in (5, "x", [1], {5: 5}, {"lanes.words.k1": NAN}, {"lanes.words.k1": {1, 2}})
    ),
    ({"require": ["nope"]}, BadQuery, "require"),
    ({"require": 5}, BadQuery, "require"),
    ({"require": "nope"}, BadQuery, "require"),
    ({"tags": 5}, BadFilter, "tags"),
    ({"tags": [5]}, BadFilter, "tags[0]"),
    ({"cycle": 3}, BadQuery, "cycle"),
    ({"where": {"knd": 1}}, BadFilter, "where.knd"),
    ({"where": 5}, BadFilter, "where"),
    ({"top_k": 5}, BadQuery, "top_k"),
]


@pytest.mark.parametrize("verb", ["recall", "plan", "keywords"])
def test_every_wrong_question(held: Memory, verb: str) -> None:
    for wrong, error, field in ASKS:
        if verb == "keywords" and "recipe" in wrong:
            continue
        ask = {"query": "one", **wrong}
        if verb != "recall" and wrong.get("vector") == [1.0, 2.0, 3.0]:
            continue  # the size is compared where the vector is used
        before = dump(held)
        with pytest.raises(error) as caught:
            getattr(held, verb)(**ask)
        assert type(caught.value) is error, wrong
        assert (caught.value.field or "").startswith(field), (wrong, caught.value.field)
        assert dump(held) == before


@pytest.mark.parametrize(
    ("look", "field"),
    [
        *(({"limit": n}, "limit") for n in (0, -1, True, 10**9, "5")),
        *(
            ({"cursor": c}, "cursor")
            for c in (
                "",
                "x",
                "é",
                5,
                "AAAA",
                "W10",
                "bnVsbA",
                LONE,
                "WzEsMSwxLDEsMV0",
                "[" * 100_000,
                "W1tbW1tb" * 5_000,
            )
        ),
        ({"sort": "best"}, "sort"),
        ({"sort": ["newest"]}, "sort"),
        ({"archived": "maybe"}, "archived"),
        ({"expired": True}, "expired"),
        ({"colour": "red"}, "colour"),
        ({"as_of": NAIVE}, "as_of"),
        ({"known_at": "soon"}, "known_at"),
    ],
)
def test_every_wrong_page(held: Memory, look: dict[str, Any], field: str) -> None:
    refused(held, lambda: held.browse(**look), BadQuery, field)


def test_a_question_that_is_too_long_is_not_told_to_become_records(held: Memory) -> None:
    with pytest.raises(BadQuery) as caught:
        held.recall("ssh " * 100_000)
    assert caught.value.hint == "shorten it"


def test_a_cursor_belongs_to_its_question(memory: Memory) -> None:
    memory.remember_many([f"text {n}" for n in range(5)])
    cursor = memory.browse(limit=2).cursor
    for other in ({"sort": "oldest"}, {"where": {"kind": "note"}}, {"archived": "show"}):
        with pytest.raises(BadQuery, match="comes from a call with other options"):
            memory.browse(limit=2, cursor=cursor, **other)  # type: ignore[arg-type]
    assert len(memory.browse(limit=9, cursor=cursor).records) == 3


def test_forgetting_by_mistake(held: Memory) -> None:
    refused(held, held.forget, InputError, "id")
    refused(held, lambda: held.forget("a", where={"kind": "x"}), InputError, "id")
    for empty in ({}, {"all": []}):
        refused(held, lambda where=empty: held.forget(where=where), BadQuery, "where")  # type: ignore[misc]
    refused(held, lambda: held.forget(["a", "nobody"]), NotFound, "id")
    refused(held, lambda: held.forget(["a", LONE], key="k"), BadRecord, "id")
    refused(held, lambda: held.scoped(agent="other").forget("a"), NotFound, "id")
    refused(held, lambda: held.scoped(agent="other").forget("a", key="k"), NotFound, "id")


def test_scopes(held: Memory) -> None:
    scoped = held.scoped(agent="x")
    refused(held, lambda: scoped.remember("x", agent="y"), BadRecord, "agent")
    refused(held, lambda: scoped.scoped(agent="y"), InputError, "agent")
    refused(held, lambda: held.scoped(agent=""), InputError, "agent")
    refused(held, lambda: held.scoped(user=5), InputError, "user")  # type: ignore[arg-type]
    for tenant in ("", "a\x00", LONE, 5, "x" * 129):
        with pytest.raises(InputError) as caught:
            memoriter.open(":memory:", tenant=tenant)  # type: ignore[arg-type]
        assert caught.value.field == "tenant"


def test_agents(held: Memory) -> None:
    for wrong in ("", 5, LONE, "a\x00"):
        refused(held, lambda agent=wrong: held.agents.upsert(agent), BadRecord, "agent")  # type: ignore[arg-type, misc]
    refused(held, lambda: held.agents.upsert("a", colour="red"), BadRecord, "colour")  # type: ignore[call-arg]
    wrong: Any = 5
    refused(held, lambda: held.agents.upsert("a", description=wrong), BadRecord, "description")
    refused(held, lambda: held.agents.alias("a", ""), BadRecord, "aliases")
    refused(held, lambda: held.agents.get("nobody"), NotFound, "agent")


KEPT = (
    "nul \x00 inside",
    "line\r\nfeeds\u2028",
    "e\u0301 is not é",
    "\ufeff\u200b\u202e",
    "🎉👩‍👩‍👧",
    "ﷺ" * 50,
    "a" + "\u0300" * 500,
    "'; DROP TABLE records; --",
    "\U0010ffff\ufffe",
)


def test_strange_texts_are_kept_exactly(memory: Memory) -> None:
    ids = memory.remember_many([{"text": text, "title": text} for text in KEPT]).ids
    for record_id, text in zip(ids, KEPT, strict=True):
        kept = memory.get(record_id)
        assert (kept.text, kept.title) == (text, text)
        with contextlib.suppress(NothingToRun):
            memory.recall(text)


def test_names_are_normalised_and_never_trimmed(memory: Memory) -> None:
    kept = memory.get(memory.remember("x", id=" e\u0301 ", tags=["e\u0301", "é", " a "]).id)
    assert (kept.id, kept.tags) == (" é ", ("é", " a "))
    assert memory.get(" é ") == memory.get(" e\u0301 ") == kept


def test_strange_metadata_is_kept_exactly(memory: Memory) -> None:
    metadata: dict[str, Any] = {
        "": 1,
        "true": True,
        "one": 1,
        "float": 1.0,
        "big": 2**53,
        "small": 5e-324,
        "zero": -0.0,
        "deep": nested(7),
        "nul": "\x00",
        "list": [None, [], {}],
        "ключ": "é",
    }
    kept = memory.get(memory.remember("x", metadata=metadata).id).metadata
    assert repr(kept) == repr(dict(sorted(metadata.items())))


def test_megabytes_come_back_as_they_were(tmp_path: Path) -> None:
    text = "memory of the port 東京 " * (450_000 if NIGHT else 90_000)
    with memoriter.open(tmp_path / "m.db", embedder=None) as memory:
        memory.remember("small port")
        memory.remember(text, id="big")
        assert len(text.encode()) > (10_000_000 if NIGHT else 2_000_000)
        assert memory.get("big").text == text
        assert {hit.id for hit in memory.recall("東京")} == {"big"}
        with pytest.raises(BadRecord, match="at most"):
            memory.remember("x" * (16 * 1024 * 1024 + 1))


def test_places_and_options_of_open(tmp_path: Path) -> None:
    with pytest.raises(NotFound):
        memoriter.open(tmp_path / "no" / "m.db")
    with pytest.raises(InputError):
        memoriter.open(tmp_path)
    with pytest.raises(NotFound):
        memoriter.open(tmp_path / "m.db", read_only=True)
    with pytest.raises(InputError) as caught:
        memoriter.open(":memory:", embedder="best")
    assert caught.value.field == "embedder"
    with pytest.raises(memoriter.Unsupported):
        memoriter.open("mysql://host/db")
    (tmp_path / "other.db").write_bytes(b"SQLite format 3\0" + bytes(100))
    (tmp_path / "text.db").write_text("not a store at all, but rather a long text " * 50)
    for name in ("other.db", "text.db"):
        before = (tmp_path / name).read_bytes()
        with pytest.raises(MemoriterError):
            memoriter.open(tmp_path / name)
        assert (tmp_path / name).read_bytes() == before


def test_no_number_that_is_not_finite_is_ever_served(memory: Memory) -> None:
    memory.remember("one", created=datetime(1, 1, 1, tzinfo=UTC))
    memory.remember("one one", created=datetime(9999, 12, 31, tzinfo=UTC), importance=0)
    for overrides in (
        {"fusion.weights.words": 0.0, "fusion.weights.meaning": 0.0},
        {"lanes.words.k1": 0.0},
        {"lanes.words.b": 1.0, "lanes.words.k1": 100.0},
    ):
        result = memory.recall("one", overrides=overrides)
        assert len(result) == 2
        weights = result.plan.recipe.to_data()["pass"][0]["fuse"]["weights"]
        assert all(0.0 <= hit.score <= sum(weights.values()) for hit in result)
        relevances = [hit.relevance for hit in result]
        assert all(each is not None and 0.0 <= each <= 1.0 for each in relevances)
        result.receipt.to_bytes()


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"flush_rows": 0}, "flush_rows"),
        ({"flush_rows": True}, "flush_rows"),
        ({"horizon_days": NAN}, "horizon_days"),
        ({"horizon_days": -1}, "horizon_days"),
        ({"memory_limit": "1 GB"}, "memory_limit"),
        ({"maintenance": "never"}, "maintenance"),
        ({"read_only": 1}, "read_only"),
        ({"flush_row": 3}, "flush_row"),
    ],
)
def test_wrong_options_of_open(tmp_path: Path, options: dict[str, Any], field: str) -> None:
    with pytest.raises(InputError) as caught:
        memoriter.open(tmp_path / "m.db", **options)
    assert caught.value.field == field
    assert list(tmp_path.iterdir()) == []


def test_a_file_left_by_a_process_that_died_at_birth_is_made_anew(tmp_path: Path) -> None:
    (tmp_path / "empty.db").touch()
    blank = apsw.Connection(str(tmp_path / "blank.db"))
    blank.pragma("journal_mode", "wal")
    blank.close()
    for name in ("empty.db", "blank.db"):
        with memoriter.open(tmp_path / name) as memory:
            memory.remember("port")
        with memoriter.open(tmp_path / name) as memory:
            assert len(memory.recall("port")) == 1
    with apsw.Connection(str(tmp_path / "theirs.db")) as theirs:
        theirs.execute("CREATE TABLE t (x)")
    theirs.close()
    before = (tmp_path / "theirs.db").read_bytes()
    with pytest.raises(memoriter.Unsupported):
        memoriter.open(tmp_path / "theirs.db")
    assert (tmp_path / "theirs.db").read_bytes() == before
