"""The card that hosts of MCP Apps show beside the text of recall and explain."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from mcp.client import advertise
from mcp.client.client import Client
from mcp.server.apps import APP_MIME_TYPE, EXTENSION_ID
from mcp.shared.exceptions import MCPError
from tests.browser.chrome import INSTALL, Tab, browser_path, running
from tests.claims.corpus import open_empty

from memoriter.doors.mcp.card import DRAWING, URI, card_html
from memoriter.doors.mcp.server import LocalCaller, mcp_server
from memoriter.doors.tenant_session import TenantSession

APPS = [advertise(EXTENSION_ID, {"mimeTypes": [APP_MIME_TYPE]})]


@pytest.fixture
def tenant_session() -> Iterator[TenantSession]:
    with open_empty("table") as memory:
        memory.remember("Prod SSH port is 49222", id="port", tags=["ops"], kind="fact")
        memory.remember("<img src=x onerror=alert(1)> ssh", id="evil")
        yield TenantSession(memory)


def session(tenant_session: TenantSession, extensions: Any, work: Any) -> Any:
    async def asked() -> Any:
        server = mcp_server("core", LocalCaller(tenant_session, "write"))
        async with Client(server, extensions=extensions) as client:
            return await work(client)

    return asyncio.run(asked())


def recalled(tenant_session: TenantSession, extensions: Any) -> tuple[Any, Any]:
    async def work(client: Client) -> tuple[Any, Any]:
        recall = await client.call_tool("recall", {"query": "ssh port"})
        handle = recall.structured_content["receipt"]
        return recall, await client.call_tool("explain", {"receipt": handle, "id": "port"})

    return session(tenant_session, extensions, work)


def test_a_host_of_apps_gets_a_card_and_the_drawing(tenant_session: TenantSession) -> None:
    async def work(client: Client) -> tuple[Any, Any, Any]:
        tools = (await client.list_tools()).tools
        resources = (await client.list_resources()).resources
        return tools, resources, await client.read_resource(URI)

    tools, resources, card = session(tenant_session, APPS, work)
    assert {tool.name for tool in tools if tool.meta} == {"recall", "explain"}
    assert all(tool.meta["ui"]["resourceUri"] == URI for tool in tools if tool.meta)
    assert [(each.uri, each.mime_type) for each in resources] == [(URI, APP_MIME_TYPE)]
    assert card.contents[0].text == card_html()
    recall, explain = recalled(tenant_session, APPS)
    assert [hit["id"] for hit in recall.meta[DRAWING]["hits"]] == [
        hit["id"] for hit in recall.structured_content["hits"]
    ]
    assert explain.meta[DRAWING]["id"] == "port"


def test_others_get_the_same_text_and_nothing_else(tenant_session: TenantSession) -> None:
    with_card, without = recalled(tenant_session, APPS), recalled(tenant_session, None)
    for one, other in zip(with_card, without, strict=True):
        assert one.content == other.content
        assert one.structured_content == other.structured_content
        assert DRAWING not in (other.meta or {})

    async def work(client: Client) -> Any:
        return (await client.list_tools()).tools

    assert not any(tool.meta for tool in session(tenant_session, None, work))


def test_there_is_no_other_resource(tenant_session: TenantSession) -> None:
    async def work(client: Client) -> None:
        with pytest.raises(MCPError, match="there is: ui://memoriter/answer"):
            await client.read_resource("ui://memoriter/other")

    session(tenant_session, None, work)


def test_the_card_is_one_document_without_an_address() -> None:
    html = card_html().replace("http://www.w3.org/2000/svg", "")
    assert "http" not in html
    assert "</script>" in html
    assert html.count("<script") == 1
    assert len(html) < 60_000


HOST = """<!doctype html><iframe id="frame" sandbox="allow-scripts"></iframe><script>
window.heard = [];
window.addEventListener("message", (event) => {
  window.heard.push(event.data.method ?? "reply");
  const { contentWindow } = document.getElementById("frame");
  const tell = (message) => contentWindow.postMessage({ jsonrpc: "2.0", ...message }, "*");
  if (event.data.method === "ui/initialize")
    tell({ id: event.data.id, result: { hostContext: { theme: "dark" } } });
  if (event.data.method === "ui/notifications/initialized")
    tell({ method: "ui/notifications/tool-result", params: RESULT });
  if (event.data.method === "ui/notifications/size-changed") window.size = event.data.params;
});
document.getElementById("frame").srcdoc = CARD;
</script>"""


def test_a_host_that_follows_the_protocol_shows_the_answer(
    tenant_session: TenantSession, tmp_path: Path
) -> None:
    path = browser_path()
    if path is None:
        pytest.skip(f"there is no browser: {INSTALL}")
    recall, _ = recalled(tenant_session, APPS)
    result = recall.model_dump(by_alias=True, mode="json", exclude_none=True)

    def script(value: Any) -> str:
        return json.dumps(value).replace("<", "\\u003c")

    page = tmp_path / "host.html"
    page.write_text(HOST.replace("RESULT", script(result)).replace("CARD", script(card_html())))
    with running(path) as browser:
        tab = browser.tab()
        tab.open(page.as_uri())
        tab.wait("window.size && window.size.height > 300")
        assert tab.run("window.heard[0]") == "ui/initialize"
        assert inside(tab) == ["port", "evil"]
        assert tab.errors == []


def inside(tab: Tab) -> list[str]:
    """The ids of the hits in the frame."""
    tree = tab.ask("DOM.getDocument", depth=-1, pierce=True)["root"]
    out: list[str] = []

    def walk(node: dict[str, Any]) -> None:
        attributes = node.get("attributes", [])
        pairs = dict(zip(attributes[::2], attributes[1::2], strict=True))
        if node["nodeName"] == "ARTICLE":
            out.append(pairs["data-id"])
        assert node["nodeName"] != "IMG"
        for each in (*node.get("children", ()), *filter(None, [node.get("contentDocument")])):
            walk(each)

    walk(tree)
    return out
