"""What holds of reflection whatever is remembered."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.property.refusals import REFUSALS
from tests.property.strategies import EXAMPLES, queries, recipes
from tests.property.worlds import dump_of, open_toy

from memoriter.memory.facade import Memory
from memoriter.write.reflect import Reflected

WORDS = ("harbour", "crane", "light", "wall", "Ada", "stopped", "began", "is a", "2027")
texts = st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map(" ".join)
drafts = st.fixed_dictionaries(
    {"text": texts},
    optional={
        "agent": st.sampled_from(["x", "y"]),
        "user": st.sampled_from(["ana", "bob"]),
        "session": st.sampled_from(["s", "t"]),
        "archived": st.booleans(),
        "kind": st.sampled_from(["note", "reflection"]),
    },
)
corpora = st.lists(drafts, min_size=3, max_size=14)
hows = st.fixed_dictionaries(
    {
        "algorithm": st.sampled_from(["propagation", "agglomerative", "linked"]),
        "similarity": st.sampled_from([0.3, 0.7, 0.95]),
        "min_size": st.sampled_from([2, 3]),
        "archived": st.sampled_from(["hide", "show"]),
    }
)
Corpus = list[Any]
How = dict[str, Any]


def filled(corpus: Corpus) -> Memory:
    memory = open_toy()
    ids = memory.remember_many(corpus).ids
    for one, two in zip(ids, ids[2:], strict=False):
        memory.link(one, two, "associated")
    return memory


def answers(memory: Memory, text: str, recipe: str) -> list[dict[str, Any]]:
    try:
        return [hit.to_dict() for hit in memory.recall(text, 100, recipe=recipe)]
    except REFUSALS:
        return []


@settings(max_examples=2 * EXAMPLES)
@given(corpora, hows)
def test_a_second_run_makes_none(corpus: Corpus, how: How) -> None:
    memory = filled(corpus)
    first = memory.reflect(**how)
    before = memory.status().seq
    again = memory.reflect(**how)
    assert again.created == again.retired == ()
    assert again.kept == tuple(each.id for each in first.created)
    assert memory.status().seq == before


@settings(max_examples=2 * EXAMPLES)
@given(corpora, hows)
def test_no_cluster_crosses_a_scope_and_none_holds_a_reflection(corpus: Corpus, how: How) -> None:
    memory = filled(corpus)
    done = memory.reflect(**how)
    seen: set[str] = set()
    for each in done.created:
        reflection, members = memory.get(each.id), [memory.get(id) for id in each.members]
        assert {(m.agent, m.user) for m in members} == {(reflection.agent, reflection.user)}
        assert not any(m.kind == "reflection" for m in members)
        assert how["archived"] == "show" or not any(m.archived for m in members)
        assert len(members) >= how["min_size"]
        assert not seen & set(each.members)
        seen |= set(each.members)


@given(corpora, hows, queries, recipes)
def test_forgetting_all_reflections_gives_the_former_answers(
    corpus: Corpus, how: How, text: str, recipe: str
) -> None:
    """Rows, scores and explanations bit for bit: df, N and lengths are counted over the view."""
    memory = filled(corpus)
    before = answers(memory, text, recipe)
    memory.forget([each.id for each in memory.reflect(**how).created])
    assert answers(memory, text, recipe) == before


@given(corpora, hows)
def test_a_run_is_a_function_of_the_view(corpus: Corpus, how: How) -> None:
    one, two = filled(corpus), filled(corpus)
    two.maintain()
    shown: Reflected = one.reflect(dry_run=True, **how)
    assert one.reflect(**how).to_dict() == two.reflect(**how).to_dict()
    assert one.reflect(dry_run=True, **how).kept == tuple(each.id for each in shown.created)
    assert dump_of(one) == dump_of(two)
