"""The recall hook of an agent loop, in process and at the command line."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any, cast

import pytest
from typer.testing import CliRunner

import memoriter
from memoriter import Hook
from memoriter.core.errors import InputError
from memoriter.doors.cli.main import app
from memoriter.memory.facade import Memory
from memoriter.memory.options import SearchKwargs
from memoriter.testing.fakes import START

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def memory() -> Memory:
    memory = memoriter.open(":memory:")
    memory.remember("Prod SSH port is 49222", id="port")
    memory.remember("Deploys are frozen on Fridays", id="frozen", agent="bot")
    return memory


def test_a_message_gives_the_fenced_block_with_its_citations(memory: Memory) -> None:
    block = Hook(memory)("which port for ssh?")
    assert "Prod SSH port is 49222" in block
    assert block.citations["1"] == "port"
    assert (block.status, block.problem) == ("complete", None)
    assert block == memory.recall("which port for ssh?", budget_tokens=800).context()


def test_the_block_stays_within_its_budget(memory: Memory) -> None:
    memory.remember_many([f"ssh port note {n} " + "and so on " * 50 for n in range(20)])
    block = Hook(memory, budget_chars=700)("which ssh port?")
    assert 0 < len(block) <= 700


def test_options_of_the_hook_and_of_the_call_narrow_the_question(memory: Memory) -> None:
    assert "port" not in Hook(memory, agent="bot")("which port for ssh?").citations.values()
    block = Hook(memory)("any deploys on friday?", agent="bot", limit=1)
    assert list(block.citations.values()) == ["frozen"]


@pytest.mark.parametrize("message", ["", "  \n"])
def test_a_blank_message_recalls_nothing(memory: Memory, message: str) -> None:
    block = Hook(memory)(message)
    assert (block, block.status, block.receipt) == ("", "complete", None)


def test_of_a_long_message_the_end_is_asked_with(memory: Memory) -> None:
    block = Hook(memory)("lorem ipsum. " * 20_000 + "which port for ssh?")
    assert block.citations["1"] == "port"


def test_of_a_long_message_the_last_question_is_asked(memory: Memory) -> None:
    log = "\n".join(f"10:0{n % 10} worker {n} retried the batch" for n in range(60))
    block = Hook(memory)(f"Here is what I see.\nwhich port for ssh?\n{log}")
    assert block.citations["1"] == "port"


def test_a_memory_that_is_away_gives_an_empty_block_that_says_why(memory: Memory) -> None:
    memory.close()
    gone = Hook("http://127.0.0.1:9", timeout=60.0)("ssh port")
    assert (gone, gone.status) == ("", "failed")
    assert gone.problem is not None
    assert "127.0.0.1:9" in gone.problem


@pytest.mark.parametrize(
    ("memory", "more"),
    [("agent.db", {}), (5, {}), ("http://user@host", {}), ("http://h", {"timeout": 0})],
)
def test_a_hook_that_cannot_be_is_refused_at_once(memory: Any, more: dict[str, Any]) -> None:
    with pytest.raises(InputError) as caught:
        Hook(memory, **more)
    assert caught.value.field


def test_an_option_that_does_not_exist_is_an_error_and_no_silence(memory: Memory) -> None:
    wrong: Any = {"limits": 3}
    with pytest.raises(InputError, match="did you mean limit"):
        Hook(memory, **wrong)
    with pytest.raises(InputError, match="did you mean limit"):
        Hook(memory)("ssh port", **wrong)
    with pytest.raises(InputError, match="it is called limit here"):
        Hook(memory, top_k=3)  # pyright: ignore[reportCallIssue]  # a word of other libraries
    no_json: Any = {"where": object()}
    with pytest.raises(InputError, match="JSON"):
        Hook("http://127.0.0.1:9", **no_json)("ssh port")


@pytest.mark.parametrize(
    "moment", ["0s", timedelta(0), datetime.fromtimestamp(START / 1e6, UTC), date(2030, 1, 1)]
)
def test_a_hook_takes_times_as_python_has_them(memory: Memory, moment: Any) -> None:
    assert Hook(memory, as_of=moment)("ssh port").status == "complete"
    assert Hook(memory)("ssh port", where={"created": {"lte": moment}}).status == "complete"


def test_a_hook_shows_its_options() -> None:
    assert {*SearchKwargs.__annotations__, "limit"} <= set(inspect.signature(Hook).parameters)
    assert "budget_tokens: Only as many memories as fit" in (Hook.__init__.__doc__ or "")


# --- at the command line ------------------------------------------------------------------------


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.chdir(tmp_path)
    with memoriter.open("memoriter.db") as memory:
        memory.remember("Prod SSH port is 49222", id="port")

    def call(stdin: str | bytes, *args: str) -> tuple[int, str, str]:
        done = CliRunner().invoke(app, ["hooks", *args], input=stdin)
        return done.exit_code, done.stdout, done.stderr

    return call


def test_the_json_of_a_coding_agent_is_answered_in_json(run: Run) -> None:
    asked = {"prompt": "which port for ssh?", "hook_event_name": "UserPromptSubmit"}
    code, out, _ = run(json.dumps(asked), "recall")
    reply = json.loads(out)["hookSpecificOutput"]
    assert (code, reply["hookEventName"]) == (0, "UserPromptSubmit")
    assert "49222" in reply["additionalContext"]


def test_a_reranker_is_asked_or_the_hook_says_why_not(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMORITER_RERANKER", "nobody")
    code, _, err = run("which port for ssh?", "recall")
    assert (code, "there is no reranker 'nobody'" in err) == (1, True)
    monkeypatch.delenv("MEMORITER_RERANKER")
    code, _, err = run("port", "recall", "--reranker", "x", "--url", "http://127.0.0.1:9")
    assert (code, "the server chooses the reranker" in err) == (1, True)


def test_plain_text_is_answered_with_the_block(run: Run) -> None:
    code, out, _ = run("which port for ssh?", "recall")
    assert (code, out.startswith("Recalled memories")) == (0, True)


@pytest.mark.parametrize(
    ("stdin", "args"),
    [
        ('{"x": 1}', ["recall"]),
        ("ssh", ["recall", "--store", "nope.db"]),
        ("ssh", ["recall", "--recipe", "nope"]),
        ("ssh", ["recall", "--url", "nope"]),
    ],
)
def test_a_failure_never_drops_the_prompt(run: Run, stdin: str, args: list[str]) -> None:
    code, out, err = run(stdin, *args)
    assert (code, out) == (1, "")
    assert err.startswith("memoriter: ")


@pytest.mark.parametrize("args", [["--nope"], ["--budget-tokens", "many"], ["a", "b"]])
def test_a_hook_that_is_spelled_wrong_does_not_drop_the_prompt(run: Run, args: list[str]) -> None:
    code, out, err = run("ssh", "recall", *args)
    assert (code, out) == (1, "")
    assert err.startswith("error: ")


def test_a_prompt_that_is_no_utf8_is_read_as_far_as_it_is(run: Run) -> None:
    code, out, _ = run(b"which ssh port in Z\xfcrich?", "recall")
    assert (code, out.startswith("Recalled memories")) == (0, True)


def test_nothing_to_say_is_said_as_empty_json(run: Run) -> None:
    assert run('{"prompt": " "}', "recall")[:2] == (0, "{}\n")


def test_show_prints_what_a_coding_agent_needs(run: Run) -> None:
    code, out, err = run("", "show", "claude-code", "--store", "my store.db")
    (entry,) = json.loads(out)["hooks"]["UserPromptSubmit"]
    store = Path("my store.db").absolute()
    assert entry["hooks"][0]["command"] == f"memoriter hooks recall --store '{store}'"
    assert (code, ".claude/settings.json" in err) == (0, True)
    assert run("", "show", "zed")[0] == 2


# --- capture ------------------------------------------------------------------------------------


def stop(path: Path, *texts: tuple[str, str]) -> str:
    """The payload of a Stop hook, with a transcript of these turns."""
    rows = [
        {"type": role, "uuid": f"u{n}", "message": {"role": role, "content": text}}
        for n, (role, text) in enumerate(texts)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return json.dumps({"session_id": "s1", "transcript_path": str(path), "hook_event_name": "Stop"})


def texts() -> set[str]:
    with memoriter.open("memoriter.db") as memory:
        return {record.text for record in memory.browse(limit=100).records}


def test_a_turn_is_captured_once_and_without_the_recalled_block(run: Run, tmp_path: Path) -> None:
    asked = {"prompt": "which port for ssh?", "hook_event_name": "UserPromptSubmit"}
    block = json.loads(run(json.dumps(asked), "recall")[1])["hookSpecificOutput"]
    turns = [
        ("user", f"{block['additionalContext']}\nwhich port for ssh?"),
        ("assistant", "Port 49222, as recalled."),
    ]
    payload = stop(tmp_path / "t.jsonl", *turns)
    assert run(payload, "capture") == (0, "{}\n", "")
    code, out, _ = run(payload, "capture", "--json")
    assert (code, json.loads(out)["already"], json.loads(out)["ids"]) == (0, 2, [])
    assert texts() == {
        "Prod SSH port is 49222", "which port for ssh?", "Port 49222, as recalled.",
    }  # fmt: skip


def test_a_secret_in_a_turn_is_named_and_neither_stored_nor_printed(
    run: Run, tmp_path: Path
) -> None:
    token = "ghp_" + "a1B2" * 9
    payload = stop(tmp_path / "t.jsonl", ("user", f"use {token}"), ("assistant", "Done."))
    code, out, err = run(payload, "capture", "--json")
    assert (code, err) == (0, "memoriter: a turn was not stored: it holds a GitHub token\n")
    assert json.loads(out)["refused"] == [{"message": 0, "kinds": ["GitHub token"]}]
    assert token not in out + err
    assert not any(token in text for text in texts())
    assert token.encode() not in (tmp_path / "memoriter.db").read_bytes()


def test_messages_can_be_captured_by_hand(run: Run) -> None:
    spoken = {"session": "s2", "messages": [{"role": "user", "content": "Friday is release day"}]}
    code, out, _ = run(json.dumps(spoken), "capture", "--user", "ann")
    assert (code, len(json.loads(out)["ids"])) == (0, 1)
    with memoriter.open("memoriter.db") as memory:
        assert memory.scoped(user="ann", session="s2").count() == 1


def test_a_server_gets_all_of_a_long_conversation(
    run: Run, memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[int] = []

    def server(_: object, operation: str, request: Any) -> dict[str, Any]:
        assert operation == "remember_messages"
        sent.append(len(request["messages"]))
        return cast("Any", memory.remember_messages(**request).to_dict())

    monkeypatch.setattr("memoriter.doors.remote.RemoteMemory.run", server)
    monkeypatch.setattr("memoriter.doors.sizes.BATCH", 10)
    monkeypatch.setattr("memoriter.doors.cli.hooks.BATCH_BYTES", 2000)
    turns = [{"role": "user", "content": f"line {n}", "id": f"m{n}"} for n in range(15)]
    turns[11]["content"] = f"use {'ghp_' + 'a1B2' * 9}"
    turns[13]["content"], turns[14]["content"] = "x " * 700, "y " * 700
    spoken = json.dumps({"session": "s2", "messages": turns})
    code, out, _ = run(spoken, "capture", "--url", "http://127.0.0.1:1")
    report = json.loads(out)
    assert (code, sent, len(report["ids"])) == (0, [10, 4, 1], 14)
    assert report["refused"] == [{"message": 11, "kinds": ["GitHub token"]}]
    again = json.loads(run(spoken, "capture", "--url", "http://127.0.0.1:1")[1])
    assert (again["ids"], again["already"], again["problem"]) == ([], 14, None)
    empty = run('{"messages": []}', "capture", "--url", "http://127.0.0.1:1")
    assert (empty[0], json.loads(empty[1])["ids"]) == (0, [])


@pytest.mark.parametrize(
    ("stdin", "args"),
    [
        ("", ["capture"]),
        ("[]", ["capture"]),
        ('{"x": 1}', ["capture"]),
        ('{"transcript_path": "."}', ["capture"]),
        ('{"messages": ["x"]}', ["capture"]),
        ('{"messages": []}', ["capture", "--nope"]),
        ('{"messages": []}', ["capture", "--url", "nope"]),
        ('{"messages": []}', ["capture", "--facts"]),
    ],
)
def test_a_capture_that_fails_never_stops_the_agent(
    run: Run, stdin: str, args: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("MEMORITER_LLM_URL", raising=False)
    code, out, err = run(stdin, *args)
    assert (code, out) == (1, "")
    assert err.startswith(("memoriter: ", "error: "))


@pytest.mark.parametrize("host", ["claude-code", "codex", "cursor", "gemini"])
def test_the_hooks_of_every_host_recall_and_capture(run: Run, host: str) -> None:
    code, out, _ = run("", "show", host, "--store", "m.db", "--json")
    text = json.dumps(json.loads(out)["hooks"])
    assert code == 0
    store = Path("m.db").absolute()
    assert f"memoriter hooks recall --store {store}" in text
    assert f"memoriter hooks capture --store {store}" in text


def test_cursor_is_answered_in_its_own_shape(run: Run) -> None:
    asked = {"conversation_id": "c", "generation_id": "g", "prompt": "which port for ssh?"}
    code, out, _ = run(json.dumps(asked), "recall")
    assert (code, json.loads(out)["continue"]) == (0, True)
    assert "49222" in json.loads(out)["additional_context"]
