"""Signatures that show themselves: to `help()`, to `inspect` and to a type checker.

Options and fields are declared once. A copy of the package that gets one more of each shows it
everywhere.
"""

from __future__ import annotations

import inspect
import json
import os
import pydoc
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import memoriter
from memoriter.core.options import declared
from memoriter.memory import options, writing_options

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "memoriter"
VERBS: dict[str, tuple[Callable[..., Any], Callable[..., Any], type]] = {
    "open": (memoriter.open, memoriter.aopen, options.OpenOptions),
    "remember": (
        memoriter.Memory.remember,
        memoriter.AsyncMemory.remember,
        options.RememberKwargs,
    ),
    "recall": (memoriter.Memory.recall, memoriter.AsyncMemory.recall, options.SearchKwargs),
    "browse": (memoriter.Memory.browse, memoriter.AsyncMemory.browse, options.BrowseKwargs),
    "update": (memoriter.Memory.update, memoriter.AsyncMemory.update, options.UpdateKwargs),
    "forget": (memoriter.Memory.forget, memoriter.AsyncMemory.forget, options.ForgetKwargs),
    "link": (memoriter.Memory.link, memoriter.AsyncMemory.link, options.LinkKwargs),
    "reflect": (
        memoriter.Memory.reflect,
        memoriter.AsyncMemory.reflect,
        writing_options.ReflectKwargs,
    ),
}


@pytest.mark.parametrize("name", VERBS)
def test_help_shows_every_option_and_a_line_about_it(name: str) -> None:
    plain, awaited, listed = VERBS[name]
    known = declared(listed)
    for verb in (plain, awaited):
        parameters = inspect.signature(verb).parameters
        assert not {p.kind for p in parameters.values()} & {inspect.Parameter.VAR_KEYWORD}
        assert set(known) <= set(parameters)
        shown = " ".join(pydoc.plain(pydoc.render_doc(verb)).split())
        for each in known.values():
            assert f"{each.name}: {' '.join(each.type.split())} =" in shown, each.name
            assert f"{each.name}: {' '.join(each.option.about.split())}" in shown, each.name


@pytest.mark.parametrize("of", [memoriter.Memory, memoriter.AsyncMemory])
def test_help_has_a_line_about_every_argument_of_every_verb(of: type) -> None:
    verbs = [getattr(of, name) for name, _ in inspect.getmembers(of, inspect.isfunction)]
    for verb in [*verbs, memoriter.open, memoriter.aopen, type(memoriter.open().agents).upsert]:
        if verb.__name__.startswith("_"):
            continue
        for name in list(inspect.signature(verb).parameters):
            lines = (inspect.getdoc(verb) or "").count(f"\n    {name}: ")
            assert lines == (name != "self"), (verb.__name__, name)


def test_help_of_open_has_its_public_name() -> None:
    shown = pydoc.plain(pydoc.render_doc(memoriter.open))
    assert shown.startswith("Python Library Documentation: function open in module memoriter\n")
    assert "open(place: str | Path = ':memory:'" in shown


def test_update_shows_what_it_takes_and_nothing_else() -> None:
    assert "refs" in inspect.signature(memoriter.Memory.remember).parameters
    assert "refs" not in inspect.signature(memoriter.Memory.update).parameters
    memory = memoriter.open()
    memory.remember("x", id="x")
    changes: dict[str, Any] = {"refs": [0]}
    with pytest.raises(memoriter.BadRecord, match="refs: cannot be changed") as caught:
        memory.update("x", **changes)
    assert "link(source, target)" in caught.value.hint


def test_no_verb_of_a_memory_hides_what_it_takes() -> None:
    for of in (memoriter.Memory, memoriter.AsyncMemory):
        for name, verb in inspect.getmembers(of, inspect.isfunction):
            kinds = {p.kind for p in inspect.signature(verb).parameters.values()}
            hidden = {inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL}
            assert name.startswith("_") or not kinds & hidden, name


# -- a type checker, and a copy with one more option and one more field ----------------------------

