"""Checks the digest, the recipe's fingerprint and the shape of the slate; attests what is left."""

from __future__ import annotations

import hashlib
from typing import Final

from .numbers import canonical, unpacked_columns
from .search import Search

DERIVED: Final = frozenset(
    ("digest", "receipt", "recipe", "slate", "moves", "budget", "hits", "strength", "evidence")
)
"""Keys whose parts are reported one by one."""
_PARTS: Final = 256
"""Most parts of one sort in a recipe, and most characters of a name."""
TAG: Final = b"memoriter/receipt/2\0"
"""Prefix of the digest's input, so that it cannot be the digest of something else."""


def check_envelope(s: Search) -> None:
    """Check the digest and the fingerprint of the recipe."""
    rest = canonical({key: value for key, value in s.body.items() if key != "digest"})
    digest = hashlib.sha256(TAG + len(rest).to_bytes(8, "little") + rest).hexdigest()
    s.same("digest", s.body.get("digest"), digest)
    s.recipe = s.body["recipe"]["data"]
    fingerprint = hashlib.sha256(canonical(s.recipe)).hexdigest()
    s.same("recipe/fingerprint", s.body["recipe"]["fingerprint"], fingerprint)
    s.same("view/tenant", s.body["view"]["tenant"], s.body["query"]["tenant"])
    _check_parts(s)


def _check_parts(s: Search) -> None:
    """A recipe of many parts, or with long names, would multiply the work of every row."""
    for key in ("lanes", "boosts", "order", "pass", "modes"):
        if len(s.recipe[key]) > _PARTS:
            raise ValueError(f"the recipe has more than {_PARTS} {key}")
    if any(len(label) > _PARTS for key in ("lanes", "boosts") for label in s.recipe[key]):
        raise ValueError(f"a name of the recipe has more than {_PARTS} characters")


def check_shape(s: Search) -> None:
    """Unpack the slate; every column must have one value per row, and no row may occur twice."""
    slate = s.body["slate"]
    s.skipped, s.rows, s.ids = s.body["skipped"], slate["rows"], slate["ids"]
    s.columns = unpacked_columns(slate["columns"])
    s.known = dict(s.columns)
    size = len(s.rows)
    if len(set(s.rows)) != size or len(set(s.ids)) != len(s.ids):
        s.wrong("slate/rows", "has a row or an id twice")
    for name, column in {**s.columns, "ids": s.ids}.items():
        if len(column) != size:
            raise ValueError(f"{name} has {len(column)} values for {size} rows")
    s.score = [None] * size


def check_rest(s: Search) -> None:
    """Attest everything that was not checked: it is an input."""
    inputs = [key for key in s.body if key not in DERIVED]
    named = [f"slate/columns/{name}" for name in s.columns]
    for path in (*inputs, "slate/ids", "slate/rows", *named):
        if path not in s.checked:
            s.attested[path] = None
    if any(s.body["evidence"]):
        s.attested["evidence/facts"] = None
        s.attested["evidence/labels"] = None
