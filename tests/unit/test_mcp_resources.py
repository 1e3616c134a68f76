"""Memories and receipts as resources, and the user's word before several are forgotten."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import mcp_types as types
import pytest
from mcp.client.client import Client
from mcp.shared.exceptions import MCPError
from tests.claims.corpus import open_empty

import memoriter
from memoriter.doors.mcp.server import LocalCaller, mcp_server
from memoriter.doors.tenant_session import TenantSession


@pytest.fixture
def tenant_session() -> Iterator[TenantSession]:
    with open_empty("table") as memory:
        for name in ("port", "tea", "a/b c"):
            memory.remember(f"Prod SSH port of {name} is 49222", id=name)
        yield TenantSession(memory)


def run(tenant_session: TenantSession, work: Any, **options: Any) -> Any:
    async def asked() -> Any:
        server = mcp_server("full", LocalCaller(tenant_session, "write"))
        async with Client(server, **options) as client:
            return await work(client)

    return asyncio.run(asked())


def test_a_memory_and_a_receipt_are_resources(tenant_session: TenantSession) -> None:
    async def work(client: Client) -> tuple[Any, ...]:
        templates = (await client.list_resource_templates()).resource_templates
        recall = await client.call_tool("recall", {"query": "ssh port"})
        handle = recall.structured_content["receipt"]
        return (
            [each.uri_template for each in templates],
            await client.read_resource("memoriter://record/a%2Fb%20c"),
            await client.read_resource(f"memoriter://receipt/{handle}"),
        )

    templates, record, receipt = run(tenant_session, work)
    assert templates == ["memoriter://record/{id}", "memoriter://receipt/{handle}"]
    assert json.loads(record.contents[0].text)["id"] == "a/b c"
    assert record.contents[0].mime_type == "application/json"
    assert memoriter.verify(json.loads(receipt.contents[0].text)).ok


@pytest.mark.parametrize(
    "uri", ["memoriter://record/nope", "memoriter://receipt/x", "memoriter://y"]
)
def test_an_address_that_leads_nowhere_is_refused(tenant_session: TenantSession, uri: str) -> None:
    async def work(client: Client) -> None:
        with pytest.raises(MCPError):
            await client.read_resource(uri)

    run(tenant_session, work)


class User:
    """A user who answers, and counts the questions."""

    def __init__(self, action: Any, content: Any = None) -> None:
        self.action, self.content = action, content
        self.questions: list[str] = []

    async def __call__(self, _: Any, params: Any) -> types.ElicitResult:
        self.questions.append(params.message)
        return types.ElicitResult(action=self.action, content=self.content)


PROTOCOLS = ("auto", "legacy")
"""How a client may connect: the question is a result of the call, or put while the call runs."""


def forgotten(
    tenant_session: TenantSession, user: User | None, mode: str = "auto", **arguments: Any
) -> Any:
    options: dict[str, Any] = {} if user is None else {"elicitation_callback": user}
    options["mode"] = mode
    return run(tenant_session, lambda client: client.call_tool("forget", arguments), **options)


def left(tenant_session: TenantSession) -> int:
    return tenant_session.memory(memoriter_request()).count()


def memoriter_request() -> Any:
    from memoriter.doors.requests import EmptyRequest  # noqa: PLC0415  # only here

    return EmptyRequest()


@pytest.mark.parametrize("mode", PROTOCOLS)
@pytest.mark.parametrize("arguments", [{"id": ["port", "tea"]}, {"where": {"kind": "note"}}])
def test_the_user_decides_before_several_are_forgotten(
    tenant_session: TenantSession, mode: str, arguments: Any
) -> None:
    no = User("decline")
    refused = forgotten(tenant_session, no, mode, **arguments)
    assert (refused.is_error, len(no.questions), left(tenant_session)) == (True, 1, 3)
    unticked = User("accept", {"forget": False})
    assert forgotten(tenant_session, unticked, mode, **arguments).is_error
    yes = User("accept", {"forget": True})
    done = forgotten(tenant_session, yes, mode, **arguments)
    assert (done.is_error, left(tenant_session) < 3) == (False, True)
    assert [each.partition(" for good")[0] for each in yes.questions] == [
        f"Forget {2 if 'id' in arguments else 3} memories"
    ]


@pytest.mark.parametrize("mode", PROTOCOLS)
@pytest.mark.parametrize("id", ["port", ["port"], ["port", "port"]])
def test_one_memory_is_forgotten_without_a_question(
    tenant_session: TenantSession, mode: str, id: Any
) -> None:
    user = User("decline")
    assert not forgotten(tenant_session, user, mode, id=id).is_error
    assert (user.questions, left(tenant_session)) == ([], 2)


@pytest.mark.parametrize("mode", PROTOCOLS)
def test_a_host_that_cannot_ask_is_not_kept_from_it(
    tenant_session: TenantSession, mode: str
) -> None:
    assert not forgotten(tenant_session, None, mode, id=["port", "tea"]).is_error
    assert left(tenant_session) == 1


@pytest.mark.parametrize("mode", PROTOCOLS)
def test_what_comes_while_the_user_is_asked_is_not_forgotten(
    tenant_session: TenantSession, mode: str
) -> None:
    class Slow(User):
        async def __call__(self, _: Any, params: Any) -> types.ElicitResult:
            if not self.questions:
                memory = tenant_session.memory(memoriter_request())
                memory.remember("Prod SSH port of late is 1", id="late")
            return await super().__call__(_, params)

    user = Slow("accept", {"forget": True})
    reply = forgotten(tenant_session, user, mode, where={"kind": "note"})
    if mode == "legacy":
        assert (reply.is_error, left(tenant_session)) == (True, 4)
    else:
        assert [each.split()[1] for each in user.questions] == ["3", "4"]
        assert left(tenant_session) == 0


def test_an_answer_to_another_question_is_no_consent(tenant_session: TenantSession) -> None:
    yes = types.ElicitResult(action="accept", content={"forget": True})

    async def work(client: Client) -> Any:
        first = await client.session.call_tool(
            "forget", {"id": ["port", "tea"]}, allow_input_required=True
        )
        assert isinstance(first, types.InputRequiredResult)
        return await client.session.call_tool(
            "forget",
            {"id": ["port", "a/b c"]},
            input_responses={"forget": yes},
            request_state=first.request_state,
            allow_input_required=True,
        )

    reply = run(tenant_session, work, elicitation_callback=User("decline"))
    assert (reply.result_type, left(tenant_session)) == ("input_required", 3)
