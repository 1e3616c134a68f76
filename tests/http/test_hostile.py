"""What costs a server much if it works before it looks is refused for little."""

from __future__ import annotations

import asyncio
import gc
import http.client
import json
import os
import threading
import time
import tracemalloc
import weakref
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import cast

import httpx
import pytest
from bench.hostile_bodies import bodies, long_mmr, many_hits
from hypothesis import given
from hypothesis import strategies as st
from tests.http.live import JSON, PATIENT, Live, live, rpc
from tests.unit.receipts import copied, resealed

import memoriter
from memoriter.core.errors import InputError, MemoriterError, TooCostly, TooLarge, TooMany
from memoriter.core.where import TESTS_LIMIT
from memoriter.doors.http.limits import LONGEST_PAUSE_S, REFUSALS, Limits, RateLimiter
from memoriter.doors.http.workers import (
    BOUND_S,
    BUSY_S,
    LARGE,
    LONG_S,
    MOST_REST_S,
    SHARED,
    SHORT_S,
    SHORT_TURN_S,
    TURN_S,
    UseLedger,
    WorkerPool,
)
from memoriter.doors.json_bodies import LONGEST, QUESTION_VALUES, VALUES, parse_body
from memoriter.doors.operations import BY_NAME, OPERATIONS, Operation
from memoriter.doors.requests import parse_request
from memoriter.doors.tenant_session import TenantSession
from memoriter.memory import receipts
from memoriter.pipeline.load import library, recipe_of
from memoriter.why import whynot
from memoriter.write import reflect

BODIES = bodies()
SECONDS = 8.0
"""Of processor time; each of them takes less than half a second, and took up to sixteen."""


def _answered(operation: Operation, body: bytes, tenant_session: TenantSession) -> object:
    data = Limits().check(parse_body(body), view=operation.right == "read")
    return operation.run(tenant_session, data)


@pytest.mark.parametrize(("name", "sent"), BODIES.items(), ids=list(BODIES))
def test_a_hostile_request_costs_little(name: str, sent: tuple[str, bytes]) -> None:
    path, body = sent
    (operation,) = [o for o in OPERATIONS if o.path == path and o.method == "POST"]
    with memoriter.open(":memory:") as memory:
        began = time.thread_time()
        with pytest.raises(MemoriterError) as refused:
            _answered(operation, body, TenantSession(memory))
        assert time.thread_time() - began < SECONDS, name
    assert refused.value.status in (400, 413, 422)


def test_a_server_answers_a_hostile_request_with_a_typed_error(site: Live) -> None:
    client = site.client("write")
    for name, (path, body) in BODIES.items():
        answer = client.post(path, content=body, headers=JSON)
        assert answer.status_code in (400, 413, 422), (name, answer.text)
        assert answer.json()["hint"], name
    assert client.post("/v1/verify", json={"receipt": long_mmr()}).json()["error"] == "TooCostly"


def test_steps_of_verify_are_the_callers_to_give() -> None:
    body = long_mmr(200)
    assert not memoriter.verify(body, steps=10**9).ok
    with pytest.raises(TooCostly, match="more than 10,000 steps"):
        memoriter.verify(body, steps=10_000)


def test_verify_counts_the_texts_of_a_filter_and_reads_each_once() -> None:
    def filtered(tag: str, test: dict[str, str], tests: int) -> dict[str, object]:
        body = copied("comis")
        body["filtered"] = [{"trust": "learned", "tags": [tag]} for _ in body["hits"]]
        body["query"]["where"] = {"all": [{"tags": test}] * tests}
        return resealed(body)

    long = "A" * 200_000
    assert memoriter.verify(filtered(long, {"prefix_fold": "a"}, 300), steps=300_000).ok
    with pytest.raises(TooCostly):
        memoriter.verify(filtered(long, {"prefix": long}, 300), steps=300_000)
    most = memoriter.verify(filtered("a", {"eq": "b"}, 2 * TESTS_LIMIT))
    assert "filtered/0: the hit does not pass the filter of the query" in most.problems
    (problem,) = memoriter.verify(filtered("a", {"eq": "b"}, 2 * TESTS_LIMIT + 2)).problems
    assert "more than 2,001 conditions" in problem


