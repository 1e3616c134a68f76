"""Puts the server and the hooks of Memoriter into the settings of a host, and takes them out again.

A plan is made first: which files change, from what to what. Every character that is not ours is
left as it is. A file that was made here and holds nothing else is removed. A link stays a link: the
file that it leads to is edited.
"""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, cast

from memoriter.core.errors import InputError
from memoriter.core.lazy_dataclass import dataclass
from memoriter.core.private_file import replacing
from memoriter.core.strict_json import strict_json
from memoriter.doors.hosts import Host, own_hook
from memoriter.doors.json_text import value_added, value_removed, value_replaced
from memoriter.doors.toml_text import with_table, without_table

SERVER: Final = "memoriter"
_WRITABLE: Final = 0o222
_VERSION: Final = '"version" : 1,'
"""The version of settings that had none, at their start: spelled so that it is known as ours."""


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
                f"{self.path} is read-only",
                hint=f"make it writable (chmod u+w {target}), then run the command again",
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


HOST_STORE: Final = "~/.memoriter.db"
"""The store of every host, unless another one is named."""


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
            hint=f"make it first: mkdir -p {path.parent}",
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
        return path.read_bytes().decode()  # `read_text` would change the ends of lines
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
    inner = data.get(key, {})
    if not isinstance(inner, dict):
        raise InputError(f"{path}: {key} is not an object", hint="correct the file first")
    return cast("dict[str, Any]", inner)


def _with_server(
    before: str | None, host: Host, entry: dict[str, Any] | None, path: Path
) -> str | None:
    if entry is None and SERVER not in (before or ""):
        return before
    servers = _inner(_object(before, path), host.key, path)
    keys = (host.key, SERVER)
    if servers.get(SERVER) == entry:
        return before
    if SERVER not in servers:
        return value_added(before, keys, entry)
    text = cast("str", before)
    return value_removed(text, keys) if entry is None else value_replaced(text, keys, entry)


def _with_hooks(
    before: str | None, host: Host, options: Sequence[str] | None, program: str, path: Path
) -> str | None:
    if options is None and SERVER not in (before or ""):
        return before
    given = _hooks(before, path)
    if options is None:
        return _without_hooks(before, path) if own_hook(given) else before
    settings = host.hook_settings(options, program)
    text = _without_hooks(before, path)
    data, kept = _object(text, path), _hooks(text, path)
    present = {event: _beside(entries, kept.get(event, [])) for event, entries in given.items()}
    if {event: own for event, own in present.items() if own} == settings["hooks"]:
        return before
    for event, own in settings["hooks"].items():
        text = value_added(text, ("hooks", event), own)
    if "version" in settings and not data.keys() & {"version", "hooks"}:
        return cast("str", text).replace("{", "{" + _VERSION, 1)
    return text


def _without_hooks(text: str | None, path: Path) -> str | None:
    """The settings without hooks of ours."""
    versioned = text is not None and text.lstrip().startswith("{" + _VERSION)
    if text is not None and versioned:
        text = text.replace(_VERSION, "", 1)
    while text is not None and (own := own_hook(_hooks(text, path))):
        text = value_removed(text, ("hooks", *own))
    if text is not None and versioned and _hooks(text, path):  # of others, who need it too
        return text.replace("{", "{" + _VERSION, 1)
    return text


def _beside(entries: Sequence[Any], others: Sequence[Any]) -> list[Any]:
    return [entry for entry in entries if entry not in others]


def _hooks(text: str | None, path: Path) -> dict[str, list[Any]]:
    """The hooks of settings, by event."""
    hooks = _inner(_object(text, path), "hooks", path)
    if wrong := [event for event, entries in hooks.items() if not isinstance(entries, list)]:
        raise InputError(f"{path}: hooks.{wrong[0]} is not a list", hint="correct the file first")
    return hooks


def _loaded(text: str, path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as bad:
        raise InputError(f"{path} is not TOML: {bad}", hint="correct the file first") from None


def _with_table(
    before: str | None, host: Host, entry: dict[str, Any] | None, path: Path
) -> str | None:
    """A TOML file with our table at its end, or without it."""
    keys = (host.key, SERVER)
    servers: Any = _loaded(before or "", path).get(host.key, {})
    if isinstance(servers, dict) and cast("dict[str, Any]", servers).get(SERVER) == entry:
        return before
    text = without_table(before, keys) if before is not None else None
    servers = _loaded(text or "", path).get(host.key, {})
    if not isinstance(servers, dict) or SERVER in servers:
        raise _not_editable(path, host, f"remove {SERVER} from {host.key} by hand")
    if entry is None:
        return text
    after = with_table(text, keys, entry)
    try:
        tomllib.loads(after)
    except tomllib.TOMLDecodeError:  # an inline table takes no other tables
        raise _not_editable(
            path, host, f"write each server as a table, [{host.key}.NAME]"
        ) from None
    return after


def _not_editable(path: Path, host: Host, hint: str) -> InputError:
    return InputError(
        f"{path}: {host.key} is written in a form that cannot be edited",
        hint=f"{hint}, then run this again",
    )
