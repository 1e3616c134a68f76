"""Reads the section `search:` of engrava's YAML file.

The section has one key and one number or switch per line, so no YAML library is needed. What stands
below other sections is passed over. What this reader does not know is an error with its line, and
so is a file without the section: a setting is never dropped in silence.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from memoriter.core.errors import BadRecipe
from memoriter.pipeline.settings import Settings, SettingsFormat

_WEIGHTS: Final = ("fts", "vector", "recency", "priority", "graph")
_NUMBERS: Final = (
    *(f"default_{name}_weight" for name in _WEIGHTS), "recency_half_life",
    "recency_now_half_life_seconds", *(f"priority_boost_p{n}" for n in (1, 2, 3, 4)),
    "graph_edge_decay", "max_neighbors_per_candidate", "reflection_boost", "graph_expansion_top_n",
    "graph_expansion_propagation_factor", "graph_expansion_max_sources_per_reflection",
    "graph_expansion_reflection_source_ceiling", "reflection_topk_cap", "collapse_pool_factor",
    "vec0_overfetch_factor",
)  # fmt: skip
_SWITCHES: Final = ("graph_expansion_enabled",)
_WHOLE: Final = (
    "max_neighbors_per_candidate", "graph_expansion_top_n",
    "graph_expansion_max_sources_per_reflection", "graph_expansion_reflection_source_ceiling",
)  # fmt: skip
_LEFT_OUT: Final = {
    "collapse_pool_factor": "a collapse looks at every candidate here",
    "vec0_overfetch_factor": "the search for vectors is exact here",
}
_ROOTS: Final = (
    "database", "derive", "embeddings", "extensions", "hooks", "hygiene_policy", "ingest",
    "journal", "manifests", "metrics", "search", "services", "ttl",
)  # fmt: skip
_TRUE: Final = ("true", "yes", "on")
_FALSE: Final = ("false", "no", "off")
_LINE: Final = re.compile(
    r"""(?P<quote>["']?)(?P<key>[A-Za-z_]\w*)(?P=quote)\s*:(?:\s+(?P<value>.*))?"""
)
_NUMBER: Final = re.compile(r"[-+]?(?:\d[\d_]*\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
_COMMENT: Final = re.compile(r"(?:^|\s)#.*$")


def read_settings(text: str) -> Settings:
    """The settings of the section, and what the program does where it says nothing."""
    given: dict[str, object] = {}
    for number, line in _section(text.removeprefix("\ufeff")):
        key, value = _pair(number, line)
        if key in given:
            raise _bad(number, f"{key} is there twice", "leave one of them", key)
        given[key] = value
    return Settings(
        _as_paths({key: value for key, value in given.items() if value is not None}),
        {key: why for key, why in _LEFT_OUT.items() if key in given},
    )


def _section(text: str) -> Iterator[tuple[int, str]]:
    """(number, text) of every line below `search:` that says something."""
    opened, depths = "", set[int]()
    for number, root, line in _lines(text):
        if root != "search":
            continue
        indent = len(line) - len(line.lstrip(" "))
        if not indent:
            if opened:
                raise _bad(number, "a second section search:", "leave one of them")
            opened = line
            continue
        depths.add(indent)
        if not opened.endswith(":") or len(depths) > 1 or line[indent] == "\t":
            raise _bad(number, "another indent than the line above", _HINT)
        yield number, line.strip()
    if not opened:
        raise BadRecipe("the file has no section `search:`", hint=_ROOT, field="search")


def _lines(text: str) -> Iterator[tuple[int, str, str]]:
    """(number, section, text) of every line that says something; one of no section is refused."""
    root = ""
    for number, raw in enumerate(text.splitlines(), start=1):
        line = _COMMENT.sub("", raw).rstrip()
        if not line or (line == "---" and not root):
            continue
        item = line.startswith("- ") and root not in ("", "search")
        if line[0] != " " and not item:
            root = _root(number, line)
        elif not root:
            raise _bad(number, "an indent before the first section", _ROOT)
        yield number, root, line


def _root(number: int, line: str) -> str:
    """The section that a line without indent opens."""
    head = _LINE.fullmatch(line)
    if line[0] == "\t" or head is None:
        raise _bad(number, f"{line[:60]!r} opens no section", _ROOT)
    key = head["key"]
    if key in (*_NUMBERS, *_SWITCHES):
        raise _bad(number, f"{key} has no indent", _HINT, key)
    if key not in _ROOTS:
        raise _bad(number, f"engrava has no section {key!r}", f"{_ROOT}; {_KNOWN}", key)
    if key == "search" and head["value"] not in (None, "", "{}", "null", "~"):
        raise _bad(number, "search: has a value on its own line", _HINT)
    return key


_ROOT: Final = (
    "write `search:` at the start of a line, and below it one `key: number` per line, indented by "
    "two spaces"
)
_KNOWN: Final = f"the sections: {', '.join(_ROOTS)}"
_HINT: Final = "below search: write one `key: number` per line, all with the same indent"


def _pair(number: int, line: str) -> tuple[str, object]:
    """A key and its value; None for one that is left to its default."""
    parts = _LINE.fullmatch(line)
    if parts is None:
        raise _bad(number, f"{line[:60]!r} is no `key: number`", _HINT)
    key, word = parts["key"], (parts["value"] or "").strip()
    if key not in (*_NUMBERS, *_SWITCHES):
        known = ", ".join((*_NUMBERS, *_SWITCHES))
        raise _bad(number, f"search has no key {key!r}", f"its keys: {known}", key)
    if word in ("", "null", "~"):
        return key, None
    if key in _SWITCHES:
        if word.lower() not in (*_TRUE, *_FALSE):
            raise _bad(number, f"{key} is {word[:40]!r}", "write true or false", key)
        return key, word.lower() in _TRUE
    if not _NUMBER.fullmatch(word):
        raise _bad(number, f"{key} is {word[:40]!r}", "write a number", key)
    plain = word.replace("_", "")
    if key in _WHOLE and not plain.lstrip("+-").isdigit():
        raise _bad(number, f"{key} is {word[:40]!r}", "write a whole number", key)
    return key, int(plain) if key in _WHOLE else float(plain)


def _as_paths(given: dict[str, object]) -> dict[str, object]:
    """The values by the names of the recipe; with what the program does by itself.

    Its expansion and its cap are on unless the file says otherwise, and it looks for reflections
    among five times as many of the best as may lend.
    """
    values = {"graph_expansion_enabled": True, "reflection_topk_cap": 0.3, **given}
    values |= {"order.0.enabled": float(str(values["reflection_topk_cap"])) < 1.0}
    if isinstance(count := values.get("graph_expansion_top_n"), int):
        values["boosts.expansion.window"] = 5 * count
    return {key: value for key, value in values.items() if key not in _LEFT_OUT}


def _bad(number: int, what: str, hint: str, field: str = "search") -> BadRecipe:
    return BadRecipe(f"line {number}: {what}", hint=hint, field=field)


FORMAT: Final = SettingsFormat("engrava", "the section search: of an engrava.yaml", read_settings)
