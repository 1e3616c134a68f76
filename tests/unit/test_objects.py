"""What people meet in a Python session: reprs, notebooks, `dir()`, the text of an error."""

from __future__ import annotations

import copy
import inspect
import json
import pickle
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.unit.objects import MADE, stored

import memoriter
from memoriter.core.errors import InputError, MemoriterError, message_of
from memoriter.core.shown import WIDTH, drawn, quoted, shown
from memoriter.memory.backups import Backup
from memoriter.memory.facade import Memory
from memoriter.pipeline.load import library, recipe_of
from memoriter.testing.fakes import HandClock

DOCS = Path(__file__).parents[2] / "docs" / "objects.md"


def spelled(what: object) -> str:
    return what if type(what) is str else repr(what)


@pytest.mark.parametrize("name", MADE)
def test_a_repr_is_one_short_line_without_anything_that_steers(name: str, tmp_path: Path) -> None:
    line = spelled(MADE[name](stored(), tmp_path))
    assert line.startswith("<")
    assert line.endswith(">")
    assert len(line) <= WIDTH
    assert line.isprintable()  # no line break, no control character, no mark of direction
    assert " object at 0x" not in line
    assert "vector" not in line or "owed" in line


def test_reprs_say_what_matters() -> None:
    memory = memoriter.open(":memory:", clock=HandClock())
    kept = memory.remember("Prod SSH port is 49222", id="port", tags=["ops"])
    result = memory.recall("which port for ssh?")
    hit = result[0]
    assert repr(result) == f"<Result: 1 hit, {result.strength}, complete>"
    assert repr(hit) == f"<Hit 1: {hit.score:.3f} 'Prod SSH port is 49222'>"
    assert repr(kept) == f"<Commit {kept.seq}: 'port'>"
    assert repr(memory) == "<Memory ':memory:': tenant 'default'>"
    assert repr(memory.scoped(user="ada")) == "<Memory ':memory:': tenant 'default', user 'ada'>"
    assert repr(memory.scope) == "<Scope: tenant 'default'>"
    assert repr(memory.browse()) == "<Page: 1 of 1 records, the last page>"
    assert repr(memory.verify_store()).startswith("<Checkup: sound, 1 tenant")
    assert repr(result.receipt) == f"<Receipt {result.receipt.digest[:12]}: 1 hit>"
    assert repr(memory.replay(result)) == "<Replay: same, 1 hit>"
    assert repr(memoriter.diff(result, result)) == "<Diff: same>"
    assert repr(memoriter.verify(result.receipt)).startswith("<Verified: ok, ")
    assert repr(memory.get("port")).startswith("<Record 'port' note 20")
    assert repr(memory.forget("port")) == "<Erasure: 1 record forgotten, hidden>"


def test_a_memory_of_a_file_is_named_by_its_file_and_not_by_its_path(tmp_path: Path) -> None:
    with memoriter.open(tmp_path / "agent.db") as memory:
        assert repr(memory) == "<Memory 'agent.db': tenant 'default'>"
    with memoriter.open(tmp_path / "agent.db", read_only=True) as memory:
        assert "':memory:'" not in repr(memory)


@pytest.mark.parametrize("name", library())
def test_every_recipe_has_a_short_repr(name: str) -> None:
    recipe = recipe_of(name)
    assert repr(recipe).startswith(f"<Recipe {name} v{recipe.version}: ")
    parts = [*recipe.lanes.values(), *recipe.boosts.values(), *recipe.order, *recipe.passes]
    assert all(len(repr(part)) <= WIDTH for part in parts)


def test_a_quoted_text_never_grows_beyond_its_width() -> None:
    short = ["", "it's", '"it\'s"', "\n\t"]
    for text in [*short, *(part * 99 for part in ("x", "'\"", "\\", "\u202e", "\ud800", "é"))]:
        assert len(quoted(text)) <= 60
        assert quoted(text).isprintable()
    assert len(shown("K" * 200, "told")) == WIDTH


