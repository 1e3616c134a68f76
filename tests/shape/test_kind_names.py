"""Does a module know a lane, boost or ordering by name, or read the facts that one writes?"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from memoriter.core.draft import NOT_FIELDS
from memoriter.core.record import FIELDS as RECORD_FIELDS
from memoriter.pipeline.kinds import kinds

SRC = Path(__file__).parents[2] / "src" / "memoriter"

OWN = re.compile(r"lanes/\w+|pipeline/(kinds|boosts/\w+|orderings/\w+)|why/verify/.+|systems/.+")
"""The kinds' own files; the verifier's rules; the systems, which name what their recipes have."""

FIELDS = frozenset(RECORD_FIELDS) | frozenset(NOT_FIELDS)
"""Fields of a record: a boost may be named after the one that it reads."""


class Meaning(NamedTuple):
    """What a word means besides a kind, and the files in which it means that."""

    reason: str
    homes: str


OTHER_MEANINGS: dict[str, Meaning] = {
    "bm25": Meaning(
        "a word for our recipe `lexical` that people try; a mode of recipes",
        r"core/other_names|pipeline/(load|recipe)",
    ),
    "by": Meaning(
        "a key: of what counts are by, of a pass's head, of who calibrated",
        r"doors/render/recipes|index/calibrations|memory/(options|status)|pipeline/(steps|recipe)",
    ),
    "copies": Meaning(
        "a field of a hit, and the plural of copy",
        r"doors/handlers|doors/mcp/reply_text|why/(card|drawing|hit|hit_text)",
    ),
    "entity": Meaning("another system's name of a field", r"core/foreign"),
    "hops": Meaning("a limit of a server, which lanes refer to", r"doors/http/limits"),
    "kin": Meaning("a generation of the index, in receipts", r"why/case"),
    "list": Meaning(
        "a command, an option, a type, a word of questions, a type of question",
        r"core/other_names|doors/(cli/\w+|refusals|requests)|evaluate/metrics|text/intent",
    ),
    "mmr": Meaning(
        "a public function of memoriter.rank, what people try as a method, a search of LangChain",
        r"core/other_names|rank/__init__|integrations/langchain",
    ),
    "neighbours": Meaning("another system's name of a method", r"core/other_names"),
    "past": Meaning(
        "a value of `select.superseded`, and another system's name of a filter",
        r"pipeline/(bind|steps|recipe_tables)|core/foreign",
    ),
    "reflection": Meaning(
        "a kind of record",
        r"doors/render/hits|index/selection|text/prompt|why/(drawing|hit)|write/reflect",
    ),
    "sources": Meaning(
        "the start nodes of edges; a key of recipes",
        r"index/(graph|merge)|doors/render/recipes|pipeline/override_hints",
    ),
    "who": Meaning(
        "a part of the field `source`",
        r"core/foreign|doors/cli/declare|evaluate/(data|json_lines)|imports/\w+|doors/refusals",
    ),
}

READS_FACTS: dict[str, str] = {
    "why/hit_text": "the facts of a weighted fusion, which `why/explain` writes for every signal",
}


def modules() -> dict[str, str]:
    paths = ((p.relative_to(SRC).with_suffix("").as_posix(), p) for p in sorted(SRC.rglob("*.py")))
    return {name: path.read_text("utf-8") for name, path in paths if not OWN.fullmatch(name)}


def kind_names() -> set[str]:
    groups = ("lanes", "boosts", "orderings")
    return {each.kind_name() for group in groups for each in kinds(group)}


def named_kinds(source: str, names: set[str]) -> Iterator[tuple[int, str]]:
    """Texts that are the name of a kind, with their lines."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Constant) and node.value in names:
            yield node.lineno, str(node.value)


def facts_read(source: str) -> Iterator[str]:
    """Facts of explanations that a module reads by name: `facts["x"]`, `"x" in node.facts` …"""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Subscript(value=place, slice=ast.Constant(value=str(key))):
                pass
            case ast.Call(
                func=ast.Attribute(value=place, attr="get"), args=[ast.Constant(value=str(key)), *_]
            ):
                pass
            case ast.Compare(left=ast.Constant(value=str(key)), comparators=[place]):
                pass
            case _:
                continue
        if re.search(r"(^|\.)facts$", ast.unparse(place)):
            yield f"line {node.lineno}: {key}"


def unexplained(sources: Mapping[str, str], names: set[str]) -> list[str]:
    return [
        f"{path}:{line}: {name}"
        for path, source in sources.items()
        for line, name in named_kinds(source, names - FIELDS)
        if name not in OTHER_MEANINGS or not re.fullmatch(OTHER_MEANINGS[name].homes, path)
    ]


def test_no_module_but_its_own_names_a_kind() -> None:
    findings = unexplained(modules(), kind_names())
    assert not findings, "move what it knows to the kind's own file:\n" + "\n".join(findings)


def test_no_module_but_the_kinds_reads_their_facts() -> None:
    findings = [
        f"{path}: {each}"
        for path, source in modules().items()
        if path not in READS_FACTS
        for each in facts_read(source)
    ]
    assert not findings, (
        "let the kind say it (`node_text`, `word_match`, `figures`):\n" + "\n".join(findings)
    )


def test_every_other_meaning_is_still_needed() -> None:
    used = {name for source in modules().values() for _, name in named_kinds(source, kind_names())}
    assert not OTHER_MEANINGS.keys() - used
    assert all(list(facts_read(modules()[path])) for path in READS_FACTS)


def test_a_kind_that_is_named_elsewhere_is_noticed() -> None:
    names = {"bm25", "importance"}
    assert unexplained({"why/x": "kind == 'bm25'\n"}, names) == ["why/x:1: bm25"]
    assert not unexplained({"why/x": "read('importance')\n"}, names)
    for source in ("facts['tf']\n", "node.facts.get('tf')\n", "'tf' in why.facts\n"):
        assert list(facts_read(source)) == ["line 1: tf"]
    assert not list(facts_read("table['tf']\n"))
