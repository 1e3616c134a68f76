"""Digest, fingerprint, and the shape of the slate; in the end, what is left over."""

from __future__ import annotations

import hashlib
from typing import Final

from .numbers import canonical, columns_of
from .search import Search

DERIVED: Final = frozenset(
    ("digest", "receipt", "recipe", "slate", "moves", "budget", "hits", "evidence")
)
"""Keys whose parts are listed one by one."""
TAG: Final = b"memoriter/receipt/2\0"


def check_envelope(s: Search) -> None:
    """The digest, and the fingerprint of the recipe."""
    rest = canonical({key: value for key, value in s.body.items() if key != "digest"})
    made = hashlib.sha256(TAG + len(rest).to_bytes(8, "little") + rest).hexdigest()
    s.same("digest", s.body.get("digest"), made)
    s.recipe = s.body["recipe"]["data"]
    print_ = hashlib.sha256(canonical(s.recipe)).hexdigest()
    s.same("recipe/fingerprint", s.body["recipe"]["fingerprint"], print_)


def check_shape(s: Search) -> None:
    """As many values as rows in every column, and no row twice."""
    slate = s.body["slate"]
    s.skipped, s.rows, s.ids = s.body["skipped"], slate["rows"], slate["ids"]
    s.columns = columns_of(slate["columns"])
    s.known = dict(s.columns)
    size = len(s.rows)
    if len(set(s.rows)) != size or len(set(s.ids)) != len(s.ids):
        s.wrong("slate/rows", "holds a row twice")
    for name, column in {**s.columns, "ids": s.ids}.items():
        if len(column) != size:
            raise ValueError(f"{name} has {len(column)} values for {size} rows")
    s.score = [None] * size


def check_rest(s: Search) -> None:
    """Everything else is an input."""
    inputs = [key for key in s.body if key not in DERIVED]
    named = [f"slate/columns/{name}" for name in s.columns]
    for path in (*inputs, "slate/ids", *named):
        if path not in s.checked:
            s.attested[path] = None
    if any(s.body["evidence"]):
        s.attested["evidence/facts"] = None
