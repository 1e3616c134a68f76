"""A changed search as text to copy: a Python call, a command, and its recipe as TOML."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from typing import cast

from memoriter.pipeline.toml import to_toml
from memoriter.why.result import Result


def spelled_override(result: Result, overrides: Mapping[str, object]) -> dict[str, str]:
    """How somebody asks the same with these overrides."""
    asked = cast("Mapping[str, object]", result.receipt.body["query"])
    text, limit = str(asked["text"]), asked["limit"]
    recipe = result.plan.recipe
    flags = [f"{path}={json.dumps(value)}" for path, value in overrides.items()]
    words = ["memoriter", "recall", text, "--recipe", recipe.name, "--limit", str(limit)]
    for flag in flags:
        words += ["--override", flag]
    options = f"recipe={recipe.name!r}, overrides={dict(overrides)!r}"
    return {
        "python": f"memory.recall({text!r}, {limit}, {options})",
        "command": shlex.join(words),
        "toml": to_toml(recipe.to_data()),
    }
