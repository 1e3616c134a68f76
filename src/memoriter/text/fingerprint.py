"""The fingerprint by which the `collapse` ordering takes two texts for copies of each other."""

from __future__ import annotations

from typing import Final

from memoriter.core.fold import fold

HEAD: Final = 200
"""Only so many characters are compared: texts that begin alike count as copies."""


def fingerprint(text: str) -> str:
    """The beginning of a text, stripped and case-folded.

    >>> fingerprint("  The Plan ") == fingerprint("the plan")
    True
    """
    return fold(text.strip()[:HEAD]).strip()
