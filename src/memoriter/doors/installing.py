"""Puts the server and the hooks of Memoriter into the settings of a host, and takes them out again.

A plan is made first: which files change, from what to what. Entries of others are left as they are,
and so is the indentation of a file. A file that holds nothing else is removed. A link stays a link:
the file that it leads to is edited.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, cast

from memoriter.core.errors import InputError
from memoriter.core.lazy_dataclass import dataclass
from memoriter.core.private_file import replacing
from memoriter.core.strict_json import strict_json
from memoriter.doors.hosts import Host, without_own

SERVER: Final = "memoriter"
_TABLE: Final = re.compile(
    r"\n?^\[mcp_servers\.memoriter(?:\.[^\]\n]*)?\]\n(?:(?!\[).*(?:\n|\Z))*", re.M
)


_WRITABLE: Final = 0o222


@dataclass(frozen=True, slots=True)
class FileChange:
    """A file of a host, before and after; None where there is no file."""

    path: Path
    before: str | None
    after: str | None

    def check(self) -> None:
        """Raise InputError if the file may not be written, or is not as it was any more."""
        target = self.path.resolve()
        if target.exists() and not target.stat().st_mode & _WRITABLE:
            raise InputError(
                f"{self.path} is read-only", hint=f"chmod u+w {target}, then run this again"
            )
        if _text(self.path) != self.before:
            raise InputError(
                f"{self.path} has changed since this command read it, so nothing was written",
                hint="run the command again",
            )

    def make(self) -> None:
        """Write or remove the file, and the folders that only it needs; raises InputError."""
        try:
            if self.after is None and not self.path.is_symlink():
                self._remove()
            else:
                target = self.path.resolve()
                target.parent.mkdir(parents=True, exist_ok=True)
                with replacing(target) as out:
                    nothing = "" if target.suffix == ".toml" else "{}\n"
                    out.write((nothing if self.after is None else self.after).encode())
        except OSError as error:
            raise InputError(f"{self.path} cannot be written: {error}") from None

    def _remove(self) -> None:
        self.path.unlink()
        folder = self.path.parent
        # Its own folder alone, and only if nothing else is in it.
        if folder.name.startswith(".") and not any(folder.iterdir()):
            folder.rmdir()


def store_for_hosts(place: str) -> str:
    """A store as the settings of a host name it; InputError if it cannot be named there."""
    if "://" in place:
        from memoriter.memory.places import has_secret  # noqa: PLC0415  # loads the engine

        if has_secret(place):
            raise InputError(
                "store: the address has a password, which anyone could read in the settings file",
                hint="leave the password out of the address and keep it in ~/.pgpass",
                field="store",
            )
        return place
    path = Path(place).expanduser().absolute()
    if not path.parent.is_dir():
        raise InputError(
            f"store: there is no folder {path.parent}",
            hint=f"mkdir -p {path.parent}",
            field="store",
        )
    return str(path)


def plan_install(
    host: Host, root: Path, store: str, program: str, *, project: bool, hooks: bool = True
) -> list[FileChange]:
    """What changes in the settings below `root`, at home or in a project."""
    entry = host.server_settings(program, ["mcp", "--store", store])
    options = ["--store", store]
    return _planned(host, root, entry, options if hooks else None, program, project=project)


def plan_uninstall(host: Host, root: Path, *, project: bool) -> list[FileChange]:
    """What changes in the settings if nothing of ours stays there."""
    return _planned(host, root, None, None, "", project=project)


def _planned(
    host: Host,
    root: Path,
    entry: dict[str, Any] | None,
    options: Sequence[str] | None,
    program: str,
    *,
    project: bool,
) -> list[FileChange]:
    texts: dict[Path, tuple[str | None, str | None]] = {}
    servers = host.project_servers if project else host.servers
    path = root / cast("str", servers)
    before = _text(path)
    edit = _with_table if host.format == "toml" else _with_server
    texts[path] = before, edit(before, host, entry, path)
    if host.hooks is not None:
        path = root / host.hooks
        before, present = texts[path] if path in texts else (_text(path), _text(path))
        texts[path] = before, _with_hooks(present, host, options, program, path)
    return [FileChange(path, *both) for path, both in texts.items() if both[0] != both[1]]


def _text(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(
            f"{path} cannot be read: {error}",
            hint="check its permissions, and that it is UTF-8 text",
        ) from None


def _object(text: str | None, path: Path) -> dict[str, Any]:
    try:
        value: object = strict_json(text) if text and text.strip() else {}
    except ValueError as bad:
        raise InputError(
            f"{path} is not plain JSON: {bad}",
            hint="if it has comments, add the lines of `memoriter hooks show` by hand",
        ) from None
    if not isinstance(value, dict):
        raise InputError(
            f"{path}: expected a JSON object", hint="correct the file first, or move it away"
        )
    return cast("dict[str, Any]", value)


def _inner(data: dict[str, Any], key: str, path: Path) -> dict[str, Any]:
    """An object in the data, empty if there is none."""
    inner = data.get(key)
    if not isinstance(inner, dict | None):
        raise InputError(f"{path}: {key} is not an object", hint="correct the file first")
    return cast("dict[str, Any]", inner or {})


def _dumped(data: dict[str, Any], before: str | None) -> str | None:
    """The data as the file had it indented; None if nothing is left in it."""
    if not data or data == {"version": 1}:
        return before if before is not None and _is_empty(before) else None
    indent = re.search(r"\n([ \t]+)\S", before or "")
    text = json.dumps(data, indent=indent[1] if indent else 2, ensure_ascii=False)
    return text if before is not None and not before.endswith("\n") else f"{text}\n"


def _is_empty(text: str) -> bool:
    return not text.strip() or strict_json(text) in ({}, {"version": 1})


def _with_server(
    before: str | None, host: Host, entry: dict[str, Any] | None, path: Path
) -> str | None:
    data = _object(before, path)
    servers = dict(_inner(data, host.key, path))
    if entry is None and SERVER not in servers:
        return before
    servers.pop(SERVER, None)
    if entry is not None:
        servers[SERVER] = entry
    data[host.key] = servers
    if not servers:
        del data[host.key]
    return _dumped(data, before)


def _with_hooks(
    before: str | None, host: Host, options: Sequence[str] | None, program: str, path: Path
) -> str | None:
    data = _object(before, path)
    given = _inner(data, "hooks", path)
    if wrong := [event for event, entries in given.items() if not isinstance(entries, list)]:
        raise InputError(f"{path}: hooks.{wrong[0]} is not a list", hint="correct the file first")
    kept = {event: list(without_own(entries)) for event, entries in given.items()}
    if options is None and kept == given:
        return before
    added: dict[str, Any] = {} if options is None else host.hook_settings(options, program)
    for event, entries in added.get("hooks", {}).items():
        kept[event] = [*kept.get(event, []), *entries]
    data = {**{k: v for k, v in added.items() if k != "hooks"}, **data}
    data["hooks"] = {event: entries for event, entries in kept.items() if entries}
    if not data["hooks"]:
        del data["hooks"]
    return _dumped(data, before)


def _loaded(text: str, path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as bad:
        raise InputError(f"{path} is not TOML: {bad}", hint="correct the file first") from None


def _with_table(
    before: str | None, host: Host, entry: dict[str, Any] | None, path: Path
) -> str | None:
    """A TOML file with our table at its end, or without it."""
    del host
    _loaded(before or "", path)
    text = _TABLE.sub("", before or "")
    servers = _loaded(text, path).get("mcp_servers", {})
    if not isinstance(servers, dict) or SERVER in servers:
        raise InputError(
            f"{path}: mcp_servers is written in a form that cannot be edited",
            hint=f"remove {SERVER} from mcp_servers by hand, then run this again",
        )
    if entry is not None:
        # A JSON string and a list of JSON strings are TOML too.
        lines = "".join(f"{name} = {json.dumps(value)}\n" for name, value in entry.items())
        start = f"{text}\n" if text else ""
        return f"{start}[mcp_servers.memoriter]\n{lines}"
    return text if text or before == "" else None
