"""How a search refuses: nothing to run, or a recipe that wants all or nothing and lacks a lane."""

from __future__ import annotations

from typing import Final

from memoriter.core.errors import BadQuery, NothingToRun, Unavailable

REFUSALS: Final = (NothingToRun, BadQuery, Unavailable)
"""Of a recipe whose `missing` is "refuse", a lane that cannot run is an error of the call."""
