"""Recomputes every number of a receipt from the receipt alone.

This folder imports only the standard library and deliberately implements all rules a second time,
so it can be copied and run without the package:

    python -m verify receipt.json

A number of the receipt is *checked* if the rules here compute the same bits from other numbers; it
is *attested* if it is an input (a count in a record that was not returned, the answer of an
embedder), which only the digest protects; otherwise it is a *problem*. Paths in the report are
paths in the JSON. Numbers are multiples of 2^-32 (the grid), so sums are exact and even a wrong
last bit is detected.
"""

from __future__ import annotations

import hashlib
import json
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from .again import check_second
from .evidence import check_evidence, check_units
from .filtering import check_filter
from .fusing import check_first
from .moves import check_hits, check_moves
from .numbers import Data, canonical, unpacked_columns
from .ranking import check_lanes
from .relevance import check_relevance, check_strength
from .skipping import check_skipped
from .verification import MOST_PROBLEMS, STEPS, OverBudget, Verification

__all__ = [
    "MOST_PROBLEMS", "STEPS", "VERSION", "NotAReceipt", "OverBudget", "Verified", "check_version",
    "parse_receipt", "unpacked_columns", "verify",
]  # fmt: skip
VERSION: Final = 2
_EARLIER: Final = 1
DERIVED: Final = frozenset(
    ("digest", "receipt", "recipe", "slate", "moves", "budget", "hits", "strength", "evidence")
)
"""Keys whose parts are reported one by one."""
_PARTS: Final = 256
"""Most parts of one sort in a recipe, and most characters of a name."""
TAG: Final = b"memoriter/receipt/2\0"
"""Prefix of the digest's input, so that it cannot be the digest of something else."""
BROKEN: Final = (
    ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError,
    struct.error,
)  # fmt: skip
"""What a stage raises for data that does not have the shape of a receipt."""
_NOT_COVERED: Final = (
    "whether somebody really asked the question",
    "the vector of the question, where another model made it",
    "that a record has the attributes that the filter tested: replay compares them",
    "that no candidate is missing: replay searches the store again",
    "that what is hidden had to be: replay does so too",
    "who made the receipt: it is not signed",
)


_STORE = b"SQLite format 3\0"
"""How the file of a store begins."""


class NotAReceipt(ValueError):
    """The input is not a receipt of this version."""


@dataclass(frozen=True)
class Verified:
    """The report of a verification."""

    checked: tuple[str, ...]
    """Paths that were recomputed, bit for bit."""
    attested: tuple[str, ...]
    """Paths of inputs, which only the digest protects."""
    problems: tuple[str, ...]
    """`path: message` of everything that does not follow from the rest."""

    def __repr__(self) -> str:
        verdict = (
            "ok" if self.ok else f"{len(self.problems)} problem{'s'[: len(self.problems) != 1]}"
        )
        return f"<Verified: {verdict}, {len(self.checked)} checked, {len(self.attested)} attested>"

    @property
    def ok(self) -> bool:
        """Whether there are no problems."""
        return not self.problems

    @property
    def not_covered(self) -> tuple[str, ...]:
        """What no receipt can say."""
        return _NOT_COVERED

    def to_dict(self) -> Data:
        """The report as plain data."""
        return {
            "ok": self.ok,
            "checked": list(self.checked),
            "attested": list(self.attested),
            "not_covered": list(self.not_covered),
            "problems": list(self.problems),
        }


# --- the envelope: digest, fingerprint, shape ---------------------------------------------------


def check_envelope(s: Verification) -> None:
    """Check the digest and the fingerprint of the recipe."""
    rest = canonical({key: value for key, value in s.body.items() if key != "digest"})
    digest = hashlib.sha256(TAG + len(rest).to_bytes(8, "little") + rest).hexdigest()
    s.same("digest", s.body.get("digest"), digest)
    s.recipe = s.body["recipe"]["data"]
    fingerprint = hashlib.sha256(canonical(s.recipe)).hexdigest()
    s.same("recipe/fingerprint", s.body["recipe"]["fingerprint"], fingerprint)
    s.attested["recipe/data"] = None  # which recipe was used; the scores are derived by it
    s.same("view/tenant", s.body["view"]["tenant"], s.body["query"]["tenant"])
    _check_parts(s)


def _check_parts(s: Verification) -> None:
    """A recipe of many parts, or with long names, would multiply the work of every row."""
    for key in ("lanes", "boosts", "order", "pass", "modes"):
        if len(s.recipe[key]) > _PARTS:
            raise ValueError(f"the part {key} of the recipe has more than {_PARTS} entries")
    if any(len(label) > _PARTS for key in ("lanes", "boosts") for label in s.recipe[key]):
        raise ValueError(f"a label of the recipe has more than {_PARTS} characters")


