"""The table of claims: every number, what its test says, and how it stands."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

COUNTS: Final = {"MD": 54, "MN": 44, "JB": 40, "CO": 37, "EN": 40}
"""How many claims each of the five documents makes."""
NUMBERS: Final = tuple(
    f"{system}-{n:02}" for system, count in COUNTS.items() for n in range(1, count + 1)
)
_HERE: Final = Path(__file__).parent
_NAMED: Final = re.compile(r"_(md|mn|jb|co|en)_(\d{2})(?=_)")
_ALSO: Final = re.compile(r"_and_(\d{2})(?=_)")


@dataclass(frozen=True, slots=True)
class Claim:
    """One claim: what is said of it, and how it stands."""

    number: str
    line: str
    state: str
    tests: int = 0


def numbers_of(test: str) -> list[str]:
    """The claims that a test's name begins with: `test_jb_16_and_18_…` has two."""
    name = test.removeprefix("test")
    numbers: list[str] = []
    while match := (_NAMED if not numbers else _ALSO).match(name):
        system = match[1].upper() if not numbers else numbers[0][:2]
        numbers.append(f"{system}-{match[match.lastindex or 0]}")
        name = name[match.end() :]
    return numbers


def tests_in(path: Path) -> list[str]:
    """The names of the functions of a file, without running it."""
    body = ast.parse(path.read_text("utf-8")).body
    return [node.name for node in body if isinstance(node, ast.FunctionDef)]


def by_number() -> dict[str, list[str]]:
    """The names of the tests of each claim, in the order of the files."""
    out: dict[str, list[str]] = {}
    for path in sorted(_HERE.glob("test_*.py")):
        for name in tests_in(path):
            for number in numbers_of(name):
                out.setdefault(number, []).append(name)
    return out


def listed(name: str) -> dict[str, str]:
    """Number and line of a list beside this file."""
    lines = (_HERE / name).read_text("utf-8").splitlines()
    pairs = (line.partition(" ") for line in lines if line and not line.startswith("#"))
    return {number: line for number, _, line in pairs}


def sentence(test: str) -> str:
    """A test's name as a sentence, without its numbers."""
    return re.sub(r"^test(_(md|mn|jb|co|en)_\d{2})(_and_\d{2})*_", "", test).replace("_", " ")


def table(failed: Mapping[str, int]) -> list[Claim]:
    """Every claim; `failed` counts what went wrong by test."""
    tested, doors, refused = by_number(), listed("doors.txt"), listed("refused.txt")
    out: list[Claim] = []
    for number in NUMBERS:
        names = tested.get(number, [])
        wrong = sum(failed.get(name, 0) for name in names)
        if number in doors and not wrong:
            out.append(Claim(number, doors[number], "doors", len(names)))
        elif names:
            state = "failed" if wrong else "passed"
            own = min(names, key=lambda name: len(numbers_of(name)))  # of this claim alone, if any
            out.append(Claim(number, sentence(own), state, len(names)))
        elif number in refused:
            adr, _, line = refused[number].partition(" ")
            out.append(Claim(number, line, f"refused ({adr})"))
        else:
            out.append(Claim(number, "no test", "missing"))
    return out
