"""Which store, which tenant, which recipe? Flag, then environment, then TOML, then default."""

from __future__ import annotations

import difflib
import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from memoriter.core.errors import InputError

DEFAULTS: Final[Mapping[str, str | None]] = {
    "store": "memoriter.db",
    "tenant": "default",
    "recipe": "memoriter",
    "embedder": None,
    "reranker": None,
    "agent": None,
    "user": None,
    "session": None,
}
"""Every setting, with its default."""


@dataclass(frozen=True, slots=True)
class Setting:
    """A value and where it came from."""

    value: str | None
    origin: str


def variable(name: str) -> str:
    """The environment variable of a setting."""
    return f"MEMORITER_{name.upper()}"


def files() -> tuple[Path, Path]:
    """The files that may hold settings, the stronger one first."""
    home = os.environ.get("XDG_CONFIG_HOME") or "~/.config"
    return Path("memoriter.toml"), Path(home).expanduser() / "memoriter" / "config.toml"


def settings(flags: Mapping[str, str | None]) -> dict[str, Setting]:
    """Every setting, resolved."""
    told = [(str(path), _read(path)) for path in files()]
    return {name: _resolved(name, flags.get(name), told) for name in DEFAULTS}


def setting(name: str, flag: str | None) -> str | None:
    """The value of one setting."""
    return settings({name: flag})[name].value


def _resolved(name: str, flag: str | None, told: list[tuple[str, dict[str, str]]]) -> Setting:
    found = Setting(DEFAULTS[name], "default")
    if flag is not None:
        found = Setting(flag, f"--{name}")
    elif os.environ.get(variable(name)):
        found = Setting(os.environ[variable(name)], variable(name))
    else:
        for origin, values in told:
            if name in values:
                found = Setting(values[name], origin)
                break
    return _checked(name, found)


def _checked(name: str, found: Setting) -> Setting:
    value = found.value
    if value is not None and (not value or "\0" in value):
        problem = "must not be empty" if not value else "holds a NUL character"
        raise InputError(
            f"{name}: {problem} (from {found.origin})", hint="give another one", field=name
        )
    return found


def _read(path: Path) -> dict[str, str]:
    """The settings in a TOML file; none when there is no such file."""
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}", hint="check its rights") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(
            f"{path}: not TOML: {error}", hint='for example: store = "agent.db"'
        ) from None
    return {name: _text(path, name, value) for name, value in data.items()}


def _text(path: Path, name: str, value: object) -> str:
    if name not in DEFAULTS:
        near = difflib.get_close_matches(name, DEFAULTS, 1)
        hint = f"did you mean {near[0]}?" if near else f"known: {', '.join(DEFAULTS)}"
        raise InputError(f"{path}: there is no setting {name!r}", hint=hint, field=name)
    if not isinstance(value, str):
        raise InputError(f"{path}: {name}: expected text in quotes", field=name)
    return value
