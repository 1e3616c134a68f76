"""The figures of a run and the comparison of two, from answers written by hand."""

from __future__ import annotations

from collections.abc import Iterable

from memoriter.evaluate.command import comparison_lines, figure_lines
from memoriter.evaluate.compare import compare_runs
from memoriter.evaluate.data import EvalQuestion
from memoriter.evaluate.run import EvalOutcome, EvalReply, EvalRun
from memoriter.evaluate.score import CROSS, REMOVED, abstention_signal, score_run
from memoriter.pipeline.load import recipe_of


def asked(
    category: str, gold: Iterable[str], ids: str, top: float | None = None, **more: object
) -> EvalOutcome:
    """An outcome whose answer has one-letter ids."""
    again = more.pop("again", None)
    reply = EvalReply(tuple(ids), top, **more)  # pyright: ignore[reportArgumentType]  # of the tests
    return EvalOutcome(EvalQuestion("?", frozenset(gold), category), reply, again)  # pyright: ignore[reportArgumentType]  # as above


def run_of(*outcomes: EvalOutcome, cross: Iterable[EvalReply] = (), label: str = "x") -> EvalRun:
    return EvalRun(label, recipe_of("lexical"), list(outcomes), list(cross))


PLAIN = run_of(
    asked("who", "a", "abc", 0.9),
    asked("who", "c", "abc", 0.5),
    asked("list", "ab", "xbaz", 0.8),
    asked("list", "ab", "xyzb", 0.7),
    asked("absent", "", "xy", 0.6),
    asked("absent", "", "", None),
    asked("smalltalk", "", "x", 0.85),
)


def test_means_go_over_answerable_questions_of_a_type() -> None:
    score = score_run(PLAIN)
    assert score.questions == 4
    assert list(score.types) == ["list", "who"]
    who, lists = score.types["who"], score.types["list"]
    assert (who["hit@1"].value, who["hit@3"].value, who["R@10"].value) == (0.5, 1.0, 1.0)
    assert who["nDCG@10"].value == (1.0 + 0.5) / 2
    assert who["MRR"].value == (1.0 + 1 / 3) / 2
    assert (lists["hit@1"].value, lists["hit@3"].value, lists["hit@10"].value) == (0.0, 0.5, 1.0)
    assert (lists["R@10"].value, lists["all@10"].value) == (0.75, 0.5)
    assert "all@10" not in who
    assert score.figures["hit@1"].value == 0.25
    assert (score.figures["all@10"].value, score.figures["all@10"].questions) == (0.5, 2)


def test_an_empty_answer_says_none_and_its_signal_lies_below_all() -> None:
    kinds = score_run(PLAIN).abstention.kinds
    assert list(kinds) == ["absent", "smalltalk", "all"]
    assert (kinds["absent"].none.value, kinds["absent"].none.questions) == (0.5, 2)
    # Top scores 0.9, 0.5, 0.8, 0.7 against 0.6 (3 of 4 above) and an empty answer (4 of 4).
    absent, smalltalk, every = (kinds[k].auc for k in kinds)
    assert absent is not None
    assert absent.value == 7 / 8
    assert smalltalk is not None
    assert smalltalk.value == 1 / 4
    assert every is not None
    assert every.value == 8 / 12


JUDGED = run_of(
    asked(
        "who", "a", "ab", 1.0, relevance=0.9, strength="strong", again=EvalReply(("b",), 1.0, 0.2)
    ),
    asked("who", "b", "ab", 1.0, relevance=0.3, strength="none", again=EvalReply(("a",), 1.0, 0.3)),
    asked("who", "z", "ab", 1.0, relevance=0.1, strength="none"),
    asked("absent", "", "ab", 1.0, relevance=0.2, strength="none"),
    cross=[EvalReply(("a",), 1.0, 0.5, "weak"), EvalReply(("a",), 1.0, 0.0, "none")],
)


def test_a_verdict_of_none_counts_and_relevance_is_the_signal() -> None:
    abstention = score_run(JUDGED).abstention
    assert abstention.signal == "relevance"
    assert abstention.kinds["absent"].none.value == 1.0
    absent = abstention.kinds["absent"].auc
    assert absent is not None
    assert absent.value == 2 / 3  # 0.9 and 0.3 of the three lie above 0.2
    # Two have gold in the first ten; one of them was called none.
    assert abstention.wrongly_none is not None
    assert (abstention.wrongly_none.value, abstention.wrongly_none.questions) == (0.5, 2)


