"""`FieldMap` turns a foreign row into a record: valid values are taken, the rest is reported.

Every importer uses it, so none loses a field silently.
"""

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
from memoriter.imports.source import is_list, list_or_empty

ORIGIN: Final = "origin"
"""The metadata key under which an imported record keeps its origin and unmapped fields."""
_SECONDS: Final = 10**11
_MILLIS: Final = 10**14
"""A number below the first counts seconds, below the second milliseconds: dates to year 5138."""
_SHOWN: Final = 60
_WEEKDAY: Final = re.compile(r"\s*\([A-Za-z]+\)")


class FieldMap:
    """Builds the record of one row. Each method takes a value, or reports it as lost.

    `called` is the name of the value in the row, for the report.
    """

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
        """Take a field; an absent value is ignored, an invalid one is reported."""
        if value is None or value in ("", [], {}):
            return
        try:
            FIELDS[field].kind.check(value, field, None)
        except BadRecord:
            self.drop(called or field, value)
        else:
            self.fields[field] = value

    def put_words(self, field: str, value: object, called: str = "") -> None:
        """Take a list of words, without blank ones and without repeats in another case."""
        kept: dict[str, str] = {}
        for word in list_or_empty(value):
            if not isinstance(word, str):
                self.put(field, value, called)
                return
            if word.strip():
                kept.setdefault(word.strip().casefold(), word.strip())
        self.put(field, list(kept.values()) if is_list(value) else value, called)

    def put_time(self, field: str, value: object, called: str = "") -> None:
        """Take a time in any form that `parse_time` knows."""
        if value is None or value == "":
            return
        when = parse_time(value)
        if when is None:
            self.drop(called or field, value)
        else:
            self.fields[field] = when

    def put_fraction(self, field: str, value: object, called: str = "") -> None:
        """Take a number from 0 to 1; one outside is clamped, and the original kept in metadata."""
        real = cast("float", value) if type(value) in (int, float) else math.nan
        if not math.isnan(real):
            self.fields[field] = float(min(max(real, 0.0), 1.0))
            if self.fields[field] != real:
                self.keep(called or field, value)
        elif value is not None:
            self.drop(called or field, value)

    def keep(self, called: str, value: object) -> None:
        """Keep a value without a field of its own in the metadata, and report it as kept."""
        if value is None or value in ("", [], {}):
            return
        try:
            metadata({called: value}, called)
        except BadRecord:
            self.drop(called, value)
        else:
            self.origin[called] = value
            self.lost.append(Lost(called, value_excerpt(value), kept=True))

    def keep_rest(self, row: Mapping[str, Any], *taken: str) -> None:
        """Keep every field of the row that is not among `taken`."""
        for called, value in row.items():
            if called not in taken:
                self.keep(called, value)

    def drop(self, called: str, value: object) -> None:
        """Leave a value out and report it."""
        self.lost.append(Lost(called, value_excerpt(value)))

    def finish(self, key: str) -> Iterator[Entry | Lost]:
        """Yield the record, then what was lost or only kept in the metadata.

        `key` identifies the row, so that a second import recognises it.
        """
        since, until = self.fields.get("valid_from"), self.fields.get("valid_until")
        # Values were checked one by one; an interval that ends before it begins shows only here.
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
        # A key of theirs with our name moves one level down instead of being overwritten.
        origin = self.origin if theirs is None else {**self.origin, ORIGIN: theirs}
        return {**self.metadata, ORIGIN: origin}


def record_id(original: str) -> str:
    """The id of an imported record: the original if that is a valid id, else a hash of it."""
    try:
        return name(original, "id")
    except BadRecord:
        return hashlib.sha256(original.encode("utf-8", "replace")).hexdigest()[:32]


def parse_time(value: object) -> int | None:
    """A time in microseconds, from ISO text or a number of seconds, milli- or microseconds.

    A time without a zone is UTC. None if the value is no time.

    >>> parse_time("2026-04-17T10:00:00") == parse_time(1776420000) == parse_time(1776420000000)
    True
    >>> parse_time("2026/04/17 (Fri) 10:00") == parse_time(1776420000)
    True
    >>> parse_time("tomorrow")
    """
    try:
        if isinstance(value, bool):  # a bool is an int
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
    """The kind of an edge in snake case.

    >>> edge_kind("DerivedFrom"), edge_kind("CONSOLIDATED_FROM"), edge_kind("leads-to")
    ('derived_from', 'consolidated_from', 'leads_to')
    """
    plain = spelled.strip().replace("-", "_").replace(" ", "_")
    if plain.isupper() or plain.islower():
        return plain.lower()
    out = "".join(f"_{char.lower()}" if char.isupper() else char for char in plain)
    return out.lstrip("_").replace("__", "_")


def value_excerpt(value: object) -> str:
    """A value in at most 60 characters, for the report."""
    text = value if isinstance(value, str) else repr(value)
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"
