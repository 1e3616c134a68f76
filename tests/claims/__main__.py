"""`python -m tests.claims` runs the claims and prints the table of them."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

import pytest
from tests.claims.table import table, tests_in

_HERE = Path(__file__).parent


class Outcomes:
    """Counts what went wrong, by the name of the test."""

    def __init__(self) -> None:
        self.failed: Counter[str] = Counter()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """One phase of one test."""
        if report.failed:
            self.failed[report.nodeid.rpartition("::")[2].partition("[")[0]] += 1

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """A file that cannot be read fails with every test in it."""
        path = _HERE.parent.parent / report.nodeid
        if report.failed and path.is_file():
            self.failed.update(tests_in(path))


def main(args: list[str]) -> int:
    """Run the tests with these further options, then print; 1 unless all stand well."""
    outcomes = Outcomes()
    code = pytest.main(["-q", "--no-header", str(_HERE), *args], plugins=[outcomes])
    claims = table(outcomes.failed)
    lines = [f"{claim.number}  {claim.state:<8}  {claim.line}" for claim in claims]
    counted = Counter(claim.state for claim in claims)
    totals = ", ".join(f"{n} {state}" for state, n in counted.items())
    sys.stdout.write("\n".join([*lines, "", f"{len(claims)} claims: {totals}", ""]))
    return 1 if code or counted["failed"] or counted["missing"] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
