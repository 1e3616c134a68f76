"""A recorded coding session, captured turn by turn as a hook does, and asked about."""

from __future__ import annotations

from pathlib import Path

from bench.capture import QUESTIONS, capture, ranks, turns
from tests.unit.planted_secrets import PLANTED

import memoriter


def test_a_session_of_200_turns_is_captured_once_and_without_recalled_blocks(
    tmp_path: Path,
) -> None:
    with memoriter.open(":memory:") as memory:
        assert capture(memory, tmp_path) == len(turns()) == 200
        assert capture(memory, tmp_path) == 0
        texts = [record.text for record in memory.browse("oldest", limit=1000).records]
        assert texts == [text for _, text in turns()]
        answered = [rank is not None and rank <= 3 for rank in ranks(memory)]
        assert sum(answered) >= 0.8 * len(QUESTIONS)


def test_secrets_planted_into_a_session_are_refused_and_the_rest_is_kept() -> None:
    spoken = [
        {"role": role, "content": text, "id": f"m{n}"} for n, (role, text) in enumerate(turns())
    ]
    for n, (_, secret) in enumerate(PLANTED):
        spoken.insert(4 * n, {"role": "user", "content": f"use {secret} for it", "id": f"s{n}"})
    with memoriter.open(":memory:") as memory:
        report = memory.remember_messages(spoken, session="s")
        assert (len(report.ids), len(report.refused)) == (200, 50)
