"""All tools under names of other systems."""

from __future__ import annotations

from typing import Any, Final

from memoriter.doors.compat import comis, engrava, jeffs_brain, mentisdb
from memoriter.doors.compat.tool import Compat
from memoriter.doors.replies import Reply


class Results(Reply):
    """What Comis answers to a search."""

    results: list[dict[str, Any]]
    total: int


COMIS: Final = (
    Compat("comis_memory_search", comis.RECIPE, comis.Search, Results, comis.search,
           "Comis: find memories by words and vectors, each with its score and source."),
)  # fmt: skip
"""Its own name, memory_search, is jeffs-brain's here, whose text names it as a tool."""

COMPAT: Final[tuple[Compat, ...]] = (
    *mentisdb.TOOLS,
    *jeffs_brain.TOOLS,
    *COMIS,
    *engrava.TOOLS,
)
"""In the order that lists show."""
