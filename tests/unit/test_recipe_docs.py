"""The pages about recipes name every kind and every key that a recipe may have."""

from __future__ import annotations

import re
from pathlib import Path

from tools.kinds import TARGET, source

from memoriter.lanes.spec import Spec, fields_of
from memoriter.pipeline.fusing import Rrf, Smooth, Weighted
from memoriter.pipeline.passes import Pass, PassHead, Rerank, Unanimity
from memoriter.pipeline.recipe import Recipe
from memoriter.pipeline.recipe_tables import Final_, Mode, Select

PAGE = (Path(__file__).parents[2] / "docs" / "recipes.md").read_text(encoding="utf-8")


def keys(spec: type[Spec]) -> set[str]:
    return {each.key for each in fields_of(spec).values()}


def unnamed(wanted: set[str], text: str) -> set[str]:
    """Those that no piece of code in a text names."""
    code = " ".join(re.findall(r"`([^`\n]+)`", text))
    return wanted - set(re.findall(r"[a-z][a-z0-9_]*", code))


def section(title: str) -> str:
    match = re.search(rf"^## {title}\n(.*?)(?=^## |\Z)", PAGE, re.S | re.M)
    assert match is not None
    return match[1]


def test_the_page_of_kinds_is_not_stale() -> None:
    assert TARGET.read_text(encoding="utf-8") == source(), "`make format` writes it anew"


def test_every_key_of_passes_is_explained() -> None:
    every = {*keys(Pass), *keys(PassHead), *keys(Rerank), *keys(Unanimity)}
    fusions = {*keys(Weighted), *keys(Rrf), *keys(Smooth)}
    assert not unnamed({*every, *fusions}, section("Passes"))


def test_every_key_at_the_top_is_explained() -> None:
    every = {*keys(Recipe), *keys(Select), *keys(Mode), *keys(Final_)}
    assert not unnamed(every, section("Top"))


def test_a_key_that_is_not_named_is_noticed() -> None:
    assert unnamed({"pool", "colour"}, "how many: `pool`, in any colour") == {"colour"}
