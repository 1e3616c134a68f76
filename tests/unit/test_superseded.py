"""A superseded record that is shown says what took its place."""

from __future__ import annotations

from typing import Any

import pytest
from rich.console import Console

from memoriter.core.errors import BadRecipe
from memoriter.doors.render.hits import bundle_list, hit_list
from memoriter.memory.facade import Memory
from memoriter.testing.fakes import START

DAY = 86_400 * 1_000_000
SHOW: dict[str, Any] = {"select.superseded": "show"}


def replaced_by(memory: Memory, **more: Any) -> dict[str, tuple[str, ...]]:
    result = memory.recall("port", recipe="lexical", overrides=SHOW, **more)
    return {hit.id: hit.superseded_by for hit in result}


def printed(what: Any) -> str:
    console = Console(width=100, record=True, file=None, quiet=False, force_terminal=False)
    with console.capture() as caught:
        console.print(what)
    return caught.get()


def test_a_shown_record_says_what_replaces_it_at_the_time_asked_about(memory: Memory) -> None:
    memory.remember("port 22", id="a")
    memory.remember("port 2222", id="b", supersedes="a", valid_from=START + DAY)
    memory.remember("port 443", id="c")
    memory.link("c", "a", "corrects", valid_from=START + 2 * DAY, valid_until=START + 3 * DAY)
    assert replaced_by(memory) == {"a": (), "b": (), "c": ()}
    assert replaced_by(memory, now=START + DAY)["a"] == ("b",)
    assert replaced_by(memory, now=START + 2 * DAY)["a"] == ("b", "c")
    assert replaced_by(memory, as_of=START + 3 * DAY)["a"] == ("b",)
    hidden = memory.recall("port", recipe="lexical", now=START + DAY)
    assert {hit.id: hit.superseded_by for hit in hidden} == {"b": (), "c": ()}


def test_two_links_of_one_record_name_it_once(memory: Memory) -> None:
    memory.remember("port 22", id="a")
    memory.remember("port 443", id="b", supersedes="a", corrects="a", valid_from=START - DAY)
    assert replaced_by(memory)["a"] == ("b",)


def test_what_the_scope_does_not_hold_and_what_is_forgotten_is_not_named(memory: Memory) -> None:
    memory.remember("port 22", id="a", agent="ann")
    memory.remember("port 443", id="b", agent="bob", supersedes="a", valid_from=START - DAY)
    assert replaced_by(memory)["a"] == ("b",)
    assert replaced_by(memory.scoped(agent="ann")) == {"a": ()}
    memory.forget("b")
    assert replaced_by(memory) == {"a": ()}


def test_replacements_are_named_across_segments(tmp_path: Any) -> None:
    import memoriter  # noqa: PLC0415  # loads the engine only where it is used

    with memoriter.open(tmp_path / "m.db", embedder=None, flush_rows=2) as memory:
        for n in range(9):
            more: dict[str, Any] = {"supersedes": f"r{n - 1}"} if n else {}
            memory.remember(f"port {n}", id=f"r{n}", **more)
            if n % 3 == 0:
                memory.maintain()
        memory.update("r4", text="port 4, edited")
        told_of = replaced_by(memory)
        assert told_of == {**{f"r{n}": (f"r{n + 1}",) for n in range(8)}, "r8": ()}


def test_people_and_programs_are_told(memory: Memory) -> None:
    memory.remember("port 22", id="old")
    memory.remember("port 443", id="new", supersedes="old", valid_from=START - DAY)
    memory.remember("port note", id="tied", links=[{"target": "old", "kind": "related_to"}])
    result = memory.recall("port 22", recipe="lexical", overrides=SHOW)
    data: Any = {hit["record"]["id"]: hit for hit in result.to_dict()["hits"]}  # type: ignore[attr-defined]  # data
    assert (data["old"]["superseded_by"], data["new"]["superseded_by"]) == (["new"], [])
    shown = printed(hit_list(result, explain=True))
    assert shown.count("superseded by new") == 2  # once in the table, once in the story
    page = memory.bundles("note", overrides=SHOW)
    (support,) = [each for each in page[0].support if each.record.id == "old"]
    assert support.superseded_by == ("new",)
    assert support.to_dict()["superseded_by"] == ["new"]
    assert "superseded by new" in printed(bundle_list(page))
    seeds = memory.bundles("22", overrides=SHOW)
    assert seeds[0].seed.superseded_by == ("new",)
    assert "superseded by new" in printed(bundle_list(seeds))


def test_an_id_cannot_steer_the_terminal(memory: Memory) -> None:
    memory.remember("port 22", id="old")
    memory.remember("port 443", id="new\u202e", supersedes="old", valid_from=START - DAY)
    result = memory.recall("port", recipe="lexical", overrides=SHOW)
    assert "\u202e" not in printed(hit_list(result, explain=True))


@pytest.mark.parametrize("value", ["valid", "", None, True])
def test_a_recipe_knows_two_kinds_of_as_of(memory: Memory, value: Any) -> None:
    with pytest.raises(BadRecipe, match="as_of"):
        memory.recall("port", overrides={"select.as_of": value})
