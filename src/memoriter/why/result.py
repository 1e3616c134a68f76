"""The result of a search: hits in order, each with its explanation, and the plan that ran.

`why.answer` builds it; `Memory.recall` returns it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field
from functools import cached_property
from typing import TYPE_CHECKING, Literal, overload

from memoriter.core.budget import FREE, Budget
from memoriter.core.errors import BadQuery
from memoriter.core.explanation import Explanation
from memoriter.core.lazy_dataclass import dataclass
from memoriter.core.names import choice
from memoriter.core.options import guided
from memoriter.core.other_words import Hinting, NotAsync, not_a_mapping
from memoriter.core.ranking import Attempt
from memoriter.core.shown import counted, draw_by, shown
from memoriter.pipeline.plan import Plan
from memoriter.pipeline.relevance import Strength
from memoriter.why.context import Block, Include, block_of, nothing_block
from memoriter.why.hit import Hit
from memoriter.why.lane_score import LaneRow, lane_rows
from memoriter.why.receipt import Receipt
from memoriter.why.strengths import judgement, strength_text
from memoriter.why.trace import signals_of, trace_of

if TYPE_CHECKING:
    pass


@dataclass(frozen=True)
class Result(Hinting, NotAsync, Sequence[Hit]):
    """Hits, best first; a sequence."""

    hits: tuple[Hit, ...]
    plan: Plan
    total: int
    """The number of candidates before the limit."""
    _write_receipt: Callable[[], Receipt] = field(compare=False)
    _budget: Budget = FREE
    """The budget of the call, the default of `context`."""
    relevance: float | None = None
    """The best relevance of a hit, 0 to 1: may be compared between questions, a score may not.
    0 without hits; None if the recipe has no relevance."""
    strength: Strength | None = None
    """What the relevance means: `strong`, `weak`, `none`, or `unknown`."""
    remarks: tuple[str, ...] = ()
    """What should be known about the strength: a name that no record has, why it is unknown."""
    timings: Mapping[str, float] = field(default_factory=dict[str, float], compare=False)
    """Milliseconds by step, for people; in no receipt and in no data."""
    _rescored: Callable[[Mapping[str, object]], Result] | None = field(default=None, compare=False)
    _write_case: Callable[[], Mapping[str, object]] = field(default=dict, compare=False)

    def __repr__(self) -> str:
        strength = "" if self.strength is None else f"{strength_text(self.strength)}, "
        return shown("Result", f"{counted(len(self.hits), 'hit')}, {strength}{self.status}")

    @cached_property
    def receipt(self) -> Receipt:
        """Every input of this ranking with a digest; built on first access."""
        return self._write_receipt()

    @property
    def case(self) -> Mapping[str, object]:
        """What the search was made of: the parts of the receipt that are needed to run it again."""
        return self._write_case()

    def what_if(self, overrides: Mapping[str, object]) -> Result:
        """The answer of the same search with some numbers of the recipe changed.

        It equals `recall` with these overrides on the same view and at the same time; lanes whose
        options stay the same do not run again. The limit stays that of this answer. Raises Expired
        if a memory that decides the answer was forgotten since.
        """
        if self._rescored is None:
            raise BadQuery(
                "overrides: this answer lacks the data that is needed to compute it again",
                hint="recall again with these overrides",
            )
        return self._rescored(overrides)

    @property
    def status(self) -> str:
        """`complete`, or `degraded` if a lane of the recipe could not run."""
        return self.plan.status

    @property
    def skipped(self) -> dict[str, str]:
        """Lane that could not run → why."""
        return self.plan.skipped

    @property
    def used(self) -> tuple[str, ...]:
        """The lanes that ran."""
        return self.plan.running

    @property
    def backend(self) -> str | None:
        """The recipe's name for the combination of lanes that ran; None if it has none."""
        return self.plan.backend

    @property
    def signals(self) -> tuple[str, ...]:
        """The lanes that ran and the boosts that touched a candidate, as the recipe names them."""
        return signals_of(self.plan)

    @property
    def trace(self) -> dict[str, object]:
        """What the search did, as flat data: modes, attempts, counts, reranking, numbers."""
        return trace_of(self.plan)

    @overload
    def rows(self, *, detailed: Literal[False] = False) -> list[tuple[str, float]]: ...
    @overload
    def rows(self, *, detailed: Literal[True]) -> list[LaneRow]: ...
    def rows(self, *, detailed: bool = False) -> list[tuple[str, float]] | list[LaneRow]:
        """(id, score) of every hit; if detailed, one row for every lane that found it."""
        if detailed:
            return [row for hit in self.hits for row in lane_rows(hit)]
        return [(hit.id, hit.score) for hit in self.hits]

    @property
    def fell_back(self) -> bool:
        """Whether the fallback lane answered because no lane of the mode could run."""
        return self.plan.fell_back

    @property
    def approximate(self) -> bool:
        """Whether a lane searched approximately: large stores scan quantised vectors first."""
        return self.plan.approximate

    @property
    def attempts(self) -> tuple[Attempt, ...]:
        """Every attempt of a lane that retries with a wider query if it finds nothing."""
        return self.plan.attempts

    @property
    def used_retry(self) -> bool:
        """Whether the first attempt found nothing and another was made."""
        return len(self.attempts) > 1

    @property
    def near(self) -> tuple[str, ...]:
        """Spelling suggestions: indexed words that are close to those of the query."""
        return tuple(word for attempt in self.attempts for word in attempt.near)

    def __len__(self) -> int:
        return len(self.hits)

    @overload
    def __getitem__(self, index: int) -> Hit: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Hit, ...]: ...
    def __getitem__(self, index: int | slice) -> Hit | tuple[Hit, ...]:
        if isinstance(index, str):  # as answers of other libraries are read
            raise not_a_mapping(self, index)
        return self.hits[index]

    def __iter__(self) -> Iterator[Hit]:
        return iter(self.hits)

    @guided
    def context(
        self,
        *,
        budget_tokens: int | None = None,
        budget_chars: int | None = None,
        include: Include = "relevant",
    ) -> Block:
        """The hits as text for a prompt, whole entries within a budget, by default the call's.

        Hits of strength `none` are left out unless `include` is `all`; if none remains, the block
        says that nothing is relevant. Entries are numbered in order; `citations` maps each number
        to an id.
        """
        every = choice(include, "include", ("relevant", "all"), BadQuery) == "all"
        used = [hit for hit in self.hits if every or hit.strength != "none"]
        rest = [hit.id for hit in self.hits if not every and hit.strength == "none"]
        budget = Budget.of(budget_tokens, budget_chars) or self._budget
        if not used and self.strength == "none":
            return nothing_block(budget, rest)
        return block_of([(hit.record, bool(hit.superseded_by)) for hit in used], budget, rest)

    def to_html(self) -> str:
        """The result as a complete HTML page without scripts or external resources."""
        from memoriter.why.card import result_page  # noqa: PLC0415  # loaded only if it is used

        return result_page(self)

    def _repr_html_(self) -> str:
        """The result as notebooks show it."""
        from memoriter.why.card import result_html  # noqa: PLC0415  # loaded only in notebooks

        return result_html(self)

    def to_dict(self) -> dict[str, object]:
        """The result as plain data."""
        return {
            "status": self.status,
            **({} if self.backend is None else {"backend": self.backend}),
            "used": list(self.used),
            "skipped": self.skipped,
            "total": self.total,
            **judgement(self.relevance, self.strength, self.remarks),
            **({"approximate": True} if self.approximate else {}),
            **({"near": list(self.near)} if self.near else {}),
            "plan": self.plan.to_dict(),
            "hits": [hit.to_dict() for hit in self.hits],
            "receipt": self.receipt.digest,
        }


# -- notebook output of types in lower rooms -------------------------------------------------------
# Explanation and Plan cannot import this room; they are drawn by functions registered here.


def _draw_explanation(node: Explanation) -> str:
    from memoriter.why.card import explanation_html  # noqa: PLC0415  # loaded only in notebooks

    return explanation_html(node)


def _draw_plan(plan: Plan) -> str:
    from memoriter.why.card import plan_html  # noqa: PLC0415  # loaded only in notebooks

    return plan_html(plan)


draw_by(Explanation, _draw_explanation)
draw_by(Plan, _draw_plan)
