"""Every object that the library returns, made from a small memory."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import memoriter
from memoriter.doors.hook import Hook
from memoriter.doors.tokens import Tokens
from memoriter.memory.facade import Memory
from memoriter.memory.importing import Unplaced
from memoriter.testing.fakes import HandClock

STEERING = "\u202e\u2066\u200f\x1b[31m\x07\u2028\U000e0041"


EVIL = f"port <img src=x onerror=alert(1)> {STEERING} '\"&\n\n"


LONG = EVIL + "many words " * 400


NAME = "n" * 120


EXPORT = json.dumps({"text": LONG, "id": "imported", "strange": LONG}) + "\n"


def stored() -> Memory:
    memory = memoriter.open(":memory:", clock=HandClock())
    memory.remember(LONG, id="a", title=LONG[:400], tags=["<i>"], source={"who": NAME})
    memory.remember("SSH port of prod is 49222", id=f"b{NAME}", session="s", entities=["prod"])
    memory.remember("The firewall opens that port", id="c", supersedes=f"b{NAME}")
    memory.link("c", "a", "derived_from", weight=0.5)
    memory.agents.upsert("planner", description=LONG)
    for n in range(6):
        memory.remember(f"Berlin office coffee machine is broken again {n}", id=f"r{n}")
    return memory


def imported(memory: Memory, folder: Path) -> Any:
    path = folder / "notes.jsonl"
    path.write_text(EXPORT, encoding="utf-8")
    return memory.import_file(path)


def expected(memory: Memory) -> tuple[Any, Any]:
    before = memory.recall("which port", now=0)
    after = memory.recall("which port", now=0, limit=2, where={"tags": {"any": ["<i>"]}})
    return before, after


def in_async(of: Callable[[Any], Any]) -> Any:
    async def run() -> Any:
        memory = await memoriter.aopen()
        async with memory:
            return of(memory)

    return asyncio.run(run())


MADE: dict[str, Callable[[Memory, Path], Any]] = {
    "Memory": lambda m, _: m,
    "Memory of a file": lambda _, f: memoriter.open(f / f"{NAME}.db").scoped(NAME, NAME, NAME),
    "AsyncMemory": lambda _, __: in_async(repr),
    "AsyncMemory, scoped": lambda _, __: in_async(lambda m: repr(m.scoped(NAME, NAME, NAME))),
    "AsyncAgents": lambda _, __: in_async(lambda m: repr(m.agents)),
    "AsyncAnalyzers": lambda _, __: in_async(lambda m: repr(m.analyzers)),
    "AsyncEmbedding": lambda _, __: in_async(lambda m: repr(m.embedding)),
    "Opened": lambda _, __: memoriter.aopen(),
    "Tokens": lambda _, f: Tokens(f / f"{NAME}.tokens"),
    "Credential": lambda _, __: Tokens().create(NAME, "read")[1],
    "Scope": lambda m, _: m.scoped(NAME, NAME, NAME).scope,
    "Agents": lambda m, _: m.agents,
    "Agent": lambda m, _: m.agents.get("planner"),
    "Analyzers": lambda m, _: m.analyzers,
    "Kept": lambda m, _: m.analyzers.list()[0],
    "Embedding": lambda m, _: m.embedding,
    "Space": lambda m, _: m.embedding.status()[0],
    "Filling": lambda m, _: waited(m.embedding.begin("hash")),
    "Commit": lambda m, _: m.remember("x", id=f"c{NAME}"),
    "Commit of many": lambda m, _: m.remember_many(["x", "y"]),
    "Erasure": lambda m, _: m.forget("a"),
    "Record": lambda m, _: m.get("a"),
    "Record, long id": lambda m, _: m.get(f"b{NAME}"),
    "Source": lambda m, _: m.get("a").source,
    "Edge": lambda m, _: m.links("c")[0],
    "Result": lambda m, _: m.recall("which port"),
    "Hit": lambda m, _: next(hit for hit in m.recall("img onerror port") if hit.id == "a"),
    "LaneScore": lambda m, _: m.recall("port")[0].lanes["words"],
    "Explanation": lambda m, _: m.recall("port")[0].explanation,
    "Explanation of a lane": lambda m, _: m.recall("port")[0].lanes["words"].why.parts[0],
    "Attempt": lambda m, _: m.recall("zzz OR port", recipe="jeffs-brain").attempts[0],
    "Row": lambda m, _: m.recall("port").rows(detailed=True)[0],
    "Block": lambda m, _: m.recall("port").context(),
    "Block, bare": lambda _, __: type(memoriter.open().recall("x").context())("text"),
    "Plan": lambda m, _: m.plan("port"),
    "PlanStep": lambda m, _: m.plan("port").steps[0],
    "Plan that ran": lambda m, _: m.recall("port").plan,
    "Recipe": lambda m, _: m.plan("port").recipe,
    "Lane of a recipe": lambda m, _: m.plan("port").recipe.lanes["words"],
    "Receipt": lambda m, _: m.recall("port").receipt,
    "Replay": lambda m, _: m.replay(m.recall("port")),
    "Verified": lambda m, _: memoriter.verify(m.recall("port").receipt),
    "Diff": lambda m, _: memoriter.diff(*expected(m)),
    "Diff of the same": lambda m, _: memoriter.diff(expected(m)[0], expected(m)[0]),
    "Input": lambda m, _: memoriter.diff(*expected(m)).inputs[0],
    "Move": lambda m, _: memoriter.diff(*expected(m)).moves[0],
    "WhyNot": lambda m, _: m.why_not(m.recall("port", 1), f"b{NAME}"),
    "Page": lambda m, _: m.browse(limit=2),
    "Bundles": lambda m, _: m.bundles("port"),
    "Bundle": lambda m, _: m.bundles("port")[0],
    "Support": lambda m, _: m.bundles("firewall")[0].support[0],
    "Reflected": lambda m, _: m.reflect(),
    "Imported": imported,
    "Unplaced": lambda _, __: Unplaced(NAME, 3, LONG, "left out"),
    "Refused": lambda m, f: imported(m, f).refused[0],
    "Checkup": lambda m, _: m.verify_store(),
    "Report": lambda m, _: m.maintain(),
    "SpaceCalibration": lambda m, _: m.scoped(agent=NAME).calibrate(),
    "SpaceCalibration of what is packaged": lambda m, _: m.status().calibrations[0],
    "Calibration": lambda m, _: m.calibrate().calibration,
    "Status": lambda m, _: m.status(),
    "Hook": lambda m, _: Hook(m),
    "Hook of a server": lambda _, __: Hook("http://127.0.0.1:8321"),
    "Recalled": lambda m, _: Hook(m)("which port"),
}


def waited(filling: Any) -> Any:
    filling.wait()
    return filling
