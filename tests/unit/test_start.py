"""What a recall from the command line loads: counted in modules, since time is noise."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from tests.unit.processes import python

import memoriter

UNUSED = {
    "memoriter.doors.operations",  # the models of every request and reply
    "memoriter.doors.requests",
    "memoriter.doors.remote",
    "memoriter.evaluate",
    "memoriter.imports.table",
    "memoriter.lanes.walk",  # kinds that the default recipe does not name
    "memoriter.pipeline.boosts.importance",
    "memoriter.pipeline.orderings.mmr",
    "memoriter.memory.status",
    "memoriter.why.bundles",
    "memoriter.write.doctor",
    "http.client",
    "numpy.ma",
    "pydantic",
    "ssl",
}
RUN = """
import io
from memoriter.core import plugins
from memoriter.doors.cli.main import app
sys.stdin = io.StringIO("which port for ssh?")
try:
    app({words!r})
except SystemExit as end:
    assert not end.code, end.code
loaded = set(sys.modules)
print("\\n", len(loaded), plugins._installed.cache_info().misses, *({unused!r} & loaded))
"""


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A store of a few memories."""
    with memoriter.open(tmp_path / "m.db") as memory:
        memory.remember_many(["the SSH port is 49222", "deploys are on Tuesdays"])
    return tmp_path / "m.db"


@pytest.mark.parametrize(
    ("words", "more"), [(["recall", "which port?"], set[str]()), (["hooks", "recall"], {"rich"})]
)
def test_a_recall_loads_what_it_needs(words: list[str], more: set[str], store: Path) -> None:
    code = RUN.format(words=[*words, "--store", str(store)], unused=UNUSED | more)
    answer, _, counted = python(code).rstrip().rpartition("\n")
    assert "49222" in answer
    modules, scans, *heavy = counted.split()
    assert heavy == []
    assert scans == "0"  # installed packages were not searched for plugins
    if sys.version_info < (3, 14):  # the standard library counts too
        assert int(modules) < 650
