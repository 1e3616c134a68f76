"""How a query is written: four dialects, one tree underneath."""

from recollect.text.dialects.options import NOTHING_SPECIAL, Options
from recollect.text.dialects.port import NAMES, read

__all__ = ["NAMES", "NOTHING_SPECIAL", "Options", "read"]
