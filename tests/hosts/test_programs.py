"""The real programs: `claude`, `codex` and `gemini` with Memoriter installed into their settings.

`make hosts` installs them from npm. Claude Code runs a whole turn against a server that plays its
model: what it sends shows the recalled block, and what it wrote shows the captured turn.
"""

from __future__ import annotations

import json
import shutil
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from tests.hosts.programs import call, program

import memoriter


def ours(*words: str, stdin: str = "") -> str:
    own = shutil.which("memoriter", path=str(Path(sys.executable).parent))
    assert own is not None
    return call(own, *words, stdin=stdin)


def traces(home: Path) -> list[Path]:
    """Settings that still name us."""
    names = (".claude.json", ".claude/settings.json", ".codex/config.toml", ".codex/hooks.json",
             ".gemini/settings.json")  # fmt: skip
    files = [home / name for name in names]
    return [path for path in files if path.exists() and "memoriter" in path.read_text()]


PAYLOAD = {
    "claude-code": {"hook_event_name": "UserPromptSubmit", "session_id": "s", "cwd": "/",
                    "transcript_path": "/t.jsonl", "permission_mode": "default"},
    "codex": {"hook_event_name": "UserPromptSubmit", "session_id": "s", "cwd": "/", "model": "o",
              "turn_id": "t", "transcript_path": None, "permission_mode": "default"},
    "gemini": {"hook_event_name": "BeforeAgent", "session_id": "s", "cwd": "/",
               "transcript_path": "/t.json", "timestamp": "2026-11-17T10:00:00Z"},
}  # fmt: skip
"""What each program gives to the hook before a reply, without the prompt."""


@pytest.mark.parametrize(
    ("host", "name", "connected"),
    [("claude-code", "claude", "✔ Connected"), ("codex", "codex", "enabled"),
     ("gemini", "gemini", "Connected")],
)  # fmt: skip
def test_a_program_lists_the_server_and_its_hook_answers_until_it_is_taken_out(
    home: Path, host: str, name: str, connected: str
) -> None:
    real = program(name)
    (home / ".gemini").mkdir()
    (home / ".gemini/trustedFolders.json").write_text(json.dumps({str(home): "TRUST_FOLDER"}))
    ours("mcp", "install", host, "--store", "m.db")
    listed = call(real, "mcp", "list", errors=True)
    (line,) = [each for each in listed.splitlines() if "memoriter" in each]
    assert connected in line
    ours("remember", "Prod SSH port is 49222", "--store", "m.db")
    shown = json.loads(ours("hooks", "show", host, "--store", str(home / "m.db")))
    (entry,) = shown["hooks"][PAYLOAD[host]["hook_event_name"]]
    words = entry["hooks"][0]["command"].split()
    reply = ours(*words[1:], stdin=json.dumps({**PAYLOAD[host], "prompt": "which port for ssh?"}))
    assert "49222" in json.loads(reply)["hookSpecificOutput"]["additionalContext"]
    ours("mcp", "uninstall", host)
    assert traces(home) == []
    assert "memoriter" not in call(real, "mcp", "list", errors=True)


class Model(BaseHTTPRequestHandler):
    """Plays the model of Claude Code: it always gives the same reply, as a stream."""

    protocol_version = "HTTP/1.1"
    bodies: list[str]

    def do_POST(self) -> None:
        self.bodies.append(self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode())
        message = {"id": "msg_1", "type": "message", "role": "assistant", "model": "m",
                   "content": [], "stop_reason": None, "stop_sequence": None,
                   "usage": {"input_tokens": 1, "output_tokens": 1}}  # fmt: skip
        text = "The port is 49222, as recalled."
        events: list[dict[str, Any]] = [
            {"type": "message_start", "message": message},
            {"type": "content_block_start", "index": 0,
             "content_block": {"type": "text", "text": ""}},
            {"type": "content_block_delta", "index": 0,
             "delta": {"type": "text_delta", "text": text}},
            {"type": "content_block_stop", "index": 0},
            {"type": "message_delta", "delta": {"stop_reason": "end_turn", "stop_sequence": None},
             "usage": {"output_tokens": 8}},
            {"type": "message_stop"},
        ]  # fmt: skip
        stream = "".join(f"event: {e['type']}\ndata: {json.dumps(e)}\n\n" for e in events).encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Content-Length", str(len(stream)))
        self.end_headers()
        self.wfile.write(stream)

    def log_message(self, format: str, *args: Any) -> None:
        pass


@pytest.fixture
def model() -> Iterator[tuple[str, list[str]]]:
    bodies: list[str] = []
    handler = type("Handler", (Model,), {"bodies": bodies})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}", bodies
    server.shutdown()
    thread.join()
    server.server_close()


def test_a_turn_of_claude_code_is_given_memories_and_captured_without_them(
    home: Path, model: tuple[str, list[str]]
) -> None:
    real = program("claude")
    ours("remember", "Prod SSH port is 49222", "--store", "m.db")
    ours("mcp", "install", "claude-code", "--store", "m.db")
    base, bodies = model
    keys = {"ANTHROPIC_API_KEY": "sk-ant-" + "x" * 20, "ANTHROPIC_BASE_URL": base}
    said_back = call(real, "-p", "which port for ssh?", **keys)
    assert said_back.strip() == "The port is 49222, as recalled."
    assert any("memoriter-memories" in body and "49222" in body for body in bodies)
    with memoriter.open("m.db") as memory:
        texts = {record.text for record in memory.browse().records}
    assert texts == {
        "Prod SSH port is 49222", "which port for ssh?", "The port is 49222, as recalled.",
    }  # fmt: skip
