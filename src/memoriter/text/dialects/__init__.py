"""Query dialects: several ways to write a query, each parsed to the tree of `text.tree`."""

from memoriter.text.dialects.port import NOTHING_SPECIAL, Dialect, Options
from memoriter.text.dialects.table import dialect, dialect_names, known_dialect, read_query

__all__ = [
    "NOTHING_SPECIAL",
    "Dialect",
    "Options",
    "dialect",
    "dialect_names",
    "known_dialect",
    "read_query",
]
