"""The page's files have no type error: tsc reads their comments (`// @ts-check`)."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from tools.browser import FETCH, TSC

from memoriter.doors.http.guards import PAGE_FILES
from memoriter.doors.http.page import page_file
from memoriter.doors.mcp.card import card_module

STRICT = (
    "--allowJs", "--checkJs", "--noEmit", "--strict", "--skipLibCheck", "--target", "es2022",
    "--module", "esnext", "--moduleResolution", "bundler", "--lib", "dom,dom.iterable,es2022",
)  # fmt: skip


WRONG = "// @ts-check\nexport const n = 1;\nn.nothing();\n"


def test_the_one_type_error_is_the_one_that_was_planted(tmp_path: Path) -> None:
    node = shutil.which("node")
    if node is None or not TSC.exists():
        pytest.skip(f"there is no node or no tsc: {FETCH}")
    for name in PAGE_FILES:
        if name.endswith(".js"):
            (tmp_path / name).write_bytes(page_file(name))
    (tmp_path / "card.js").write_text(card_module(), "utf-8")
    (tmp_path / "wrong.js").write_text(WRONG, "utf-8")
    names = sorted(path.name for path in tmp_path.iterdir())
    made = subprocess.run(  # noqa: S603  # the type checker, on files of ours
        [node, str(TSC), *STRICT, *names], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    [line] = made.stdout.splitlines()
    assert line.startswith("wrong.js(3,3): error TS2339: ")