def test_made_questions_without_an_answer_are_kinds_of_their_own() -> None:
    kinds = score_run(JUDGED).abstention.kinds
    assert list(kinds) == ["absent", CROSS, REMOVED]
    assert (kinds[CROSS].none.value, kinds[CROSS].none.questions) == (0.5, 2)
    cross, removed = kinds[CROSS].auc, kinds[REMOVED].auc
    assert cross is not None
    assert cross.value == (1 + 0 + 0 + 3) / 6  # 0.9, 0.3, 0.1 against 0.5 and 0.0
    assert removed is not None
    assert removed.value == (2 + 1.5) / 4  # 0.9, 0.3 against the same questions' 0.2, 0.3


def test_without_relevance_everywhere_the_top_score_is_the_signal() -> None:
    assert abstention_signal(JUDGED) == "relevance"
    assert abstention_signal(run_of(*JUDGED.outcomes, asked("who", "a", "a", 1.0))) == "top score"
    assert abstention_signal(run_of(*JUDGED.outcomes, asked("who", "a", ""))) == "relevance"
    assert abstention_signal(run_of()) == "top score"


def test_a_set_without_answerable_questions_has_only_abstentions() -> None:
    score = score_run(run_of(asked("absent", "", "ab", 1.0)))
    assert (score.questions, dict(score.figures)) == (0, {})
    assert score.abstention.kinds["absent"].auc is None
    assert score.abstention.wrongly_none is None
    assert score.to_dict()["abstention"]
    assert any(line.split()[:1] == ["absent"] for line in figure_lines([score], ["hit@1"]))


def test_two_runs_are_compared_question_by_question() -> None:
    other = run_of(
        asked("who", "a", "abc", 0.9),
        asked("who", "c", "cab", 0.5),
        asked("list", "ab", "abxz", 0.8),
        asked("list", "ab", "xyzb", 0.7),
        asked("absent", "", "", None),
        asked("absent", "", "", None),
        asked("smalltalk", "", "x", 0.85),
        label="y",
    )
    made = compare_runs(PLAIN, other, ("hit@1", "all@10"))
    assert list(made.types) == ["all", "list", "who"]
    hit = made.types["all"]["hit@1"]
    assert hit is not None
    assert (hit.first, hit.second, hit.questions) == (0.25, 0.75, 4)
    assert (hit.higher, hit.lower) == (2, 0)
    assert hit.p == 2 / 4  # two gains: both signs equal in two of four patterns
    every = made.types["list"]["all@10"]
    assert every is not None
    assert (every.first, every.second) == (0.5, 0.5)
    assert "wrongly none" not in made.types["all"]
    none = made.unanswerable["absent"]["none"]
    assert none is not None
    assert (none.first, none.second, none.p) == (0.5, 1.0, 1.0)
    area = made.unanswerable["absent"]["AUC"]
    assert area is not None
    assert (area.first, area.second) == (7 / 8, 1.0)
    lines = [line.split() for line in comparison_lines(made, ("hit@1", "all@10"))]
    row = ["all", "hit@1", "25.0", "75.0", "+50.0", "+0.0", "to", "+100.0", "0.5000", "2", "0", "4"]
    assert row in lines


def test_removed_gold_is_compared_where_both_found_it() -> None:
    first, second, *rest = JUDGED.outcomes
    other = run_of(first, second._replace(without_gold=None), *rest, cross=JUDGED.cross)
    made = compare_runs(JUDGED, other)
    removed, cross = (made.unanswerable[kind]["none"] for kind in (REMOVED, CROSS))
    assert removed is not None
    assert cross is not None
    assert (removed.questions, cross.questions) == (1, 2)
    wrongly = made.types["all"]["wrongly none"]
    assert wrongly is not None
    assert (wrongly.first, wrongly.questions) == (0.5, 2)


def without_relevance(outcome: EvalOutcome, top: float) -> EvalOutcome:
    reply = outcome.reply._replace(relevance=None, strength=None, top=top)
    return outcome._replace(reply=reply, without_gold=None)


def test_what_a_recipe_without_relevance_does_not_tell_is_not_compared() -> None:
    judged = run_of(*(each._replace(without_gold=None) for each in JUDGED.outcomes))
    constant = run_of(*(without_relevance(each, 1.0) for each in JUDGED.outcomes), label="y")
    scored = run_of(
        *(without_relevance(each, float(n)) for n, each in enumerate(JUDGED.outcomes)), label="z"
    )
    for one, two in ((judged, constant), (judged, scored), (scored, constant), (constant, judged)):
        made = compare_runs(one, two)
        assert made.unanswerable["absent"] == {"none": None, "AUC": None}
        assert "wrongly none" not in made.types["all"]
        lines = [line.split() for line in comparison_lines(made, ("hit@1",))]
        assert ["no", "answer:", "absent", "none", *"--------"] in lines
        assert ["AUC", *"--------"] in lines
    assert None not in compare_runs(judged, judged).unanswerable["absent"].values()
    assert None not in compare_runs(scored, scored).unanswerable["absent"].values()
