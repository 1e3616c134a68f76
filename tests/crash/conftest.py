"""What the laboratory's tests share: the tracer, a quick folder, and a table of figures."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.crash import lab

Note = Callable[[str, object], None]


@pytest.fixture(scope="session")
def tracer(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tracer's library."""
    return lab.build(tmp_path_factory.mktemp("tracer"))


@pytest.fixture
def quick() -> Iterator[Path]:
    """A folder in memory."""
    with lab.quick_folder() as folder:
        yield folder


@pytest.fixture
def note(record_property: Callable[[str, object], None]) -> Note:
    """Adds a line to the table that `make crash` prints."""
    return record_property


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """The figures of this run."""
    reports = [r for kind in ("passed", "failed") for r in terminalreporter.stats.get(kind, [])]
    figures = [
        (report.nodeid.rpartition("::")[2], key, value)
        for report in reports
        if "tests/crash" in report.nodeid and getattr(report, "when", "") == "call"
        for key, value in report.user_properties
    ]
    if figures:
        terminalreporter.section(f"figures, seed {lab.SEED}")
        for test, key, value in sorted(figures):
            terminalreporter.write_line(f"{key:<44} {value!s:<40} {test}")
