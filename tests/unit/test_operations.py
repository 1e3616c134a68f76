"""The table of operations and the desk behind it."""

from __future__ import annotations

import inspect
import json
from typing import Any, get_args

import pytest
from tests.http.asks import FIELDS

import memoriter
from memoriter.core.draft import BESIDE
from memoriter.core.errors import Forbidden, InputError, NotFound, UnknownRecipe
from memoriter.core.record import FIELDS as RECORD
from memoriter.doors import requests
from memoriter.doors.cli.main import PANELS
from memoriter.doors.desk import Desk, Receipts, handle_of, weight_of
from memoriter.doors.operations import BY_NAME, OPERATIONS, RIGHTS, Right
from memoriter.doors.schema import schema_of
from memoriter.memory.facade import Memory
from memoriter.memory.options import Ask

NOW = "2026-11-01T00:00:00Z"


@pytest.fixture
def desk() -> Desk:
    memory = memoriter.open(":memory:", tenant="acme")
    memory.remember("Prod SSH port is 49222", tags=["ops"], id="port")
    memory.remember("The cache is flushed at dawn", id="cache")
    return Desk(memory)


def run(desk: Desk, operation: str, **data: Any) -> dict[str, Any]:
    return BY_NAME[operation].run(desk, data)


def test_every_name_and_every_route_is_there_once() -> None:
    assert len(BY_NAME) == len(OPERATIONS)
    assert len({operation.route for operation in OPERATIONS}) == len(OPERATIONS)
    assert get_args(Right) == RIGHTS


def test_every_operation_has_a_command_that_does_the_same() -> None:
    commands = {each.name for panel in PANELS.values() for each in panel}
    assert {operation.verb for operation in OPERATIONS} <= commands


def test_every_verb_of_a_memory_is_an_operation_or_has_its_reason() -> None:
    apart = {
        "scoped": "who asks is said in every request",
        "scope": "as above",
        "close": "a server closes",
        "count": "browse tells the total",
        "export": "writes a file of the machine",
        "load": "reads a file of the machine",
        "import_file": "as above",
        "verify_store": "is for the machine's owner",
        "doctor": "as above",
        "embedding": "as above",
        "analyzers": "as above",
    }
    verbs = {name for name, _ in inspect.getmembers(Memory) if not name.startswith("_")}
    assert verbs - set(BY_NAME) == set(apart)


def test_a_request_has_every_option_of_a_search_and_every_field_of_a_draft() -> None:
    assert set(Ask.__annotations__) <= set(requests.Ask.model_fields)
    assert set(requests.Draft.model_fields) == {*RECORD, *BESIDE}
    assert set(requests.Update.model_fields) == {*RECORD, "id", "key"} - {"refs"}


def test_every_part_of_a_path_is_a_field_of_the_request() -> None:
    for operation in OPERATIONS:
        named = [part[1:-1] for part in operation.path.split("/") if part.startswith("{")]
        assert set(named) <= set(operation.request.model_fields), operation.name


def test_every_field_that_can_be_sent_has_a_line_of_help() -> None:
    for operation in OPERATIONS:
        for name, field in schema_of(operation.request).get("properties", {}).items():
            assert field.get("description"), f"{operation.name}.{name}"


def test_the_answer_of_a_door_is_that_of_the_library(desk: Desk) -> None:
    memory = desk.memory(requests.Nothing())
    answer = run(desk, "recall", query="ssh port", now=NOW, detail="full")
    assert answer == memory.recall("ssh port", now=NOW).to_dict()


def test_a_brief_answer_says_text_rank_score_and_lanes(desk: Desk) -> None:
    answer = run(desk, "recall", query="ssh port")
    first = answer["hits"][0]
    assert (first["id"], first["rank"], first["text"]) == ("port", 1, "Prod SSH port is 49222")
    assert first["lanes"]["words"]["rank"] == 1
    assert "explanation" not in first


def test_what_matched_is_told_alike_in_brief_and_in_full(desk: Desk) -> None:
    brief, full = (
        run(desk, "recall", query="ssh port", now=NOW, detail=detail)["hits"]
        for detail in ("brief", "full")
    )
    assert [hit["matched"] for hit in brief] == [hit["matched"] for hit in full]
    assert brief[0]["matched"] == {"ssh": ["text"], "port": ["text"]}


def test_a_handle_explains_a_hit_and_what_is_none(desk: Desk) -> None:
    handle = run(desk, "recall", query="ssh port", limit=1)["receipt"]
    assert run(desk, "explain", receipt=handle, id="port")["hit"]["rank"] == 1
    missing = run(desk, "explain", receipt=handle, id="cache")["why_not"]
    assert missing["id"] == "cache"
    assert run(desk, "verify", receipt=handle)["ok"]
    whole = run(desk, "receipt", receipt=handle)
    assert run(desk, "replay", receipt=whole)["same"]


def test_a_handle_nobody_gave_is_not_found(desk: Desk) -> None:
    with pytest.raises(NotFound, match="no receipt") as caught:
        run(desk, "explain", receipt="feed", id="port")
    assert "recall again" in caught.value.hint


def test_kept_answers_weigh_no_more_than_their_limit(desk: Desk) -> None:
    memory = desk.memory(requests.Nothing())
    each = [memory.recall(f"ssh port {n}", now=NOW) for n in range(4)]
    kept = Receipts(limit=sum(map(weight_of, each[-2:])))
    handles = [kept.keep(result) for result in each]
    assert kept.find(handles[-1]).to_bytes() == each[-1].receipt.to_bytes()
    with pytest.raises(NotFound):
        kept.find(handles[0])


