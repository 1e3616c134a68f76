"""The real programs beside ours, on random corpora. Opt-in: MEMORITER_SIDEBYSIDE=1.

They are installed into an environment of their own, which MEMORITER_SIDEBYSIDE_VENV may name to
keep it. MEMORITER_SIDEBYSIDE_CORPORA says how many corpora each program has, in equal parts for its
classes of cases, and MEMORITER_SIDEBYSIDE_SEED the first seed of each class (0): another one makes
corpora that nobody has seen.
"""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import Any, Final

import pytest
from tests.sidebyside.cases import real_sentences
from tests.sidebyside.compare import Answer, Documented, Report, difference, table
from tests.sidebyside.installed import OPT_IN, asked_for, theirs
from tests.sidebyside.programs import CLASSES, PROGRAMS
from tools.bench_data import VARIABLE

_ROOT: Final = Path(__file__).parent.parent.parent


INSTALLED: Final = [each for each in CLASSES if PROGRAMS[each[0]].package is not None]
ORACLES: Final = [each for each in CLASSES if each not in INSTALLED]


@asked_for
@pytest.mark.parametrize(("name", "label"), INSTALLED)
def test_order_and_scores_are_those_of_the_real_program(
    python: Path, name: str, label: str, reports: list[Report]
) -> None:
    compare(python, name, label, reports, int(os.environ.get(f"{OPT_IN}_CORPORA", "400")))


@pytest.mark.parametrize(("name", "label"), ORACLES)
def test_order_and_every_number_are_those_of_the_oracle(
    name: str, label: str, reports: list[Report]
) -> None:
    asked = "400" if OPT_IN in os.environ else "40"
    count = int(os.environ.get(f"{OPT_IN}_CORPORA", asked))
    compare(Path(sys.executable), name, label, reports, count)


