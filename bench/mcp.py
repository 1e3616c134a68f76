"""The lists of MCP tools, in tokens (row 25: the usual one has at most 6 tools and 1,500 tokens).

`pieces` cuts words by the packaged vocabulary and takes every sign for a token of its own, as
models that merge signs do not; `at most` is the estimate that no vocabulary can exceed.
"""

from __future__ import annotations

import json
import re

from bench.tools import Options, table
from memoriter.doors.mcp.server import protocol_tools
from memoriter.doors.mcp.tools import CHOICES, Choice
from memoriter.embed.static import Static
from memoriter.text.tokens import estimate_tokens


def run(options: Options) -> None:
    rows = [
        (
            choice,
            len(protocol_tools(choice, "admin")),
            len(text),
            pieces(text),
            estimate_tokens(text),
        )
        for choice in CHOICES
        for text in [listed(choice)]
    ]
    table(["tools", "count", "characters", "pieces", "at most"], rows)


def listed(choice: Choice) -> str:
    """The answer to tools/list, as it goes over the wire."""
    tools = [
        tool.model_dump(by_alias=True, exclude_none=True)
        for tool in protocol_tools(choice, "admin")
    ]
    return json.dumps({"tools": tools}, separators=(",", ":"), ensure_ascii=False)


def pieces(text: str) -> int:
    """Tokens of a text: pieces of words, and signs."""
    return len(Static().tokens(text)) + len(re.findall(r"[^\w\s]|_", text))
