"""A package of its own brings a recipe, an importer, a dialect and more; a broken one is named."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

import memoriter

SRC = Path(memoriter.__file__).parents[1]
PLUGIN = Path(__file__).parent / "plugin"

Run = Callable[..., subprocess.CompletedProcess[str]]
BROKEN = {
    "memoriter.lanes": "gone = nowhere_at_all:Lane\nbm25 = memoriter_desk.lane:Pinned\n",
    "memoriter.boosts": "plain = memoriter_desk:DESK\n",
    "memoriter.recipes": (
        "gone = nowhere_at_all:TEXT\nhalf = memoriter_broken:HALF\nengrava = memoriter_desk:DESK\n"
    ),
    "memoriter.importers": "gone = nowhere_at_all:FORMAT\nchat = memoriter_desk.importer:SLIPS\n",
    "memoriter.dialects": "gone = memoriter_desk:DESK\n",
    "memoriter.analyzers": "gone = memoriter_desk.words:Spaced\n",
    "memoriter.tools": "gone = memoriter_desk:DESK\n",
}


def info(name: str, points: dict[str, str]) -> dict[str, str]:
    """What an installed package says of itself, by file."""
    sections = "".join(f"[{group}]\n{lines}\n" for group, lines in points.items())
    return {
        "METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n",
        "WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        "entry_points.txt": sections,
        "RECORD": "",
    }


def wheel(source: Path, folder: Path) -> Path:
    """The package as a wheel, from its own pyproject; no build backend is needed."""
    project = tomllib.loads((source / "pyproject.toml").read_text("utf-8"))["project"]
    points = {
        group: "\n".join(f"{name} = {place}" for name, place in names.items())
        for group, names in project["entry-points"].items()
    }
    name = project["name"].replace("-", "_")
    path = folder / f"{name}-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as out:
        for file in sorted((source / name).iterdir()):
            if file.suffix in (".py", ".toml"):
                out.write(file, f"{name}/{file.name}")
        for file, text in info(project["name"], points).items():
            out.writestr(f"{name}-1.0.dist-info/{file}", text)
    return path


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of packages with the plug-in, installed as anybody would, and a broken one."""
    base = tmp_path_factory.mktemp("plugins")
    site = base / "site"
    done = subprocess.run(  # noqa: S603  # our own package, from a file of ours
        [
            *(sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index"),
            *("--no-compile", "--target", str(site), str(wheel(PLUGIN, base))),
        ],
        capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    broken = site / "memoriter_broken-1.0.dist-info"
    broken.mkdir()
    for file, text in info("memoriter-broken", BROKEN).items():
        (broken / file).write_text(text, "utf-8")
    (site / "memoriter_broken.py").write_text('HALF = "name = \\"half\\""\n')
    return site


@pytest.fixture
def env(site: Path, tmp_path: Path) -> dict[str, str]:
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("MEMORITER_", "PYTHONPATH"))}
    path = os.pathsep.join([str(SRC), str(site)])
    return {**kept, "PYTHONPATH": path, "XDG_CONFIG_HOME": str(tmp_path), "COLUMNS": "200"}


