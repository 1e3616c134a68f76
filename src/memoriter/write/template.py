"""What an embedder reads of a record: a template, part of the name of its space."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, cast

from memoriter.core.record import Content
from memoriter.embed.parts import split_text, window_of
from memoriter.embed.port import Embedder
from memoriter.store.rows import AgentRow

Said = Mapping[str, Mapping[str, Any]]
"""What the registry says of each agent."""
DEFAULT: Final = "title-text/1"


def _title_text(content: Content, said: Said) -> str:
    del said  # who wrote it does not matter here
    return content.titled


def _labelled(content: Content, said: Said) -> str:
    """The text, then a line each for concepts, tags and what is known of the agent."""
    known = said.get(content.agent or "", {})
    name = known.get("display_name")
    lines = {
        "Concepts": ", ".join(content.concepts),
        "Tags": ", ".join(content.tags),
        "Agent": name if name != content.agent else None,
        "Aliases": ", ".join(known.get("aliases", ())),
        "Owner": known.get("owner"),
        "Description": known.get("description"),
    }
    return "\n".join([content.text, *(f"{key}: {told}" for key, told in lines.items() if told)])


_TEMPLATES: Final[dict[str, Callable[[Content, Said], str]]] = {
    DEFAULT: _title_text,
    "labelled/1": _labelled,
}


_NAMED: Final = re.compile(rf"\+({'|'.join(map(re.escape, _TEMPLATES))})(?:\+parts/(\d+))?$")
"""Where the name of a space says its template."""


def template_of(embedder: Embedder) -> str:
    """The template of an embedder: its own, or title and text."""
    asked = getattr(embedder, "template", DEFAULT)
    return asked if asked in _TEMPLATES else DEFAULT


def space_of(embedder: Embedder | None) -> str:
    """The name of an embedder's vector space; a caller's own space carries its own."""
    if embedder is None:
        return "none"
    if embedder.fingerprint.startswith("given:"):
        return embedder.fingerprint
    window = window_of(embedder)
    parts = "" if window is None else f"+parts/{window}"
    return f"{embedder.fingerprint}+{template_of(embedder)}{parts}"


def reads_alike(space: str, one: Content, other: Content, said: Said) -> bool:
    """Whether an embedder reads the same of two contents, by the template in its space's name."""
    _, template, _ = parts_of(space)
    return _TEMPLATES[template](one, said) == _TEMPLATES[template](other, said)


def parts_of(space: str) -> tuple[str, str, int | None]:
    """(fingerprint, template, window) of a space, from its name.

    >>> parts_of("minilm:3f+title-text/1+parts/180")
    ('minilm:3f', 'title-text/1', 180)
    """
    found = _NAMED.search(space)
    if found is None:
        return space, DEFAULT, None
    return space[: found.start()], found[1], int(found[2]) if found[2] else None


def said_of(rows: Sequence[AgentRow]) -> Said:
    """What the registry says of each agent."""
    return {row.agent: cast("dict[str, Any]", json.loads(row.body)) for row in rows}


def embedded_texts(content: Content, embedder: Embedder | None, said: Said) -> list[str]:
    """What an embedder reads of a record: one text, or overlapping parts of a long one."""
    template = DEFAULT if embedder is None else template_of(embedder)
    return split_text(_TEMPLATES[template](content, said), window_of(embedder))
