"""What separates two hits of one answer, part by part: `Hit.versus`."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

from memoriter.core.explanation import contributions
from memoriter.core.lazy_dataclass import dataclass
from memoriter.core.shown import named, shown
from memoriter.text.figures import figure
from memoriter.why.drawing import adding_up
from memoriter.why.hit import Hit
from memoriter.why.hit_text import moves_of, scale_of

ThreeTexts = tuple[str, str, str]
"""A number of the first hit, of the second, and their difference, as they are printed."""


@dataclass(frozen=True, slots=True)
class PartGap:
    """What one lane or boost adds to the score of each of two hits."""

    label: str
    first: float
    second: float
    texts: ThreeTexts
    """Rounded so that each column adds up, and each row too."""

    @property
    def difference(self) -> float:
        """How much more it adds to the first."""
        return self.first - self.second

    def to_dict(self) -> dict[str, object]:
        """The part as plain data."""
        return {
            "label": self.label,
            "first": self.first,
            "second": self.second,
            "difference": self.difference,
            "texts": list(self.texts),
        }


@dataclass(frozen=True, slots=True)
class Versus:
    """Two hits of one answer, and what separates them."""

    first: Hit
    second: Hit
    texts: ThreeTexts
    """Their scores."""
    parts: tuple[PartGap, ...]
    """Every lane and boost that adds to one of the scores, the largest difference first."""
    notes: tuple[str, ...]
    """What else decides between their ranks: stages that scored or moved only one of them."""

    def __repr__(self) -> str:
        pair = f"{named(self.first.id)} against {named(self.second.id)}"
        return shown(f"Versus {pair}", self.texts[2])

    @property
    def difference(self) -> float:
        """How much higher the score of the first is."""
        return self.first.score - self.second.score

    @property
    def summary(self) -> str:
        """The difference of the scores in one sentence."""
        gap = self.texts[2]
        way = f"{gap.lstrip('-')} {'below' if gap.startswith('-') else 'above'}"
        way = "as high as" if not Decimal(gap) else way
        return f"the score of {self.first.id} is {way} that of {self.second.id}"

    def to_dict(self) -> dict[str, object]:
        """The comparison as plain data."""
        return {
            "first": _place(self.first),
            "second": _place(self.second),
            "difference": self.difference,
            "texts": list(self.texts),
            "summary": self.summary,
            "parts": [part.to_dict() for part in self.parts],
            "notes": list(self.notes),
        }


def versus(first: Hit, second: Hit) -> Versus:
    """Compare two hits of one answer."""
    one, two = (_added(hit) for hit in (first, second))
    labels = sorted(
        {*one, *two}, key=lambda each: (-abs(one.get(each, 0) - two.get(each, 0)), each)
    )
    totals = _same_decimals(first.score, second.score)
    columns = [
        adding_up([added.get(label, 0.0) for label in labels], total)
        for added, total in zip((one, two), totals, strict=True)
    ]
    parts = (
        PartGap(label, one.get(label, 0.0), two.get(label, 0.0), _with_gap(*texts))
        for label, *texts in zip(labels, *columns, strict=True)
    )
    notes = tuple(_notes(first, second))
    return Versus(first, second, _with_gap(*totals), tuple(parts), notes)


def _same_decimals(one: float, two: float) -> tuple[str, str]:
    """Two scores as text with equally many decimals, as many as the longer one needs."""
    decimals = max(len(figure(each).partition(".")[2]) for each in (one, two))
    return f"{one:.{decimals}f}", f"{two:.{decimals}f}"


def _with_gap(one: str, two: str) -> ThreeTexts:
    return one, two, f"{Decimal(one) - Decimal(two):f}"


def _added(hit: Hit) -> dict[str, float]:
    """What each label adds to the score."""
    out: dict[str, float] = {}
    for label, value in contributions(hit.explanation):
        out[label] = out.get(label, 0.0) + value
    return out


def _notes(first: Hit, second: Hit) -> Iterator[str]:
    scales = [scale_of(hit.explanation) for hit in (first, second)]
    if scales[0] != scales[1]:
        yield (
            f"{first.id} was scored by {scales[0]}, {second.id} by {scales[1]}: their scores "
            "cannot be compared"
        )
    for hit in (first, second):
        yield from (f"{hit.id}, {stage}: {text}" for stage, text in moves_of(hit))


def _place(hit: Hit) -> dict[str, object]:
    return {
        "id": hit.id,
        "rank": hit.rank,
        "score": hit.score,
        "text": hit.text,
        "relevance": hit.relevance,
        "lanes": {label: {"rank": s.rank, "score": s.score} for label, s in hit.lanes.items()},
    }