@pytest.fixture
def run(env: dict[str, str], tmp_path: Path) -> Run:
    def call(*args: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(  # noqa: S603  # our own program
            [sys.executable, *args], cwd=tmp_path, env=env, text=True, encoding="utf-8",
            capture_output=True, check=False, timeout=120,
        )  # fmt: skip

    return call


SEARCH = """
import json, memoriter
from memoriter.core.explanation import reconciles

memory = memoriter.open("desk.db", embedder=None)
memory.remember("the port of the shop and a long tail of words", id="long", agent="a")
memory.remember("port 22", id="short", agent="a")
memory.remember("another port", id="third", agent="a")
memory.remember("call home", id="pin", agent="b", pinned=True)
result = memory.recall("port", recipe="desk")
assert all(reconciles(hit.explanation) for hit in result)
assert all(hit.explanation.value == hit.score for hit in result)
assert all(reconciles(lane.why) for hit in result for lane in hit.lanes.values())
assert result.to_html().count("short +") == len(result)
more = memory.recall("port", recipe="desk", overrides={"order.0.most": 3, "boosts.short.weight": 0})
print(json.dumps([result.to_dict(), [hit.id for hit in more]]))
memory.close()
"""


def test_a_recipe_from_outside_recalls_with_its_own_lane_boost_and_ordering(run: Run) -> None:
    done = run("-c", SEARCH)
    assert done.returncode == 0, done.stderr
    answer, more = json.loads(done.stdout.splitlines()[-1])
    assert [hit["record"]["id"] for hit in answer["hits"]] == ["short", "third", "pin"]
    assert set(more) == {"short", "third", "pin", "long"}
    assert (answer["status"], answer["used"]) == ("complete", ["words", "pins"])
    steps = {step.pop("step"): step for step in answer["plan"]["steps"]}
    assert steps["pins"] == {"pool": 50, "rows": 1}
    assert steps["short"] == {"weight": 0.5, "rows": 4}
    assert steps["spread"] == {"most": 2, "rows": 3, "dropped": 1}
    pin = answer["hits"][2]
    assert pin["lanes"]["pins"]["why"] == {"label": "position", "value": 4.0, "op": "leaf"}
    short = pin["explanation"]["parts"][1]
    assert short == {"label": "short", "value": 0.25, "op": "leaf", "facts": {"words": 2.0}}
    assert pin["score"] == pytest.approx(0.3 + 0.25, abs=2**-31)


def test_the_command_line_shows_it_and_names_what_is_broken(run: Run) -> None:
    listed = json.loads(run("-m", "memoriter", "recipe", "list", "--json").stdout)["recipes"]
    by_name = {recipe["name"]: recipe for recipe in listed}
    assert by_name["desk"]["about"] == "Words and pins, short notes first."
    assert "nowhere_at_all" in by_name["gone"]["error"]
    assert "half" in by_name["half"]["error"]
    run("-m", "memoriter", "remember", "a note", "--pinned")
    plan = run("-m", "memoriter", "plan", "note", "--recipe", "desk").stdout
    for word in ("pins", "pool 50", "short", "weight 0.5", "spread", "most 2"):
        assert word in plan
    failed = run("-m", "memoriter", "recall", "x", "--recipe", "gone")
    assert failed.returncode == 2
    assert "\nerror: recipe 'gone' of another package cannot be loaded" in failed.stderr


WRONG = """
import json
from memoriter.core.errors import BadRecipe
from memoriter.pipeline.load import recipe_of

errors = {}
for group, kind in (("lanes", "gone"), ("boosts", "plain"), ("lanes", "nonsense")):
    data = recipe_of("desk").to_data()
    data[group]["x"] = {"kind": kind}
    try:
        recipe_of(data)
    except BadRecipe as error:
        errors[kind] = [error.field, error.hint]
print(json.dumps(errors))
"""


def test_a_broken_kind_is_left_out_and_named_when_asked_for(run: Run) -> None:
    messages = json.loads(run("-c", WRONG).stdout)
    missing = "gone cannot be loaded: ModuleNotFoundError: No module named 'nowhere_at_all'"
    assert messages["gone"] == ["lanes.x", missing]
    where, hint = messages["plain"]
    assert where == "boosts.x"
    assert (
        hint == "plain cannot be loaded: TypeError: memoriter_desk:DESK is not a subclass of "
        "memoriter.pipeline.boosts.port.Boost"
    )
    where, hint = messages["nonsense"]
    assert where == "lanes.x"
    assert hint.startswith("known: bm25, ")


READ = """
import json, memoriter
from pathlib import Path
from memoriter.doors.tenant_session import TenantSession
from memoriter.doors.http.rpc import methods
from memoriter.doors.mcp.tools import tools_of

Path("pile.txt").write_text("slip: The Port of the shop\\nslip: port 22\\nno mark\\n")
Path("pile.slips").write_bytes(bytes(64))
memory = memoriter.open("slips.db", embedder=None)
done = memory.import_file("pile.txt")
out = {"import": [done.format, done.why, done.records.written, done.refused[0].reason]}
asked = {"photograph": ("pile.slips", "auto"), "strict": ("pile.slips", "slips"),
         "gone": ("pile.txt", "gone")}
for name, (path, form) in asked.items():
    try:
        memory.import_file(path, form)
    except memoriter.InputError as error:
        out[name] = [error.message.rpartition("/")[2], error.hint]
out["shadowed"] = memoriter.open(":memory:", embedder=None).plan("x", recipe="engrava").recipe.name
every = {"lanes.words.dialect": "every"}
out["any"] = len(memory.recall("port shop", recipe="desk"))
hits = memory.recall("port shop", recipe="desk", overrides=every)
out["every"] = [hit.record.text for hit in hits]
data = {**memory.plan("x", recipe="desk").recipe.to_data(), "analyzer": "spaced"}
out["spaced"] = [hit.record.text for hit in memory.recall("shop port", recipe=data)]
memory.analyzers.add("spaced")
out["kept"] = [one.rows for one in memory.analyzers.list() if one.name == "spaced"]
memory.close()
memory = memoriter.open("slips.db", embedder=None)
out["after"] = [one.added for one in memory.analyzers.list() if one.name == "spaced"]
for key in ("lanes.words.dialect", "analyzer"):
    try:
        memory.plan("x", recipe="desk", overrides={key: "gone"})
    except memoriter.BadRecipe as error:
        out[key] = error.message
desk = TenantSession(memory)
tools = {tool.name: tool for tool in tools_of("compat", "read")}
own = tools["recall"].run(desk, {"query": "x"})
out["tools"] = [tools["desk_height"].run(desk, {}), "hits" in own]
own = methods()["status"].run(desk, {})
out["methods"] = [methods()["desk.height"].run(desk, {}), "tenant" in own]
print(json.dumps(out))
"""


def test_an_importer_a_dialect_an_analyzer_and_tools_from_outside_are_used_like_ours(
    run: Run,
) -> None:
    done = run("-c", READ)
    assert done.returncode == 0, done.stderr
    out = json.loads(done.stdout.splitlines()[-1])
    assert out["import"] == ["slips", "it begins with a slip", 2, "is no slip"]
    assert out["photograph"] == [
        "pile.slips is neither text nor SQLite",
        "it is a photograph: type it",
    ]
    assert out["strict"][0] == "pile.slips is not a file of the format slips (slips of paper)"
    assert out["gone"][0] == (
        "format 'gone' cannot be loaded: ModuleNotFoundError: No module named 'nowhere_at_all'"
    )
    assert (out["any"], out["every"]) == (2, ["The Port of the shop"])
    assert set(out["spaced"]) == {"The Port of the shop", "port 22"}
    assert (out["kept"], out["after"]) == ([2], [True])
    assert (
        "dialect 'gone' cannot be loaded: memoriter_desk:DESK is not an "
        in (out["lanes.words.dialect"])
    )
    assert "analyzer 'gone' cannot be loaded: the entry point 'gone' has" in out["analyzer"]
    assert out["tools"] == [{"notes": 2}, True]
    assert out["methods"] == [{"notes": 2}, True]
    assert out["shadowed"] == "engrava"


def test_formats_from_outside_stand_in_the_help_and_a_taken_name_stays(run: Run) -> None:
    shown = run("-m", "memoriter", "import", "--help").stdout
    assert "slips" in shown
    (Path(run("-c", "import os; print(os.getcwd())").stdout.strip()) / "a.json").write_text(
        '[{"role": "user", "content": "slip"}]'
    )
    done = run("-m", "memoriter", "import", "a.json", "--json")
    assert json.loads(done.stdout)["files"][0]["format"] == "chat"


BARE = """
import json
from memoriter.core import plugins
from memoriter.imports.table import detect_format
from memoriter.pipeline.load import library, recipe_of
from memoriter.text.analyzers import analyzer
from memoriter.text.dialects import dialect
from pathlib import Path
import memoriter

out = {"library": library()}
for what in (recipe_of, analyzer, dialect, lambda name: detect_format(Path("x"), name)):
    try:
        what("mnestic")
    except memoriter.InputError as error:
        out[error.message] = error.hint
memory = memoriter.open(":memory:", embedder=None)
memory.remember("port 22")
out["hits"] = len(memory.recall("port"))
print(json.dumps(out))
"""


def test_a_copy_without_metadata_works_and_says_what_it_lacks(tmp_path: Path) -> None:
    """The folder of the package alone, and the libraries it needs, without anything installed."""
    (tmp_path / "memoriter").symlink_to(SRC / "memoriter")
    hidden = "import importlib.metadata as m; m.entry_points = lambda **_: m.EntryPoints()\n"
    done = subprocess.run(  # noqa: S603  # our own program
        [sys.executable, "-c", hidden + BARE], cwd=tmp_path, text=True, capture_output=True,
        check=False, timeout=120, env={**os.environ, "PYTHONPATH": str(tmp_path)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    out = json.loads(done.stdout)
    assert (out.pop("hits"), "memoriter" in out["library"], len(out.pop("library"))) == (
        1,
        True,
        5,
    )
    assert len(out) == 4
    assert all("this copy of Memoriter is not installed" in hint for hint in out.values())
