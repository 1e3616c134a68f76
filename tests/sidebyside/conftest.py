"""The table that a comparison prints at its end."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest
from tests.sidebyside.compare import Report, table
from tests.sidebyside.installed import install

# These scripts run where the other programs are installed, and are no tests.
collect_ignore = [
    "made_engrava.py", "made_mnestic.py", "their_engrava.py", "their_mentisdb.py",
    "their_mnestic.py",
]  # fmt: skip
_REPORTS: Final = pytest.StashKey[list[Report]]()


@pytest.fixture(scope="session")
def reports(pytestconfig: pytest.Config) -> list[Report]:
    """What was compared so far, by class."""
    return pytestconfig.stash.setdefault(_REPORTS, [])


@pytest.fixture(scope="session")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An interpreter that has the other programs."""
    return install(tmp_path_factory.mktemp("others"))


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """The table, if anything was compared."""
    if kept := config.stash.get(_REPORTS, []):
        terminalreporter.write_sep("=", "beside the real programs")
        terminalreporter.write_line(table(kept))
