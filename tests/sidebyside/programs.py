"""The programs that ours are compared with: how each is installed, asked and answered.

A class of cases is one entry of GENERATORS in `cases_NAME.py`: a name, and a function from a seed
to a case. `make beside` then has a row for it. Where the program is known to answer otherwise, our
side says what it answers (`compare.Documented`), under a name of DOCUMENTED, which leads to the
test that pins the difference.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from tests.sidebyside import (
    cases_engrava,
    cases_mentisdb,
    cases_mnestic,
    ours_engrava,
    ours_mentisdb,
    ours_mnestic,
)
from tests.sidebyside.cases import Case
from tests.sidebyside.compare import WITHIN, Answer, Rows

Answers = Sequence[Answer | tuple[Rows, float]]
"""Per question: our rows, how far their scores may lie from those of the program, and what must be
equal besides, as `compare.Answer` has it."""


@dataclass(frozen=True)
class Program:
    """One of them: what pip installs, its classes of cases, our answers, what is documented.

    One without a package is an oracle, which runs where we do.
    """

    package: str | None
    generators: Mapping[str, Callable[[int], Case]]
    answers: Callable[[Any], Answers]
    documented: Mapping[str, str]
    within: float = WITHIN


PROGRAMS: Final = {
    "engrava": Program(
        "engrava==0.7.2",
        cases_engrava.GENERATORS, ours_engrava.answers, cases_engrava.DOCUMENTED,
    ),
    "mentisdb": Program(
        None, cases_mentisdb.GENERATORS, ours_mentisdb.answers, cases_mentisdb.DOCUMENTED,
        ours_mentisdb.WITHIN,
    ),
    "mnestic": Program(
        "mnestic==0.18.0",
        cases_mnestic.GENERATORS, ours_mnestic.answers, cases_mnestic.DOCUMENTED,
    ),
}  # fmt: skip
CLASSES: Final = [(name, label) for name, each in PROGRAMS.items() for label in each.generators]
"""Every (program, class of cases)."""