def check_shape(s: Verification) -> None:
    """Unpack the slate; every column must have one value per row, and no row may occur twice."""
    slate = s.body["slate"]
    s.skipped, s.rows, s.ids = s.body["skipped"], slate["rows"], slate["ids"]
    s.claimed = unpacked_columns(slate["columns"])
    s.derived = dict(s.claimed)
    size = len(s.rows)
    if len(set(s.rows)) != size or len(set(s.ids)) != len(s.ids):
        s.wrong("slate/rows", "has a row or an id twice")
    for name, column in {**s.claimed, "ids": s.ids}.items():
        if len(column) != size:
            raise ValueError(
                f"column {name} has {len(column)} values, but the receipt has {size} rows"
            )
    s.score = [None] * size


def check_rest(s: Verification) -> None:
    """Attest everything that was not checked: it is an input."""
    inputs = [key for key in s.body if key not in DERIVED]
    named = [f"slate/columns/{name}" for name in s.claimed]
    for path in (*inputs, "slate/ids", "slate/rows", *named):
        if path not in s.checked:
            s.attested[path] = None
    if any(s.body["evidence"]):
        s.attested["evidence/facts"] = None
        s.attested["evidence/labels"] = None


# --- verification -----------------------------------------------------------------------------

# In the order of the pipeline: each stage reads what the stages before it derived.
STAGES: Final = (
    check_envelope, check_units, check_shape, check_skipped, check_lanes, check_first,
    check_relevance, check_second, check_moves, check_hits, check_filter, check_strength,
    check_evidence, check_rest,
)  # fmt: skip


def verify(receipt: object, steps: int = STEPS) -> Verified:
    """Verify a receipt; raises NotAReceipt, and OverBudget if it takes more than so many steps.

    Arguments:
        receipt: A path, bytes of JSON, or the data itself.
        steps: How many numbers it may read and compute, about a thousand for each hit.

    """
    body = parse_receipt(receipt)
    made = Verification(body, steps)
    for stage in STAGES:
        try:
            stage(made)
        except BROKEN as error:
            name = stage.__name__.removeprefix("check_")
            made.wrong(name, f"is malformed: {type(error).__name__}: {error}")
            break  # the following stages need what this one would have derived
    return Verified(tuple(made.checked), tuple(made.attested), tuple(made.problems))


def parse_receipt(source: object) -> Data:
    """The data of a receipt from a path, from bytes of JSON or from a mapping.

    Raises NotAReceipt if it cannot be read or has another version.
    """
    name = ""
    try:
        if isinstance(source, str | Path):
            name, source = f"{source}: ", Path(source).read_bytes()
        if isinstance(source, Mapping):
            source = canonical(dict(source))  # pyright: ignore[reportUnknownArgumentType]  # JSON
    except OSError as error:
        raise NotAReceipt(
            f"receipt {str(error.filename)[:80]} cannot be read: {error.strerror}"
        ) from None
    except (TypeError, ValueError, RecursionError) as error:
        raise NotAReceipt(f"{name}not a receipt, because it is not valid JSON ({error})") from None
    if not isinstance(source, bytes | bytearray):
        raise NotAReceipt(f"expected a receipt, got {type(source).__name__}")
    if source.startswith(_STORE):
        raise NotAReceipt(
            "this file is a store, not a receipt: check it with verify_store(…) or the command"
            " `memoriter verify-store`"
        )
    try:
        body = json.loads(source, parse_constant=_not_json, object_pairs_hook=_unique_keys)
    except (TypeError, ValueError, RecursionError) as error:
        raise NotAReceipt(f"{name}not a receipt, because it is not valid JSON ({error})") from None
    check_version(body)
    return body


def check_version(body: object) -> None:
    """Raise NotAReceipt unless the data is a receipt of this version."""
    version = body.get("receipt") if isinstance(body, Mapping) else None  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]  # JSON
    if version == _EARLIER:
        raise NotAReceipt(
            "this receipt was made under the project's earlier name: verify it with commit 778fb88"
            " of this project, or recall again for a new one"
        )
    if version != VERSION:
        why = "is missing" if version is None else "has another number"
        raise NotAReceipt(f"this is not a receipt of version {VERSION}: its field `receipt` {why}")


def _unique_keys(pairs: list[tuple[str, object]]) -> Data:
    # JSON parsers differ in which of two equal keys they take: a forged receipt could show one
    # value here and another one to its reader.
    out = dict(pairs)
    if len(out) != len(pairs):
        raise ValueError("an object has a key twice")
    return out


def _not_json(word: str) -> object:
    raise ValueError(f"{word} is not a JSON number")
