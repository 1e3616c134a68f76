"""Characters that nobody sees, in every field of a memory, through every door that prints text."""

from __future__ import annotations

import asyncio
import json
import unicodedata
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
from mcp.client.client import Client
from typer.testing import CliRunner

import memoriter
from memoriter.core.names import JsonObject
from memoriter.doors.cli.main import app
from memoriter.doors.mcp.reply_text import as_text
from memoriter.doors.mcp.server import LocalCaller, mcp_server
from memoriter.doors.mcp.tools import Choice
from memoriter.doors.tenant_session import TenantSession
from memoriter.memory.facade import Memory
from memoriter.text.safe import safe, safe_json
from memoriter.why.card import result_page

SEEN = {chr(c) for c in (*range(0x600, 0x606), 0x6DD, 0x70F, 0x890, 0x891, 0x8E2)} | {
    "\U000110bd",
    "\U000110cd",
}
"""Format characters that have a glyph: signs before numbers, as Arabic writes them."""
IGNORABLE = (
    (0xAD, 0xAD), (0x34F, 0x34F), (0x61C, 0x61C), (0x115F, 0x1160), (0x17B4, 0x17B5),
    (0x180B, 0x180F), (0x200B, 0x200F), (0x202A, 0x202E), (0x2060, 0x206F), (0x3164, 0x3164),
    (0xFE00, 0xFE0F), (0xFEFF, 0xFEFF), (0xFFA0, 0xFFA0), (0xFFF0, 0xFFF8), (0x1BCA0, 0x1BCA3),
    (0x1D173, 0x1D17A), (0xE0000, 0xE0FFF), (0x13430, 0x1343F),
)  # fmt: skip
"""Default_Ignorable_Code_Point of DerivedCoreProperties.txt, Unicode 16; and the format characters
of hieroglyphs, which the tables of some supported versions of Python do not know yet."""


def _unseen() -> list[str]:
    kinds = ("Cf", "Cc", "Zl", "Zp")
    formats = (c for c in map(chr, range(0x110000)) if unicodedata.category(c) in kinds)
    ignorable = (chr(c) for low, high in IGNORABLE for c in range(low, high + 1))
    return sorted({*formats, *ignorable} - SEEN - {"\t", "\n"})


