"""The entities of a record that comes without any: what an extractor finds in its text.

An extractor never costs a write: one that fails finds nothing, and what is no name is left out.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Final, cast

from memoriter.core.errors import BadRecord, message_of
from memoriter.core.names import LABEL_LIMIT, LIST_LIMIT, listed, name
from memoriter.core.record import Content
from memoriter.text.entities import Extractor

_log: Final = logging.getLogger(__name__)


def annotated(content: Content, extractor: Extractor | None) -> Content:
    """The content with the entities that the extractor finds, unless the caller gave some."""
    if extractor is None or content.entities:
        return content
    return replace(content, entities=_found(content.text, extractor))


def annotated_anew(before: Content, content: Content, extractor: Extractor | None) -> Content:
    """A changed content with the entities of its own text, where those it has were found too."""
    if extractor is None or content.text == before.text or content.entities != before.entities:
        return content
    if content.entities and content.entities != _found(before.text, extractor):
        return content
    return replace(content, entities=_found(content.text, extractor))


def _found(text: str, extractor: Extractor) -> tuple[str, ...]:
    try:
        clean = [_clean(one) for one in _several(extractor(text))]
    except Exception as error:
        _log.warning("the extractor of entities failed: %s", message_of(error))
        return ()
    return tuple(dict.fromkeys(one for one in clean if one))[:LIST_LIMIT]


def _several(told: object) -> list[object]:
    """What an extractor answers, one by one."""
    if isinstance(told, str | bytes | Mapping) or not isinstance(told, Iterable):
        raise TypeError(f"expected names, got {type(cast('object', told)).__name__}")
    return listed(cast("Iterable[object]", told))


def _clean(one: object) -> str:
    """A name as it is kept; empty for what is none."""
    try:
        clean = name(one, "entities", limit=LABEL_LIMIT)
    except BadRecord:
        return ""
    return clean if clean.strip() else ""
