"""Formats explanations and plans as short text, for terminal and HTML output.

`node_text` is the line of a node whose maker has no line of its own; the kinds of lanes and boosts
that have one override `RecipePart.node_text`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple, cast

from memoriter.core.explanation import Explanation
from memoriter.core.ranking import Attempt
from memoriter.text.safe import one_line

_TINY: Final = 1e-4
_SMALL: Final = 0.1
_LARGE: Final = 100
_OPS: Final = {
    "sum": "the sum of",
    "product": "the product of",
    "max": "the largest of",
    "min": "the least of",
}


def figure(value: float) -> str:
    """A number with three to four significant digits.

    >>> figure(0.75), figure(7.2123), figure(1234.5), figure(0.01639), figure(0.0)
    ('0.750', '7.212', '1234.5', '0.0164', '0')
    """
    if value == 0:
        return "0"
    size = abs(value)
    if size < _TINY:
        return f"{value:.2e}"
    return f"{value:.1f}" if size >= _LARGE else f"{value:.4f}" if size < _SMALL else f"{value:.3f}"


def pairs(facts: Mapping[str, object]) -> str:
    """Facts as `key value · key value`."""
    return " · ".join(f"{key} {short(value)}" for key, value in facts.items())


def short(value: object) -> str:
    """A value of an explanation as short text."""
    if isinstance(value, float):
        return f"{value:g}" if value == round(value, 3) else figure(value)
    if isinstance(value, list | tuple):
        return " ".join(map(short, cast("Sequence[object]", value)))
    if isinstance(value, Mapping):
        return _mapping({str(k): v for k, v in cast("Mapping[object, object]", value).items()})
    return str(value)


def _mapping(value: Mapping[str, object]) -> str:
    # Counts that are all 1 add nothing: the keys alone are shown.
    if value and all(item == 1 for item in value.values()):
        return " ".join(value)
    return ", ".join(f"{key} {short(item)}" for key, item in value.items())


class NodeText(NamedTuple):
    """A node of an explanation as text."""

    matched: str
    """The words that matched, empty if the node is not about words."""
    label: str
    detail: str
    """How its value was computed."""


def node_text(node: Explanation) -> NodeText:
    """The label of a node and its facts; empty facts are left out."""
    label = one_line(node.label)
    if node.op != "leaf":
        label += f", {_OPS[node.op]}"
    facts = {key: value for key, value in node.facts.items() if value not in ([], {})}
    return NodeText("", label, one_line(pairs(facts)))


# -- steps of a plan -------------------------------------------------------------------------------


def attempt_text(attempt: Attempt) -> str:
    """One retry of a lane, with its number of hits."""
    query = "" if attempt.query is None else f" {one_line(attempt.query)!r}"
    return f"then {attempt.name}{query}: {attempt.hits}"


def step_text(shows: Mapping[str, object]) -> str:
    """The options of a step in one line."""
    return ", ".join(f"{key} {_option(value)}" for key, value in shows.items())


def _option(value: object) -> str:
    if isinstance(value, dict):
        items = cast("dict[str, object]", value).items()
        return "{" + ", ".join(f"{key} {_option(item)}" for key, item in items) + "}"
    if isinstance(value, list):
        return " ".join(map(str, cast("list[object]", value)))
    return f"{value:g}" if isinstance(value, float) else str(value)