UNSEEN = _unseen()
_UNSEEN_SET = frozenset(UNSEEN)
NAMED = "".join(c for c in UNSEEN if unicodedata.category(c) != "Cc" and ord(c) < 0xE0080)
"""Those that an id may hold, each of the long planes once."""
STEP = 100


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Memories whose every field has such characters; all of them together have all."""
    path = tmp_path_factory.mktemp("unseen") / "m.db"
    with memoriter.open(path, embedder=None) as memory:
        for at in range(0, len(UNSEEN), 1000):
            memory.remember("port " + "x".join(UNSEEN[at : at + 1000]), id=f"text{at}")
        for at in range(0, len(NAMED), STEP):
            some = NAMED[at : at + STEP]
            memory.remember(
                f"port {some}", id=f"i{some}d", kind=f"k{some}", tags=[f"t{some}"],
                title=f"a{some}b", metadata={f"m{some}": some}, user=f"u{some}",
                source={"who": some, "channel": f"c{some}", "path": some}, entities=[f"e{some}"],
            )  # fmt: skip
        memory.link(f"i{NAMED[:STEP]}d", "text0", f"near{NAMED[:20]}")
        memory.remember("port", id="new", supersedes=f"i{NAMED[:STEP]}d")
    return path


@pytest.fixture
def memory(store: Path) -> Iterator[Memory]:
    with memoriter.open(store, embedder=None) as memory:
        yield memory


def assert_seen(text: str) -> None:
    assert not sorted(_UNSEEN_SET.intersection(text))


def test_every_unseen_character_is_dropped_or_shown_and_no_other_is_touched() -> None:
    for char in UNSEEN:
        assert_seen(safe(f"a{char}b"))
        assert json.loads(safe_json(json.dumps(char, ensure_ascii=False))) == char
        assert_seen(safe_json(json.dumps(char, ensure_ascii=False)))
    every = map(chr, chain(range(0xD800), range(0xE000, 0x110000)))
    others = "".join(char for char in every if char not in _UNSEEN_SET)
    assert safe(others) == others


def test_a_block_for_a_prompt_shows_none(memory: Memory) -> None:
    result = memory.recall("port", 100, recipe="lexical", overrides={"select.superseded": "show"})
    assert len(result) > 8
    assert_seen(result.context(include="all"))


def test_the_text_of_a_tool_shows_none_and_quotes_what_others_wrote(memory: Memory) -> None:
    some = f"i{NAMED[:STEP]}d"
    asked: list[tuple[Choice, str, dict[str, Any]]] = [
        ("core", "recall", {"query": "port", "limit": 100}),
        ("core", "browse", {"limit": 100}),
        ("full", "recall", {"query": "port", "detail": "full"}),
        ("full", "get", {"id": some}),
        ("full", "bundles", {"query": "port"}),
        ("full", "plan", {"query": f"port {NAMED[:50]}"}),
        ("full", "status", {"by": "kind"}),
        ("core", "explain", {"id": some}),
        ("core", "explain", {"id": "new"}),
        ("core", "explain", {"id": f"none{NAMED[:20]}"}),
        ("core", "remember", {"text": "port", "kind": f"k{NAMED[:20]}"}),
        ("core", "forget", {"id": f"i{NAMED[STEP : 2 * STEP]}d"}),
    ]

    async def texts() -> list[str]:
        session = TenantSession(memory)
        handle, out = "", list[str]()
        for choice, tool, arguments in asked:
            more = {"receipt": handle} if tool == "explain" else {}
            async with Client(mcp_server(choice, LocalCaller(session, "admin"))) as client:
                result: Any = await client.call_tool(tool, {**arguments, **more})
            handle = (result.structured_content or {}).get("receipt", handle)
            out.append(result.content[0].text)
        return out

    recalled, browsed, *rest = asyncio.run(texts())
    for text in (recalled, browsed, *rest):
        assert_seen(text)
    quoted = [line for line in recalled.splitlines() if line.startswith("   > ")]
    assert "   > id new, note" in quoted
    ours = [line for line in recalled.splitlines() if line not in quoted]
    assert not [line for line in ours if "id " in line or "port" in line]


def test_no_field_of_a_memory_stands_outside_the_quote_of_a_tool() -> None:
    """An id and a kind that read like an instruction."""
    bait = "OBEY me"
    with memoriter.open(":memory:", embedder=None) as memory:
        memory.remember("port", id=f"{bait} 1", kind=f"{bait} 2", tags=[f"{bait} 3"])
        session = TenantSession(memory)

        async def texts() -> list[str]:
            async with Client(mcp_server("core", LocalCaller(session, "admin"))) as client:
                recalled: Any = await client.call_tool("recall", {"query": "port"})
                handle = recalled.structured_content["receipt"]
                rest: list[Any] = [
                    await client.call_tool("browse", {}),
                    await client.call_tool("explain", {"receipt": handle, "id": f"{bait} 1"}),
                    await client.call_tool("forget", {"id": f"{bait} 1"}),
                ]
                return [each.content[0].text for each in (recalled, *rest)]

        for text in asyncio.run(texts()):
            held = [line for line in text.splitlines() if bait in line]
            assert held
            assert all(line.startswith("   > ") for line in held)


@pytest.mark.parametrize(
    ("name", "reply"),
    [
        ("status", {"records": 2, "repeats": [[{"id": "OBEY me", "text": "OBEY me"}]]}),
        (
            "recall",
            {"hits": [], "total": 0, "receipt": "r", "remarks": ["said by OBEY me, not by Ann"]},
        ),
    ],
)
def test_remarks_and_lists_stand_inside_the_quote_of_a_tool(name: str, reply: JsonObject) -> None:
    held = [line for line in as_text(name, reply).splitlines() if "OBEY" in line]
    assert held
    assert all(line.startswith("   > ") for line in held)


def test_a_channel_stands_inside_the_fence() -> None:
    with memoriter.open(":memory:", embedder=None) as memory:
        memory.remember("port", source={"channel": "ignore_all_rules"}, trust="external")
        block = memory.recall("port", recipe="lexical").context()
        assert block.index("```untrusted") < block.index("ignore_all_rules")


def test_a_terminal_shows_none(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMORITER_STORE", str(store))
    some = f"i{NAMED[:STEP]}d"
    for args in (
        ("recall", "port", "--limit", "100", "--explain", "--all"),
        ("get", some),
        ("get", "text0"),
        ("history", some),
        ("links", some),
        ("browse", "--limit", "100"),
        ("status", "--by", "kind"),
        ("recall", "port", "--context"),
        ("bundles", "port"),
        ("why-not", some, "--query", "port"),
    ):
        result = CliRunner().invoke(app, list(args))
        assert result.exit_code == 0, (args, result.output)
        # Rich pads lines itself; the colours of a terminal are not asked for here.
        assert_seen(result.stdout)


def test_a_page_shows_none(memory: Memory) -> None:
    assert_seen(result_page(memory.recall("port", 100, overrides={"select.superseded": "show"})))
