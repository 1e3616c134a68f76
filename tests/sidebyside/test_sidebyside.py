"""The real programs beside ours, on random corpora. Opt-in: MEMORITER_SIDEBYSIDE=1.

Each is installed into an environment of its own, which MEMORITER_SIDEBYSIDE_VENV may name to keep
it; MEMORITER_SIDEBYSIDE_CORPORA says how many corpora.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import venv
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest
from tests.sidebyside import cases, ours
from tests.sidebyside.compare import Report, difference

PROGRAMS: Final = {"engrava": "engrava==0.7.2", "mnestic": "mnestic==0.18.0"}
OPT_IN: Final = "MEMORITER_SIDEBYSIDE"
_HERE: Final = Path(__file__).parent
asked_for = pytest.mark.skipif(OPT_IN not in os.environ, reason=f"{OPT_IN}=1 installs the others")


@pytest.fixture(scope="session")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An interpreter that has the other programs."""
    kept = os.environ.get(f"{OPT_IN}_VENV")
    place = Path(kept) if kept else tmp_path_factory.mktemp("others")
    program = place / "bin" / "python"
    if not program.exists():
        venv.create(place, with_pip=True)
    install = [str(program), "-m", "pip", "install", "-q", *PROGRAMS.values()]
    subprocess.run(install, check=True, timeout=600)  # noqa: S603  # as pinned above
    return program


def theirs(python: Path, name: str, asked: list[cases.Case]) -> list[Any]:
    """What the other program answers to every case."""
    script = str(_HERE / f"their_{name}.py")
    lines = "".join(json.dumps(case) + "\n" for case in asked)
    call = [str(python), script]
    done = subprocess.run(  # noqa: S603  # our own script
        call, input=lines, text=True, capture_output=True, check=False, timeout=3600
    )
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(answers) == len(asked), done.stderr[-2000:]
    return answers


@asked_for
@pytest.mark.parametrize("name", PROGRAMS)
def test_order_and_scores_are_those_of_the_real_program(
    python: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    count = int(os.environ.get(f"{OPT_IN}_CORPORA", "200"))
    made: Callable[[int], cases.Case] = getattr(cases, name)
    answer: Callable[[Any], Any] = getattr(ours, name)
    asked = [made(seed) for seed in range(count)]
    report = Report(name)
    for seed, (case, other) in enumerate(zip(asked, theirs(python, name, asked), strict=True)):
        report.add(seed, case, answer(case), other)
    with capsys.disabled():
        sys.stdout.write(f"\n{report}\n")
    assert report.mismatches == 0
    assert report.corpora > 0.9 * count, "too many compared nothing"
    assert report.beyond <= 1 + 0.01 * report.questions
    assert report.worst <= 1e-3  # as EN-12 allows where all words are weak


def test_a_comparison_takes_equals_in_any_order_and_nothing_else() -> None:
    ours_ = [("a", 2.0), ("b", 1.0), ("c", 1.0)]
    assert difference(ours_, [("a", 2.0), ("c", 1.0), ("b", 1.0)], 1e-6) is None
    assert difference(ours_, [("a", 2.0), ("c", 1.0), ("d", 1.0)], 1e-6) is None  # cut by a limit
    assert difference(ours_, [("b", 2.0), ("a", 1.0), ("c", 1.0)], 1e-6) == "place 1: a and b"
    assert difference(ours_, ours_[:2], 1e-6) == "3 and 2 rows"
    assert difference([("a", 1.0)], [("a", 1.1)], 1e-6) is not None


def test_two_empty_answers_compare_nothing_and_the_first_difference_is_told() -> None:
    report = Report("them")
    case = {"questions": [{"text": "one"}, {"text": "two"}]}
    report.add(0, case, [([], 1e-6), ([], 1e-6)], [[], []])
    assert (report.corpora, report.idle, report.questions, report.empty) == (0, 1, 0, 2)
    report.add(1, case, [([("a", 1.0)], 1e-6), ([("a", 1.0)], 1e-6)], [[("a", 1.0)], []])
    assert (report.corpora, report.questions, report.rows, report.mismatches) == (1, 2, 1, 1)
    assert "seed 1, 1 and 0 rows" in str(report)
    assert '{"text": "two"}' in str(report)


@pytest.mark.parametrize("name", PROGRAMS)
def test_our_side_answers_every_case(name: str) -> None:
    for seed in range(3):
        case = getattr(cases, name)(seed)
        assert len(getattr(ours, name)(case)) == len(case["questions"])
        assert case == getattr(cases, name)(seed)
