"""What makes two texts one for a reader in a hurry: they begin alike."""

from __future__ import annotations

from typing import Final

from memoriter.core.fold import fold

HEAD: Final = 200
"""So many characters are compared."""


def fingerprint(text: str) -> str:
    """How a text begins, without outer space and differences of case.

    >>> fingerprint("  The Plan ") == fingerprint("the plan")
    True
    """
    return fold(text.strip()[:HEAD]).strip()
