"""Commands on recipes."""

from __future__ import annotations

import json
import re
from pathlib import Path

from tests.e2e.commands import DOCS, Cli
from tests.pages import blocks


def test_the_settings_of_another_system_become_a_recipe(cli: Cli, tmp_path: Path) -> None:
    path, out = tmp_path / "engrava.yaml", tmp_path / "own.toml"
    path.write_text("search:\n  default_graph_weight: 0.1\n  vec0_overfetch_factor: 2\n", "utf-8")
    printed = cli("recipe", "from-engrava", str(path))
    assert printed.exit_code == 0
    assert printed.stdout.startswith('format = 1\nname = "own"\n')
    assert "left out: vec0_overfetch_factor" in printed.stderr
    done = cli("recipe", "from-engrava", str(path), "--out", str(out), "--name", "theirs", ok=True)
    assert (done["name"], list(done["left_out"])) == ("theirs", ["vec0_overfetch_factor"])
    assert cli("recipe", "check", str(out), ok=True)["fingerprint"] == done["fingerprint"]
    cli("remember", "berlin", ok=True)
    assert len(cli("recall", "berlin", "--recipe", str(out), ok=True)["hits"]) == 1
    before = out.read_bytes()
    again = cli("recipe", "from-engrava", str(path), "--out", str(out))
    assert (again.exit_code, out.read_bytes()) == (2, before)
    assert "--force" in again.stderr
    path.write_text("search:\n  fts: 1\n", "utf-8")
    bad = cli("recipe", "from-engrava", str(path), "--out", str(out), "--force")
    assert (bad.exit_code, out.read_bytes()) == (2, before)
    assert "line 2: search has no key 'fts'" in bad.stderr


def test_the_settings_on_the_page_become_the_recipe_that_it_shows(cli: Cli, tmp_path: Path) -> None:
    page = DOCS.parent / "recipes" / "engrava.md"
    (example,) = blocks(page, "yaml")
    (tmp_path / "engrava.yaml").write_text(example.text, "utf-8")
    cli("recipe", "from-engrava", "engrava.yaml", "--out", "own.toml", ok=True)
    changes = cli("recipe", "diff", "engrava", "own.toml", ok=True)["changes"]
    shown = [
        (each["path"], json.dumps(each["first"]), json.dumps(each["second"])) for each in changes
    ]
    table = re.findall(r"^\| `([\w.]+)` \| (\S+) \| (\S+) \|$", page.read_text("utf-8"), re.M)
    assert [each for each in shown if each[0] not in ("name", "version", "about")] == table
    cli("remember", "berlin", ok=True)
    assert len(cli("recall", "berlin", "--recipe", "own.toml", ok=True)["hits"]) == 1
    (tmp_path / "flow.yaml").write_text("search: {default_fts_weight: 0.4}\n", "utf-8")
    refused = cli("recipe", "from-engrava", "flow.yaml", "--out", "flow.toml")
    assert (refused.exit_code, (tmp_path / "flow.toml").exists()) == (2, False)
    assert "line 1" in refused.stderr


def test_recipes_are_listed_shown_checked_and_compared(cli: Cli, tmp_path: Path) -> None:
    names = [recipe["name"] for recipe in cli("recipe", "list", ok=True)["recipes"]]
    assert "memoriter" in names
    text = cli("recipe", "show", "memoriter").stdout
    assert text.startswith("#")
    recipe_file = tmp_path / "mine.toml"
    recipe_file.write_text(text.replace("k1 = 1.2", "k1 = 1.5"), encoding="utf-8")
    assert cli("recipe", "check", "mine.toml", ok=True)["valid"] is True
    assert cli("recipe", "show", "mine.toml").stdout == recipe_file.read_text(encoding="utf-8")
    changes = cli("recipe", "diff", "memoriter", "mine.toml", ok=True)["changes"]
    assert changes == [{"path": "lanes.words.k1", "first": 1.2, "second": 1.5}]
    shown = " ".join(cli("recipe", "diff", "memoriter", "mine.toml").stdout.split())
    assert "how much each 1.2 1.5 repetition of a word" in shown
    assert cli("recipe", "diff", "memoriter", "memoriter").stdout == "no difference\n"
    assert cli("recipe", "show", "memoriter", ok=True)["recipe"]["lanes"]["words"]["k1"] == 1.2
    recipe_file.write_text(
        text.replace('"past", "dated"]', '"past", "new"]')
        + """
[boosts.new]
kind = "recency"
unit = "days"
[[order]]
kind = "mmr"
""",
        encoding="utf-8",
    )
    changes = cli("recipe", "diff", "memoriter", "mine.toml", ok=True)["changes"]
    assert [change["path"] for change in changes] == [
        "boosts.new",
        "pass.0.boosts.4",
        "order.3",
    ]
    shown = " ".join(cli("recipe", "diff", "memoriter", "mine.toml").stdout.split())
    assert "new — newer records count more; how the age of a record is measured" in shown
    assert "4. — maximal marginal relevance" in shown

    other = cli("recipe", "show", "lexical").stdout.replace(
        'kind = "weighted", scale = "max", weights = {', 'kind = "rrf", weights = {'
    )
    recipe_file.write_text(other, encoding="utf-8")
    shown = " ".join(cli("recipe", "diff", "lexical", "mine.toml").stdout.split())
    assert "weighted sum of scaled" in shown
    assert "reciprocal rank fusion" in shown
    recipe_file.write_text(text + "\nunknown = 1\n", encoding="utf-8")
    assert cli("recipe", "check", "mine.toml").exit_code == 2


def test_a_pass_that_was_added_is_shown(cli: Cli, tmp_path: Path) -> None:
    recipe_file = tmp_path / "mine.toml"
    words = cli("recipe", "show", "lexical").stdout
    again = "\n[[pass]]\nhead = 20\nrerank = { timeout_ms = 500 }\n"
    recipe_file.write_text(words + again, encoding="utf-8")
    shown = " ".join(cli("recipe", "diff", "lexical", "mine.toml").stdout.split())
    assert "Second pass: the best once more" in shown
    assert "— the first 20; a reranker that reads the query and each text" in shown
