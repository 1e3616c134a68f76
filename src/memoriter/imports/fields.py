"""Fields of a record as a foreign row tells them: what fits is taken, the rest is noted."""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, Final, cast

from memoriter.core.draft import check_interval
from memoriter.core.errors import BadRecord
from memoriter.core.names import metadata, name
from memoriter.core.record import FIELDS
from memoriter.core.times import micros
from memoriter.imports.port import Entry, Lost
from memoriter.imports.shapes import is_list, list_or_empty

ORIGIN: Final = "origin"
"""The key of the metadata under which a record says where it came from."""
_SECONDS: Final = 10**11
_MILLIS: Final = 10**14
_SHOWN: Final = 60
_WEEKDAY: Final = re.compile(r"\s*\([A-Za-z]+\)")


class FieldMap:
    """The record that one row becomes."""

    def __init__(self, system: str, where: str, original: object = None) -> None:
        self.where = where
        self.fields: dict[str, object] = {}
        self.metadata: dict[str, Any] = {}
        self.origin: dict[str, Any] = {"format": system}
        self.lost: list[Lost] = []
        self.tenant: str | None = None
        if original is not None:
            self.origin["id"] = str(original)
            self.fields["id"] = record_id(str(original))

    def put(self, field: str, value: object, called: str = "") -> None:
        """Take a field, unless it is absent or does not fit."""
        if value is None or value in ("", [], {}):
            return
        try:
            FIELDS[field].kind.check(value, field, None)
        except BadRecord:
            self.drop(called or field, value)
        else:
            self.fields[field] = value

    def put_words(self, field: str, value: object, called: str = "") -> None:
        """Take a list of words, without blank ones and without repeats in other letters."""
        kept: dict[str, str] = {}
        for word in list_or_empty(value):
            if not isinstance(word, str):
                self.put(field, value, called)
                return
            if word.strip():
                kept.setdefault(word.strip().casefold(), word.strip())
        self.put(field, list(kept.values()) if is_list(value) else value, called)

    def put_time(self, field: str, value: object, called: str = "") -> None:
        """Take a time, however it is spelled."""
        if value is None or value == "":
            return
        when = parse_time(value)
        if when is None:
            self.drop(called or field, value)
        else:
            self.fields[field] = when

    def put_fraction(self, field: str, value: object, called: str = "") -> None:
        """Take a number from 0 to 1; one beyond is brought back to the nearer end, and kept."""
        real = cast("float", value) if type(value) in (int, float) else math.nan
        if not math.isnan(real):
            self.fields[field] = float(min(max(real, 0.0), 1.0))
            if self.fields[field] != real:
                self.keep(called or field, value)
        elif value is not None:
            self.drop(called or field, value)

    def keep(self, called: str, value: object) -> None:
        """Keep in the metadata what has no place of its own."""
        if value is None or value in ("", [], {}):
            return
        try:
            metadata({called: value}, called)
        except BadRecord:
            self.drop(called, value)
        else:
            self.origin[called] = value
            self.lost.append(Lost(called, excerpt(value), kept=True))

    def keep_rest(self, row: Mapping[str, Any], *taken: str) -> None:
        """Keep every field of a row that was not taken."""
        for called, value in row.items():
            if called not in taken:
                self.keep(called, value)

    def drop(self, called: str, value: object) -> None:
        """Leave a field out, and say so."""
        self.lost.append(Lost(called, excerpt(value)))

    def finish(self, key: str) -> Iterator[Entry | Lost]:
        """The record, and what of its row has no place."""
        since, until = self.fields.get("valid_from"), self.fields.get("valid_until")
        try:
            check_interval(since, until)
        except BadRecord:
            self.drop("valid_until", self.fields.pop("valid_until"))
        try:
            metadata(self._kept(), "metadata")
        except BadRecord:
            self.drop("metadata", self.metadata)
            self.metadata = {}
        yield Entry(self.where, key, {**self.fields, "metadata": self._kept()}, self.tenant)
        yield from self.lost

    def _kept(self) -> dict[str, Any]:
        theirs = self.metadata.get(ORIGIN)
        origin = self.origin if theirs is None else {**self.origin, ORIGIN: theirs}
        return {**self.metadata, ORIGIN: origin}


def record_id(original: str) -> str:
    """The id of a record that was called so elsewhere: the same, where an id may be that."""
    try:
        return name(original, "id")
    except BadRecord:
        return hashlib.sha256(original.encode("utf-8", "replace")).hexdigest()[:32]


def parse_time(value: object) -> int | None:
    """A time in microseconds: of ISO text, or of a count of seconds, milli- or microseconds.

    >>> parse_time("2026-04-17T10:00:00") == parse_time(1776420000) == parse_time(1776420000000)
    True
    >>> parse_time("2026/04/17 (Fri) 10:00") == parse_time(1776420000)
    True
    >>> parse_time("tomorrow")
    """
    try:
        if isinstance(value, bool):
            return None
        if isinstance(value, int | float) and math.isfinite(value):
            size = abs(value)
            scale = 1_000_000 if size < _SECONDS else 1_000 if size < _MILLIS else 1
            return micros(round(value * scale), "time")
        text = _WEEKDAY.sub("", str(value).strip().replace("/", "-"))
        parsed = datetime.fromisoformat(text)
        return micros(parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC), "time")
    except (BadRecord, ValueError, OverflowError):
        return None


def edge_kind(spelled: str) -> str:
    """The kind of an edge: words in small letters with underlines between.

    >>> edge_kind("DerivedFrom"), edge_kind("CONSOLIDATED_FROM"), edge_kind("leads-to")
    ('derived_from', 'consolidated_from', 'leads_to')
    """
    plain = spelled.strip().replace("-", "_").replace(" ", "_")
    if plain.isupper() or plain.islower():
        return plain.lower()
    out = "".join(f"_{char.lower()}" if char.isupper() else char for char in plain)
    return out.lstrip("_").replace("__", "_")


def excerpt(value: object) -> str:
    """A value in brief, for the report."""
    text = value if isinstance(value, str) else repr(value)
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"
