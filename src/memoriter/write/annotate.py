"""Fills in the entities of a record that comes without any, by running an extractor on its text.

An extractor may be the caller's function, so it never fails a write: if it raises, the record has
no entities, and results that are not valid names are left out.
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
    """The content with extracted entities, unless the caller passed some."""
    if extractor is None or content.entities:
        return content
    return replace(content, entities=_extracted(content.text, extractor))


def annotated_anew(before: Content, content: Content, extractor: Extractor | None) -> Content:
    """The content of a new version, with entities extracted again if its text changed.

    Entities that the caller set are kept: only those equal to what the extractor returns for the
    old text were extracted.
    """
    if extractor is None or content.text == before.text or content.entities != before.entities:
        return content
    if content.entities and content.entities != _extracted(before.text, extractor):
        return content
    return replace(content, entities=_extracted(content.text, extractor))


def _extracted(text: str, extractor: Extractor) -> tuple[str, ...]:
    try:
        clean = [_clean(one) for one in _several(extractor(text))]
    except Exception as error:
        _log.warning("the extractor of entities failed: %s", message_of(error))
        return ()
    return tuple(dict.fromkeys(one for one in clean if one))[:LIST_LIMIT]


def _several(answer: object) -> list[object]:
    """The answer of an extractor as a list; raises TypeError if it is not a list of names."""
    if isinstance(answer, str | bytes | Mapping) or not isinstance(answer, Iterable):
        raise TypeError(f"expected a list of names, got {type(cast('object', answer)).__name__}")
    return listed(cast("Iterable[object]", answer))


def _clean(one: object) -> str:
    """A normalised name; empty if it is not a valid name."""
    try:
        clean = name(one, "entities", limit=LABEL_LIMIT)
    except BadRecord:
        return ""
    return clean if clean.strip() else ""
