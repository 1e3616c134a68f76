"""Recollect: a memory engine for agents that can say why it recalled what it recalled.

>>> import recollect
>>> memory = recollect.open(":memory:")
>>> kept = memory.remember("Prod SSH port is 49222", tags=["ops"])
>>> result = memory.recall("which port for ssh?")
>>> result[0].record.text
'Prod SSH port is 49222'
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from recollect.core.errors import (
    BadFilter,
    BadQuery,
    BadRecipe,
    BadRecord,
    Conflict,
    Corrupt,
    Expired,
    Forbidden,
    InputError,
    NotFound,
    NothingToRun,
    RecollectError,
    StorageFull,
    Unavailable,
    UnknownRecipe,
    Unsupported,
)

if TYPE_CHECKING:
    from recollect import rank
    from recollect.aio import AsyncMemory, aopen
    from recollect.core.batch import Commit
    from recollect.core.edge import Edge
    from recollect.core.explanation import Explanation
    from recollect.core.record import Record
    from recollect.doors.hook import Hook
    from recollect.memory.facade import Memory
    from recollect.memory.opening import open_memory as open  # the word users type
    from recollect.why.diff import diff
    from recollect.why.receipt import Receipt, verify
    from recollect.why.result import Hit, Result
    from recollect.why.verify import Verified

__version__ = "0.1.0"
logging.getLogger(__name__).addHandler(logging.NullHandler())

_LAZY = {
    "AsyncMemory": "recollect.aio",
    "Commit": "recollect.core.batch",
    "Edge": "recollect.core.edge",
    "Explanation": "recollect.core.explanation",
    "Hit": "recollect.why.result",
    "Hook": "recollect.doors.hook",
    "Memory": "recollect.memory.facade",
    "Receipt": "recollect.why.receipt",
    "Record": "recollect.core.record",
    "Result": "recollect.why.result",
    "Verified": "recollect.why.verify",
    "aopen": "recollect.aio",
    "diff": "recollect.why.diff",
    "open": "recollect.memory.opening",
    "verify": "recollect.why.receipt",
}
"""Names that are loaded when first used, so that importing the package costs nothing."""

__all__ = [
    "AsyncMemory",
    "BadFilter",
    "BadQuery",
    "BadRecipe",
    "BadRecord",
    "Commit",
    "Conflict",
    "Corrupt",
    "Edge",
    "Expired",
    "Explanation",
    "Forbidden",
    "Hit",
    "Hook",
    "InputError",
    "Memory",
    "NotFound",
    "NothingToRun",
    "Receipt",
    "RecollectError",
    "Record",
    "Result",
    "StorageFull",
    "Unavailable",
    "UnknownRecipe",
    "Unsupported",
    "Verified",
    "aopen",
    "diff",
    "open",
    "rank",
    "verify",
]


def __getattr__(name: str) -> object:
    import importlib  # noqa: PLC0415  # only when something is loaded

    if name == "rank":
        return importlib.import_module("recollect.rank")
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(importlib.import_module(_LAZY[name]), "open_memory" if name == "open" else name)
    globals()[name] = found
    return found
