"""Regular expressions that are compiled when they are first used: a start needs few of them."""

from __future__ import annotations

import re
from functools import cached_property
from typing import cast


class _LazyPattern:
    """Stands for a pattern, and compiles it on the first use."""

    def __init__(self, pattern: str, flags: int) -> None:
        self._pattern = pattern
        self._flags = flags

    @cached_property
    def _compiled(self) -> re.Pattern[str]:
        return re.compile(self._pattern, self._flags)

    def __getattr__(self, name: str) -> object:
        value = getattr(self._compiled, name)
        vars(self)[name] = value  # the next use does not come here
        return value


def lazy_pattern(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """The compiled pattern, as far as a caller can tell.

    >>> lazy_pattern(r"[0-9]+").findall("a 1, b 22")
    ['1', '22']
    """
    return cast("re.Pattern[str]", _LazyPattern(pattern, flags))
