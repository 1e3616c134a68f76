"""Reliability: how often an answer of a given relevance is right, and the same figures by store."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from memoriter.core.lazy_dataclass import dataclass
from memoriter.evaluate.metrics import hit_at
from memoriter.evaluate.resampling import Estimate, mean_estimate
from memoriter.evaluate.run import EvalOutcome, EvalReply, EvalRun

BINS: Final = 10
MOST_STORES: Final = 20
"""With more stores than this, each has too few questions for figures of its own."""
_BAR: Final = 20


class ReliabilityBin(NamedTuple):
    """The answers whose relevance lies in one stretch."""

    low: float
    high: float
    questions: int
    """Answerable questions with such an answer."""
    first: float | None
    """The share of them with gold at rank 1; None if there are none."""
    three: float | None
    """The share with gold in the first three."""
    unanswerable: int
    """Questions without an answer in the store that got such an answer."""

    def to_dict(self) -> dict[str, object]:
        """The bin as plain data."""
        return {
            "low": self.low, "high": self.high, "questions": self.questions,
            "hit@1": self.first, "hit@3": self.three, "unanswerable": self.unanswerable,
        }  # fmt: skip


class StoreFigures(NamedTuple):
    """How often one store says that it knows nothing."""

    store: str
    wrongly_none: Estimate | None
    """Of its questions with gold in the first ten: the share with a verdict of none."""
    cross_none: Estimate | None
    """Of the questions of other stores: the share with a verdict of none; None without them."""

    def to_dict(self) -> dict[str, object]:
        """The figures as plain data."""
        return {
            "store": self.store,
            "wrongly_none": self.wrongly_none and self.wrongly_none.to_dict(),
            "other_stores_none": self.cross_none and self.cross_none.to_dict(),
        }


@dataclass(frozen=True, slots=True)
class Reliability:
    """How far the relevance of a recipe can be relied on."""

    recipe: str
    bins: tuple[ReliabilityBin, ...]
    """Of equal width, from 0 to 1; empty if the recipe has no relevance."""
    stores: tuple[StoreFigures, ...]
    """Empty for a single store, and for very many."""

    def to_dict(self) -> dict[str, object]:
        """The figures as plain data."""
        return {
            "bins": [each.to_dict() for each in self.bins],
            "stores": [each.to_dict() for each in self.stores],
        }


def reliability_of(run: EvalRun) -> Reliability:
    """The reliability of a recipe's relevance on the answers of a run."""
    stores = run.stores if 1 < len(run.stores) <= MOST_STORES else {}
    figures = [
        StoreFigures(name, _wrongly_none(each.outcomes), _none(each.cross))
        for name, each in stores.items()
    ]
    return Reliability(run.label, tuple(_bins(run)), tuple(figures))


def _bins(run: EvalRun) -> Iterator[ReliabilityBin]:
    asked = [each for each in run.outcomes if each.question.gold]
    absent = [each.reply for each in run.outcomes if not each.question.gold]
    absent += [*run.cross, *(each.without_gold for each in run.outcomes if each.without_gold)]
    if not any(each.reply.relevance is not None for each in run.outcomes):
        return
    for nth in range(BINS):
        own = [each for each in asked if _bin_of(each.reply) == nth]
        ranks = [(each.reply.ids, each.question.gold) for each in own]
        yield ReliabilityBin(
            nth / BINS,
            (nth + 1) / BINS,
            questions=len(own),
            first=_mean([hit_at(1, ids, gold) for ids, gold in ranks]),
            three=_mean([hit_at(3, ids, gold) for ids, gold in ranks]),
            unanswerable=sum(_bin_of(reply) == nth for reply in absent),
        )


def _bin_of(reply: EvalReply) -> int | None:
    """The bin of an answer; None if its relevance is unknown."""
    if reply.relevance is None or reply.strength == "unknown":
        return None
    return min(int(reply.relevance * BINS), BINS - 1)


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None


def _wrongly_none(outcomes: Sequence[EvalOutcome]) -> Estimate | None:
    return _none([each.reply for each in outcomes if each.in_ten])


def _none(replies: Sequence[EvalReply]) -> Estimate | None:
    return mean_estimate([float(reply.is_none) for reply in replies])


# -- as text ---------------------------------------------------------------------------------------


def reliability_lines(reliability: Reliability) -> Iterator[str]:
    """A table of the bins with a bar of hit@1, and a table of the stores."""
    if not reliability.bins:
        yield f"\n  {reliability.recipe} has no relevance, so there is no reliability diagram"
    else:
        yield f"\n  {reliability.recipe}, answers by relevance (bar: hit@1)"
        yield f"  relevance      n  hit@1  hit@3  {'':{_BAR}}  no answer"
        absent = sum(each.unanswerable for each in reliability.bins)
        for each in reliability.bins:
            bar = "█" * round(_BAR * (each.first or 0.0))
            share = f" {100 * each.unanswerable / absent:.0f} %" if each.unanswerable else ""
            yield (
                f"  {each.low:.1f}–{each.high:.1f}{each.questions:>9,}{_percent(each.first)}"
                f"{_percent(each.three)}  {bar:{_BAR}}  {each.unanswerable:>5,}{share}"
            )
    if reliability.stores:
        wide = max(len("store"), *(len(each.store) for each in reliability.stores))
        yield f"\n  {reliability.recipe}, called none by store"
        yield f"  {'store':{wide}}  wrongly      of  other stores      of"
        for each in reliability.stores:
            cells = f"{_counted(each.wrongly_none)}      {_counted(each.cross_none)}"
            yield f"  {each.store:{wide}}  {cells}"


def _percent(share: float | None) -> str:
    return f"{'-':>7}" if share is None else f"{100 * share:>7.1f}"


def _counted(share: Estimate | None) -> str:
    if share is None:
        return f"{'-':>7}{'':8}"
    return f"{100 * share.value:>7.1f}{share.questions:>8,}"