def test_verify_reports_a_hundred_problems_and_only_the_beginning_of_values() -> None:
    body = long_mmr(300)
    body["evidence"] = [{} for _ in range(300)]
    body["slate"]["columns"]["fuse"] = {"float": [1.0] * 300}
    problems = memoriter.verify(body).problems
    assert 0 < len(problems) <= 100
    assert max(map(len, problems)) < 400


def test_diff_counts_before_it_compares() -> None:
    one, two = many_hits(3000), many_hits(2999)
    with pytest.raises(TooCostly, match="diff"):
        memoriter.diff(one, two, steps=100_000)
    assert memoriter.diff(many_hits(30), many_hits(29)).left == ("29",)


def test_reflect_counts_the_pairs_it_compares(monkeypatch: pytest.MonkeyPatch) -> None:
    with memoriter.open(":memory:") as memory:
        memory.remember_many([f"the same words {n % 2}" for n in range(60)])
        # 60² pairs; ten of them all near, in twenty rounds, and their pairs once more in a cluster;
        # the 16 letters of each text twice
        letters = 2 * 250 * 60 * 16
        monkeypatch.setattr(reflect, "MOST_STEPS", 3600 + 20 * 60 * 59 + 16 * 60**2 + letters)
        assert memory.reflect(similarity=0.5, dry_run=True).considered == 60
        monkeypatch.setattr(reflect, "MOST_STEPS", 3599)
        with pytest.raises(TooCostly, match="reflect: needs more than the limit of 3,599 steps"):
            memory.reflect(similarity=0.5, dry_run=True)


def test_reflect_counts_the_letters_it_reads() -> None:
    with memoriter.open(":memory:") as memory:
        long = " ".join(f"word{n % 5000}" for n in range(200_000))
        memory.remember_many([f"{long} {n}" for n in range(3)])
        with pytest.raises(TooCostly, match="reflect"):
            memory.reflect(dry_run=True)


def test_why_not_counts_its_searches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(whynot, "SEARCHES", 1)
    with memoriter.open(":memory:") as memory:
        memory.remember("the ssh port", id="port")
        memory.remember("the moon", id="moon")
        assert memory.why_not(memory.recall("ssh"), "port").stage == "hit"
        with pytest.raises(TooCostly, match="why_not"):
            memory.why_not(memory.recall("ssh", 1), "moon")


def test_replay_counts_the_log_it_reads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(receipts, "ENTRIES", 5)
    with memoriter.open(":memory:") as memory:
        memory.remember("the ssh port")
        answer = memory.recall("ssh")
        assert memory.replay(answer).same
        memory.remember_many(["a", "b", "c"])
        with pytest.raises(TooCostly, match="replay"):
            memory.replay(answer)


def test_a_receipt_may_not_ask_for_more_than_a_question(site: Live) -> None:
    client = site.client("read")
    memory = site.server_state.tenants.memory("acme")
    far = {"lanes.links.max_depth": 8}
    receipt = memory.recall("ssh", recipe="linked", overrides=far).receipt.to_dict()
    for path in ("/v1/replay", "/v1/verify"):
        answer = client.post(path, json={"receipt": receipt})
        assert (answer.status_code, "max_depth" in answer.text) == (400, True)
    wide = memory.recall("ssh", 1001).receipt.to_dict()
    assert client.post("/v1/replay", json={"receipt": wide}).json()["field"] == "limit"


def test_every_recipe_of_ours_is_within_the_limits_of_a_receipt() -> None:
    for name in library():
        Limits().check({"receipt": {"recipe": {"data": recipe_of(name).to_data()}}}, view=True)


def test_receipts_with_a_hundred_thousand_hits_take_little_memory() -> None:
    one, two = many_hits(), many_hits(99_999)
    tracemalloc.start()
    try:
        assert not memoriter.verify(one).ok
        with pytest.raises(TooCostly):
            memoriter.diff(one, two)
        assert tracemalloc.get_traced_memory()[1] < 100e6, "they take 35 MB"
    finally:
        tracemalloc.stop()


