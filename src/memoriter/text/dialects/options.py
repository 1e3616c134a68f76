"""What a recipe or a call may say about how its text is read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal


@dataclass(frozen=True, slots=True)
class Options:
    """How to read a text, apart from the dialect it is in."""

    expert: bool = True
    """Whether operators may be read at all; if not, every text is bare words."""
    stop: Literal["none", "latin"] = "none"
    """Which words the bare dialect leaves out; with a list it reads no operators."""
    aliases: Mapping[str, Sequence[str]] = field(default_factory=dict[str, Sequence[str]])
    """What to look for instead of a word; the bare dialect and jeffs-brain ask."""


NOTHING_SPECIAL: Final = Options()
