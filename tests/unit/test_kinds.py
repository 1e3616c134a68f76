"""Every kind of lane, boost and ordering is known to the engine, the verifier and the oracle."""

from __future__ import annotations

import ast
from collections.abc import Collection
from pathlib import Path

import pytest
from tests.oracle import kinds as oracle
from tests.property.pipelines import DRAWN

import memoriter
from memoriter.lanes.spec import options_of
from memoriter.pipeline.kinds import kinds
from memoriter.why.verify import kinds as verifier

OTHERS: dict[str, tuple[Collection[str], Collection[str]]] = {
    "lanes": (verifier.lane_rules(), oracle.lanes()),
    "boosts": (verifier.boost_rules(), oracle.boosts()),
    "orderings": (verifier.ordering_rules(), oracle.orderings()),
}


@pytest.mark.parametrize("group", OTHERS)
def test_engine_verifier_and_oracle_know_the_same_kinds(group: str) -> None:
    ours = {each.kind_name() for each in kinds(group)}
    assert ours == set(OTHERS[group][0]) == set(OTHERS[group][1])


@pytest.mark.parametrize("group", OTHERS)
def test_the_property_tests_draw_every_kind(group: str) -> None:
    """When this fails, add the kind to the strategies of tests/property/pipelines.py."""
    assert {each.kind_name() for each in kinds(group)} == DRAWN[group]


@pytest.mark.parametrize("group", OTHERS)
def test_a_kind_has_a_file_of_its_name_and_every_option_a_meaning(group: str) -> None:
    for each in kinds(group):
        assert each.__module__.rpartition(".")[2] == each.kind_name()
        assert each.about
        assert all(field.option.about for field in options_of(each).values()), each


@pytest.mark.parametrize("group", OTHERS)
def test_no_module_of_the_package_imports_a_kind(group: str) -> None:
    ours = {each.__module__ for each in kinds(group) if each.__module__.startswith("memoriter.")}
    findings = [
        f"{path.name} imports {node.module}"
        for path in sorted(Path(memoriter.__file__).parent.rglob("*.py"))
        if any(module in (text := path.read_text("utf-8")) for module in ours)  # parse only those
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.ImportFrom) and node.module in ours
    ]
    assert not findings, "pipeline/kinds.py is the only one that knows them"