RIGHT = """\
from datetime import UTC, date, datetime, timedelta

import memoriter


def vectors(texts: list[str]) -> list[list[float]]:
    return [[1.0, 0.0] for _ in texts]


def judge(query: str, texts: list[str]) -> list[float]:
    return [1.0 for _ in texts]


with memoriter.open("agent.db", embedder=vectors, reranker=judge, read_only=False) as memory:
    memory.remember("x", tags=["ops"], importance=0.4, expires="30d", user="ann", agent="a")
    memory.remember("x", valid_from=date(2026, 1, 1), expires=timedelta(days=3), supersedes="a")
    result = memory.recall("x", 3, user="ann", session="s", where={"tags": "ops"}, as_of="2h")
    memory.recall("x", recipe="lexical", overrides={"final.min_score": 0.5}, mode="bm25")
    memory.browse("oldest", limit=3, archived="show", where={"not": {"kind": "plan"}})
    memory.update("id", text="y", tags=None, expires=datetime(2026, 1, 1, tzinfo=UTC))
    memory.forget("id")
    memory.forget(["a", "b"], key="k")
    memory.forget(where={"session": "s"})
    memory.remember_many(["x", {"text": "y", "importance": 0.4, "supersedes": "a"}])
    memory.remember_many({"text": f"y {n}", "tags": ["ops"]} for n in range(3))
    drafts: list[memoriter.DraftFields] = [{"text": "y", "expires": "30d"}]
    memory.remember_many(drafts)
    made: datetime = result[0].record.created
    count: int = memory.count(where={"tags": "ops"})
memoriter.open("agent.db", embedder=[vectors, "table"])


async def main() -> None:
    async with memoriter.aopen("agent.db", embedder=vectors, reranker=judge) as memory:
        await memory.remember("x", tags=["ops"], importance=0.4, expires="30d")
        result = await memory.recall("x", 3, user="ann", where={"tags": "ops"})
        made: datetime = result[0].record.created
        await memory.browse(limit=3)
        await memory.update("id", text="y")
        await memory.forget(where={"session": "s"})
        count: int = await memory.count()
    memory = await memoriter.aopen("agent.db")
    await memory.close()
"""
WRONG = """\
import memoriter

memoriter.open("agent.db", embeder="table")  # wrong
memoriter.open("agent.db", durability="slow")  # wrong
memory = memoriter.open("agent.db")
memory.remember("x", importence=0.4)  # wrong
memory.remember("x", tags=1)  # wrong
memory.remember(5)  # wrong
memory.recall("x", top_k=3)  # wrong
memory.recall("x", as_of=1.5)  # wrong
memory.browse("newest", archived="yes")  # wrong
memory.update("id", importence=0.4)  # wrong
memory.update("id", refs=[3])  # wrong
memory.remember_many([{"text": "x", "importence": 0.4}])  # wrong
memory.remember_many([{"importance": 0.4}])  # wrong
memory.remember_many([5])  # wrong
memory.forget("id", were={"kind": "plan"})  # wrong
memory.forget(where="tags=ops")  # wrong
memory.link("a", "b", wieght=0.5)  # wrong
memory.delete("id")  # wrong
memoriter.Hook(memory, limits=3)  # wrong


async def main() -> None:
    memoriter.aopen("agent.db", embeder="table")  # wrong
    async with memoriter.aopen("agent.db") as memory:
        await memory.remember("x", importence=0.4)  # wrong
        await memory.remember("x", tags=1)  # wrong
        await memory.recall("x", top_k=3)  # wrong
        await memory.browse(archived="yes")  # wrong
        await memory.update("id", tags=1)  # wrong
        await memory.forget("id", were={"kind": "plan"})  # wrong
        await memory.delete("id")  # wrong
"""
ADDED = """\
import memoriter

memory = memoriter.open()
memory.remember("x", mood="glad")
memory.remember("x", mood=1)  # wrong
memory.update("id", mood=None)
memory.recall("x", flavour="salt")
memory.recall("x", flavour=1)  # wrong
record: str | None = memory.get("id").mood
"""
OPTION = '    flavour: Annotated[str | None, Option("How it is to taste.", str)]\n'
FIELD = '    mood: Annotated[str | None, Field(TEXT, "How it felt.")] = None\n'


