"""Derives a receipt again, from the receipt alone. This folder imports nothing of ours: copy it.

    python -m verify receipt.json

Three things can become of a number. It is *checked* when the rules here make it anew from others
and get the same bits; it is *attested* when it is an input (what a word counted in a record that
was not returned, what an embedder answered), which only the digest binds; or it is a *problem*.
Paths name places in the JSON. Numbers are multiples of 2^-32 (the grid), so sums are exact, and a
wrong last bit is seen.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from .again import check_second
from .envelope import check_envelope, check_rest, check_shape
from .evidence import check_evidence
from .fusing import check_first
from .moves import check_hits, check_moves
from .numbers import Data, canonical, columns_of
from .ranking import check_lanes
from .search import Search
from .skipping import check_skipped
from .units import check_units

__all__ = [
    "VERSION", "NotAReceipt", "Verified", "check_version", "columns_of", "read", "verify",
]  # fmt: skip
VERSION: Final = 2
_EARLIER: Final = 1
MOST_PROBLEMS: Final = 100
STAGES: Final = (
    check_envelope, check_units, check_shape, check_skipped, check_lanes, check_first, check_second,
    check_moves, check_hits, check_evidence, check_rest,
)  # fmt: skip
BROKEN: Final = (
    ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError,
    struct.error,
)  # fmt: skip
"""What comes of data that has not the shape of a receipt."""


class NotAReceipt(ValueError):
    """What was given is no receipt of this version."""


@dataclass(frozen=True)
class Verified:
    """What became of a receipt."""

    checked: tuple[str, ...]
    """What was derived again, bit for bit."""
    attested: tuple[str, ...]
    """What are inputs: bound by the digest, and by nothing else here."""
    problems: tuple[str, ...]
    """What does not follow from the rest."""

    def __repr__(self) -> str:
        verdict = (
            "ok" if self.ok else f"{len(self.problems)} problem{'s'[: len(self.problems) != 1]}"
        )
        return f"<Verified: {verdict}, {len(self.checked)} checked, {len(self.attested)} attested>"

    @property
    def ok(self) -> bool:
        """Whether all that can be derived is as the receipt says."""
        return not self.problems

    def to_dict(self) -> Data:
        """The finding as plain data."""
        return {
            "ok": self.ok,
            "checked": list(self.checked),
            "attested": list(self.attested),
            "problems": list(self.problems),
        }


def verify(given: object) -> Verified:
    """Verify a receipt: a path, bytes of JSON, or the data itself."""
    body = read(given)
    search = Search(body)
    for stage in STAGES:
        try:
            stage(search)
        except BROKEN as error:
            name = stage.__name__.removeprefix("check_")
            search.wrong(name, f"is malformed: {type(error).__name__}: {error}")
            break
    problems = list(search.problems)[:MOST_PROBLEMS]
    return Verified(tuple(search.checked), tuple(search.attested), tuple(problems))


def read(given: object) -> Data:
    """The data of a receipt from a path, from bytes, or as it is."""
    try:
        if isinstance(given, str | Path):
            given = Path(given).read_bytes()
        if isinstance(given, Mapping):
            given = canonical(dict(given))  # pyright: ignore[reportUnknownArgumentType]  # as given
        if not isinstance(given, bytes | bytearray):
            raise NotAReceipt(f"{type(given).__name__} is no receipt")
        body = json.loads(given, parse_constant=_not_json, object_pairs_hook=_once)
    except (OSError, TypeError, ValueError, RecursionError) as error:
        raise NotAReceipt(f"cannot be read as a receipt: {error}") from None
    check_version(body)
    return body


def check_version(body: object) -> None:
    """Refuse what is no receipt of this version."""
    version = body.get("receipt") if isinstance(body, Mapping) else None  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]  # JSON
    if version == _EARLIER:
        raise NotAReceipt(
            "this receipt was made under the project's earlier name: recall again for a new one,"
            " or verify it with commit 778fb88 of this project"
        )
    if version != VERSION:
        raise NotAReceipt(f"this is no receipt of version {VERSION}")


def _once(pairs: list[tuple[str, object]]) -> Data:
    """An object whose keys come once: of two equal keys readers differ in which they take."""
    out = dict(pairs)
    if len(out) != len(pairs):
        raise ValueError("an object has a key twice")
    return out


def _not_json(word: str) -> object:
    raise ValueError(f"{word} is not JSON")