def test_answers_can_still_be_copied_and_their_parts_pickled() -> None:
    hit = stored().recall("port")[0]
    assert copy.copy(hit) == hit
    assert pickle.loads(pickle.dumps(hit.record)) == hit.record  # noqa: S301  # ours
    assert pickle.loads(pickle.dumps(hit.explanation)) == hit.explanation  # noqa: S301  # ours


# -- notebooks -------------------------------------------------------------------------------------


def test_what_nobody_knows_how_to_draw_is_left_to_its_repr() -> None:
    assert drawn(object()) is None


# -- errors ----------------------------------------------------------------------------------------


def test_an_error_ends_with_its_hint_and_its_message_stays_bare() -> None:
    with pytest.raises(memoriter.NotFound) as caught:
        memoriter.open().get("x")
    error = caught.value
    assert error.message == "there is no record 'x'"
    assert str(error) == f"there is no record 'x'\nhint: {error.hint}"
    assert error.to_dict()["message"] == error.message
    assert str(InputError("bare")) == "bare"


def test_an_error_keeps_its_hint_when_it_travels_between_processes() -> None:
    error = pickle.loads(pickle.dumps(InputError("told", hint="do", field="id")))  # noqa: S301  # ours
    assert (str(error), error.field) == ("told\nhint: do", "id")


def test_a_commit_of_many_has_ids_and_no_one_id() -> None:
    memory = memoriter.open()
    assert memory.remember("x", id="a").id == "a"
    with pytest.raises(InputError, match="id: this commit wrote 2 memories, not one"):
        _ = memory.remember_many(["x", "y"]).id


def test_inside_another_message_an_error_is_told_without_its_hint() -> None:
    assert message_of(MemoriterError("told", hint="do this")) == "told"
    assert message_of(ValueError("theirs")) == "theirs"


def test_a_failing_embedder_of_yours_is_told_on_one_line() -> None:
    class Broken:
        name, fingerprint, dimension = "broken", "broken/1", 4

        def embed(self, texts: list[str], side: str) -> list[Any]:
            del texts, side
            raise memoriter.Unavailable("the model is away", hint="start it")

    memory = memoriter.open(embedder=Broken())  # pyright: ignore[reportArgumentType]  # as users write it
    memory.remember("Prod SSH port is 49222")
    skipped = memory.recall("which port").skipped
    assert skipped["meaning"] == "the embedder failed: the model is away"


# -- names -----------------------------------------------------------------------------------------


def public(what: object) -> set[str]:
    return {name for name in dir(what) if not name.startswith("_")}


def documented(heading: str) -> set[str]:
    """The first words of the rows of a table of docs/objects.md."""
    section = DOCS.read_text(encoding="utf-8").split(f"\n## {heading}\n")[1].split("\n## ")[0]
    rows = [line for line in section.splitlines() if line.startswith("| `")]
    names = (cell for row in rows for cell in row.split("|")[1].split("`")[1::2])
    return {cell.partition("(")[0] for cell in names}


def test_dir_lists_the_public_names_and_nothing_else() -> None:
    assert dir(memoriter) == sorted([*memoriter.__all__, "__version__"])
    assert {*memoriter.__all__, "__version__"} == documented("The module")
    assert all(hasattr(memoriter, name) for name in dir(memoriter))


