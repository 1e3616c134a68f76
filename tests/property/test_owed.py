"""Records whose vectors are owed: any recipe answers as the oracle does, and proves it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.inside import context_of, embedder_of, log_of, view_of
from tests.property.pipelines import MODE, Data, asks, one_of, pipelines, pools, questions, worlds
from tests.property.pipelines import World as Written
from tests.property.pipelines import lived as happened
from tests.property.strategies import EXAMPLES
from tests.property.worlds import asked, expected, open_toy
from tests.sound import sound

from memoriter.core.scope import Scope
from memoriter.kernel.library import VARIABLE, kernel_choice
from memoriter.memory.facade import Memory
from memoriter.pipeline.load import recipe_of
from memoriter.testing.fakes import HandClock
from memoriter.why.verify import verify
from memoriter.write.writer import Writer

KERNELS = ("numpy", "native")


class Owing(NamedTuple):
    """A memory whose embedder failed while it was written, and answered for some rows later."""

    world: Written
    filled: Sequence[bool]
    """For each row, in order, whether its vector is computed before the question."""
    calibrated: bool

    def lived(self) -> Memory:
        """The memory before the question."""
        clock = HandClock()
        memory = open_toy(clock=clock)
        if self.calibrated:
            memory.calibrate()
        embedder_of(memory).failing = True
        happened(memory, clock, self.world)
        embedder_of(memory).failing = False
        writer = Writer(log_of(memory), context_of(memory), Scope.of(memory.scope.tenant))
        rows = [row for segment in view_of(memory).segments for row in segment.rows.tolist()]
        some = [row for row, wanted in zip(rows, self.filled, strict=False) if wanted]
        assert all(portion.failed is None for portion in writer.embed_rows(some))
        return memory


owing = st.builds(Owing, worlds, st.lists(st.booleans(), min_size=16, max_size=16), st.booleans())


@st.composite
def covering(draw: st.DrawFn) -> Data:
    """A recipe with words and meaning whose fusion goes by coverage, and whatever else."""
    data = draw(pipelines())
    words = {"kind": "bm25", "k1": 1.2, "b": 0.75, "fields": {"text": 1.0}}
    data["lanes"] = {
        "words": {**words, "pool": draw(pools)},
        "meaning": {"kind": "vector", "pool": draw(pools), "min_cosine": draw(one_of([-1.0, 0.5]))},
        **data["lanes"],
    }
    scored = [label for label, lane in data["lanes"].items() if lane["kind"] != "sources"]
    first = data["pass"][0]
    weights = {label: draw(one_of([0.0, 0.1, 0.3, 1.0])) for label in scored}
    for label, weight in first["fuse"].get("weights", {}).items():
        weights.setdefault(label, weight)
    scale = draw(one_of(["coverage", {**dict.fromkeys(scored, "coverage"), "words": "max"}]))
    absent = draw(one_of(["fixed", "keep", "redistribute"]))
    first["fuse"] = {"kind": "weighted", "scale": scale, "weights": weights, "absent": absent}
    data["apart"] = draw(st.lists(one_of(scored), max_size=1))
    return data


def by_kernel(memory: Memory, text: str, recipe: Any, ask: Data) -> list[Any]:
    """What each kernel answers."""
    out: list[Any] = []
    with pytest.MonkeyPatch.context() as patch:
        for name in KERNELS:
            patch.setenv(VARIABLE, name)
            kernel_choice.cache_clear()
            out.append(asked(memory, text, recipe, **ask))
    kernel_choice.cache_clear()
    return out


@settings(max_examples=10 * EXAMPLES)
@given(owing, st.just("memoriter") | covering(), questions, asks(), st.sampled_from([None, MODE]))
def test_what_is_owed_is_answered_as_the_oracle_does_under_both_kernels(
    own: Owing, recipe: Any, text: str, ask: Data, mode: str | None
) -> None:
    with own.lived() as memory:
        ask |= {"mode": mode if mode in recipe_of(recipe).modes else None}
        foreseen = expected(memory, text, recipe, **ask)
        assert by_kernel(memory, text, recipe, ask) == [foreseen, foreseen]


@settings(max_examples=5 * EXAMPLES)
@given(owing, st.just("memoriter") | covering(), questions)
def test_an_answer_with_owed_rows_is_sound_proved_and_replayed_once_they_are_filled(
    own: Owing, recipe: Any, text: str
) -> None:
    with own.lived() as memory:
        assume(asked(memory, text, recipe)[0])
        result = sound(memory.recall(text, 100, recipe=recipe))
        owed: Any = result.receipt.body.get("owed", {})
        for hit in result:
            assert set(hit.owed) == {
                n for n, each in owed.items() if hit.record.row in each["rows"]
            }
            assert not set(hit.owed) & set(hit.lanes)
        assert result.to_dict()
        report = verify(result.receipt.to_dict())
        assert report.ok, report.problems[:5]
        memory.maintain()
        assert view_of(memory).behind == 0
        replay = memory.replay(result)
        assert replay.same, replay.differences
