"""What an agent does over MCP, whatever the transport."""

from __future__ import annotations

from typing import Any

from mcp.client.client import Client

CORE = ["recall", "remember", "explain", "browse", "forget", "status"]


def content(result: Any) -> dict[str, Any]:
    assert not result.is_error, result.content
    return result.structured_content


async def session(client: Client) -> None:
    """What an agent does: look, keep, find, ask why, forget."""
    tools = await client.list_tools()
    assert [tool.name for tool in tools.tools] == CORE
    text = "Prod SSH port: 49222 日本"
    (id,) = content(await client.call_tool("remember", {"text": text}))["ids"]
    answer = content(await client.call_tool("recall", {"query": "which port for ssh?"}))
    assert [(hit["id"], hit["text"]) for hit in answer["hits"]] == [
        (id, "Prod SSH port: 49222 日本")
    ]
    why = content(await client.call_tool("explain", {"receipt": answer["receipt"], "id": id}))
    assert why["hit"]["score"] == answer["hits"][0]["score"]
    assert content(await client.call_tool("status"))["records"] == 1
    assert content(await client.call_tool("forget", {"id": id}))["ids"] == [id]
    page = content(await client.call_tool("browse"))
    assert (page["records"], page["total"]) == ([], 0)
    wrong = await client.call_tool("explain", {"receipt": "feed", "id": id})
    assert wrong.is_error
