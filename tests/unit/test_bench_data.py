"""Where tests and benchmarks look for their data."""

from __future__ import annotations

from pathlib import Path

import pytest
from tools import bench_data as place
from tools.bench_data import MISSING, VARIABLE, bench_data


def test_the_variable_comes_first_then_the_folder_beside_the_project(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("named", "beside"):
        (tmp_path / name / "everyday").mkdir(parents=True)
    monkeypatch.setattr(place, "BESIDE", tmp_path / "beside")
    monkeypatch.setenv(VARIABLE, str(tmp_path / "named"))
    assert bench_data("everyday") == tmp_path / "named" / "everyday"
    monkeypatch.delenv(VARIABLE)
    assert bench_data("everyday") == tmp_path / "beside" / "everyday"
    assert bench_data() == tmp_path / "beside"
    assert bench_data("locomo") is None
    monkeypatch.setenv(VARIABLE, str(tmp_path / "nowhere"))
    assert bench_data() is None  # what was named is not replaced in silence


def test_the_message_names_both_places() -> None:
    assert VARIABLE in MISSING
    assert "../shared/data" in MISSING
    assert str(place.BESIDE).endswith(str(Path("shared", "data")))
    assert place.BESIDE.parents[1] == Path(__file__).parents[3]
