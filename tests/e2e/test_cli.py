"""The command line from outside: processes, pipes, terminals, exit codes."""

from __future__ import annotations

import json
import os
import pty
import resource
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.e2e.commands import Cli

import memoriter

SRC = Path(memoriter.__file__).parents[1]
COMMAND = [sys.executable, "-m", "memoriter"]
Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("MEMORITER_", "COLUMNS"))}
    home = {"HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path / "config")}
    return {**kept, **home, "PYTHONPATH": str(SRC), "PYTHONIOENCODING": "utf-8"}


@pytest.fixture
def run(tmp_path: Path, env: dict[str, str]) -> Run:
    def call(*args: str | bytes, stdin: str | None = None, **more: str) -> object:
        return subprocess.run(  # noqa: S603  # our own program
            [*COMMAND, *args], cwd=tmp_path, env={**env, **more}, text=True, encoding="utf-8",
            input=stdin if stdin is not None else "", capture_output=True, check=False, timeout=120,
        )  # fmt: skip

    return call  # type: ignore[return-value]


def test_a_memory_goes_in_and_comes_out_explained(run: Run) -> None:
    assert run("init").returncode == 0
    old = run("remember", "Prod SSH port is 22", "--tag", "ops").stdout.strip()
    new = run("remember", "Prod SSH port is 49222", "--supersedes", old).stdout.strip()
    done = run("recall", "which port for ssh?", "--explain")
    assert done.returncode == 0
    assert new in done.stdout
    assert old not in done.stdout
    for word in ("words#1", "meaning#1", "tf 1", "idf", "the sum of", "recipe memoriter"):
        assert word in done.stdout
    assert "\x1b" not in done.stdout


def test_json_is_one_document_and_nothing_else(run: Run) -> None:
    kept = run("remember", "東京 is the capital", "--json")
    assert len(json.loads(kept.stdout)["ids"]) == 1
    done = run("recall", "capital", "--json")
    assert json.loads(done.stdout)["hits"][0]["record"]["text"] == "東京 is the capital"
    assert "東京" in done.stdout
    assert kept.stderr == done.stderr == ""


def test_json_errors_leave_stdout_empty(cli: Cli) -> None:
    failed = cli("get", "nobody", "--json")
    assert failed.exit_code == 3
    assert failed.stdout == ""
    assert json.loads(failed.stderr)["error"] == "NotFound"
    misused = cli("recall", "x", "--limt", "3", "--json")
    assert misused.exit_code == 2
    assert json.loads(misused.stderr)["hint"] == "did you mean --limit?"


def test_reading_makes_no_store(cli: Cli, tmp_path: Path) -> None:
    for args in (["recall", "x"], ["browse"], ["status"], ["export", "x.export"], ["forget", "x"]):
        failed = cli(*args)
        assert failed.exit_code == 3
        assert failed.stderr.splitlines() == [
            "error: there is no store at memoriter.db",
            "hint: make a store with `memoriter init`, or name an existing one with --store FILE",
        ]
    assert list(tmp_path.iterdir()) == []


def test_text_comes_from_stdin(run: Run) -> None:
    text = "two\nlines, and a NUL \0 inside\n"
    kept = run("remember", "-", stdin=text).stdout.strip()
    assert json.loads(run("get", kept, "--json").stdout)["text"] == text.removesuffix("\n")


def test_stdin_that_is_not_utf8_is_refused(tmp_path: Path, env: dict[str, str]) -> None:
    failed = subprocess.run(  # noqa: S603  # our own program
        [*COMMAND, "remember", "-"], cwd=tmp_path, env=env, input=b"caf\xe9",
        capture_output=True, check=False,
    )  # fmt: skip
    assert failed.returncode == 2
    assert b"not UTF-8" in failed.stderr


def test_a_lone_surrogate_in_an_argument_is_a_typed_error(run: Run) -> None:
    failed = run("remember", b"caf\xe9")
    assert failed.returncode == 2
    assert failed.stderr.startswith("error: argument 2 is not valid UTF-8")
    assert "Traceback" not in failed.stderr


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("reca", ["recall"]),
        ("token ", ["create", "list", "revoke"]),
        ("recall ssh --expl", ["--explain"]),
        ("recall ssh --recipe com", ["comis"]),
        ("serve --tools c", ["core", "compat"]),
        ("token create --right ", ["read", "write", "admin"]),
        ("import --format mar", ["markdown"]),
    ],
)
def test_a_shell_completes_commands_options_and_values(
    env: dict[str, str], tmp_path: Path, typed: str, offered: list[str]
) -> None:
    given = {**env, "PATH": f"{Path(sys.executable).parent}:{env['PATH']}", "SHELL": "/bin/bash"}
    (tmp_path / "memoriter").write_text(f'#!/bin/sh\nexec {sys.executable} -m memoriter "$@"\n')
    (tmp_path / "memoriter").chmod(0o755)
    made = subprocess.run(  # noqa: S603  # our own program
        ["bash", "-c", '"$0" "$@"; exit $?', *COMMAND, "--show-completion", "bash"],  # noqa: S607  # it looks for the shell that it was called by
        env=given, text=True, capture_output=True, check=True, timeout=600,
    ).stdout  # fmt: skip
    words = ["memoriter", *typed.split(" ")]
    asked = f"COMP_WORDS=({' '.join(w or chr(34) * 2 for w in words)}); COMP_CWORD={len(words) - 1}"
    lines = (made, asked, f"_memoriter_completion {tmp_path}/memoriter", 'echo "${COMPREPLY[@]}"')
    done = subprocess.run(  # noqa: S603  # what our own program printed
        ["/bin/bash", "-c", "\n".join(lines)], env=given, text=True, capture_output=True,
        check=True, timeout=120,
    )  # fmt: skip
    assert done.stdout.split() == offered, done.stderr


