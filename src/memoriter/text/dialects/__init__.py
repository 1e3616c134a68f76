"""How a query is written: several dialects, one tree underneath."""

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
