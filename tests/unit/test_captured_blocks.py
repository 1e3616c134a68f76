"""What a hook recalled never comes back as a memory, in the transcript of any host."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import memoriter
from memoriter.doors.cli.main import app
from memoriter.doors.transcripts import conversation_of
from memoriter.memory.facade import Memory
from memoriter.text.prompt import HEAD
from memoriter.text.recalled import tagged_block, without_blocks

FACT = "Prod SSH port is 49222"
ASKED = "Which port for ssh?"
TIME = "2026-03-01T10:00:00Z"


def hook(verb: str, payload: Any, store: Path) -> str:
    given = payload if isinstance(payload, str) else json.dumps(payload)
    done = CliRunner().invoke(app, ["hooks", verb, "--store", str(store)], input=given)
    assert done.exit_code != 2, done.output  # 2 would make an agent drop the prompt
    assert "Traceback" not in done.output
    return done.stdout if done.exit_code == 0 else done.stderr


@pytest.fixture
def store(tmp_path: Path) -> Path:
    path = tmp_path / "m.db"
    with memoriter.open(path) as memory:
        memory.remember(FACT)
    return path


def texts(store: Path) -> list[str]:
    with memoriter.open(store) as memory:
        return [record.text for record in memory.browse("oldest", limit=100).records]


def claude(content: Any, uuid: str = "u1", role: str = "user") -> dict[str, Any]:
    message = {"role": role, "content": content}
    return {"type": role, "uuid": uuid, "timestamp": TIME, "message": message}


def codex(text: str) -> dict[str, Any]:
    content = [{"type": "input_text", "text": text}]
    item = {"type": "message", "role": "user", "content": content}
    return {"timestamp": TIME, "type": "response_item", "payload": item}


def transcripts(block: str) -> dict[str, list[dict[str, Any]]]:
    """The prompt with a block, as each program may have kept it."""
    half = len(block) // 2
    escaped = block.replace("<", "&lt;").replace(">", "&gt;")
    gemini = {"id": "1", "timestamp": TIME, "type": "user"}
    return {
        "claude before": [claude(f"{block}\n{ASKED}")],
        "claude reminder": [claude(f"{ASKED}\n<system-reminder>\n{block}\n</system-reminder>")],
        "claude hook tag": [
            claude(f"<user-prompt-submit-hook>{block}</user-prompt-submit-hook>\n{ASKED}")
        ],
        "claude parts": [
            claude([{"type": "text", "text": block}, {"type": "text", "text": ASKED}])
        ],
        "claude alone": [claude(block, "b"), claude(ASKED)],
        "claude cut": [claude(ASKED), claude(block[:half], "c")],
        "claude echoed": [claude(ASKED), claude(f"You gave me:\n{block}", "e", "assistant")],
        "codex before": [codex(f"{block}\n\n{ASKED}")],
        "codex alone": [codex(block), codex(ASKED)],
        "gemini context": [
            {**gemini, "content": f"{ASKED}\n\n<hook_context>{escaped}</hook_context>"}
        ],
        "gemini parts": [{**gemini, "content": [{"text": ASKED}, {"text": block}]}],
    }


def test_a_recalled_block_is_not_captured(store: Path, tmp_path: Path) -> None:
    prompt = {"hook_event_name": "UserPromptSubmit", "session_id": "s", "prompt": ASKED}
    block = json.loads(hook("recall", prompt, store))["hookSpecificOutput"]["additionalContext"]
    assert FACT in block
    path = tmp_path / "t.jsonl"
    for name, rows in transcripts(block).items():
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        payload = {"hook_event_name": "Stop", "session_id": name, "transcript_path": str(path)}
        hook("capture", payload, store)
        with memoriter.open(store) as memory:
            turns = memory.browse(where={"session": name}).records
        spoken = {record.text for record in turns}
        assert ASKED in spoken, name
        assert spoken <= {ASKED, "You gave me:"}, name


def test_a_memory_with_the_tag_of_a_program_does_not_end_its_block(
    store: Path, tmp_path: Path
) -> None:
    with memoriter.open(store) as memory:
        memory.remember("SSH port of stage is 22 </system-reminder> and Ann rotates the key")
    prompt = {"hook_event_name": "UserPromptSubmit", "session_id": "s", "prompt": ASKED}
    block = json.loads(hook("recall", prompt, store))["hookSpecificOutput"]["additionalContext"]
    assert "Ann rotates" in block
    path = tmp_path / "t.jsonl"
    row = claude(f"{ASKED}\n<system-reminder>\n{block}\n</system-reminder>")
    path.write_text(json.dumps(row) + "\n")
    hook("capture", {"session_id": "r", "transcript_path": str(path)}, store)
    assert texts(store)[0] == ASKED  # the oldest
    assert len(texts(store)) == 3


def marked(text: str, mark: str) -> str:
    return "\n".join(mark + line for line in text.split("\n"))


FORMS: dict[str, Callable[[str], str]] = {
    "escaped": json.dumps,
    "escaped twice": lambda block: json.dumps(json.dumps({"a": block})),
    "escaped signs": lambda block: (
        json.dumps(block).replace("<", "\\u003c").replace(">", "\\u003e")
    ),
    "escaped slash": lambda block: json.dumps(block).replace("</", "<\\/"),
    "added lines": lambda block: marked(block, "+"),
    "numbered": lambda block: "\n".join(
        f"{n:>6}\t{line}" for n, line in enumerate(block.split("\n"), 1)
    ),
    "table": lambda block: marked(block, "| "),
    "comment": lambda block: marked(block, "# "),
    "indented": lambda block: marked(block, "    "),
    "quoted": lambda block: marked(block, "> "),
    "quoted with empty lines": lambda block: marked(block, "> ").replace("> \n", "\n"),
    "item of a list": lambda block: "- " + block.replace("\n", "\n  "),
    "wide spaces": lambda block: block.replace(" ", "\u00a0"),
    "wide spaces, escaped": lambda block: json.dumps(block.replace(" ", "\u00a0")),
    "indented by wide spaces": lambda block: marked(block, "\u00a0\u2003"),
}


@pytest.mark.parametrize("form", FORMS)
def test_a_block_in_another_form_is_left_out_and_the_words_around_it_are_kept(form: str) -> None:
    with memoriter.open(":memory:") as memory:
        memory.remember("The ZEBRA gate is 7\n\nand ZEBRA has a second paragraph")
        memory.remember("ZEBRA of a page: <\\/memoriter-memories> goes on", trust="external")
        memory.remember("The ZEBRA door is 8", trust="system")
        block = str(memory.recall("ZEBRA", budget_tokens=800).context())
    assert block.count("ZEBRA") == 4
    for own in (block, tagged_block(block)):
        left = without_blocks(f"Before it.\n\n{FORMS[form](own)}\n\nDeploy on Friday, please")
        assert "ZEBRA" not in left
        assert left.startswith("Before it.")
        assert left.endswith("Deploy on Friday, please")


DECORATED: dict[str, Callable[[str], str]] = {
    "list": lambda block: numbered(block, "{}. "),
    "search": lambda block: numbered(block, "log.txt:{}:"),
    "log": lambda block: numbered(block, "12:00:{:02} INFO "),
    "label": lambda block: numbered(block, "L{}: "),
    "percent": lambda block: marked(block, "% "),
    "REM": lambda block: marked(block, "REM "),
    "apostrophe": lambda block: marked(block, "' "),
    "table": lambda block: marked(block, "| ").replace("\n", " |\n"),
    "page": lambda block: block.replace("\n", "<br>\n"),
    "page in one line": lambda block: block.replace("\n", "<br>"),
    "JSON list": lambda block: json.dumps(block.split("\n")),
    "Python list": lambda block: repr(block.split("\n")),
}


def numbered(text: str, mark: str) -> str:
    return "\n".join(mark.format(n) + line for n, line in enumerate(text.split("\n"), 1))


def zebra_block() -> str:
    with memoriter.open(":memory:") as memory:
        memory.remember("The ZEBRA gate is 7")
        memory.remember("ZEBRA of a page", trust="external")
        memory.remember("The ZEBRA door is 8", trust="system")
        return str(memory.recall("ZEBRA", budget_tokens=800).context())


def test_between_both_tags_a_block_is_left_out_in_any_decoration() -> None:
    block = tagged_block(zebra_block())
    for name, form in DECORATED.items():
        left = without_blocks(f"Before it.\n\n{form(block)}\n\nDeploy on Friday, please")
        assert "ZEBRA" not in left, name
        assert "Recalled" not in left, name
        assert left.startswith("Before it."), name
        assert left.endswith("Deploy on Friday, please"), name
        if name in ("list", "search", "log", "label", "percent", "REM", "apostrophe"):
            assert left == "Before it.\n\nDeploy on Friday, please"


def test_a_block_whose_beginning_was_cut_off_is_left_out() -> None:
    block = zebra_block()
    heads = HEAD[: HEAD.index(" Cite")].split(" ")
    for own in (block, tagged_block(block)):
        start = own.index(HEAD)
        words = [start + len(" ".join(heads[:n])) for n in range(len(heads) + 1)]
        for cut in [*range(start), *words, own.index("[1]"), own.index("[3]")]:
            for mark in ("", "…", "... "):
                left = without_blocks(f"{mark}{own[cut:]}\n\nDeploy on Friday, please")
                assert left.lstrip("…. \n") == "Deploy on Friday, please", own[cut:]


def test_of_a_block_that_begins_inside_an_entry_the_fenced_entries_are_left_out() -> None:
    block = tagged_block(zebra_block())
    left = without_blocks(f"{block[block.index('gate') :]}\nDeploy on Friday, please")
    assert left.startswith("gate is 7\n```\n\n[2] system, ")  # as somebody may write it
    assert left.endswith("The ZEBRA door is 8\n\nDeploy on Friday, please")


def test_of_a_block_without_its_closing_tag_only_its_own_lines_are_left_out() -> None:
    block = zebra_block()
    cut = tagged_block(block).removesuffix("\n</memoriter-memories>")
    words = "Deploy on Friday, please"
    assert without_blocks(f"{cut}\n\n{words}") == words
    assert without_blocks(f"{cut}\n\n{words}\n\n{tagged_block(block)}") == words
    assert without_blocks(f"{words}\n<memoriter-memories>\n{HEAD[:40]}") == words


@pytest.mark.parametrize("after", ["", "\n\n```python\nprint(1)\n```"])
def test_words_behind_a_block_that_was_cut_inside_a_fence_are_kept(after: str) -> None:
    for block in (zebra_block(), tagged_block(zebra_block())):
        words = f"Deploy on Friday, please{after}"
        cut = block[: block.index("gate")]
        assert without_blocks(f"{cut}…\n\n{words}") == words
        assert without_blocks(marked(f"{cut}…", "> ") + f"\n\n{words}") == words


@pytest.mark.parametrize("mark", [">", "> ", "s>", "|"])
def test_words_below_a_quoted_line_of_a_block_are_kept(mark: str) -> None:
    words = "Why does this line appear? Deploy on Friday; the tag is </memoriter-memories>."
    assert without_blocks(f"{mark}{HEAD}\n\n{words}").endswith(words)
    assert "Recalled" not in without_blocks(f"{mark}{HEAD}\n\n{words}")


@pytest.mark.parametrize("before", [
    "Look at my prompt, why is Ann in there?\n```\n",
    "Run this:\n```bash\nmake deploy\n```\n",
    "I never told it about Ann.\n````\n",
])  # fmt: skip
def test_words_before_the_fence_of_an_entry_are_kept(before: str) -> None:
    entry = "[1] learned, 2024-05-01\n```memory\nAnn likes tea\n```"
    left = without_blocks(f"{before}{entry}\nDelete it.")
    assert left == f"{before.strip()}\n\nDelete it."


@pytest.mark.parametrize("text", [
    "what does </memoriter-memories> mean?",
    "see [1] for the fence:\n```\ncode\n```\nand then deploy",
    "Here is code\n```\nx = 1\n```\n\n[1] learned a lot",
    "Cite as [n]. That is the rule.",
    "[12] system, 2024-05-01\nrebooted by ops because of a kernel panic",
    "[12] system, 2024-05-01 08:00 rebooted\n[13] system, 2024-05-01 09:00 disk replaced\nWhy?",
    "- [1] system, 2024-05-01\nWe decided to use Postgres\n\nNext steps: call Ann",
    "Deploy on Friday. The closing tag in the docs is ```</memoriter-memories>```",
    "My hook printed this, what is wrong?\n```\n</memoriter-memories>\n```\nPlease fix it.",
])  # fmt: skip
def test_what_only_resembles_the_end_of_a_block_is_kept(text: str) -> None:
    assert without_blocks(text) == text


def test_words_in_the_line_of_a_block_and_below_it_are_kept() -> None:
    text = f"> Deploy on Friday. {HEAD}\n> and drop the cache"
    assert without_blocks(text) == "> Deploy on Friday.\n\n> and drop the cache"


def test_a_block_in_a_prompt_of_cursor_is_not_captured(store: Path) -> None:
    base = {"conversation_id": "c", "generation_id": "g", "hook_event_name": "beforeSubmitPrompt"}
    block = json.loads(hook("recall", {**base, "prompt": ASKED}, store))["additional_context"]
    hook("capture", {**base, "prompt": f"{block}\n{ASKED}"}, store)
    assert sorted(texts(store)) == [FACT, ASKED]


BAD = [
    "", "\x00", "null", "5", "[1]", "{", "[" * 50_000, '{"prompt": 5, "transcript_path": 7}',
    '{"prompt": "a", "prompt": "b"}', '{"messages": {"a": 1}}', '{"messages": [5, null]}',
    '{"conversation_id": 5, "prompt": ["a"], "text": {}}', '{"transcript_path": "/"}',
    '{"session_id": {"a": 1}, "transcript_path": "/nowhere"}',
    '{"messages": [{"role": 5, "content": {"a": []}}]}',
]  # fmt: skip


def test_a_bad_payload_changes_nothing_and_stops_no_agent(store: Path) -> None:
    for payload in BAD:
        hook("capture", payload, store)
    assert texts(store) == [FACT]


def test_half_a_character_costs_no_turn(store: Path) -> None:
    turns = '[{"role": "user", "content": "cut \\ud83d", "id": "\\ud83d", "name": "\\ud83d"}]'
    hook("capture", f'{{"session": "s", "messages": {turns}}}', store)
    assert texts(store) == [FACT, "cut ?"]
    shown = hook("recall", '{"prompt": "\\ud83d which port for ssh?"}', store)
    assert FACT in json.loads(shown)["hookSpecificOutput"]["additionalContext"]


def test_a_payload_beyond_the_limit_is_refused_in_words(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memoriter.doors.cli.hooks.LONGEST_PROMPT", 2**20)
    prompt = json.dumps({"prompt": "x " * 2**19})
    for verb in ("recall", "capture"):
        assert "more than 1 million characters" in hook(verb, prompt, store)


def test_two_hooks_at_once_write_each_turn_once(store: Path, tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text("".join(json.dumps(claude(f"turn {n}", f"u{n}")) + "\n" for n in range(40)))
    payload = {"session_id": "s", "transcript_path": str(path), "hook_event_name": "Stop"}
    start = threading.Barrier(3)

    def capture(memory: Memory) -> None:
        heard = conversation_of(payload)
        start.wait()
        memory.remember_messages(heard.messages, session=heard.session)

    with memoriter.open(store) as one, memoriter.open(store) as two, memoriter.open(store) as three:
        threads = [threading.Thread(target=capture, args=(each,)) for each in (one, two, three)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert sorted(texts(store)) == sorted([FACT, *(f"turn {n}" for n in range(40))])
