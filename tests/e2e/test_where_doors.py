"""A `where` is taken in the same forms, and refused in the same words, through every door."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from tests.http.live import Live, live, rpc
from typer.testing import CliRunner

import memoriter
from memoriter.core.errors import MemoriterError
from memoriter.doors.cli.main import app as command_line

Way = Callable[[Any], dict[str, Any]]
"""Browses with a `where`; the answer, or the error as plain data."""

TENANT: Final = "acme"
WRONG: list[dict[str, Any]] = [
    {"importance": {"$gt": 0.5}},
    {"tags": {"eq": "ops"}},
    {"kind": {"ne": "plan"}},
    {"user_id": "anna"},
    {"$and": [{"kind": "note"}]},
    {"metadata": {"n": {"gte": 3, "unit": "s"}}},
]
RIGHT: list[dict[str, Any]] = [
    {"tags": "ops"},
    {"tags": ["ops", "dev"]},
    {"kind": ["note", "fact"]},
    {"and": [{"tags": "ops"}, {"or": [{"kind": "note"}, {"kind": "fact"}]}]},
    {"metadata": {"tool": "http", "n": {"gte": 3}}},
]


def by_library(path: Path) -> Way:
    def way(where: Any) -> dict[str, Any]:
        with memoriter.open(path, TENANT) as memory:
            try:
                return {"ids": [r.id for r in memory.browse(where=where).records]}
            except MemoriterError as error:
                return error.to_dict()

    return way


def by_command_line(path: Path) -> Way:
    def way(where: Any) -> dict[str, Any]:
        args = ["browse", "--where", json.dumps(where), "--store", str(path)]
        done = CliRunner().invoke(command_line, [*args, "--tenant", TENANT, "--json"])
        return answered(json.loads(done.stdout or done.stderr))

    return way


def by_rest(site: Live) -> Way:
    return lambda where: answered(site.client().post("/v1/browse", json={"where": where}).json())


def by_rpc(site: Live) -> Way:
    def way(where: Any) -> dict[str, Any]:
        reply = rpc(site.client(), "browse", where=where)
        return answered(reply["result"] if "result" in reply else reply["error"]["data"])

    return way


def by_mcp(site: Live) -> Way:
    def way(where: Any) -> dict[str, Any]:
        asked = {"name": "browse", "arguments": {"where": where}}
        call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": asked}
        headers = {"Accept": "application/json, text/event-stream"}
        result = site.client().post("/mcp", json=call, headers=headers).json()["result"]
        return answered(result["structuredContent"])

    return way


def answered(answer: dict[str, Any]) -> dict[str, Any]:
    if "records" in answer:
        return {"ids": [record["id"] for record in answer["records"]]}
    return answer["error"] if isinstance(answer.get("error"), dict) else answer


@pytest.fixture(scope="module")
def ways(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Way]]:
    path = tmp_path_factory.mktemp("where") / "agent.db"
    with memoriter.open(path, TENANT) as memory:
        memory.remember("a", id="a", tags=["ops"], metadata={"tool": "http", "n": 5})
        memory.remember("b", id="b", tags=["team"], kind="plan")
    with live(place=path) as site:
        yield {
            "library": by_library(path),
            "command line": by_command_line(path),
            "rest": by_rest(site),
            "json-rpc": by_rpc(site),
            "mcp": by_mcp(site),
        }


@pytest.mark.parametrize("where", RIGHT, ids=json.dumps)
def test_every_form_is_taken_through_every_door(ways: dict[str, Way], where: Any) -> None:
    assert {door: way(where) for door, way in ways.items()} == {
        door: {"ids": ["a"]} for door in ways
    }


@pytest.mark.parametrize("where", WRONG, ids=json.dumps)
def test_a_mistake_is_told_in_the_same_words_through_every_door(
    ways: dict[str, Way], where: Any
) -> None:
    errors = {door: way(where) for door, way in ways.items()}
    first = errors["library"]
    assert first["error"] == "BadFilter"
    for door, error in errors.items():
        words = json.dumps(error, ensure_ascii=False)
        assert json.dumps(first["message"], ensure_ascii=False)[1:-1] in words, door
        assert json.dumps(first["hint"], ensure_ascii=False)[1:-1] in words, door