def test_an_answer_heavier_than_the_limit_is_not_kept(desk: Desk) -> None:
    result = desk.memory(requests.Nothing()).recall("ssh port")
    kept = Receipts(limit=10)
    with pytest.raises(NotFound):
        kept.find(kept.keep(result))


def test_a_handle_is_the_same_for_the_same_answer_and_no_other(desk: Desk) -> None:
    memory = desk.memory(requests.Nothing())
    first = handle_of(memory.recall("ssh port", now=NOW))
    assert handle_of(memory.recall("ssh port", now=NOW)) == first
    for other in (memory.recall("ssh", now=NOW), memory.recall("ssh port", 1, recipe="lexical")):
        assert handle_of(other) != first
    memory.remember("another port")
    assert handle_of(memory.recall("ssh port", now=NOW)) != first


def test_an_answer_in_full_is_kept_under_the_digest_that_it_names(desk: Desk) -> None:
    answer = run(desk, "recall", query="ssh port", detail="full")
    assert run(desk, "receipt", receipt=answer["receipt"])["digest"] == answer["receipt"]


def test_a_brief_answer_makes_no_receipt_until_it_is_asked_for(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memoriter.why.account.sealed", lambda _: pytest.fail("made"))
    handle = run(desk, "recall", query="ssh port")["receipt"]
    run(desk, "context", query="ssh port")
    monkeypatch.undo()
    desk.memory(requests.Nothing()).remember("written later")
    assert run(desk, "replay", receipt=handle)["same"]


def test_a_tenant_in_a_request_has_to_be_the_callers_own(desk: Desk) -> None:
    assert run(desk, "status", tenant="acme")["tenant"] == "acme"
    for key in ("tenant", "tenantId", "tenant_id"):
        with pytest.raises(Forbidden, match=key):
            run(desk, "status", **{key: "other"})


def test_status_says_nothing_of_other_tenants(desk: Desk) -> None:
    assert "tenants" not in run(desk, "status")


@pytest.mark.parametrize(
    ("operation", "data", "field"),
    [
        ("recall", {}, "query"),
        ("recall", {"query": 5}, "query"),
        ("recall", {"query": "x", "limit": "5"}, "limit"),
        ("recall", {"query": "x", "limits": 5}, "limits"),
        ("recall", {"query": "x", "a[0]": 5}, "a[0]"),
        ("get", {"id": "x", "str": 5}, "str"),
        ("recall", {"query": "x", "limit": True}, "limit"),
        ("remember", {"text": "x", "importance": "high"}, "importance"),
        ("remember_many", {"memories": [{"text": "a"}, {"txt": "b"}]}, "memories.1.text"),
    ],
)
def test_a_request_of_the_wrong_shape_names_the_field(
    desk: Desk, operation: str, data: dict[str, Any], field: str
) -> None:
    with pytest.raises(InputError) as caught:
        run(desk, operation, **data)
    assert caught.value.field == field
    assert caught.value.hint


def test_a_request_that_is_no_object_is_refused(desk: Desk) -> None:
    for data in ([], "x", 5, None):
        with pytest.raises(InputError, match="object"):
            BY_NAME["recall"].run(desk, data)


@pytest.mark.parametrize("recipe", ["/etc/passwd", "x.toml", "../recipe.toml", "nope"])
def test_a_door_never_reads_a_recipe_from_a_file(desk: Desk, recipe: str) -> None:
    with pytest.raises(UnknownRecipe):
        run(desk, "recall", query="x", recipe=recipe)
    with pytest.raises(UnknownRecipe):
        run(desk, "recipe", recipe=recipe)


def test_a_recipe_may_come_as_data(desk: Desk) -> None:
    data = run(desk, "recipe", recipe="lexical")["recipe"]
    answer = run(desk, "recall", query="ssh", recipe=data, detail="full", now=NOW)
    assert answer["hits"][0]["record"]["id"] == "port"


def test_null_takes_an_optional_field_away(desk: Desk) -> None:
    run(desk, "update", id="port", title="SSH")
    assert run(desk, "get", id="port")["title"] == "SSH"
    run(desk, "update", id="port", title=None)
    assert "title" not in run(desk, "get", id="port")


def test_a_request_for_one_agent_sees_that_agent_alone(desk: Desk) -> None:
    run(desk, "remember", text="a port of mine", agent="bot", id="mine")
    answer = run(desk, "recall", query="port", agent="bot")
    assert [hit["id"] for hit in answer["hits"]] == ["mine"]


def test_many_are_kept_at_once_up_to_a_limit(desk: Desk) -> None:
    answer = run(desk, "remember_many", memories=[{"text": "one"}, {"text": "two", "key": "k"}])
    assert len(answer["ids"]) == 2
    with pytest.raises(InputError, match="at most 1,000"):
        run(desk, "remember_many", memories=[{"text": "x"}] * 1001)


def test_replies_have_the_shape_that_is_declared(desk: Desk) -> None:
    handle = run(desk, "recall", query="ssh")["receipt"]
    asked = {**FIELDS, "forget": {"id": "cache"}}
    assert set(asked) == set(BY_NAME)
    for name, fields in asked.items():
        data = {key: handle if value == "feed" else value for key, value in fields.items()}
        if "detail" in BY_NAME[name].request.model_fields:
            data["detail"] = "full"
        answer = run(desk, name, **data)
        json.dumps(answer, allow_nan=False)
        BY_NAME[name].reply.model_validate(answer, strict=True)
    brief = BY_NAME["recall"].brief
    assert brief is not None
    brief.model_validate(run(desk, "recall", query="ssh"), strict=True)
