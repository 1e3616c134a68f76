"""The table of operations and the desk behind it."""

from __future__ import annotations

import inspect
import json
from typing import Any, get_args

import pytest
from tests.http.asks import FIELDS

import memoriter
from memoriter.core.draft import NOT_FIELDS
from memoriter.core.errors import Forbidden, InputError, NotFound, UnknownRecipe
from memoriter.core.record import FIELDS as RECORD
from memoriter.doors import requests
from memoriter.doors.cli.main import PANELS
from memoriter.doors.context_reply import handle_of
from memoriter.doors.operations import BY_NAME, OPERATIONS
from memoriter.doors.port import RIGHTS, Right
from memoriter.doors.schema import schema_of
from memoriter.doors.tenant_session import Receipts, TenantSession, weight_of
from memoriter.memory.facade import Memory
from memoriter.memory.options import SearchKwargs

NOW = "2026-11-01T00:00:00Z"


@pytest.fixture
def tenant_session() -> TenantSession:
    memory = memoriter.open(":memory:", tenant="acme")
    memory.remember("Prod SSH port is 49222", tags=["ops"], id="port")
    memory.remember("The cache is flushed at dawn", id="cache")
    memory.remember("A page about ports", id="page", trust="external", corrects="port")
    return TenantSession(memory)


def run(tenant_session: TenantSession, operation: str, **data: Any) -> dict[str, Any]:
    return BY_NAME[operation].run(tenant_session, data)


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
        "with_ceiling": "the token or the host has it",
        "close": "a server closes",
        "shared_answers": "a server finds them by their handles",
        "seq": "the reply to a write has it",
        "wait_for": "a server reads from where its address says",
        "count": "browse tells the total",
        "export": "writes a file of the machine",
        "backup": "as above, with all tenants",
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
    assert set(SearchKwargs.__annotations__) <= set(requests.AskRequest.model_fields)
    assert set(requests.DraftEntry.model_fields) == {*RECORD, *NOT_FIELDS}
    assert set(requests.DraftRequest.model_fields) == {*RECORD, *NOT_FIELDS, "on_similar"}
    assert set(requests.UpdateRequest.model_fields) == {*RECORD, "id", "key"} - {"refs"}


def test_every_part_of_a_path_is_a_field_of_the_request() -> None:
    for operation in OPERATIONS:
        named = [part[1:-1] for part in operation.path.split("/") if part.startswith("{")]
        assert set(named) <= set(operation.request.model_fields), operation.name


def test_every_field_that_can_be_sent_has_a_line_of_help() -> None:
    for operation in OPERATIONS:
        for name, field in schema_of(operation.request).get("properties", {}).items():
            assert field.get("description"), f"{operation.name}.{name}"


def test_the_answer_of_a_door_is_that_of_the_library(tenant_session: TenantSession) -> None:
    memory = tenant_session.memory(requests.EmptyRequest())
    answer = run(tenant_session, "recall", query="ssh port", now=NOW, detail="full")
    assert answer == memory.recall("ssh port", now=NOW).to_dict()


def test_a_brief_answer_says_text_rank_score_and_lanes(tenant_session: TenantSession) -> None:
    answer = run(tenant_session, "recall", query="ssh port")
    first = answer["hits"][0]
    assert (first["id"], first["rank"], first["text"]) == ("port", 1, "Prod SSH port is 49222")
    assert first["lanes"]["words"]["rank"] == 1
    assert "explanation" not in first


def test_what_matched_is_told_alike_in_brief_and_in_full(tenant_session: TenantSession) -> None:
    brief, full = (
        run(tenant_session, "recall", query="ssh port", now=NOW, detail=detail)["hits"]
        for detail in ("brief", "full")
    )
    assert [hit["matched"] for hit in brief] == [hit["matched"] for hit in full]
    assert brief[0]["matched"] == {"ssh": ["text"], "port": ["text"]}


def test_a_handle_explains_a_hit_and_what_is_none(tenant_session: TenantSession) -> None:
    handle = run(tenant_session, "recall", query="ssh port", limit=1)["receipt"]
    assert run(tenant_session, "explain", receipt=handle, id="port")["hit"]["rank"] == 1
    missing = run(tenant_session, "explain", receipt=handle, id="cache")["why_not"]
    assert missing["id"] == "cache"
    assert run(tenant_session, "verify", receipt=handle)["ok"]
    whole = run(tenant_session, "receipt", receipt=handle)
    assert run(tenant_session, "replay", receipt=whole)["same"]


def test_a_handle_nobody_gave_is_not_found(tenant_session: TenantSession) -> None:
    with pytest.raises(NotFound, match="no receipt") as caught:
        run(tenant_session, "explain", receipt="feed", id="port")
    assert "recall again" in caught.value.hint


def test_kept_answers_weigh_no_more_than_their_limit(tenant_session: TenantSession) -> None:
    memory = tenant_session.memory(requests.EmptyRequest())
    each = [memory.recall(f"ssh port {n}", now=NOW) for n in range(4)]
    kept = Receipts(limit=sum(map(weight_of, each[-2:])))
    handles = [kept.keep(result) for result in each]
    assert kept.find(handles[-1]).to_bytes() == each[-1].receipt.to_bytes()
    with pytest.raises(NotFound):
        kept.find(handles[0])


def test_an_answer_that_is_used_stays_while_others_come_and_go(
    tenant_session: TenantSession,
) -> None:
    memory = tenant_session.memory(requests.EmptyRequest())
    each = [memory.recall(f"ssh port {n}", now=NOW) for n in range(5)]
    kept = Receipts(limit=sum(map(weight_of, each[:2])))
    first, *_ = (kept.keep(result) for result in each[:1])
    for result in each[1:]:
        kept.keep(result)
        assert kept.find(first).to_bytes() == each[0].receipt.to_bytes()