def test_utf8_is_read_and_written_where_the_locale_knows_none(run: Run) -> None:
    bare = {
        "LC_ALL": "POSIX", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "PYTHONIOENCODING": "",
    }  # fmt: skip
    kept = run("remember", "Zürich → 漢字", **bare)
    assert kept.returncode == 0, kept.stderr
    assert "Zürich → 漢字" in run("recall", "Zürich", **bare).stdout


def test_control_characters_do_not_reach_the_terminal(cli: Cli) -> None:
    kept = cli("remember", "red \x1b[31malert\x07").stdout.strip()
    for args in (["recall", "alert"], ["get", kept], ["browse"]):
        assert "\x1b" not in cli(*args).stdout


def test_a_reader_that_leaves_early_causes_no_noise(
    cli: Cli, tmp_path: Path, env: dict[str, str]
) -> None:
    lines = (f"memory {n} of some length, again and again\n" for n in range(3000))
    (tmp_path / "many.txt").write_text("".join(lines))
    assert cli("import", "many.txt").exit_code == 0
    for extra in ([], ["--json"]):
        process = subprocess.Popen(  # noqa: S603  # our own program
            [*COMMAND, "browse", "--limit", "3000", *extra], cwd=tmp_path, env=env,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.read(1)
        process.stdout.close()
        assert process.stderr.read() == b""
        process.stderr.close()
        assert process.wait(timeout=120) in (0, 1)


def _hears_interrupts() -> None:
    """As on a terminal: tests in the background of a shell would ignore them."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


def at_the_prompt(tmp_path: Path, env: dict[str, str]) -> tuple[subprocess.Popen[bytes], int]:
    """A forget that waits for its answer on a terminal."""
    master, slave = pty.openpty()
    process = subprocess.Popen(  # noqa: S603  # our own program
        [*COMMAND, "forget", "secret"], cwd=tmp_path, env=env,
        stdin=slave, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        preexec_fn=_hears_interrupts,  # noqa: PLW1509  # the child only runs our program
    )  # fmt: skip
    os.close(slave)
    assert process.stderr is not None
    seen = b""
    until = time.monotonic() + 60
    while b"[y/N]" not in seen and time.monotonic() < until:
        seen += os.read(process.stderr.fileno(), 4096)
    assert b"my password" in seen
    return process, master


@pytest.mark.parametrize(("answer", "code"), [(b"n\n", 1), (b"\n", 1), (b"y\n", 0)])
def test_forget_asks_on_a_terminal(
    answer: bytes, code: int, cli: Cli, tmp_path: Path, env: dict[str, str]
) -> None:
    cli("remember", "my password is hunter2", "--id", "secret", ok=True)
    process, master = at_the_prompt(tmp_path, env)
    os.write(master, answer)
    process.communicate(timeout=120)
    os.close(master)
    assert process.returncode == code
    assert cli("get", "secret").exit_code == (3 if code == 0 else 0)


def test_an_interrupt_ends_quietly_with_130(cli: Cli, tmp_path: Path, env: dict[str, str]) -> None:
    cli("remember", "my password is hunter2", "--id", "secret", ok=True)
    process, master = at_the_prompt(tmp_path, env)
    process.send_signal(signal.SIGINT)
    _, noise = process.communicate(timeout=120)
    os.close(master)
    assert process.returncode == 130
    assert noise.strip() == b""
    assert cli("get", "secret").exit_code == 0


def test_without_a_terminal_ids_are_forgotten_and_a_test_needs_yes(cli: Cli) -> None:
    cli("remember", "one", "--id", "one", "--tag", "x")
    cli("remember", "two", "--id", "two", "--tag", "x")
    assert cli("forget", "one").exit_code == 0
    where = '{"tags": {"any": ["x"]}}'
    refused = cli("forget", "--where", where)
    assert refused.exit_code == 2
    assert "--dry-run" in refused.stderr
    assert "two" in cli("forget", "--where", where, "--dry-run").stdout
    assert cli("get", "two").exit_code == 0
    assert cli("forget", "--where", where, "--yes").exit_code == 0
    assert cli("get", "two").exit_code == 3


def test_a_store_left_behind_by_a_killed_writer_can_be_read(
    run: Run, tmp_path: Path, env: dict[str, str]
) -> None:
    script = (
        "import os, memoriter\n"
        "memory = memoriter.open('memoriter.db')\n"
        "memory.remember('it survives a kill')\n"
        "os._exit(9)\n"
    )
    subprocess.run([sys.executable, "-c", script], cwd=tmp_path, env=env, check=False)  # noqa: S603  # our own program
    assert "it survives a kill" in run("browse").stdout


def work_of_children() -> float:
    """Seconds that processes we started and saw end have worked: waiting does not count."""
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    return spent.ru_utime + spent.ru_stime


def test_the_demo_is_quick_and_tells_three_stories(run: Run, tmp_path: Path) -> None:
    before = work_of_children()
    done = run("demo")
    assert work_of_children() - before < 20  # it takes one and a half
    assert done.returncode == 0
    assert done.stderr == ""
    assert "roll-back" in done.stdout
    assert "slow-lookups" in done.stdout
    assert "port-new" in done.stdout
    assert "port-old" not in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 100
    assert list(tmp_path.iterdir()) == []


def test_the_demo_can_be_kept_and_asked(cli: Cli) -> None:
    assert cli("demo", "--keep", "demo.db").exit_code == 0
    assert "roll-back" in cli("recall", "undo a release", "--store", "demo.db").stdout
    assert cli("demo", "--keep", "demo.db").exit_code == 4


def test_the_commands_that_the_demo_ends_with_answer_in_an_empty_store(cli: Cli) -> None:
    lines = cli("demo").stdout.partition("Now yours:")[2].splitlines()
    written, asked = (shlex.split(line)[1:] for line in lines if '"' in line)
    cli(*written)
    assert "9:30" in cli(*asked).stdout


def test_help_loads_neither_numpy_nor_pydantic(env: dict[str, str], tmp_path: Path) -> None:
    script = (
        "import sys\n"
        "from memoriter.doors.cli.main import app\n"
        "try:\n    app(['--help'])\nexcept SystemExit:\n    pass\n"
        "heavy = {'numpy', 'pydantic', 'apsw', 'Stemmer'} & set(sys.modules)\n"
        "sys.exit(f'loaded {heavy}' if heavy else 0)\n"
    )
    done = subprocess.run(  # noqa: S603  # our own program
        [sys.executable, "-c", script], cwd=tmp_path, env=env, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


def test_a_console_of_another_encoding_gets_replacements_and_whole_json(run: Run) -> None:
    kept = run("remember", "naïve 東京").stdout.strip()
    assert run("get", kept, PYTHONIOENCODING="ascii").returncode == 0
    done = run("get", kept, "--json", PYTHONIOENCODING="ascii")
    assert json.loads(done.stdout)["text"] == "naïve 東京"


@pytest.mark.parametrize(
    ("typed", "right"),
    [
        (("recall", "port", "--top-k", "3"), "it is called --limit"),
        (("recall", "port", "--db", "agent.db"), "it is called --store"),
        (("--db", "agent.db", "recall", "port"), "recall --store FILE"),
        (("remember", "a note", "--tags", "ops"), "it is called --tag"),
        (("list",), "it is called browse"),
        (("stats",), "it is called status"),
        (("remember", "agent.db", "a note"), "memoriter remember 'a note' --store agent.db"),
    ],
)
def test_a_word_of_another_tool_is_answered_with_ours(
    cli: Cli, typed: tuple[str, ...], right: str
) -> None:
    refused = cli(*typed)
    assert refused.exit_code == 2
    assert right in refused.stderr


def test_tags_narrow_a_recall(cli: Cli) -> None:
    cli("remember", "Prod port is 443", "--tag", "prod", "--id", "prod")
    cli("remember", "Staging port is 8080", "--tag", "staging", "--id", "staging")
    answer = json.loads(cli("recall", "port", "--tag", "prod", "--json").stdout)
    assert [hit["record"]["id"] for hit in answer["hits"]] == ["prod"]
