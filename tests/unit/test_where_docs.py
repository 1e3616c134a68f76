"""The page about `where` says what the code takes, and what it answers to mistakes."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from memoriter.core.attributes import ATTRIBUTES, GROUPS, OPERATORS, PLAIN, SHORT, AttributeType
from memoriter.core.errors import BadFilter
from memoriter.core.where import DEPTH_LIMIT, TESTS_LIMIT, VALUES_LIMIT, parse_where
from memoriter.doors.http.limits import Limits

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "where.md").read_text(encoding="utf-8")


def rows(title: str) -> Iterator[list[str]]:
    """The cells of the tables of a section, without the heads."""
    match = re.search(rf"^## {title}\n(.*?)(?=^## |\Z)", PAGE, re.S | re.M)
    assert match is not None
    for block in re.findall(r"(?:^\|.*\n)+", match[1], re.M):
        for line in block.splitlines()[2:]:
            yield [cell.strip() for cell in line.strip("|").split(" | ")]


def code(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


def test_the_table_of_attributes_is_that_of_the_code() -> None:
    documented = {kind: code(names) for kind, names in rows("Attributes")}
    ours = {
        plain: [name for name, of in ATTRIBUTES.items() if of == kind]
        for kind, plain in PLAIN.items()
    }
    paths = documented.pop(PLAIN["json"])
    assert all(name.startswith("metadata.") for name in paths)
    assert not ours.pop(PLAIN["json"])
    assert documented == ours


def test_the_table_of_operators_is_that_of_the_code() -> None:
    table = [row for row in rows("Operators") if len(row) == 4]
    kinds: dict[str, AttributeType] = {plain: kind for kind, plain in PLAIN.items()}
    assert {kinds[row[0]]: tuple(code(row[3])) for row in table} == OPERATORS
    for kind, one, many, _ in table:
        for_one, for_many = SHORT[kinds[kind]]
        assert (code(one), code(many)) == ([for_one], [for_many] if for_many else [])


def test_every_operator_and_every_group_is_explained() -> None:
    documented = {word for row in rows("Operators") if len(row) == 3 for word in code(row[0])}
    assert documented == {word for words in OPERATORS.values() for word in words}
    forms = {key for row in rows("Forms") for key in re.findall(r'\{"(\w+)":', row[0])}
    assert {*GROUPS, "not"} <= forms


MISTAKES = [(code(wrong)[0], says) for wrong, says in rows("Common mistakes")]


@pytest.mark.parametrize(("wrong", "says"), MISTAKES, ids=[wrong for wrong, _ in MISTAKES])
def test_every_mistake_of_the_page_is_answered_as_it_says(wrong: str, says: str) -> None:
    with pytest.raises(BadFilter) as caught:
        parse_where(json.loads(wrong))
    assert caught.value.message == says


def test_every_form_of_the_page_is_taken() -> None:
    for row in rows("Forms"):
        for form in code(row[0]):
            parse_where(json.loads(re.sub(r"\{…\}|…", '{"kind": "note"}', form)))


def test_each_example_can_be_pasted_alone() -> None:
    examples = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    assert len(examples) == 4
    for example in examples:
        exec(compile(example, "where.md", "exec"), {})  # noqa: S102  # our own page


def test_the_limits_are_those_of_the_code() -> None:
    _, text = PAGE.split("## Limits")
    numbers = [int(each.replace(",", "")) for each in re.findall(r"[\d,]*\d", text)]
    assert numbers[:4] == [DEPTH_LIMIT, Limits().nested, TESTS_LIMIT, VALUES_LIMIT]


@pytest.mark.parametrize(
    "page", ["cli.md", "http.md", "importing.md", "mcp.md", "recipes.md", "why.md"]
)
def test_pages_that_speak_of_where_lead_to_it(page: str) -> None:
    assert "(where.md)" in (DOCS / page).read_text(encoding="utf-8")
