"""The recipe: a search pipeline as validated data, with a version and a fingerprint.

Equal recipes give equal answers on equal data. `load` reads recipes, `plan` binds one to a query.
The envelope (`format`, `name`, `version`, the fingerprint over canonical JSON) does not change; new
options may be added within format 1.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Final, Literal

from memoriter.core.canonical import canonical
from memoriter.core.errors import BadQuery, BadRecipe, InvariantError
from memoriter.core.other_names import MODES
from memoriter.core.query import LIMIT_LIMIT
from memoriter.core.shown import counted, plain, shown
from memoriter.core.validation import After, Bounds, DataMistake
from memoriter.index.ties import ATTRIBUTES
from memoriter.index.view import ReplacedBy
from memoriter.lanes.port import Lane, Seeded
from memoriter.lanes.spec import Spec, option
from memoriter.pipeline.boosts.port import Boost
from memoriter.pipeline.foreign_names import Mean, Mix, Path
from memoriter.pipeline.fusing import Fusion, Label, Weighted
from memoriter.pipeline.kinds import any_part
from memoriter.pipeline.orderings.port import Ordering
from memoriter.pipeline.passes import Pass, Tie
from memoriter.pipeline.relevance import Relevance
from memoriter.pipeline.waves import waves_of
from memoriter.text.analyzers import analyzer

if TYPE_CHECKING:
    from memoriter.lanes.port import Lane as AnyLane
    from memoriter.pipeline.boosts.port import Boost as AnyBoost
    from memoriter.pipeline.orderings.port import Ordering as AnyOrdering
else:
    AnyLane = Annotated[Lane, any_part("lanes")]
    AnyBoost = Annotated[Boost, any_part("boosts")]
    AnyOrdering = Annotated[Ordering, any_part("orderings")]

FORMAT: Final = 1
RESERVED: Final = frozenset(
    {"select", "fuse", "again", "rerank", "limit", "budget", "boost", "boosted", "tie", "tier",
     "order", "relevance"}
)  # fmt: skip
"""Names of steps and columns, which cannot be labels of lanes or boosts."""
_PASS_COLUMNS: Final = {"by": ("fuse",), "scores": ("fuse", "boost", "again", "rerank", "score")}
"""By kind of reference (`head.by`, `scores`), the columns of passes that it may name."""
ModeName = Annotated[str, Bounds(pattern=r"^[a-z][a-z0-9-]{0,31}$")]


_SHOWN: Final = {"hide": "hidden", "show": "shown"}


class Select(Spec):
    """Which records a search leaves out by default."""

    trust: tuple[Literal["system", "learned", "external"], ...] | None = option(
        "trust levels that are searched", None, values={None: "all levels"}
    )
    archived: Literal["hide", "show"] = option(
        "whether archived records are shown", "hide", values=_SHOWN
    )
    expired: Literal["hide", "show"] = option(
        "whether expired records are shown", "hide", values=_SHOWN
    )
    superseded: Literal["hide", "show", "past"] = option(
        "whether superseded records are shown",
        "hide",
        values={**_SHOWN, "past": "shown only if the question asks about the past"},
    )
    replaced_by: ReplacedBy = option(
        "which records may supersede a record",
        "as_trusted",
        values={"any": "every other record", "as_trusted": "only records trusted as much or more"},
    )
    as_of: Literal["validity", "append"] = option(
        "how a call with `as_of` decides whether a record existed at that time",
        "validity",
        values={"validity": "by its time of validity", "append": "by its time of writing"},
    )
    reflections: Literal["show", "hide", "only"] = option(
        "whether reflections (memories made from others) are shown",
        "show",
        values={**_SHOWN, "only": "shown, and all other records are hidden"},
    )


class Mode(Spec):
    """A named subset of a recipe's lanes, for `recall(…, mode=…)`."""

    lanes: tuple[Label, ...] = option("lanes that run in this mode", min_length=1)
    may_miss: tuple[Label, ...] = option(
        "optional lanes: if one of them cannot run, the answer still counts as complete", ()
    )
    otherwise: Label | None = option("lane that runs if no lane of the mode can run", None)
    rerank: bool = option("whether the recipe's reranker is asked in this mode", default=True)


