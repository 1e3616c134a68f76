"""The boost `session`: neighbours in a conversation, and the share of score that they add."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from tests.inside import log_of, view_of

import memoriter
from memoriter.index.reads import turns_around
from memoriter.memory.facade import Memory
from memoriter.pipeline.load import recipe_of

acts = st.lists(
    st.tuples(
        st.sampled_from([None, "a", "b"]),
        st.sampled_from(["keep", "update", "forget", "tidy"]),
        st.integers(0, 30),
    ),
    min_size=1,
    max_size=25,
)


def written(turns: list[tuple[str | None, str, int]]) -> Memory:
    memory = memoriter.open(":memory:", embedder=None)
    ids: list[str] = []
    for n, (session, act, which) in enumerate(turns):
        ids += memory.remember(f"turn {n}", session=session).ids
        if act == "update":
            memory.update(ids[which % len(ids)], tags=[str(n)])
        if act == "forget" and len(ids) > 1:
            memory.forget(ids.pop(which % len(ids)))
        if act == "tidy":
            memory.maintain()
    return memory


@given(acts)
def test_turns_are_the_records_before_and_after_in_the_session(
    turns: list[tuple[str | None, str, int]],
) -> None:
    memory = written(turns)
    view = view_of(memory)
    seen = zip(view.segments, view.visible, strict=True)
    rows = np.concatenate([segment.rows[mask] for segment, mask in seen])
    records = [r for r in log_of(memory).records("default", rows.tolist()) if r is not None]
    before, after = turns_around(view, rows, 3)
    for at, record in enumerate(records):
        talk = sorted(
            (r.position, r.row) for r in records if record.session and r.session == record.session
        )
        place = talk.index((record.position, record.row)) if talk else 0
        for away in (1, 2, 3):
            wanted = [
                talk[n][1] if 0 <= n < len(talk) else -1 for n in (place - away, place + away)
            ]
            assert [before[away - 1, at], after[away - 1, at]] == wanted


def test_the_better_neighbour_lends_a_share_of_its_score() -> None:
    memory = memoriter.open(":memory:", embedder=None)
    for text, session in (
        ("did you adopt a dog", "s"), ("yes, from the shelter dog dog", "s"), ("dog food", "t"),
    ):  # fmt: skip
        memory.remember(text, session=session)
    plain = {hit.record.text: hit.score for hit in memory.recall("dog", recipe="lexical")}
    recipe = recipe_of("lexical").to_data()
    recipe["boosts"] = {"session": {"kind": "session", "weight": 0.3}}
    recipe["pass"][0]["boosts"] = ["session"]
    for hit in memory.recall("dog", recipe=recipe):
        parts = {part.label: part for part in hit.explanation.parts}
        if hit.record.session == "t":
            assert "session" not in parts
            continue
        (other,) = [t for t in plain if t != hit.record.text and "food" not in t]
        assert parts["session"].value == np.rint(0.3 * plain[other] * 2**32) / 2**32
        assert memory.get(str(parts["session"].facts["row"])).text == other
