"""How a query is written: four dialects, one tree underneath."""

from memoriter.text.dialects.options import NOTHING_SPECIAL, Options
from memoriter.text.dialects.port import NAMES, read

__all__ = ["NAMES", "NOTHING_SPECIAL", "Options", "read"]