# -- bodies ----------------------------------------------------------------------------------------


def test_a_body_may_have_so_many_values(site: Live) -> None:
    row = b"[" + b"0," * 999 + b"0]"  # 1,000 commas and brackets, and one comma after it
    assert parse_body(b"[" + b",".join([row] * (VALUES // 1001)) + b"]")
    with pytest.raises(TooLarge, match="values"):
        parse_body(b"[" + b",".join([row] * (VALUES // 1000)) + b"]")
    client = site.client("write")
    for rows, status in ((QUESTION_VALUES // 1001, 400), (QUESTION_VALUES // 1000, 413)):
        many = {"query": "x", "vector": [[0] * 1000] * rows}
        assert client.post("/v1/recall", json=many).status_code == status
    receipt = {"receipt": {"a": [[0] * 1000] * (QUESTION_VALUES // 1000)}}
    assert client.post("/v1/verify", json=receipt).status_code == 400
    batch = {"memories": [{"text": "x", "vector": [0.5] * 256}] * 200}
    writer = site.client("write", "many")
    assert writer.post("/v1/memories/batch", json=batch).status_code == 200


def test_a_list_that_is_too_long_is_refused_before_it_is_parsed() -> None:
    for entry in (b"1", b'"a"', b'"\\",: [{\\\\"'):
        body = b"[" + b", ".join([entry] * LONGEST) + b"]"
        assert len(cast("list[object]", parse_body(body))) == LONGEST
        with pytest.raises(TooLarge, match=r"more than 20,000 entries"):
            parse_body(body[:-1] + b"," + entry)  # no valid JSON: nothing was parsed
    fields = ", ".join(f'"k{n}": 0' for n in range(LONGEST + 1))
    with pytest.raises(TooLarge, match=r"more than 20,000 entries"):
        parse_body(f"{{{fields}}}".encode())
    texts = ['one, two, [three], {four}, \\, ", \n' * 1000] * 10
    assert parse_body(json.dumps({"memories": texts}).encode()) == {"memories": texts}


_TEXTS = st.text(st.sampled_from('ab,[]{}"\\\n\té'), max_size=6)
_VALUES = st.recursive(
    st.none() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | _TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_TEXTS, inner, max_size=4),
    max_leaves=20,
)


def _depth(value: object) -> int:
    parts = [*value.values()] if isinstance(value, dict) else value
    return 1 + max(map(_depth, parts), default=0) if isinstance(parts, list) else 0


@given(_VALUES, st.sampled_from([None, 1]))
def test_depth_is_counted_outside_of_texts(value: object, indent: int | None) -> None:
    body = json.dumps(value, ensure_ascii=indent is None, indent=indent).encode()
    deep = _depth(value)
    assert parse_body(body, deep) == value
    if deep:
        with pytest.raises(InputError, match="nested"):
            parse_body(body, deep - 1)


def test_lists_objects_and_fields_have_a_length() -> None:
    model = BY_NAME["recall"].request
    parse_request(model, {"query": "x", "vector": [0.5] * 16_384})
    for more in (
        {"vector": [0.5] * 16_385},
        {"overrides": {f"k{n}": 1 for n in range(1025)}},
        {f"k{n}": 1 for n in range(100)},
        {"lists": {"given": [["a", 0.5]] * 16_385}},
    ):
        with pytest.raises(InputError, match="the limit for one request is"):
            parse_request(model, {"query": "x", **more})


TWICE = [
    b'{"query": "a", "query": "b"}',
    b'{"query": "a", "where": {"kind": "x", "kind": "y"}}',
    b'{"query": "a", "overrides": {"a": [{"b": 1, "b": 1}]}}',
]


@pytest.mark.parametrize("body", TWICE)
def test_a_key_that_comes_twice_is_refused_by_every_server(site: Live, body: bytes) -> None:
    client = site.client("write")
    answer = client.post("/v1/recall", content=body, headers=JSON)
    assert (answer.status_code, "comes twice" in answer.text) == (400, True)
    call = b'{"jsonrpc": "2.0", "id": 1, "method": "recall", "params": ' + body + b"}"
    reply = client.post("/rpc", content=call, headers=JSON).json()
    assert (reply["error"]["code"], "comes twice" in reply["error"]["message"]) == (-32700, True)
    tool = b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": '
    tool += b'{"name": "recall", "arguments": ' + body + b"}}"
    headers = {**JSON, "Accept": "application/json, text/event-stream"}
    answer = client.post("/mcp", content=tool, headers=headers)
    assert (answer.status_code, "comes twice" in answer.text) == (400, True)


def test_what_comes_once_is_answered_as_before(site: Live) -> None:
    assert "result" in rpc(site.client("read"), "recall", query="ssh")


# -- the queue -------------------------------------------------------------------------------------


def test_a_tenant_leaves_threads_for_others() -> None:
    limits = Limits(threads=4, per_tenant=3, waiting=50, answer_s=60.0)
    let_go, began = threading.Event(), threading.Event()
    started: list[str] = []

    def slow() -> None:
        started.append("hostile")
        began.set()
        let_go.wait(60)

    async def both() -> None:
        pool = WorkerPool(limits)
        held = [asyncio.create_task(pool.run("hostile", slow, deadline=True)) for _ in range(20)]
        await asyncio.to_thread(began.wait, 60)
        assert await pool.run("other", lambda: "answered", deadline=True) == "answered"
        assert len(started) <= limits.per_tenant
        let_go.set()
        await asyncio.gather(*held)
        await asyncio.to_thread(pool.close)

    asyncio.run(both())
    assert len(started) == 20


def test_a_full_queue_is_the_tenants_own() -> None:
    limits = Limits(threads=2, per_tenant=1, waiting=3, answer_s=60.0)
    let_go = threading.Event()

    async def both() -> None:
        pool = WorkerPool(limits)
        held = [
            asyncio.create_task(pool.run("hostile", lambda: let_go.wait(60), deadline=True))
            for _ in range(4)
        ]
        await asyncio.sleep(0)
        with pytest.raises(TooMany):
            await pool.run("hostile", lambda: None, deadline=True)
        assert await pool.run("other", lambda: "answered", deadline=True) == "answered"
        let_go.set()
        await asyncio.gather(*held)
        await asyncio.to_thread(pool.close)

    asyncio.run(both())


def test_who_used_much_shares_by_one_thread_while_others_are_active() -> None:
    """The order in which a free thread is given away, counted and not timed."""
    now = [0.0]
    limits = Limits(threads=4, per_tenant=3, waiting=50, answer_s=60.0)
    most, at_work = 0, 0
    lock = threading.Lock()
    pool = WorkerPool(limits, lambda: now[0])

    def heavy() -> None:
        nonlocal most, at_work
        with lock:
            at_work += 1
            most = max(most, at_work)
        time.sleep(0.005)
        with lock:
            at_work -= 1

    async def both() -> None:
        burn = 2 * BUSY_S
        await pool.run("other", lambda: None, deadline=True)
        await pool.run("hostile", lambda: _burn(burn), deadline=True)
        tasks = [pool.run("hostile", heavy, deadline=True) for _ in range(12)]
        await asyncio.gather(*tasks)
        assert most == 1
        now[0] = 60.0  # what was used is long ago, and nobody else is active
        await asyncio.gather(*(pool.run("hostile", heavy, deadline=True) for _ in range(12)))
        assert most > 1
        await asyncio.to_thread(pool.close)

    asyncio.run(both())


def _burn(seconds: float) -> None:
    began = time.thread_time()
    while time.thread_time() - began < seconds:
        pass


def test_a_thread_rests_after_a_long_request_while_others_are_active() -> None:
    rests: list[float] = []
    pool = WorkerPool(Limits(answer_s=60.0), lambda: 0.0, rests.append)

    async def both() -> None:
        await pool.run("hostile", lambda: _burn(2 * LONG_S), deadline=True)
        assert rests == [], "nobody else is there"
        await pool.run("other", lambda: None, deadline=True)
        await pool.run("hostile", lambda: None, deadline=True)
        assert rests == [], "a short request"
        await pool.run("hostile", lambda: _burn(2 * LONG_S), deadline=True)
        await asyncio.to_thread(pool.close)

    asyncio.run(both())
    (rest,) = rests
    assert 2 * LONG_S <= rest <= MOST_REST_S


def test_large_requests_of_a_tenant_run_one_at_a_time_and_small_ones_pass() -> None:
    let_go, began = threading.Event(), threading.Event()
    order: list[str] = []

    def hold() -> None:
        began.set()
        let_go.wait(60)
        order.append("first")

    async def alone() -> None:
        pool = WorkerPool(Limits(answer_s=60.0), set_turn=lambda _: None)
        run = partial(pool.run, "a", deadline=True)
        first = asyncio.create_task(run(hold, size=LARGE))
        await asyncio.to_thread(began.wait, 60)
        second = asyncio.create_task(run(lambda: order.append("second"), size=LARGE))
        await asyncio.sleep(0)
        await run(lambda: order.append("small"), size=LARGE - 1)
        let_go.set()
        await asyncio.gather(first, second)
        await asyncio.to_thread(pool.close)

    asyncio.run(alone())
    assert order == ["small", "first", "second"]


def test_after_a_large_request_the_next_waits_for_those_of_others() -> None:
    let_go, began = threading.Event(), threading.Event()
    order, rests = list[str](), list[float]()

    def hold() -> None:
        began.set()
        let_go.wait(60)
        order.append("other")

    async def both() -> None:
        limits = Limits(answer_s=60.0, give_way_s=60.0)
        pool = WorkerPool(limits, lambda: 0.0, rests.append, lambda _: None)
        other = asyncio.create_task(pool.run("other", hold, deadline=True))
        await asyncio.to_thread(began.wait, 60)
        await pool.run("hostile", lambda: _burn(2 * SHORT_S), deadline=True, size=LARGE)
        after = asyncio.create_task(
            pool.run("hostile", lambda: order.append("hostile"), deadline=True, size=LARGE)
        )
        await pool.run("other", lambda: order.append("small"), deadline=True)
        assert order == ["small"]
        let_go.set()
        await asyncio.gather(other, after)
        await asyncio.to_thread(pool.close)

    asyncio.run(both())
    assert order == ["small", "other", "hostile"]
    assert len(rests) >= 1


def test_turns_of_threads_are_short_while_several_tenants_are_active() -> None:
    now, turns = [0.0], list[float]()
    pool = WorkerPool(Limits(answer_s=60.0), lambda: now[0], set_turn=turns.append)

    async def asked(*tenants: str) -> None:
        for tenant in tenants:
            await pool.run(tenant, lambda: None, deadline=True)

    asyncio.run(asked("a", "a"))
    assert turns == [TURN_S]
    asyncio.run(asked("b", "a"))
    assert turns == [TURN_S, SHORT_TURN_S]
    now[0] = 60.0
    asyncio.run(asked("a"))
    assert turns == [TURN_S, SHORT_TURN_S, TURN_S]
    pool.close()


def test_who_computes_all_the_time_has_no_more_threads_than_there_are_processors() -> None:
    now = [0.0]
    limits = Limits(threads=8, per_tenant=6, waiting=50, answer_s=60.0)
    pool = WorkerPool(limits, lambda: now[0])
    together = threading.Barrier(6, timeout=60)

    async def alone() -> None:
        six = [pool.run("a", together.wait, deadline=True) for _ in range(6)]
        await asyncio.gather(*six)  # who waits may have six at once
        pool.uses.add("a", 2 * BOUND_S)
        running, most = 0, 0
        lock = threading.Lock()

        def work() -> None:
            nonlocal running, most
            with lock:
                running += 1
                most = max(most, running)
            time.sleep(0.005)
            with lock:
                running -= 1

        await asyncio.gather(*(pool.run("a", work, deadline=True) for _ in range(12)))
        assert most <= max(SHARED, os.cpu_count() or 1)
        await asyncio.to_thread(pool.close)

    asyncio.run(alone())


def test_used_time_counts_half_after_two_seconds() -> None:
    now = [10.0]
    ledger = UseLedger(lambda: now[0])
    ledger.add("a", 1.0)
    now[0] = 12.0
    assert ledger.used("a") == 0.5
    assert list(ledger.active()) == ["a"]
    now[0] = 12.5
    assert list(ledger.active()) == []


def test_the_usual_limits_leave_room_for_others() -> None:
    assert Limits().per_tenant < Limits().threads == PATIENT.threads


def test_a_large_body_counts_as_many_requests() -> None:
    limits = replace(PATIENT, rate=0.001, burst=40)
    with live(limits) as made:
        client = made.client("read")
        large = {"query": "x" * (20 * 64 * 1024)}
        assert client.post("/v1/recall", json=large).status_code == 400
        assert client.post("/v1/recall", json=large).status_code == 429
        assert client.get("/v1/recipes").status_code == 200


def test_a_body_of_unknown_length_counts_too() -> None:
    limits = replace(PATIENT, rate=0.001, burst=40)

    def parts() -> Iterator[bytes]:
        yield b'{"query": "'
        for _ in range(20):
            yield b"x" * 64 * 1024
        yield b'"}'

    with live(limits) as made:
        client = made.client("read")
        statuses = [
            client.post("/v1/recall", content=parts(), headers=JSON).status_code for _ in range(2)
        ]
    assert statuses == [400, 429]


def test_values_are_counted_as_they_arrive(site: Live) -> None:
    """The answer comes before the body has ended, so little of a hostile body is read."""
    path, body = BODIES["200,000 unknown fields"]
    sent = 0

    def parts() -> Iterator[bytes]:
        nonlocal sent
        for at in range(0, len(body), 16 * 1024):
            sent = at
            yield body[at : at + 16 * 1024]

    client = site.client("read")
    try:
        answer = client.post(path, content=parts(), headers=JSON)
        assert answer.status_code == 413
    except httpx.WriteError:  # it was closed while the rest was being sent
        assert sent < len(body) - 32 * 1024


def test_who_is_refused_often_waits_for_the_answer() -> None:
    now = [100.0]
    rates = RateLimiter(Limits(), lambda: now[0])
    assert rates.pause("a") == 0.0, "the first at once"
    waits = [rates.pause("a") for _ in range(4)]
    assert waits == [n / REFUSALS for n in (1, 2, 3, 4)]
    assert max(rates.pause("a") for _ in range(100)) == LONGEST_PAUSE_S
    assert rates.pause("b") == 0.0, "others do not wait"
    now[0] += 60.0
    assert rates.pause("a") == 0.0


def test_a_body_without_a_token_is_small(site: Live) -> None:
    answer = httpx.post(f"{site.url}/page/link", content=b" " * 70_000, headers=JSON)
    assert answer.status_code == 413


def test_what_is_refused_unread_ends_its_connection(site: Live) -> None:
    wire = http.client.HTTPConnection(site.url.removeprefix("http://"), timeout=60)
    wire.putrequest("POST", "/v1/recall")
    wire.putheader("Content-Length", str(site.server_state.limits.body + 1))
    wire.endheaders()
    answer = wire.getresponse()
    assert (answer.status, answer.getheader("connection")) == (401, "close")
    wire.close()


# -- memory ----------------------------------------------------------------------------------------


def test_a_request_that_failed_leaves_nothing_to_the_garbage_collector() -> None:
    """Its frames hold the body: circles of them would pile up between two collections."""

    class Body:
        pass

    left: list[weakref.ref[Body]] = []

    def work() -> None:
        body = Body()
        left.append(weakref.ref(body))
        raise InputError("no")

    async def fails() -> None:
        pool = WorkerPool(Limits(answer_s=60.0))
        with pytest.raises(InputError):
            await pool.run("a", work, deadline=True)
        await asyncio.to_thread(pool.close)

    gc.disable()
    try:
        asyncio.run(fails())
        assert left[0]() is None
    finally:
        gc.enable()
