"""The programs that Memoriter can be installed into, and the hooks of those that have some.

`doors.installing` writes their settings, `doors.cli.hooks` answers their hooks.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import field
from pathlib import PurePath
from typing import Any, Final, Literal, cast

from memoriter.core.errors import InputError
from memoriter.core.lazy_dataclass import dataclass

_SHELL: Final = re.compile(r"[();<>|&]+")
"""Signs of a shell that make one command out of several, or lead its output elsewhere."""
_PATIENCE: Final = 60
"""How many seconds a host waits for the server. Gemini waits 5 otherwise, Codex 10: on a busy
machine Python needs longer to start."""
_SECONDS: Final = {"recall": 20, "capture": 60}
"""How many seconds a host waits for a hook. A capture of a long conversation publishes its index,
so that later calls need not build it again."""


@dataclass(frozen=True, slots=True)
class Host:
    """A program: where its settings are, below the home folder or a project, and their shape."""

    name: str
    title: str
    servers: str
    """The file that lists MCP servers."""
    project_servers: str | None
    """The same in a project; None if it reads none there."""
    hooks: str | None = None
    """The file that lists hooks, at home and in a project; None if it has no hooks."""
    recall: str = ""
    """The event before each reply."""
    capture: tuple[str, ...] = ()
    """The events after which the conversation is captured."""
    flat: bool = False
    """Whether an event leads to commands, not to groups of commands."""
    milliseconds: bool = False
    """Whether timeouts count milliseconds."""
    key: str = "mcpServers"
    server: Mapping[str, str | int] = field(default_factory=dict[str, str | int])
    """What the entry of a server has beside command and arguments."""
    format: Literal["json", "toml"] = "json"

    def server_settings(self, command: str, args: Sequence[str]) -> dict[str, Any]:
        """The entry of our server as its settings have it."""
        return {**self.server, "command": command, "args": list(args)}

    def hook_settings(self, options: Sequence[str], program: str = "memoriter") -> dict[str, Any]:
        """The hooks as its settings have them; `options` name the store."""
        events = {self.recall: ["recall"]}
        for event in self.capture:
            events.setdefault(event, []).append("capture")
        made = {
            event: [
                self._entry([program, "hooks", verb, *options], _SECONDS[verb]) for verb in verbs
            ]
            for event, verbs in events.items()
        }
        return {"version": 1, "hooks": made} if self.flat else {"hooks": made}

    def _entry(self, words: Sequence[str], seconds: int) -> dict[str, Any]:
        command = shlex.join(words)
        if self.flat:
            return {"command": command}
        timeout = 1000 * seconds if self.milliseconds else seconds
        return {"hooks": [{"type": "command", "command": command, "timeout": timeout}]}


HOSTS: Final = (
    Host(
        "claude-code", "Claude Code", ".claude.json", ".mcp.json", ".claude/settings.json",
        recall="UserPromptSubmit", capture=("Stop", "PreCompact", "SessionEnd"),
        server={"type": "stdio"},
    ),
    Host(
        "codex", "Codex", ".codex/config.toml", ".codex/config.toml", ".codex/hooks.json",
        recall="UserPromptSubmit", capture=("Stop", "PreCompact"), key="mcp_servers", format="toml",
        server={"startup_timeout_sec": _PATIENCE},
    ),
    Host(
        "cursor", "Cursor", ".cursor/mcp.json", ".cursor/mcp.json", ".cursor/hooks.json",
        recall="beforeSubmitPrompt", capture=("beforeSubmitPrompt", "afterAgentResponse"),
        flat=True,
    ),
    Host(
        "gemini", "Gemini CLI", ".gemini/settings.json", ".gemini/settings.json",
        ".gemini/settings.json",
        recall="BeforeAgent", capture=("AfterAgent", "PreCompress", "SessionEnd"),
        milliseconds=True, server={"timeout": 1000 * _PATIENCE},
    ),
)  # fmt: skip
"""Every host, in the order that lists show."""
HOST_NAMES: Final = tuple(host.name for host in HOSTS)


def host_of(name: str) -> Host:
    """The host of this name; raises InputError if there is none."""
    for host in HOSTS:
        if host.name == name:
            return host
    raise InputError(
        f"host: no host is called {name[:80]!r}",
        hint=f"known: {', '.join(HOST_NAMES)}",
        field="host",
    )


def own_hook(hooks: Mapping[str, Sequence[Any]]) -> tuple[str | int, ...] | None:
    """The path to the first command of ours, or to a group of nothing else; None if there is none.

    >>> own_hook({"Stop": [{"command": "say done"}, {"command": "memoriter hooks capture"}]})
    ('Stop', 1)
    """
    for event, entries in hooks.items():
        for place, entry in enumerate(entries):
            inner = _field(entry, "hooks")
            inner = cast("list[Any]", inner) if isinstance(inner, list) else []
            own = [_is_own(each) for each in inner]
            if _is_own(entry) or (own and all(own)):
                return event, place
            if any(own):
                return event, place, "hooks", own.index(True)
    return None


def _is_own(entry: Any) -> bool:
    """Whether an entry is a command as we write it: our program alone, without more of a shell."""
    command = _field(entry, "command")
    if not isinstance(command, str):
        return False
    words = shlex.shlex(command, posix=True, punctuation_chars=True)
    words.whitespace_split = True
    words.commenters = ""
    try:
        program, group, verb, *rest = words
    except ValueError:  # fewer words, or a quotation mark without its second
        return False
    ours = PurePath(program).name == "memoriter" and group == "hooks"
    return ours and verb in ("recall", "capture") and not any(_SHELL.fullmatch(w) for w in rest)


def _field(entry: Any, name: str) -> Any:
    return cast("dict[str, Any]", entry).get(name) if isinstance(entry, dict) else None