@pytest.fixture(scope="module")
def copied(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the package with an option and a field more, each declared in one place."""
    root = tmp_path_factory.mktemp("copied")
    src = root / "src" / "memoriter"
    shutil.copytree(SOURCE, src, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(ROOT / "tools", root / "tools", ignore=shutil.ignore_patterns("__pycache__"))
    insert(src / "memory" / "options.py", 'besides its text and limit."""\n\n', OPTION)
    insert(src / "core" / "record.py", '"A short title.")] = None\n', FIELD)
    run(root, "-m", "tools.record_fields")  # what `make format` does
    return root


def insert(file: Path, after: str, line: str) -> None:
    text = file.read_text(encoding="utf-8")
    assert text.count(after) == 1
    file.write_text(text.replace(after, after + line), encoding="utf-8")


def run(root: Path, *args: str) -> str:
    """The output of Python where the copy stands before the package itself."""
    env = {**os.environ, "PYTHONPATH": f"{root / 'src'}{os.pathsep}{root}", "COLUMNS": "200"}
    env |= {"NO_COLOR": "1", "TERM": "dumb"}
    done = subprocess.run(  # noqa: S603  # our own interpreter
        [sys.executable, *args],
        cwd=root,
        env=env,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def marked(source: str) -> set[int]:
    return {at for at, line in enumerate(source.splitlines(), 1) if line.endswith("# wrong")}


def test_a_type_checker_finds_every_mistake_and_nothing_else(copied: Path) -> None:
    files = {"right.py": RIGHT, "wrong.py": WRONG, "added.py": ADDED}
    for name, source in files.items():
        (copied / name).write_text(source, encoding="utf-8")
    config = {"include": list(files), "extraPaths": ["src"], "pythonVersion": "3.12"}
    (copied / "pyrightconfig.json").write_text(json.dumps(config), encoding="utf-8")
    done = subprocess.run(  # pyright and node are wheels of the development environment
        [sys.executable, "-m", "pyright", "--outputjson", "--pythonpath", sys.executable],
        cwd=copied, capture_output=True, encoding="utf-8", check=False,
        env={**os.environ, "PYRIGHT_PYTHON_IGNORE_WARNINGS": "1"},
    )  # fmt: skip
    wrong: dict[str, set[int]] = {name: set() for name in files}
    for each in json.loads(done.stdout)["generalDiagnostics"]:
        if each["severity"] == "error":
            wrong[Path(each["file"]).name].add(each["range"]["start"]["line"] + 1)
    assert wrong == {name: marked(source) for name, source in files.items()}


SHOWN = """\
import inspect, json, pydoc
import memoriter
from memoriter.doors import requests
from memoriter.doors.http.openapi import document
from memoriter.doors.mcp.tools import tools_of
from memoriter.testing.fakes import HandClock

memory = memoriter.open(clock=HandClock())
kept = memory.remember("the sea was calm", mood="glad", id="sea")
memory.update("sea", mood="sad")
memory.recall("sea", flavour="salt")
schemas = document()["components"]["schemas"]
tools = {tool.name: tool.input_schema["properties"] for tool in tools_of("full", "admin")}
verbs = {
    "flavour": ["recall", "plan", "keywords", "bundles", "reflections"],
    "mood": ["remember", "update"],
}
models = {"flavour": ["RecallRequest", "AskRequest", "BundlesRequest"],
          "mood": ["DraftRequest", "UpdateRequest"]}
print(json.dumps({
    "file": memoriter.__file__,
    "record": memory.get("sea").to_dict()["mood"],
    "places": {
        word: {
            **{f"signature of {of.__name__}.{verb}": word in inspect.signature(
                getattr(of, verb)).parameters for of in (memoriter.Memory, memoriter.AsyncMemory)
                for verb in verbs[word]},
            **{f"help of {verb}": pydoc.plain(pydoc.render_doc(getattr(memoriter.Memory, verb)))
                .count(word) >= 2 for verb in verbs[word]},
            **{f"model {name}": word in getattr(requests, name).model_fields
                for name in models[word]},
            **{f"OpenAPI {name}": word in schemas[name]["properties"]
                for name in models[word]},
            **{f"MCP {tool}": word in tools[tool] for tool in verbs[word] if tool in tools},
        } for word in verbs
    },
}))
"""


def test_an_option_and_a_field_that_are_added_are_found_everywhere(copied: Path) -> None:
    shown = json.loads(run(copied, "-c", SHOWN))
    assert Path(shown["file"]).is_relative_to(copied)
    assert shown["record"] == "sad"
    for word, places in shown["places"].items():
        assert not [place for place, there in places.items() if not there], word
        assert any(place.startswith("MCP") for place in places)
    helped = {
        "flavour": (["recall", "plan", "keywords", "bundles", "explain"], "How it is to taste."),
        "mood": (["remember", "update"], "How it felt."),
    }
    for word, (commands, about) in helped.items():
        for command in commands:
            text = run(copied, "-m", "memoriter", command, "--help")
            assert re.search(rf"--{word}\b.*{re.escape(about)}", text), command
