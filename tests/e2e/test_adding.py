"""CONTRIBUTING's steps, done in a copy: three files of one name and one line of a table."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
GUIDE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
TABLE = "src/memoriter/pipeline/kinds.py"
LINES = {
    "lanes": ("_LANES: Final = (\n", '    "memoriter.lanes.pinned:PinnedLane",\n'),
    "boosts": ("_BOOSTS: Final = (\n", '    "memoriter.pipeline.boosts.pinned:PinnedBoost",\n'),
}
FILES = {
    "lanes": ("src/memoriter/lanes", "src/memoriter/why/verify/lanes", "tests/oracle/lanes"),
    "boosts": (
        "src/memoriter/pipeline/boosts", "src/memoriter/why/verify/boosts", "tests/oracle/boosts",
    ),
}  # fmt: skip


def shown(path: str) -> str:
    """A file as CONTRIBUTING shows it."""
    match = re.search(rf"^```python\n# {re.escape(path)}\n(.*?)^```", GUIDE, re.M | re.S)
    assert match is not None, path
    return match[1]


@pytest.fixture
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of what is needed, before anything is added."""
    tree = tmp_path_factory.mktemp("tree")
    for folder in ("src", "tests/oracle", "tests/property", "tools", "docs"):
        skipped = shutil.ignore_patterns("__pycache__", "*.egg-info")
        shutil.copytree(ROOT / folder, tree / folder, ignore=skipped)
    shutil.copy(ROOT / "tests" / "inside.py", tree / "tests")
    return tree


def added(tree: Path, group: str) -> list[str]:
    """Do the steps; the files that were touched."""
    before = {path: path.read_bytes() for path in tree.rglob("*.py")}
    for folder in FILES[group]:
        path = f"{folder}/pinned.py"
        (tree / path).write_text(shown(path), encoding="utf-8")
    begin, line = LINES[group]
    text = (tree / TABLE).read_text(encoding="utf-8")
    assert line in GUIDE or group != "lanes"
    (tree / TABLE).write_text(text.replace(begin, begin + line), encoding="utf-8")
    after = {path: path.read_bytes() for path in tree.rglob("*.py")}
    return sorted(
        str(path.relative_to(tree)) for path in after if after[path] != before.get(path, b"")
    )


def ran(tree: Path, program: str) -> dict[str, Any]:
    """What a program prints that imports from the copy."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("MEMORITER_", "PYTHON"))}
    path = os.pathsep.join([str(tree / "src"), str(tree)])
    done = subprocess.run(  # noqa: S603  # our own program
        [sys.executable, "-c", program], cwd=tree, text=True, encoding="utf-8",
        env={**kept, "PYTHONPATH": path}, capture_output=True, check=False, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


PROGRAM = """
import io, json
import memoriter
from rich.console import Console
from memoriter.core.explanation import reconciles
from memoriter.doors.render.recipes import side_by_side
from memoriter.pipeline.kinds import kinds
from memoriter.pipeline.load import recipe_of
from memoriter.why.verify import kinds as verifier
from tests.oracle import kinds as oracle
from tests.property.worlds import asked, expected, open_toy
from tools.kinds import source

assert memoriter.__file__.startswith(__import__("os").getcwd())
memory = open_toy()
memory.remember("port 22", id="port", session="s")
memory.remember("call home about the port", id="pin", pinned=True, session="s")
memory.remember("nothing of it", id="other")
usual = recipe_of("memoriter").to_data()
usual["pass"] = usual["pass"][:1]
changed = json.loads(json.dumps(usual))
CHANGE
result = memory.recall("port", recipe=changed)
receipt = json.loads(result.receipt.to_bytes())
verified = memoriter.verify(receipt)
off = {"lanes.kin.enabled": False, "lanes.meaning.enabled": False}
missed = memory.why_not(memory.recall("port", recipe=changed, overrides=off), "other")
console = Console(file=io.StringIO(), width=300)
console.print(side_by_side(("a", "b"), usual, recipe_of(changed).to_data()))
sets = {
    "lanes": [verifier.lane_rules(), oracle.lanes()],
    "boosts": [verifier.boost_rules(), oracle.boosts()],
    "orderings": [verifier.ordering_rules(), oracle.orderings()],
}
print(json.dumps({
    "hits": [hit.id for hit in result],
    "sound": all(reconciles(hit.explanation) for hit in result),
    "plan": [step["step"] for step in result.plan.to_dict()["steps"]],
    "evidence": [hit.lanes["pins"].why.to_dict() for hit in result if "pins" in hit.lanes],
    "ok": verified.ok, "checked": verified.checked, "attested": verified.attested,
    "missed": dict(missed.lanes), "diff": console.file.getvalue(), "docs": source(),
    "oracle": asked(memory, "port", changed) == expected(memory, "port", changed),
    "same": all(
        {k.kind_name() for k in kinds(group)} == set(a) == set(b) for group, (a, b) in sets.items()
    ),
}))
"""
LANE = """
changed["lanes"]["pins"] = {"kind": "pinned"}
changed["pass"][0]["fuse"]["weights"]["pins"] = 0.5
"""
BOOST = """
changed["boosts"]["pins"] = {"kind": "pinned", "weight": 0.5}
changed["boosts"]["session"] = {"kind": "session", "weight": 0.3}
changed["pass"][0]["boosts"] = ["pins", "session"]
"""


def test_a_lane_is_three_files_and_one_line(tree: Path) -> None:
    touched = added(tree, "lanes")
    assert touched == sorted([TABLE, *(f"{folder}/pinned.py" for folder in FILES["lanes"])])
    outcome = ran(tree, PROGRAM.replace("CHANGE", LANE))
    assert outcome["ok"]
    assert outcome["same"]
    assert outcome["oracle"]
    assert outcome["sound"]
    assert "pins" in outcome["plan"]
    assert outcome["evidence"] == [
        {"label": "newness", "value": 2.0, "op": "leaf", "facts": {"position": 1}}
    ]
    at = outcome["hits"].index("pin")
    assert f"evidence/{at}/pins" in outcome["checked"]
    assert outcome["missed"]["pins"] == "it is not pinned"
    assert "records that somebody pinned, newest first" in outcome["diff"]
    assert "### `pinned`\nRecords that somebody pinned, newest first." in outcome["docs"]
    assert "| `pool` | `100` | maximum candidates |" in outcome["docs"]


def test_a_boost_is_three_files_and_one_line_and_its_neighbour_stays_checked(tree: Path) -> None:
    touched = added(tree, "boosts")
    assert touched == sorted([TABLE, *(f"{folder}/pinned.py" for folder in FILES["boosts"])])
    outcome = ran(tree, PROGRAM.replace("CHANGE", BOOST))
    assert outcome["ok"]
    assert outcome["same"]
    assert outcome["oracle"]
    assert {"slate/columns/boost.pins", "slate/columns/boost.session"} <= {*outcome["checked"]}
    assert "pinned records gain; what a pin adds: 0.5" in outcome["diff"]
    assert "| `weight` | `0.25` | what a pin adds |" in outcome["docs"]


def test_without_its_rule_an_added_boost_is_attested_and_its_neighbour_stays_checked(
    tree: Path,
) -> None:
    added(tree, "boosts")
    (tree / FILES["boosts"][1] / "pinned.py").unlink()
    outcome = ran(tree, PROGRAM.replace("CHANGE", BOOST))
    assert outcome["ok"]
    assert not outcome["same"]
    assert "slate/columns/boost.pins" in outcome["attested"]
    assert "slate/columns/boost.session" in outcome["checked"]
