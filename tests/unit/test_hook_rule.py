"""When the hook puts memories into a prompt, and when it stays silent."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

import pytest
from tests.night import NIGHT
from tools.bench_data import MISSING, bench_data

import memoriter
from memoriter import Hook
from memoriter.memory.facade import Memory
from memoriter.text.question import has_topic, is_question

CHATTER: Final = Path(__file__).with_name("chatter.txt").read_text(encoding="utf-8").splitlines()
"""Sixty prompts of small talk and commands to a coding agent; none asks for a memory."""
COMMANDS: Final = Path(__file__).with_name("commands.txt").read_text(encoding="utf-8").splitlines()
"""Sixty commands of a shell, requests and prompts about a time, written before the rule was."""
STORES: Final = ("assistant", "coding", "company", "chat")
MOST_UNASKED: Final = 0.05
LINEAR: Final = {"relevance.knots": [[0.0, 0.0], [1.0, 1.0]]}
WEAK: Final = {
    "relevance.knots": [[0.0, 0.9], [1.0, 0.9]], "relevance.weak": 0.0, "relevance.strong": 1.0,
}  # fmt: skip
STRONG: Final = {**WEAK, "relevance.strong": 0.7}
NONE: Final = {**LINEAR, "relevance.weak": 1.0, "relevance.strong": 1.0}


@pytest.fixture(scope="module")
def project() -> Memory:
    """The memory of a coding agent, about what such prompts are about too."""
    memory = memoriter.open(":memory:")
    memory.remember_many(
        [
            "Run the unit tests with `make unit`; the integration tests need docker",
            "Commit subjects are in the imperative and have at most 60 characters",
            "Never push to main; open a pull request with one approval",
            "The API server restarts by itself when a file in services/api changes",
            "Docstrings are in Google style, functions have type hints",
            "The linter is ruff; its warnings fail the build",
            "Versions are tagged vX.Y.Z by the release job, not by hand",
            "Prod SSH port is 49222",
            "Helen prefers short summaries in the morning",
        ]
    )
    return memory


def test_small_talk_and_commands_get_no_memories(project: Memory) -> None:
    hook = Hook(project)
    unasked = [prompt for prompt in CHATTER if hook(prompt)]
    assert len(CHATTER) == 60
    assert len(unasked) <= MOST_UNASKED * len(CHATTER), unasked


def test_commands_of_a_shell_and_prompts_about_a_time_get_no_memories(project: Memory) -> None:
    hook = Hook(project)
    unasked = [prompt for prompt in COMMANDS if hook(prompt)]
    assert len(COMMANDS) == 60
    assert len(unasked) <= MOST_UNASKED * len(COMMANDS), unasked


def test_a_question_gets_its_memory(project: Memory) -> None:
    block = Hook(project)("how do I run the integration tests?")
    assert "docker" in block
    assert block.strength in ("strong", "weak")


def test_a_strong_answer_needs_a_topic_and_a_weak_one_a_question(project: Memory) -> None:
    hook = Hook(project)
    question, command, thanks = "which ssh port?", "open the ssh port", "thanks, good morning!"
    wanted = {
        (prompt, name): bool(hook(prompt, overrides=overrides))
        for prompt in (question, command, thanks)
        for name, overrides in {"strong": STRONG, "weak": WEAK, "none": NONE}.items()
    }
    assert [key for key, wanted_ in wanted.items() if wanted_] == [
        (question, "strong"), (question, "weak"), (command, "strong"),
    ]  # fmt: skip
    silent = hook(question, overrides=NONE)
    assert (silent, silent.citations, silent.strength) == ("", {}, "none")
    assert silent.receipt is not None
    assert hook(command, recipe="lexical").strength is None
    assert hook(command, recipe="lexical")


def test_an_answer_of_unknown_relevance_is_never_put_into_a_prompt(project: Memory) -> None:
    block = Hook(project)("Welchen Port nutzt ssh?")
    assert (block, block.citations, block.strength) == ("", {}, "unknown")
    assert project.recall("Welchen Port nutzt ssh?").context()


def test_a_weak_answer_must_lie_in_the_upper_half_of_what_is_weak(project: Memory) -> None:
    hook, question = Hook(project), "which ssh port?"
    only = {**LINEAR, "relevance.few": None, "relevance.stands_out": None}
    relevance = project.recall(question, overrides=only).relevance
    assert relevance is not None
    assert 0.0 < relevance < 0.5
    for strong, wanted in ((2 * relevance, True), (2 * relevance + 0.01, False)):
        overrides = {**only, "relevance.weak": 0.0, "relevance.strong": strong}
        block = hook(question, overrides=overrides)
        assert (bool(block), block.strength) == (wanted, "weak")


@pytest.mark.parametrize(
    "prompt", ["what day is it today?", "was that the last one?", "how long will this take?"]
)
def test_questions_of_small_talk_get_no_memories(project: Memory, prompt: str) -> None:
    assert not Hook(project)(prompt)
    others = memoriter.open(":memory:")
    others.remember_many(
        ["The last day of school is 20 June", "The oven takes a long time to heat up"]
    )
    assert not Hook(others)(prompt)


def test_an_answer_of_the_hook_as_data_has_its_strength(project: Memory) -> None:
    data = Hook(project)("which ssh port?").to_dict()
    assert set(data) == {"text", "citations", "status", "receipt", "strength", "problem"}
    assert data["strength"] in ("strong", "weak")
    assert Hook(project)("").to_dict()["strength"] is None


@pytest.mark.parametrize(
    ("sentence", "asks"),
    [
        ("which port for ssh", True),
        ("Do you remember which port we use?", True),
        ("ok, so where is the key kept?", True),
        ("can you tell me who owns the cache?", True),
        ("¿Qué puerto usa ssh?", True),
        ("did the invoice number change", True),
        ("could you also add a type hint there?", False),
        ("what do you think?", False),
        ("what's next?", False),
        ("do the same for the other file", False),
        ("restart the server", False),
        ("", False),
    ],
)
def test_a_question_is_told_from_a_request_and_small_talk(sentence: str, asks: bool) -> None:  # noqa: FBT001  # a parameter of the table above
    assert is_question(sentence) is asks


def test_many_openers_before_a_question_are_read_once() -> None:
    # A pattern that backtracks would not come back from the first of these.
    assert not is_question("ok " * 5_000 + "fine, the port")
    assert is_question("ok, so " * 5_000 + "which port")


def test_small_talk_has_no_topic() -> None:
    assert not any(map(has_topic, ["thanks!", "ok, go ahead", "hm, yes", "", "?"]))
    assert has_topic("the ssh port")


# --- the everyday stores ------------------------------------------------------------------------


def _lines(path: Path) -> Iterable[dict[str, Any]]:
    return map(json.loads, path.read_text(encoding="utf-8").splitlines())


def _stored(folder: Path) -> Memory:
    memory = memoriter.open(":memory:")
    known = ("id", "created", "title", "tags", "kind", "session", "occurred", "expires")
    for line in _lines(folder / "memories.jsonl"):
        fields = {key: line[key] for key in (*known, "supersedes") if key in line}
        who = line.get("speaker") or line.get("role")
        text = f"{who}: {line['text']}" if who else line["text"]
        memory.remember(text, **fields, **({"source": {"who": who}} if who else {}))
    return memory


def test_the_hook_is_silent_where_nothing_was_asked_of_the_everyday_stores() -> None:
    folder = bench_data("everyday")
    if folder is None:
        pytest.skip(MISSING)
    asked, unasked = 0, list[tuple[str, str]]()
    answerable, right = 0, 0
    for name in STORES if NIGHT else STORES[:2]:
        hook = Hook(_stored(folder / name))
        questions = list(_lines(folder / name / "questions.jsonl"))
        talk = [q["question"] for q in questions if q["type"] == "smalltalk"]
        prompts = [*CHATTER, *talk]
        asked += len(prompts)
        unasked += [(name, prompt) for prompt in prompts if hook(prompt)]
        for question in filter(lambda each: each["answerable"], questions):
            block = hook(question["question"], now=question["asked_at"])
            answerable += 1
            right += bool(set(block.citations.values()) & set(question["gold"]))
    assert len(unasked) <= MOST_UNASKED * asked, unasked
    assert right >= answerable // 2
