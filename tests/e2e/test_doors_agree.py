"""The same request through library, command line, REST, JSON-RPC and MCP gives the same answer,
byte for byte in canonical JSON. Another door joins by one line in `ways`."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import pytest
from tests.http.asks import asked
from tests.http.live import Live, live, rpc
from typer.testing import CliRunner

import memoriter
from memoriter.core.canonical import canonical
from memoriter.doors.cli.main import app as command_line
from memoriter.doors.mcp.tools import tools_of
from memoriter.doors.operations import BY_NAME
from memoriter.memory.facade import Memory
from memoriter.pipeline.load import library, recipe_of
from memoriter.pipeline.numbers import numbers_of

Plain = dict[str, Any]
Way = Callable[[str, Plain], Plain]
NOW: Final = "2026-11-01T00:00:00Z"
ASK: Final[Plain] = {"query": "which port for ssh", "now": NOW}
TENANT: Final = "acme"


def fill(path: Path) -> None:
    with memoriter.open(path, TENANT) as memory:
        memory.remember("Prod SSH port is 22", id="old", created="2026-01-01", tags=["ops"])
        memory.remember(
            "Prod SSH port is 49222", id="new", created="2026-02-01", supersedes="old",
            tags=["ops", "日本"], importance=0.8, agent="bot", metadata={"a": [1, 2.5, None]},
        )  # fmt: skip
        for n in range(12):
            memory.remember(f"Note {n} about port forwarding", id=f"n{n}", created="2026-03-01")
        memory.link("new", "n3", "derived_from", weight=0.5)
        memory.update("n1", title="One")
        memory.agents.upsert("bot", description="opens ports", aliases=["opener"])


@pytest.fixture(scope="session")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("agree") / "agent.db"
    fill(path)
    return path


# -- the ways in -----------------------------------------------------------------------------------


def by_library(memory: Memory) -> Way:
    def options(fields: Plain) -> Plain:
        return {k: v for k, v in fields.items() if k not in ("detail", "query")}

    def links(fields: Plain) -> Plain:
        return {"id": fields["id"], "links": [e.to_dict() for e in memory.links(**fields)]}

    def history(fields: Plain) -> Plain:
        return {"id": fields["id"], "versions": [v.to_dict() for v in memory.history(**fields)]}

    def explain(fields: Plain) -> Plain:
        result = memory.replay(fields["receipt"]).result
        hits = [hit.to_dict() for hit in result if hit.id == fields["id"]]
        return {"hit": hits[0]} if hits else {"why_not": memory.why_not(**fields).to_dict()}

    made: dict[str, Callable[[Plain], Any]] = {
        "recall": lambda f: memory.scoped(f.pop("agent", None)).recall(f["query"], **options(f)),
        "keywords": lambda f: memory.keywords(f["query"], **options(f)),
        "reflections": lambda f: memory.reflections(f["query"], **options(f)),
        "bundles": lambda f: memory.bundles(f["query"], **options(f)),
        "plan": lambda f: memory.plan(f["query"], **options(f)),
        "explain": explain,
        "why_not": lambda f: memory.why_not(**f),
        "verify": lambda f: memoriter.verify(f["receipt"]),
        "replay": lambda f: memory.replay(f["receipt"]),
        "diff": lambda f: memoriter.diff(f["before"], f["after"]),
        "browse": lambda f: memory.browse(**f),
        "get": lambda f: memory.get(**f),
        "history": history,
        "links": links,
        "agents": lambda _: {"agents": [each.to_dict() for each in memory.agents.list()]},
        "recipe": lambda f: {
            "fingerprint": recipe_of(f["recipe"]).fingerprint,
            "recipe": recipe_of(f["recipe"]).to_data(),
            "numbers": [each.to_dict() for each in numbers_of(recipe_of(f["recipe"]))],
        },
        "status": lambda f: without(memory.status(**f).to_dict(), "tenants"),
        "remember": lambda f: memory.remember(**f),
        "remember_many": lambda f: memory.remember_many(f["memories"]),
        "update": lambda f: memory.update(**f),
        "expire": lambda f: memory.expire(**f),
        "link": lambda f: memory.link(**f),
        "forget": lambda f: memory.forget(**f),
        "agent": lambda f: memory.agents.upsert(**f),
        "reflect": lambda f: memory.reflect(**f),
    }

    def way(name: str, fields: Plain) -> Plain:
        answer = made[name](fields)
        return answer if isinstance(answer, dict) else answer.to_dict()

    return way


def by_command_line(path: Path, folder: Path) -> Way:
    def way(name: str, fields: Plain) -> Plain:
        given = dict(fields)
        given.pop("detail", None)
        args = _words(name, given, folder)
        alone = name in ("recipe", "verify", "diff")
        place = [] if alone else ["--store", str(path), "--tenant", TENANT]
        done = CliRunner().invoke(command_line, [*args, *place, "--json"])
        assert done.exit_code in (0, 9), done.stderr
        return without(json.loads(done.stdout), *_FILES.get(name, ()))

    return way


def _words(name: str, given: Plain, folder: Path) -> list[str]:
    """The request as people type it: what is named first has its place, the rest are options."""
    operation = BY_NAME[name]
    verb = {"agents": "agents list", "recipe": "recipe show", "agent": "agents upsert"}
    places = [given.pop(key) for key in _PLACES.get(name, ()) if key in given]
    words = [*verb.get(name, operation.verb).split(), *map(str, places)]
    for key, value in given.items():
        if key in ("receipt", "before", "after"):
            file = folder / f"{key}.json"
            file.write_text(json.dumps(value))
            words += ["--receipt"] if name in ("explain", "why_not") else []
            words += [str(file)]
        elif isinstance(value, bool):
            words += [f"--{_dashed(key)}"] if value else []
        else:
            for each in value if isinstance(value, list) else [value]:
                spelled = json.dumps(each) if isinstance(each, dict) else str(each)
                words += [f"--{_ONE.get(key, _dashed(key))}", spelled]
    return words


def _dashed(key: str) -> str:
    return key.replace("_", "-")


_PLACES: Final = {
    "recall": ("query",), "keywords": ("query",), "reflections": ("query",), "bundles": ("query",),
    "plan": ("query",), "explain": ("id",), "why_not": ("id",), "get": ("id",), "history": ("id",),
    "links": ("id",), "recipe": ("recipe",), "remember": ("text",), "update": ("id",),
    "expire": ("id",), "link": ("source", "target"), "forget": ("id",), "agent": ("agent",),
}  # fmt: skip
_FILES: Final = {"status": ("store", "bytes", "tenants"), "verify": ("receipt",)}
"""What only the owner of the machine is told: its files."""
_ONE: Final = {"tags": "tag"}
"""Options that are said once for each value."""


def by_rest(site: Live) -> Way:
    client = site.client()

    def way(name: str, fields: Plain) -> Plain:
        answer = client.request(**asked(BY_NAME[name], fields))
        assert answer.status_code == 200, answer.text
        return answer.json()

    return way


def by_rpc(site: Live) -> Way:
    client = site.client()
    return lambda name, fields: rpc(client, name, **fields)["result"]


def by_mcp(site: Live) -> Way:
    client = site.client()
    headers = {"Accept": "application/json, text/event-stream"}

    def way(name: str, fields: Plain) -> Plain:
        params = {"name": name, "arguments": fields}
        call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        result = client.post("/mcp", json=call, headers=headers).json()["result"]
        assert not result["isError"], result["content"]
        return result["structuredContent"]

    return way


TOOLS: Final = {tool.name for tool in tools_of("full", "admin")}
"""What MCP offers; the rest of the table is for programs."""


@contextmanager
def ways(path: Path, folder: Path) -> Iterator[dict[str, Way]]:
    """Every way into the store at a path, the library first."""
    with memoriter.open(path, TENANT) as memory, live(place=path) as site:
        yield {
            "library": by_library(memory),
            "command line": by_command_line(path, folder),
            "rest": by_rest(site),
            "json-rpc": by_rpc(site),
            "mcp": by_mcp(site),
        }


def without(answer: Plain, *keys: str) -> Plain:
    return {key: value for key, value in answer.items() if key not in keys}


# -- reading ---------------------------------------------------------------------------------------

FULL: Final[Plain] = {**ASK, "detail": "full"}
READS: Final[list[tuple[str, Plain]]] = [
    ("recall", FULL),
    ("recall", {**FULL, "limit": 3, "agent": "bot"}),
    ("recall", {**FULL, "where": {"tags": {"any": ["日本"]}}, "as_of": "2026-02-15"}),
    *(("recall", {**FULL, "recipe": name}) for name in library() if name != "mnestic"),
    ("recall", {**FULL, "budget_tokens": 40}),
    ("keywords", FULL),
    ("keywords", {**FULL, "query": '"ssh port" -22'}),
    ("reflections", {**FULL, "query": ""}),
    ("bundles", ASK),
    ("bundles", {**ASK, "limit": 2}),
    ("plan", ASK),
    ("plan", {**ASK, "recipe": "comis"}),
    ("browse", {}),
    ("browse", {"sort": "oldest", "limit": 3, "where": {"kind": "note"}}),
    ("get", {"id": "new"}),
    ("get", {"id": "n1"}),
    ("history", {"id": "n1"}),
    ("links", {"id": "new"}),
    ("agents", {}),
    ("recipe", {"recipe": "memoriter"}),
    ("status", {}),
    ("status", {"by": "agent"}),
]


@pytest.fixture(scope="module")
def doors(store: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Way]]:
    with ways(store, tmp_path_factory.mktemp("papers")) as made:
        yield made


def agree(doors: dict[str, Way], name: str, fields: Plain, *apart: str) -> Plain:
    """The one answer; cursors hold the moment of asking, and are told apart."""
    answers = {
        door: way(name, dict(fields))
        for door, way in doors.items()
        if door != "mcp" or name in TOOLS
    }
    first = answers.pop("library")
    for door, answer in answers.items():
        assert canonical(without(answer, *apart)) == canonical(without(first, *apart)), door
    return first


@pytest.mark.parametrize(("name", "fields"), READS)
def test_every_door_gives_the_same_answer(doors: dict[str, Way], name: str, fields: Plain) -> None:
    apart = ("cursor",) if name == "browse" else ()
    agree(doors, name, fields, *apart)


def test_every_door_says_the_same_of_a_receipt(doors: dict[str, Way], store: Path) -> None:
    with memoriter.open(store, TENANT) as memory:
        one = dict(memory.recall(ASK["query"], 2, now=NOW).receipt.body)
        two = dict(memory.recall(ASK["query"], 3, now=NOW, recipe="lexical").receipt.body)
    one, two = json.loads(canonical(one)), json.loads(canonical(two))
    assert agree(doors, "verify", {"receipt": one})["ok"]
    assert agree(doors, "replay", {"receipt": one})["same"]
    assert not agree(doors, "diff", {"before": one, "after": two})["same"]
    assert agree(doors, "explain", {"id": "new", "receipt": one})["hit"]["rank"] == 1
    assert agree(doors, "explain", {"id": "old", "receipt": one})["why_not"]["id"] == "old"
    assert agree(doors, "why_not", {"id": "old", "receipt": one})["reason"]


# -- writing ---------------------------------------------------------------------------------------

WRITES: Final[list[tuple[str, Plain]]] = [
    ("remember", {"text": "A new one", "id": "w1", "created": "2026-04-01", "tags": ["a", "b"]}),
    ("update", {"id": "n2", "title": "Two", "importance": 0.9}),
    ("expire", {"id": "n4", "at": "2026-05-01"}),
    ("link", {"source": "new", "target": "n5", "kind": "derived_from", "weight": 0.25}),
    ("agent", {"agent": "cook", "description": "cooks"}),
    ("forget", {"id": "n6"}),
    ("reflect", {"dry_run": True}),
    ("get", {"id": "w1"}),
    ("get", {"id": "n2"}),
    ("links", {"id": "new"}),
    ("recall", FULL),
]


def test_every_door_writes_the_same(store: Path, tmp_path: Path) -> None:
    """Each door writes to a copy of its own; only times of commits differ."""
    answers: dict[str, list[bytes]] = {}
    for door in ("library", "command line", "rest", "json-rpc", "mcp"):
        folder = tmp_path / door.replace(" ", "-")
        shutil.copytree(store.parent, folder)
        with ways(folder / store.name, folder) as made:
            way = made[door] if door != "mcp" else partly(made["mcp"], made["rest"])
            answers[door] = [canonical(timeless(way(name, dict(f)))) for name, f in WRITES]
    first = answers.pop("library")
    for door, others in answers.items():
        for (name, _), ours, theirs in zip(WRITES, first, others, strict=True):
            assert ours == theirs, (door, name)


def partly(way: Way, otherwise: Way) -> Way:
    """A door that offers some operations, and another one for the rest."""
    return lambda name, fields: (way if name in TOOLS else otherwise)(name, fields)


def timeless(node: Any) -> Any:
    """Without the moments of commits, and what is digested with them."""
    if isinstance(node, list):
        return [timeless(each) for each in node]
    if not isinstance(node, dict):
        return node
    apart = ("time", "committed", "receipt")
    return {key: timeless(value) for key, value in node.items() if key not in apart}