def test_an_answer_heavier_than_the_limit_is_not_kept(tenant_session: TenantSession) -> None:
    result = tenant_session.memory(requests.EmptyRequest()).recall("ssh port")
    kept = Receipts(limit=10)
    with pytest.raises(NotFound):
        kept.find(kept.keep(result))


def test_a_handle_is_the_same_for_the_same_answer_and_no_other(
    tenant_session: TenantSession,
) -> None:
    memory = tenant_session.memory(requests.EmptyRequest())
    first = handle_of(memory.recall("ssh port", now=NOW))
    assert handle_of(memory.recall("ssh port", now=NOW)) == first
    for other in (memory.recall("ssh", now=NOW), memory.recall("ssh port", 1, recipe="lexical")):
        assert handle_of(other) != first
    memory.remember("another port")
    assert handle_of(memory.recall("ssh port", now=NOW)) != first


def test_an_answer_in_full_is_kept_under_the_digest_that_it_names(
    tenant_session: TenantSession,
) -> None:
    answer = run(tenant_session, "recall", query="ssh port", detail="full")
    assert run(tenant_session, "receipt", receipt=answer["receipt"])["digest"] == answer["receipt"]


def test_a_brief_answer_makes_no_receipt_until_it_is_asked_for(
    tenant_session: TenantSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memoriter.why.write_receipt.sealed", lambda _: pytest.fail("made"))
    handle = run(tenant_session, "recall", query="ssh port")["receipt"]
    run(tenant_session, "context", query="ssh port")
    monkeypatch.undo()
    tenant_session.memory(requests.EmptyRequest()).remember("written later")
    assert run(tenant_session, "replay", receipt=handle)["same"]


def test_a_tenant_in_a_request_has_to_be_the_callers_own(tenant_session: TenantSession) -> None:
    assert run(tenant_session, "status", tenant="acme")["tenant"] == "acme"
    for key in ("tenant", "tenantId", "tenant_id"):
        with pytest.raises(Forbidden, match=key):
            run(tenant_session, "status", **{key: "other"})


def test_status_says_nothing_of_other_tenants(tenant_session: TenantSession) -> None:
    assert "tenants" not in run(tenant_session, "status")


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
    tenant_session: TenantSession, operation: str, data: dict[str, Any], field: str
) -> None:
    with pytest.raises(InputError) as caught:
        run(tenant_session, operation, **data)
    assert caught.value.field == field
    assert caught.value.hint


def test_a_request_that_is_no_object_is_refused(tenant_session: TenantSession) -> None:
    for data in ([], "x", 5, None):
        with pytest.raises(InputError, match="object"):
            BY_NAME["recall"].run(tenant_session, data)


@pytest.mark.parametrize("recipe", ["/etc/passwd", "x.toml", "../recipe.toml", "nope"])
def test_a_door_never_reads_a_recipe_from_a_file(
    tenant_session: TenantSession, recipe: str
) -> None:
    with pytest.raises(UnknownRecipe):
        run(tenant_session, "recall", query="x", recipe=recipe)
    with pytest.raises(UnknownRecipe):
        run(tenant_session, "recipe", recipe=recipe)


def test_a_recipe_may_come_as_data(tenant_session: TenantSession) -> None:
    data = run(tenant_session, "recipe", recipe="lexical")["recipe"]
    answer = run(tenant_session, "recall", query="ssh", recipe=data, detail="full", now=NOW)
    assert answer["hits"][0]["record"]["id"] == "port"


def test_null_takes_an_optional_field_away(tenant_session: TenantSession) -> None:
    run(tenant_session, "update", id="port", title="SSH")
    assert run(tenant_session, "get", id="port")["title"] == "SSH"
    run(tenant_session, "update", id="port", title=None)
    assert "title" not in run(tenant_session, "get", id="port")


def test_a_request_for_one_agent_sees_that_agent_alone(tenant_session: TenantSession) -> None:
    run(tenant_session, "remember", text="a port of mine", agent="bot", id="mine")
    answer = run(tenant_session, "recall", query="port", agent="bot")
    assert [hit["id"] for hit in answer["hits"]] == ["mine"]


def test_many_are_kept_at_once_up_to_a_limit(tenant_session: TenantSession) -> None:
    answer = run(
        tenant_session, "remember_many", memories=[{"text": "one"}, {"text": "two", "key": "k"}]
    )
    assert len(answer["ids"]) == 2
    with pytest.raises(InputError, match="the limit for one request is 1,000"):
        run(tenant_session, "remember_many", memories=[{"text": "x"}] * 1001)


def test_replies_have_the_shape_that_is_declared(tenant_session: TenantSession) -> None:
    handle = run(tenant_session, "recall", query="ssh")["receipt"]
    asked = {**FIELDS, "forget": {"id": "cache"}}
    asked["decide"] = {"source": "page", "target": "port", "accept": False}
    assert set(asked) == set(BY_NAME)
    for name, fields in asked.items():
        data = {key: handle if value == "feed" else value for key, value in fields.items()}
        if "detail" in BY_NAME[name].request.model_fields:
            data["detail"] = "full"
        answer = run(tenant_session, name, **data)
        json.dumps(answer, allow_nan=False)
        BY_NAME[name].reply.model_validate(answer, strict=True)
    brief = BY_NAME["recall"].brief
    assert brief is not None
    brief.model_validate(run(tenant_session, "recall", query="ssh"), strict=True)
