"""Values that arrive as text: JSON, overrides, files."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn, cast

from memoriter.core.errors import BadFilter, BadQuery, BadRecord, InputError, NotFound


def json_of(text: str, field: str, error: type[InputError] = InputError) -> object:
    """The value that a JSON text spells; NaN and infinity are no JSON."""
    try:
        return json.loads(text, parse_constant=_no_constant)
    except (ValueError, RecursionError) as bad:
        reason = "is nested too deeply" if isinstance(bad, RecursionError) else str(bad)
        raise error(f"{field}: not JSON: {reason}", hint=_QUOTES, field=field) from None


_QUOTES = "put single quotes around it so that the shell leaves it alone"


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON number")


def json_object(text: str, field: str) -> dict[str, object]:
    """A JSON object."""
    value = json_of(text, field, BadRecord)
    if not isinstance(value, dict):
        raise BadRecord(f"{field}: expected a JSON object", hint=_QUOTES, field=field)
    return cast("dict[str, object]", value)


def where_of(text: str | None) -> dict[str, object] | None:
    """A Where from its JSON; its shape is checked where it is used."""
    return None if text is None else cast("dict[str, object]", json_of(text, "where", BadFilter))


def overrides_of(pairs: Sequence[str] | None) -> dict[str, object]:
    """Overrides from `path=value`; a value is JSON where it can be, else text."""
    out: dict[str, object] = {}
    for pair in pairs or ():
        path, equals, value = pair.partition("=")
        if not equals or not path:
            raise BadQuery(
                f"override: {pair!r} is not path=value",
                hint="for example --override lanes.words.k1=1.5",
                field="override",
            )
        try:
            out[path] = json.loads(value, parse_constant=_no_constant)
        except (ValueError, RecursionError):
            out[path] = value
    return out


def aliases_of(pairs: Sequence[str] | None) -> dict[str, list[str]] | None:
    """Aliases from `word=other`; a word may come more than once."""
    out: dict[str, list[str]] = {}
    for pair in pairs or ():
        word, equals, other = pair.partition("=")
        if not equals or not word or not other:
            raise BadQuery(
                f"alias: {pair!r} is not word=other",
                hint="for example --alias k8s=kubernetes --alias k8s=k8s",
                field="alias",
            )
        out.setdefault(word, []).append(other)
    return out or None


def lists_of(given: Sequence[str] | None) -> dict[str, object] | None:
    """Ranked lists from `label=id:score,id:score`, `label=attribute` or `label=` and JSON."""
    out: dict[str, object] = {}
    for one in given or ():
        label, equals, told = one.partition("=")
        if not equals or not label or not told or label in out:
            raise BadQuery(
                f"list: {one!r} is not label=id:score, or {label!r} comes twice",
                hint="for example --list mine=id-1:0.9,id-2:0.4 or --list heavy=importance",
                field="list",
            )
        out[label] = _list(label, told)
    return out or None


def _list(label: str, told: str) -> object:
    if told[0] in "[{":
        return json_of(told, "list", BadQuery)
    if ":" not in told:
        return told
    out: list[tuple[str, float]] = []
    for pair in told.split(","):
        one, _, score = pair.rpartition(":")
        try:
            out.append((one, float(score)))
        except ValueError:
            raise BadQuery(
                f"list: {pair!r} of {label!r} is not id:score",
                hint="an id that holds a comma can be given as JSON: label=[[id, score]]",
                field="list",
            ) from None
    return out


def read_text(path: Path) -> str:
    """A text file, or a typed error."""
    try:
        return path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise NotFound(f"there is no file {path}", hint="check the path") from None
    except UnicodeDecodeError as bad:
        raise InputError(
            f"{path}: is not UTF-8 (byte {bad.start})", hint="convert it to UTF-8 first"
        ) from None
    except OSError as error:
        raise InputError(
            f"{path}: {error.strerror}", hint="check the path and its rights"
        ) from None
