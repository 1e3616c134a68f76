"""Reads the section `search:` of engrava's YAML file.

The section has one key and one number or switch per line, so no YAML library is needed; the rest of
the file is passed over. What this reader does not know is an error with its line.
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
    inside, depths = False, set[int]()
    for number, raw in enumerate(text.splitlines(), start=1):
        line = _COMMENT.sub("", raw).rstrip()
        if not line:
            continue
        indent = len(line) - len(line.lstrip(" "))
        if not indent:
            inside = _opens(number, line, again=bool(depths))
        elif inside:
            depths.add(indent)
            if len(depths) > 1 or line[indent] == "\t":
                raise _bad(number, "another indent than the line above", _HINT)
            yield number, line.strip()


def _opens(number: int, line: str, *, again: bool) -> bool:
    """Whether a line without indent opens the section."""
    head = _LINE.fullmatch(line)
    if head is None or head["key"] != "search":
        return False
    if head["value"] not in (None, "", "{}", "null", "~"):
        raise _bad(number, "search: has a value on its own line", _HINT)
    if again:
        raise _bad(number, "a second section search:", "leave one of them")
    return True


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