class Final_(Spec):  # noqa: N801  # `Final` is typing's
    """The end of the pipeline: limit and minimum score."""

    least: Literal[0, 1] = option("smallest `limit` that a call may set", 1)
    limit: int = option("number of hits if a call sets no `limit`", 10, ge=0, le=10_000)
    min_score: float | None = option(
        "minimum first-pass score of a hit; None: no minimum", None, ge=-1e6, le=1e6
    )
    min_relevance: float | None = option("minimum relevance of a hit", None, ge=0.0, le=1.0)

    def check(self) -> None:
        """The limit is not below the smallest that a call may set."""
        if self.limit < self.least:
            raise DataMistake("must be at least 1, unless `least` is 0").under("limit")


def _known_analyzer(name: str) -> str:
    try:
        return analyzer(name).name
    except BadRecipe as error:
        raise ValueError(f"{error.message}; {error.hint}") from None


class Recipe(Spec):
    """A search pipeline as data."""

    format: Literal[1] = option("version of the file format", FORMAT)
    name: Annotated[str, Bounds(pattern=r"^[a-z][a-z0-9-]{0,63}$")] = option("name of the recipe")
    version: int = option("version of the recipe", ge=1)
    about: str = option("in short", "")
    analyzer: Annotated[str, After(_known_analyzer)] = option(
        "analyzer: how texts are split into words", values=lambda name: analyzer(name).about
    )
    window: int = option(
        "number of hits of which the ordering `cap` computes its `share`", 10, ge=1, le=10_000
    )
    ties: tuple[Tie, ...] = option(
        "attributes and columns that break ties, in this order; ties inside a lane are broken by"
        " the attributes alone",
        ("row",),
        values={"row": "older records first", "-row": "newer records first"},
    )
    otherwise: Label | None = option("lane that runs only if no other lane can run", None)
    missing: Literal["skip", "refuse"] = option(
        "what happens if a lane cannot run",
        "skip",
        values={
            "skip": "the other lanes run, and the answer names the missing lane",
            "refuse": "the search fails (also if the call has a text or vector that no lane uses)",
        },
    )
    not_positive: Literal["refuse", "default"] = option(
        "what happens if a call gives 0 or less for `limit` or for an option in `names`",
        "refuse",
        values={"refuse": "the call fails", "default": "the value of the recipe is used"},
    )
    select: Select = option("which records are left out unless a call says otherwise", Select())
    lanes: dict[Label, AnyLane] = option("lanes (searches), each with your own label", min_length=1)
    apart: tuple[Label, ...] = option(
        "lanes that read certain words of the question, such as words for a time; these words are"
        " left out when the question is embedded",
        (),
    )
    boosts: dict[Label, AnyBoost] = option(
        "boosts of scores, each with your own label", make=dict[str, "AnyBoost"]
    )
    modes: dict[ModeName, Mode] = option(
        "named sets of lanes; `mode` of a call chooses one", make=dict[str, Mode]
    )
    passes: tuple[Pass, ...] = option(
        "one or two passes that compute scores", key="pass", min_length=1, max_length=2
    )
    order: tuple[AnyOrdering, ...] = option(
        "orderings, which move or drop hits, in the order in which they apply", ()
    )
    relevance: Relevance | None = option("how the relevance of a hit is computed", None)
    final: Final_ = option("limit and minimum score of the hits", Final_())
    names: dict[str, Path] = option(
        "option names of another system, each with the path of the same option in this recipe",
        make=dict[str, Path],
    )
    values: dict[str, Mean] = option(
        "option values of another system, each with its value in this recipe, for example mode ="
        ' { outgoing_only = "out" }',
        make=dict[str, Mean],
    )
    labels: dict[str, Mix] = option(
        "another system's labels for answers, such as hybrid; an answer gets the first label"
        " whose lanes in `ran` all ran and whose lanes in `with_hits` all had hits",
        make=dict[str, Mix],
    )
    sources: dict[str, tuple[Label, ...]] = option(
        "another system's names for the source of a hit, each with a list of lanes; a hit gets"
        " the first name whose lanes all found the hit",
        make=dict[str, tuple[Label, ...]],
    )
    scores: dict[str, str] = option(
        "another system's names for scores of a hit, each with its column; a missing score is 0",
        make=dict[str, str],
    )

    def check(self) -> None:
        """Every name that the recipe uses is declared in it."""
        _ = self.waves  # raises for unknown seeds and cycles
        steps = {*RESERVED, "min_score", "min_relevance", *(o.kind_name() for o in self.order)}
        if taken := steps & {*self.lanes, *self.boosts}:
            raise ValueError(f"{_listed(taken)} is reserved: give the lane or boost another name")
        if both := set(self.lanes) & set(self.boosts):
            raise ValueError(f"a lane and a boost are both named {_listed(both)}: rename one")
        if self.passes[0].head is not None or self.passes[0].fuse is None:
            raise ValueError(
                "pass.0 scores all candidates: it needs `fuse`, and cannot have `head` or `rerank`"
            )
        if not self.passes[0].enabled:
            raise ValueError("pass.0 cannot be switched off: remove its `enabled`")
        for at, pass_ in enumerate(self.passes):
            if pass_.fuse is not None:
                self._weighs(at, pass_.fuse)
            self._applies(at, pass_)
            self._columns(f"pass.{at}.ties", pass_.ties or ())
            self._columns(f"pass.{at}.head.by", () if pass_.head is None else pass_.head.by)
        self._columns("ties", self.ties)
        self._columns("scores", tuple(self.scores.values()))
        self._lanes_known()
        self._others_known()
        self._relevance_known()

    def _relevance_known(self) -> None:
        if self.relevance is None:
            if self.final.min_relevance is not None:
                raise ValueError("final.min_relevance needs a table [relevance]: add one")
            return
        fuse = self.passes[0].fuse
        if not isinstance(fuse, Weighted) or fuse.scale != "coverage" or fuse.absent != "fixed":
            raise ValueError(
                "relevance needs scores that can be compared: `fuse` of pass.0 must have"
                ' scale = "coverage" and absent = "fixed"'
            )

    def _no_lane(self, names: Collection[str]) -> str:
        return f"there is no lane {_listed(names)}; known: {', '.join(self.lanes)}"

    def _lanes_known(self) -> None:
        named = {"apart": {*self.apart}, "otherwise": {*filter(None, (self.otherwise,))}}
        if self.relevance is not None:
            named["relevance.stands_out"] = {*filter(None, (self.relevance.stands_out,))}
        for at, pass_ in enumerate(self.passes):
            rule = None if pass_.rerank is None else pass_.rerank.unless
            named[f"pass.{at}.rerank.unless"] = set() if rule is None else set(rule.lanes)
        for name, mode in self.modes.items():
            named[f"modes.{name}"] = {*mode.lanes, *mode.may_miss, *filter(None, (mode.otherwise,))}
        named |= {f"labels.{name}": {*mix.ran, *mix.with_hits} for name, mix in self.labels.items()}
        named |= {f"sources.{name}": {*lanes} for name, lanes in self.sources.items()}
        for where, labels in named.items():
            if unknown := labels - set(self.lanes):
                raise ValueError(f"{where}: {self._no_lane(unknown)}")

    def _others_known(self) -> None:
        for label, boost in self.boosts.items():
            if boost.excludes not in (None, *self.boosts):
                raise ValueError(
                    f"boosts.{label} excludes the boost {boost.excludes!r}, which the recipe does"
                    " not have"
                )
        for at, ordering in enumerate(self.order):
            for label in ordering.lanes:
                if getattr(self.lanes.get(label), "generation", None) != "vectors":
                    raise ValueError(f"order.{at}: the recipe has no vector lane {label!r}")

    def _weighs(self, at: int, fuse: Fusion) -> None:
        first = isinstance(fuse, Weighted) and at == 0
        if isinstance(fuse, Weighted) and at and fuse.model_weights:
            raise ValueError(f"pass.{at} cannot have `model_weights`: only pass.0 can")
        signals = {*self.lanes, *(self.boosts if first else ()), *(("order",) if at else ())}
        if unknown := fuse.names - signals:
            raise ValueError(f"pass.{at}.fuse: {self._no_lane(unknown)}")
        missing = {label for label, lane in self.lanes.items() if not lane.brings} - fuse.names
        if first and missing:
            raise ValueError(f"pass.{at}.fuse.weights has no weight for {_listed(missing)}")

    def _applies(self, at: int, pass_: Pass) -> None:
        for label in pass_.boosts:
            if label not in {*self.lanes, *self.boosts}:
                known = ", ".join((*self.lanes, *self.boosts))
                raise ValueError(
                    f"pass.{at}.boosts: there is no lane and no boost {label!r}; known: {known}"
                )
            if label in self.fused:
                raise ValueError(
                    f"pass.{at}.boosts: {label!r} also has a weight in pass.0: remove either"
                )

    def _columns(self, where: str, names: tuple[str, ...]) -> None:
        """Check column names: `words.score` of a lane or fused boost, `boost.trust` of another."""
        for name in names:
            owner, _, rest = name.removeprefix("-").partition(".")
            if where.endswith("ties") and name.removeprefix("-") in ATTRIBUTES:
                continue
            if rest and (owner in {*self.lanes, *self.fused} or rest in self._applied(owner)):
                continue
            if owner in _PASS_COLUMNS.get(where.rpartition(".")[2], ()):
                continue
            raise ValueError(
                f"{where}: this recipe has no column {name!r}; a column has a name such as"
                " words.score (of a lane) or boost.trust (of a boost)"
            )

    def _applied(self, owner: str) -> tuple[str, ...]:
        return tuple(self.boosts) if owner == "boost" else ()

    def __repr__(self) -> str:
        parts = f"{counted(len(self.lanes), 'lane')}, {counted(len(self.boosts), 'boost')}"
        return shown(f"Recipe {plain(self.name)} v{self.version}", parts)

    @property
    def seeded(self) -> tuple[str, ...]:
        """The labels of the lanes that start from seeds."""
        return tuple(label for label, lane in self.lanes.items() if isinstance(lane, Seeded))

    def takes(self, name: str) -> bool:
        """Whether a lane or a boost reads this option of a query: `aliases` or `cycle`."""
        return any(name in part.takes for part in (*self.lanes.values(), *self.boosts.values()))

    def fusion(self, *, has_model: bool) -> Fusion:
        """The fusion of the first pass, with the weights for the embedder."""
        fuse = self.passes[0].fuse
        if fuse is None:
            raise InvariantError("internal error: pass.0 has no `fuse`; please report it")
        return fuse.with_model(has_model)

    @cached_property
    def waves(self) -> list[tuple[str, ...]]:
        """The labels of the lanes, those that seed others first."""
        return waves_of(self.lanes)

    @cached_property
    def fused(self) -> tuple[str, ...]:
        """The labels of the boosts that the first pass weights together with its lanes."""
        fuse = self.passes[0].fuse
        return tuple(label for label in self.boosts if fuse and label in fuse.weighed)

    @property
    def usual_limit(self) -> int:
        """The limit for a call that names none: `final.limit`, or none if an ordering decides."""
        decided = any(each.enabled and each.decides for each in self.order)
        return LIMIT_LIMIT if decided else self.final.limit

    def called(self, path: str) -> str:
        """The name of a lane or boost in `names`; its label if it has none."""
        return self._names_of_parts.get(path, path.partition(".")[2])

    def is_called(self, path: str) -> bool:
        """Whether a lane or boost is a signal for users of `names`: all are if none has a name."""
        return not self._names_of_parts or path in self._names_of_parts

    @property
    def _names_of_parts(self) -> dict[str, str]:
        """The names of whole lanes and boosts, by path."""
        parts = {f"lanes.{label}" for label in self.lanes} | {f"boosts.{n}" for n in self.boosts}
        return {
            path: name
            for name, to in self.names.items()
            for path in ((to,) if isinstance(to, str) else to)
            if path in parts
        }

    def weight(self, label: str) -> float | None:
        """The weight of a signal in the first pass; None if it is not named there."""
        fuse = self.passes[0].fuse
        return None if fuse is None else fuse.weighed.get(label)

    def mode(self, name: str | None) -> Mode:
        """A mode by name; for None, all lanes. Raises BadQuery for an unknown mode."""
        if name is None:
            return self._usual_mode
        if name not in self.modes:
            hint = f"known: {', '.join(self.modes)}" if self.modes else "this recipe has none"
            if MODES.get(name) in self.modes:
                hint = f"did you mean {MODES[name]}? {hint}"
            raise BadQuery(
                f"mode: recipe {self.name} has no mode {name!r}", hint=hint, field="mode"
            )
        return self.modes[name]

    @cached_property
    def _usual_mode(self) -> Mode:
        """The mode of a search that names none."""
        usual = tuple(label for label in self.lanes if label != self.otherwise)
        return Mode(lanes=usual or tuple(self.lanes), otherwise=self.otherwise)

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of the canonical JSON: the identity of the recipe."""
        return hashlib.sha256(canonical(self.to_data())).hexdigest()


def _listed(names: Collection[str]) -> str:
    return ", ".join(map(repr, sorted(names)))
