"""All tools under names of other systems."""

from __future__ import annotations

from typing import Final

from recollect.doors.compat import engrava, jeffs_brain, mentisdb
from recollect.doors.compat.tool import Compat

COMPAT: Final[tuple[Compat, ...]] = (*mentisdb.TOOLS, *jeffs_brain.TOOLS, *engrava.TOOLS)
"""In the order that lists show. `memory_search` and `memory_ask` are jeffs-brain's, whose text
names them; Comis has methods of its own, `memory.search` and `memory.browse`, at the HTTP door."""
