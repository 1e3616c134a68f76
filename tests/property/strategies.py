"""What anyone may write and ask: records of any shape, filters over every attribute, questions."""

from __future__ import annotations

from typing import Any

from hypothesis import settings
from hypothesis import strategies as st

from memoriter.core.attributes import ATTRIBUTES
from memoriter.pipeline.load import library
from memoriter.testing.fakes import SECOND, START

EXAMPLES = settings().max_examples
"""What the profile says; some tests take a multiple of it."""
DAY = 86_400 * SECOND
WORDS = (
    "port", "ports", "ssh", "prod", "cache", "memory", "Memories", "café", "CAFE", "Straße",
    "東京都", "user_id", "v1.2.3", "ไทย", "🎉", "run", "running", "the", "a", "49222", "…",
)  # fmt: skip
NAMES = ("ops", "Ops", "straße", "STRASSE", "a.b", "x", "東京", "é", "b64:AAAA")
AGENTS = ("default", "bot", "Ann")
MOMENTS = tuple(START + n * DAY for n in (-400, -2, -1, 0, 1, 2, 400))
NUMBERS = (0, 1, 0.0, 0.5, 1.0, -3, 2**53, 0.25)

plain_text = st.lists(st.sampled_from(WORDS), min_size=1, max_size=8).map(" ".join)
any_text = st.text(min_size=1, max_size=30).filter(lambda text: bool(text.strip()))
texts = plain_text | plain_text | any_text
names = st.sampled_from(NAMES)
name_lists = st.lists(names, max_size=3)
moments = st.sampled_from(MOMENTS)

json_scalars = st.none() | st.booleans() | st.sampled_from(NUMBERS) | names | plain_text
json_values = st.recursive(
    json_scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3),
    max_leaves=4,
)
metadata = st.dictionaries(names, json_values, max_size=3)

_FIELDS: dict[str, st.SearchStrategy[Any]] = {
    "title": texts,
    "summary": texts,
    "kind": names | st.just("reflection"),
    "role": names,
    "memory_type": st.sampled_from(["working", "episodic", "semantic", "procedural"]),
    "tags": name_lists,
    "concepts": name_lists,
    "entities": name_lists,
    "entity_type": names,
    "source_episode": names,
    "importance": st.sampled_from([0.0, 0.25, 0.5, 1, 1.0]),
    "confidence": st.sampled_from([0.0, 0.25, 0.5, 1.0]),
    "priority": st.sampled_from(["P1", "P2", "P3", "P4"]),
    "trust": st.sampled_from(["system", "learned", "external"]),
    "source": st.fixed_dictionaries({}, optional={"who": names, "channel": names, "path": texts}),
    "agent": st.sampled_from(AGENTS),
    "user": names,
    "session": names,
    "created": moments,
    "occurred": moments,
    "valid_from": st.sampled_from(MOMENTS[:4]),
    "valid_until": st.sampled_from(MOMENTS[4:]),
    "expires": moments,
    "cycle": st.sampled_from([-3, 0, 1, 2**53]),
    "metadata": metadata,
    "archived": st.booleans(),
    "pinned": st.booleans(),
}


@st.composite
def fields(draw: st.DrawFn, most: int = 6) -> dict[str, Any]:
    """Some fields of a record, without its text."""
    chosen = draw(st.lists(st.sampled_from(sorted(_FIELDS)), unique=True, max_size=most))
    return {name: draw(_FIELDS[name]) for name in chosen}


def drafts() -> st.SearchStrategy[dict[str, Any]]:
    """A record to remember."""
    return st.builds(lambda text, more: {**more, "text": text}, texts, fields())


# ------------------------------------------------------------------------------------- filters

_VALUES: dict[str, st.SearchStrategy[Any]] = {
    "string": names | plain_text | st.sampled_from(["note", "P1", "learned", "semantic", *AGENTS]),
    "strings": names,
    "number": st.sampled_from(NUMBERS),
    "time": moments,
    "flag": st.booleans(),
    "json": json_scalars,
}
_OPS = {
    "string": ("eq", "in", "prefix", "exists", "range", "eq_fold", "in_fold", "prefix_fold"),
    "strings": ("any", "all", "prefix", "exists", "any_fold", "all_fold", "prefix_fold"),
    "number": ("eq", "in", "exists", "range"),
    "time": ("eq", "in", "exists", "range"),
    "flag": ("eq", "exists"),
    "json": (
        "eq", "in", "any", "all", "prefix", "exists", "range",
        "eq_fold", "in_fold", "any_fold", "all_fold", "prefix_fold",
    ),
}  # fmt: skip
PATHS = ("metadata.x", "metadata.ops", "metadata.a\\.b", "metadata.ops.x", "metadata.東京.Ops")


@st.composite
def conditions(draw: st.DrawFn) -> dict[str, Any]:
    """One test on one attribute, as data, in any of the forms that are taken."""
    ((attribute, spec),) = draw(_tests()).items()
    if not attribute.startswith(("metadata.", "source.")) or draw(st.booleans()):
        return {attribute: spec}
    first, *rest = attribute.replace("\\.", "\0").split(".")
    for key in reversed(rest):
        spec = {key.replace("\0", "."): spec}
    return {first: spec}


@st.composite
def _tests(draw: st.DrawFn) -> dict[str, Any]:
    tested = [name for name in ATTRIBUTES if name != "refs"]  # refs need positions: tested by hand
    attribute = draw(st.sampled_from([*tested, *PATHS]))
    kind = ATTRIBUTES.get(attribute, "json")
    op = draw(st.sampled_from(_OPS[kind]))
    values = _VALUES[kind]
    match op.removesuffix("_fold"):
        case "exists":
            return {attribute: {op: draw(st.booleans())}}
        case "prefix":
            return {attribute: {op: draw(names | plain_text)[: draw(st.integers(0, 3))]}}
        case "in" | "any" | "all":
            wanted = draw(st.lists(values, max_size=3))
            bare = draw(st.sampled_from([{op: wanted}, wanted, *wanted[:1]]))
            return {attribute: bare}
        case "range":
            if kind == "json":
                values = draw(st.sampled_from([names, st.sampled_from(NUMBERS)]))
            bounds = draw(st.sampled_from([("gt",), ("gte",), ("lt",), ("lte",), ("gte", "lt")]))
            return {attribute: {bound: draw(values) for bound in bounds}}
        case _:
            value = draw(values)
            return (
                {attribute: value}
                if draw(st.booleans()) and op == "eq"
                else {attribute: {op: value}}
            )


def _grouped(word: str, parts: list[dict[str, Any]]) -> dict[str, Any]:
    return {word: parts}


def wheres() -> st.SearchStrategy[dict[str, Any]]:
    """A filter of any shape, as data."""
    return st.recursive(
        conditions(),
        lambda inner: st.one_of(
            st.builds(_grouped, st.sampled_from(["all", "and"]), st.lists(inner, max_size=3)),
            st.builds(_grouped, st.sampled_from(["any", "or"]), st.lists(inner, max_size=3)),
            inner.map(lambda part: {"not": part}),
        ),
        max_leaves=4,
    )


queries = plain_text | st.sampled_from(["port", "ssh port", "…", "café 東京", ""]) | any_text
recipes = st.sampled_from(library())
"""The recipes that come with this package."""
