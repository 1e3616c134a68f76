"""Does the suite keep its shape? What tests share is in modules of its own, beside them."""

from __future__ import annotations

import ast
import contextlib
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
TESTS = ROOT / "tests"
FOLDERS = {".".join(path.relative_to(ROOT).parts) for path in TESTS.glob("*") if path.is_dir()}
MAX_TEST_FILE_LINES = 700

RUNS_OTHERS: dict[str, str] = {
    "postgres/test_slice.py": "runs tests of other files on another store: they are its subject",
    "postgres/test_laws.py": "runs the laws on another store",
    "shape/test_tests.py": "has such imports as samples",
}
"""Files that may import test files: why."""


def imported_tests(source: str) -> Iterator[str]:
    """Imports of test files, also those in the scripts that a test gives to another process."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        match node:
            case ast.Constant(value=str() as text) if "import" in text and "test_" in text:
                with contextlib.suppress(SyntaxError):  # prose, or a part of a script
                    yield from imported_tests(text)
            case ast.ImportFrom(module=str() as module):
                below = [f"{module}.{each.name}" for each in node.names if module in FOLDERS]
                yield from (name for name in (module, *below) if is_test_file(name))
            case ast.Import():
                yield from (each.name for each in node.names if is_test_file(each.name))
            case _:
                pass


def is_test_file(module: str) -> bool:
    first, _, last = module.partition(".")
    return first == "tests" and last.rpartition(".")[2].startswith("test_")


def test_what_tests_share_is_imported_from_no_test_file() -> None:
    findings = [
        f"{path.relative_to(ROOT)} imports {name}"
        for path in sorted(TESTS.rglob("*.py"))
        if path.relative_to(TESTS).as_posix() not in RUNS_OTHERS
        for name in imported_tests(path.read_text(encoding="utf-8"))
    ]
    assert not findings, "\n".join(findings)
    assert all((TESTS / name).exists() for name in RUNS_OTHERS)


def test_an_import_of_a_test_file_is_noticed() -> None:
    assert list(imported_tests("from tests.unit.test_rank import fill\n"))
    assert list(imported_tests("from tests.unit import test_rank\n"))
    assert list(imported_tests("import tests.unit.test_rank\n"))
    assert list(imported_tests("S = 'from tests.unit.test_rank import fill'\n"))
    assert not list(imported_tests("from tests.unit.receipts import ALL\nimport test_tube\n"))


def test_no_file_of_tests_is_too_long() -> None:
    lines = {path: path.read_text("utf-8").count("\n") for path in TESTS.rglob("*.py")}
    long = [f"{p.relative_to(ROOT)}: {n}" for p, n in lines.items() if n > MAX_TEST_FILE_LINES]
    assert not long, f"more than {MAX_TEST_FILE_LINES} lines: {long}; split them by subject"
