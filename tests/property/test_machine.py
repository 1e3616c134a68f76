"""Any history, on two stores and several handles, against the oracle, after every step."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
)
from tests.inside import embedder_of, log_of
from tests.night import NIGHT
from tests.oracle.answer import browse
from tests.oracle.world import Ask, embedded
from tests.property.pipelines import Data, asks, pipelines, questions
from tests.property.strategies import (
    EXAMPLES,
    MOMENTS,
    drafts,
    fields,
    moments,
    queries,
    recipes,
    texts,
    wheres,
)
from tests.property.worlds import (
    REFUSED,
    Shown,
    asked,
    dump_of,
    expected,
    open_toy,
    world_of,
)

from memoriter.core.errors import BadRecipe, MemoriterError
from memoriter.memory.facade import Memory
from memoriter.pipeline.load import overridden, recipe_of
from memoriter.store.verify import verify_log
from memoriter.testing.fakes import CountedEntropy, HandClock, ToyEmbedder

IDS = ("a", "b", "c", "d")
ids = st.sampled_from(IDS)
overrides = st.fixed_dictionaries(
    {},
    optional={
        "fusion.scale": st.sampled_from(["max", "min_max", "none"]),
        "fusion.absent": st.sampled_from(["keep", "redistribute"]),
        "fusion.weights.words": st.sampled_from([0.0, 0.3, 2.0]),
        "lanes.words.pool": st.integers(1, 4),
        "lanes.meaning.pool": st.integers(1, 4),
        "lanes.meaning.min_cosine": st.sampled_from([-1.0, 0.5]),
        "lanes.words.k1": st.sampled_from([0.0, 2.0]),
        "select.superseded": st.just("show"),
        "select.trust": st.just(["system", "external"]),
        "select.reflections": st.sampled_from(["show", "hide", "only"]),
    },
)


def scaled_recipe(scale: str) -> Data:
    """The default recipe with another scale, and so without relevance."""
    data = recipe_of("memoriter").to_data()
    data["pass"][0]["fuse"] |= {"scale": scale, "absent": "redistribute"}
    return {**data, "relevance": None}


QUESTIONS: list[tuple[str, str | Data, dict[str, Any]]] = [
    ("ssh port café", "memoriter", {}),
    ("memory the run", "lexical", {}),
    ("東京 cache", "semantic", {}),
    ("port", scaled_recipe("min_max"), {}),
    *(("port the memory", "memoriter", {"as_of": moment}) for moment in MOMENTS),
    ("a", "lexical", {"where": {"tags": {"any_fold": ["ops", "straße"]}}}),
    ("running", "semantic", {"where": {"not": {"agent": "bot"}}}),
]
"""Some are asked after every step."""
Outcome = tuple[str, object]


def fits(recipe: str, path: str, value: object) -> bool:
    """Whether a recipe has what an override is about."""
    try:
        overridden(recipe_of(recipe), {path: value})
    except BadRecipe:
        return False
    return True


def outcome(act: Callable[[], Any]) -> Outcome:
    """What an act gave: its commit, or its error as data."""
    try:
        return "done", act().to_dict()
    except MemoriterError as error:
        return "refused", error.to_dict()


class Noted(NamedTuple):
    """What was answered at a moment."""

    moment: int
    seq: int
    now: int
    forgets: int
    seen: list[tuple[str, str, Shown]]


class Histories(RuleBasedStateMachine):
    """The same acts on memory and file; every answer three times."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(prefix="memoriter-"))
        self.clock = HandClock()
        self.entropy = CountedEntropy("machine")
        self.ram = open_toy(":memory:", self.clock, CountedEntropy("machine"))
        self.handles: list[Memory] = []
        self.past: list[Noted] = []
        self.forgets = 0
        self.steps = 0
        self.names = 0

    @initialize(handles=st.integers(1, 2), corpus=st.lists(drafts(), min_size=4, max_size=6))
    def open(self, handles: int, corpus: list[dict[str, Any]]) -> None:
        self.handles = [self.fresh() for _ in range(handles)]
        named: list[Any] = [
            {**draft, "id": IDS[at] if at < len(IDS) else self.name()}
            for at, draft in enumerate(corpus)
        ]
        self.both(0, lambda memory: memory.remember_many(named))
        self.maintain(0)
        self.note_the_moment()

    def fresh(self) -> Memory:
        return open_toy(self.folder / "m.db", self.clock, self.entropy)

    def name(self) -> str:
        """A new id. One that is made from the clock may differ after a handle was opened anew."""
        self.names += 1
        return f"n{self.names}"

    def both(self, which: int, act: Callable[[Memory], Any]) -> Outcome:
        """The act on the file, through one of its handles, and in memory."""
        on_file = outcome(lambda: act(self.handles[which % len(self.handles)]))
        in_memory = outcome(lambda: act(self.ram))
        assert on_file == in_memory
        return on_file

    # -- writing -------------------------------------------------------------------------------

    @rule(which=st.integers(0, 1), draft=drafts(), given=ids | ids | st.none(), key=st.none() | ids)
    def remember(
        self, which: int, draft: dict[str, Any], given: str | None, key: str | None
    ) -> None:
        written: dict[str, Any] = {**draft, "id": given or self.name(), "key": key}
        self.both(which, lambda memory: memory.remember(**written))

    @rule(which=st.integers(0, 1), draft=drafts(), whom=ids, since=st.none() | moments,
          kind=st.sampled_from(["supersedes", "corrects", "invalidates"]),
          given=st.none() | ids)  # fmt: skip
    def replace(
        self,
        which: int,
        draft: dict[str, Any],
        whom: str,
        since: int | None,
        kind: str,
        given: str | None,
    ) -> None:
        more: dict[str, Any] = {"id": given or self.name()}
        if since is not None:
            more |= {"valid_from": since, "valid_until": None}
        written = {**draft, **more, kind: [whom]}
        self.both(which, lambda memory: memory.remember(**written))

    @rule(which=st.integers(0, 1), many=st.lists(drafts(), max_size=4),
          refs=st.lists(st.integers(0, 6), max_size=2))  # fmt: skip
    def remember_many(self, which: int, many: list[dict[str, Any]], refs: list[int]) -> None:
        named = [{**draft, "id": self.name()} for draft in many]
        given: list[Any] = [*named[:-1], *({**last, "refs": refs} for last in named[-1:])]
        self.both(which, lambda memory: memory.remember_many(given))

    @rule(which=st.integers(0, 1), whom=ids, changes=fields(3), text=st.none() | texts,
          clear=st.sampled_from(["", "title", "tags", "expires", "metadata"]))  # fmt: skip
    def update(
        self, which: int, whom: str, changes: dict[str, Any], text: str | None, clear: str
    ) -> None:
        written = {
            **changes,
            **({"text": text} if text else {}),
            **({clear: None} if clear else {}),
        }
        self.both(which, lambda memory: memory.update(whom, **written))

    @rule(which=st.integers(0, 1), source=ids, whom=ids, since=st.none() | moments,
          kind=st.sampled_from(["related_to", "supersedes", "corrects", "Custom"]),
          weight=st.sampled_from([1.0, -0.5, 7]))  # fmt: skip
    def link(
        self, which: int, source: str, whom: str, since: int | None, kind: str, weight: float
    ) -> None:
        options = {"weight": weight, "valid_from": since}
        self.both(which, lambda memory: memory.link(source, whom, kind, **options))

    @rule(which=st.integers(0, 1), whom=ids, key=st.none() | ids)
    def forget(self, which: int, whom: str, key: str | None) -> None:
        verdict, _ = self.both(which, lambda memory: memory.forget(whom, key=key))
        self.forgets += verdict == "done"

    @rule(which=st.integers(0, 1), where=wheres())
    def forget_where(self, which: int, where: dict[str, Any]) -> None:
        narrow = {"all": [where, {"id": {"in": list(IDS[:3])}}]}
        verdict, _ = self.both(which, lambda memory: memory.forget(where=narrow))
        self.forgets += verdict == "done"

    @rule(which=st.integers(0, 1), whom=ids, at=st.none() | moments)
    def expire(self, which: int, whom: str, at: int | None) -> None:
        self.both(which, lambda memory: memory.expire(whom, at))

    @rule(which=st.integers(0, 1), agent=ids)
    def enrol(self, which: int, agent: str) -> None:
        self.both(which, lambda memory: memory.agents.alias(agent, "other"))

    @rule(which=st.integers(0, 1), changes=fields(2), text=st.none() | texts)
    def change_all_and_maintain(
        self, which: int, changes: dict[str, Any], text: str | None
    ) -> None:
        written = {**changes, **({"text": text} if text else {})}
        for whom in IDS:
            self.both(which, lambda memory, one=whom: memory.update(one, **written))
        self.maintain(which)

    # -- the world around ----------------------------------------------------------------------

    @rule(seconds=st.sampled_from([-3600, -1, 0, 0.000001, 1, 3600]))
    def time_passes(self, seconds: float) -> None:
        self.clock.move(seconds)

    @rule(failing=st.booleans())
    def embedder_turns(self, *, failing: bool) -> None:
        for memory in (self.ram, *self.handles):
            embedder_of(memory).failing = failing

    @rule(which=st.integers(0, 1))
    def maintain(self, which: int) -> None:
        ours = self.handles[which % len(self.handles)].maintain()
        theirs = self.ram.maintain()
        assert (ours.embedded, ours.owed) == (theirs.embedded, theirs.owed)

    @rule(which=st.integers(0, 1))
    def calibrate(self, which: int) -> None:
        self.both(which, lambda memory: memory.calibrate())

    @rule(which=st.integers(0, 1), rebuild=st.booleans())
    def reopen(self, which: int, *, rebuild: bool) -> None:
        which %= len(self.handles)
        failing = embedder_of(self.ram).failing
        self.handles[which].close()
        if rebuild and len(self.handles) == 1:
            shutil.rmtree(self.folder / "m.db.idx", ignore_errors=True)
        self.handles[which] = self.fresh()
        embedder_of(self.handles[which]).failing = failing

    # -- asking --------------------------------------------------------------------------------

    def same(self, text: str, recipe: Any, **ask: Any) -> Shown:
        """The one answer that all give."""
        answer = asked(self.ram, text, recipe, **ask)
        if answer[1] != [REFUSED]:
            assert answer == expected(self.ram, text, recipe, **ask)
        for handle in self.handles:
            assert asked(handle, text, recipe, **ask) == answer
        return answer

    @rule(text=queries, recipe=recipes, where=st.none() | wheres(), as_of=st.none() | moments,
          overrides=overrides)  # fmt: skip
    def recall(
        self,
        text: str,
        recipe: str,
        where: dict[str, Any] | None,
        as_of: int | None,
        overrides: dict[str, Any],
    ) -> None:
        known = {k: v for k, v in overrides.items() if fits(recipe, k, v)}
        self.same(text, recipe, where=where, as_of=as_of, overrides=known)

    @rule(text=questions, recipe=pipelines(), ask=asks())
    def recall_by_any_recipe(self, text: str, recipe: Data, ask: Data) -> None:
        self.same(text, recipe, **ask)

    @rule(where=st.none() | wheres(), newest=st.booleans(), limit=st.integers(1, 4))
    def browse(self, where: dict[str, Any] | None, *, newest: bool, limit: int) -> None:
        sort = "newest" if newest else "oldest"
        select = {
            "trust": None, "archived": "hide", "expired": "hide", "superseded": "show",
            "reflections": "show",
        }  # fmt: skip
        ask = Ask("", {"select": select}, self.clock.now(), where=where)
        oracle = browse(world_of(self.ram), ask, newest=newest)
        for memory in (self.ram, *self.handles):
            page = memory.browse(sort, where=where, limit=limit)
            shown, total = [record.id for record in page.records], page.total
            while page.cursor is not None:
                page = memory.browse(sort, where=where, limit=limit, cursor=page.cursor)
                shown += [record.id for record in page.records]
                assert page.total == total
            assert (shown, total) == (oracle, len(oracle))

    @rule()
    def note_the_moment(self) -> None:
        if not log_of(self.ram).head("default").seq:
            return
        self.clock.move(0.000001)
        now = max(self.clock.now(), log_of(self.ram).head("default").time)
        questions = [("port ssh", "memoriter"), ("café 東京", "lexical"), ("memory", "semantic")]
        seen = [(text, recipe, self.same(text, recipe, now=now)) for text, recipe in questions]
        head = log_of(self.ram).head("default")
        self.past.append(Noted(head.time, head.seq, now, self.forgets, seen))
        self.clock.time = now + 1

    @precondition(lambda self: self.past)
    @rule(data=st.data())
    def look_back(self, data: st.DataObject) -> None:
        self.look_back_to(data.draw(st.sampled_from(self.past)))

    def look_back_to(self, noted: Noted) -> None:
        failing = embedder_of(self.ram).failing
        # Under a clock that was set back, later commits carry the noted time as well.
        alone = log_of(self.ram).seq_at("default", noted.moment) == noted.seq
        for text, recipe, then in noted.seen:
            answer = self.same(text, recipe, known_at=noted.moment, now=noted.now)
            if alone and noted.forgets == self.forgets and not failing and "meaning" in then[1]:
                assert answer == then

    @invariant()
    def all_agree(self) -> None:
        if self.handles:
            ours, theirs = dump_of(self.ram), dump_of(self.handles[0])
            assert ours == theirs
            verify_log("default", theirs)
            self.vectors_are_of_their_texts()
            self.steps += 1
            for text, recipe, ask in (QUESTIONS * 2)[self.steps % len(QUESTIONS) :][:3]:
                self.same(text, recipe, **ask)
            if self.past:
                self.look_back_to(self.past[self.steps % len(self.past)])

    def vectors_are_of_their_texts(self) -> None:
        toy = ToyEmbedder()
        world = world_of(self.ram)
        owed = {debt.row for debt in log_of(self.ram).debts("default", 10_000)}
        for record in world.records:
            (made,) = toy.embed([embedded(record)], "record")
            stored = [] if made is None or record.row in owed else [made.tolist()]
            assert [list(vector) for vector in world.vectors.get(record.row, [])] == stored

    def teardown(self) -> None:
        try:
            if self.handles:
                self.handles[0].maintain()
                self.ram.maintain()
                for handle in self.handles:
                    handle.close()
                self.final()
                shutil.rmtree(self.folder / "m.db.idx", ignore_errors=True)
                self.final()
        finally:
            shutil.rmtree(self.folder, ignore_errors=True)

    def final(self) -> None:
        """A fresh handle, as another process would open it, gives the same answers."""
        self.handles = [self.fresh()]
        self.embedder_turns(failing=False)
        for recipe in ("memoriter", "lexical", "semantic"):
            self.same("ssh port", recipe)
            self.same("memory 東京", recipe, as_of=self.clock.now())
        self.handles[0].close()


TestHistories = Histories.TestCase
TestHistories.settings = settings(
    max_examples=EXAMPLES // (2 if NIGHT else 4), stateful_step_count=25
)
# A history costs seconds, so a run has half as many of them as of other examples.