@pytest.mark.parametrize(
    ("heading", "of"),
    [
        ("Result", lambda m: m.recall("port")),
        ("Hit", lambda m: m.recall("port")[0]),
        ("Explanation", lambda m: m.recall("port")[0].explanation),
        ("Plan", lambda m: m.plan("port")),
        ("Receipt", lambda m: m.recall("port").receipt),
        ("Page", lambda m: m.browse()),
        ("Record", lambda m: m.browse()[0]),
        ("Commit", lambda m: m.remember("x")),
        ("Edge", lambda m: linked(m)[0]),
        ("Verified", lambda m: memoriter.verify(m.recall("port"))),
        ("Diff", lambda m: memoriter.diff(m.recall("port"), m.recall("ssh"))),
        ("Replay", lambda m: m.replay(m.recall("port"))),
        ("WhyNot", lambda m: m.why_not(m.recall("port"), "x")),
        ("Status", lambda m: m.status()),
        ("Scope", lambda m: m.scope),
        ("Erasure", lambda m: m.forget(m.remember("x").id)),
        ("Reflected", lambda m: m.reflect(dry_run=True)),
        ("Bundles", lambda m: m.bundles("port")),
        ("Report", lambda m: m.maintain()),
        ("Checkup", lambda m: m.verify_store()),
        ("Backup", lambda _: Backup("a.db", 4096, None)),
        ("Imported", lambda m: m.import_file(notes_file())),
        ("Space", lambda m: m.embedding.status()[0]),
        ("SpaceCalibration", lambda m: m.calibrate()),
        ("Agent", lambda m: m.agents.get(bot(m))),
    ],
)
def test_an_object_shows_what_the_docs_explain_and_nothing_else(
    heading: str, of: Callable[[Memory], object]
) -> None:
    shown_ = of(stored())
    assert public(shown_) == documented(heading)
    json.dumps(shown_.to_dict(), default=str)  # type: ignore[attr-defined]  # each has it


def notes_file() -> Path:
    file = Path(tempfile.mkdtemp()) / "notes.txt"
    file.write_text("a note\n", encoding="utf-8")
    return file


def bot(memory: Memory) -> str:
    memory.agents.upsert("bot")
    return "bot"


def test_every_argument_of_a_public_call_has_a_line_in_help() -> None:
    memory = stored()
    parts = (memory, memory.agents, memory.embedding, memory.analyzers)
    calls = [getattr(type(part), name) for part in parts for name in public(type(part))]
    calls += [memoriter.open, memoriter.aopen, memoriter.verify, memoriter.diff, memoriter.restore]
    without = [
        f"{call.__qualname__}: {name}"
        for call in calls
        if inspect.isfunction(call)
        for name in inspect.signature(call).parameters
        if name != "self" and f"\n    {name}: " not in (inspect.getdoc(call) or "")
    ]
    assert not without


def linked(memory: Memory) -> Any:
    one, two = memory.remember("x").id, memory.remember("y").id
    memory.link(one, two)
    return memory.links(one)


def test_a_receipt_a_scope_and_the_answer_of_a_hook_are_plain_data_too() -> None:
    memory = stored()
    receipt = memory.recall("port").receipt
    assert memoriter.verify(receipt.to_dict()).ok
    assert memory.scoped(user="ann").scope.to_dict() == {"tenant": "default", "user": "ann"}
    answer = memoriter.Hook(memory)("port")
    assert set(answer.to_dict()) == {
        "text", "citations", "status", "receipt", "strength", "problem",
    }  # fmt: skip
    assert memoriter.Hook(memory)("").to_dict()["text"] == ""


@pytest.mark.parametrize("name", ["account", "budget", "analyzer", "asked", "marks"])
def test_what_is_internal_has_no_public_name(name: str) -> None:
    result = stored().recall("port")
    assert not hasattr(result, name)
    assert not hasattr(result[0], name)


def test_notebooks_draw_results_hits_explanations_and_plans() -> None:
    result = stored().recall("port")
    for shown_ in (result, result[0], result[0].explanation, result.plan, stored().plan("port")):
        html = shown_._repr_html_()
        assert html is not None
        assert html.startswith("<")
        assert "<img" not in html
        assert html.count("<script") == 2  # what is drawn, and the module that draws it


def test_a_receipt_is_verified_and_a_store_is_checked_under_two_names() -> None:
    assert not hasattr(Memory, "verify")
    assert not hasattr(memoriter.AsyncMemory, "verify")
    assert hasattr(memoriter.AsyncMemory, "verify_store")