def compare(python: Path, name: str, label: str, reports: list[Report], corpora: int) -> None:
    """Compare the answers to this class's part of the corpora."""
    program = PROGRAMS[name]
    count = -(-corpora // len(program.generators))
    report = Report(f"{name} {label}", program.within)
    reports.append(report)
    try:
        first = int(os.environ.get(f"{OPT_IN}_SEED", "0"))
        seeds = range(first, first + count)
        asked = [program.generators[label](seed) for seed in seeds]
    except pytest.skip.Exception as error:
        report.skipped = str(error)
        raise
    for seed, case, other in zip(seeds, asked, theirs(python, name, asked), strict=True):
        report.add(seed, case, program.answers(case), other)
    assert report.mismatches == 0, report.first
    assert report.corpora > 0.9 * count, "too many compared nothing"
    assert report.beyond <= 1 + 0.05 * report.questions
    assert report.worst <= 1e-3  # as EN-12 allows where all words are weak


def test_a_comparison_takes_equals_in_any_order_and_nothing_else() -> None:
    ours_ = [("a", 2.0), ("b", 1.0), ("c", 1.0)]
    assert difference(ours_, [("a", 2.0), ("c", 1.0), ("b", 1.0)], 1e-6) is None
    assert difference(ours_, [("a", 2.0), ("c", 1.0), ("d", 1.0)], 1e-6) is None  # cut by a limit
    assert difference(ours_, [("b", 2.0), ("a", 1.0), ("c", 1.0)], 1e-6) == "place 1: a and b"
    assert difference(ours_, ours_[:2], 1e-6) == "3 and 2 rows"
    assert difference([("a", 1.0)], [("a", 1.1)], 1e-6) is not None


def test_two_empty_answers_compare_nothing_and_the_table_has_the_first_difference() -> None:
    report = Report("them")
    case = {"questions": [{"text": "one"}, {"text": "two"}]}
    report.add(0, case, [([], 1e-6), ([], 1e-6)], [[], []])
    assert (report.corpora, report.idle, report.questions, report.empty) == (0, 1, 0, 2)
    report.add(1, case, [([("a", 1.0)], 1e-6), ([("a", 1.0)], 1e-6)], [[("a", 1.0)], []])
    assert (report.corpora, report.questions, report.rows, report.mismatches) == (1, 2, 1, 1)
    printed = table([report])
    assert printed.splitlines()[1].split()[:5] == ["them", "1", "2", "1", "1"]
    assert "seed 1, 1 and 0 rows" in printed
    assert '{"text": "two"}' in printed


def test_a_class_that_is_skipped_has_a_line_in_the_table(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "nowhere")
    real_sentences.cache_clear()
    reports: list[Report] = []
    with pytest.raises(pytest.skip.Exception):
        compare(Path(sys.executable), "engrava", "real sentences", reports, 1)
    real_sentences.cache_clear()
    lines = table([Report("them", corpora=7), *reports]).splitlines()
    assert lines[1].split()[:2] == ["them", "7"]
    assert lines[2].startswith("engrava real sentences  skipped: no data here")


def test_a_documented_difference_is_counted_apart_and_no_other_is_excused() -> None:
    report = Report("them")
    known = Answer([("a", 1.0)], documented=lambda: Documented(("known",), [("b", 2.0)]))
    theirs_ = [[("b", 2.0)], [("b", 2.1)], [("a", 1.0)], []]
    report.add(0, {"questions": [{}] * 4}, [known] * 4, theirs_)
    assert (report.documented, report.mismatches) == (1, 2)
    assert report.first.startswith("seed 0, not as documented (known): place 1: b 2.0")


def test_what_is_not_stated_of_an_answer_is_not_compared() -> None:
    ours_ = [("a", 3.0), ("r", 2.0), ("s", 1.0), ("b", 0.5)]
    rest: dict[str, Any] = {"names": ("known",), "rows": ours_}
    apart = Documented(**rest, apart={"s", "lent"})
    assert (
        apart.difference([("a", 3.0), ("s", 2.5), ("r", 2.0), ("b", 0.5)], ["lent"], 1e-6) is None
    )
    assert apart.difference([("a", 3.0), ("r", 2.0), ("b", 0.5), ("c", 0.4)], [], 1e-6) is None
    assert apart.difference([("a", 3.0), ("s", 2.5), ("r", 1.9)], [], 1e-6) is not None
    assert apart.difference(ours_[:1], [], 1e-6) == "3 and 1 rows"
    assert apart.difference(ours_, ["more"], 1e-6) == "notes  and more"
    alike = Documented(**rest, alike={"r": "r", "q": "r"})
    swapped = [("a", 3.0), ("q", 2.0), *ours_[2:]]
    assert alike.difference(swapped, [], 1e-6) is None
    assert Documented(**rest).difference(swapped, [], 1e-6) is not None
    assert Documented(**rest, above=0.5).difference(ours_[:3], [], 1e-6) is None
    among = Documented(**rest, among={"a", "b", "c", "d", "e"})
    assert among.difference([(id, 1.0) for id in "edcb"], [], 1e-6) is None
    assert among.difference([(id, 1.0) for id in "edcx"], [], 1e-6) is not None


def test_notes_of_empty_answers_are_compared() -> None:
    report = Report("them")
    stated = Documented(("known",), [], ["recency", "words"])
    known = Answer([], 1e-6, ["words"], lambda: stated)
    theirs_ = [{"rows": [], "notes": notes} for notes in (["words"], ["recency", "words"], [])]
    report.add(0, {"questions": [{}] * 3}, [known] * 3, theirs_)
    assert (report.empty, report.documented, report.mismatches) == (3, 1, 1)
    assert report.first.startswith("seed 0, not as documented (known): notes recency, words and ")
    report.add(1, {"questions": [{}]}, [Answer([], 1e-6, ["words"])], theirs_[1:2])
    assert report.mismatches == 2


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_documented_difference_has_its_test(name: str) -> None:
    for place in PROGRAMS[name].documented.values():
        path, test = place.split("::")
        assert re.search(rf"^def {test}\(", (_ROOT / path).read_text("utf-8"), re.MULTILINE), place


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_documented_difference_is_named_on_the_page_of_the_recipe(name: str) -> None:
    page = (_ROOT / f"docs/recipes/{name}.md").read_text("utf-8")
    text = " ".join(page.replace("*", "").split()).lower()
    assert [key for key in PROGRAMS[name].documented if key not in text] == []


@pytest.mark.parametrize(("name", "label"), CLASSES)
def test_our_side_answers_every_case(name: str, label: str) -> None:
    program = PROGRAMS[name]
    for seed in range(3):
        case = program.generators[label](seed)
        made: list[Any] = list(program.answers(case))
        assert len(made) == len(case["questions"])
        assert case == program.generators[label](seed)
        stated = Answer(*made[0]).documented() if seed == 0 else None
        assert stated is None or {*stated.names} <= {*program.documented}
