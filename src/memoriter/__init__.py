"""Memoriter: an embedded memory engine for agents that explains every score.

>>> import memoriter
>>> memory = memoriter.open(":memory:")
>>> kept = memory.remember("Prod SSH port is 49222", tags=["ops"])
>>> result = memory.recall("which port for ssh?")
>>> result[0].record.text
'Prod SSH port is 49222'
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from memoriter.core.errors import (
    BadFilter,
    BadQuery,
    BadRecipe,
    BadRecord,
    Conflict,
    Corrupt,
    Expired,
    Forbidden,
    InputError,
    MemoriterError,
    NotFound,
    NothingToRun,
    StorageFull,
    TooCostly,
    Unavailable,
    Unknown,
    UnknownRecipe,
    Unsupported,
)

if TYPE_CHECKING:
    from memoriter import rank
    from memoriter.aio import AsyncMemory, aopen
    from memoriter.core.batch import Commit
    from memoriter.core.edge import Edge
    from memoriter.core.explanation import Explanation
    from memoriter.core.record import Record
    from memoriter.doors.hook import Hook
    from memoriter.memory.backups import restore
    from memoriter.memory.copying import copy
    from memoriter.memory.facade import Memory
    from memoriter.memory.opening import open_memory as open  # the public name
    from memoriter.memory.options import DraftFields
    from memoriter.why.diff import diff
    from memoriter.why.hit import Hit
    from memoriter.why.read_receipt import verify
    from memoriter.why.receipt import Receipt
    from memoriter.why.result import Result
    from memoriter.why.verify import Verified

__version__ = "0.1.0"
logging.getLogger(__name__).addHandler(logging.NullHandler())

_LAZY = {
    "AsyncMemory": "memoriter.aio",
    "Commit": "memoriter.core.batch",
    "DraftFields": "memoriter.memory.options",
    "Edge": "memoriter.core.edge",
    "Explanation": "memoriter.core.explanation",
    "Hit": "memoriter.why.hit",
    "Hook": "memoriter.doors.hook",
    "Memory": "memoriter.memory.facade",
    "Receipt": "memoriter.why.receipt",
    "Record": "memoriter.core.record",
    "Result": "memoriter.why.result",
    "Verified": "memoriter.why.verify",
    "aopen": "memoriter.aio",
    "copy": "memoriter.memory.copying",
    "diff": "memoriter.why.diff",
    "open": "memoriter.memory.opening",
    "restore": "memoriter.memory.backups",
    "verify": "memoriter.why.read_receipt",
}
"""Names and their modules, imported on first use, so that `import memoriter` stays fast."""

__all__ = [
    "AsyncMemory",
    "BadFilter",
    "BadQuery",
    "BadRecipe",
    "BadRecord",
    "Commit",
    "Conflict",
    "Corrupt",
    "DraftFields",
    "Edge",
    "Expired",
    "Explanation",
    "Forbidden",
    "Hit",
    "Hook",
    "InputError",
    "MemoriterError",
    "Memory",
    "NotFound",
    "NothingToRun",
    "Receipt",
    "Record",
    "Result",
    "StorageFull",
    "TooCostly",
    "Unavailable",
    "Unknown",
    "UnknownRecipe",
    "Unsupported",
    "Verified",
    "aopen",
    "copy",
    "diff",
    "open",
    "rank",
    "restore",
    "verify",
]


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])


if not TYPE_CHECKING:  # type checkers read the imports above

    def __getattr__(name: str) -> object:
        import importlib  # noqa: PLC0415  # not needed for a plain `import memoriter`

        if name == "rank":
            return importlib.import_module("memoriter.rank")
        if name not in _LAZY:
            words = importlib.import_module("memoriter.core.other_words")
            raise words.no_such_name(name)
        value = getattr(
            importlib.import_module(_LAZY[name]), "open_memory" if name == "open" else name
        )
        # Wrong arguments of functions raise InputError, as those of methods do.
        if name in ("diff", "restore", "verify"):
            value = importlib.import_module("memoriter.core.options").guided(value)
            value.__module__ = __name__  # so that pickle finds the guided one
        globals()[name] = value  # the next access does not come here
        return value
