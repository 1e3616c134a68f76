"""The verifier of receipts: what it derives, what it takes as told, and that nothing breaks it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.compat.make_receipts import filled
from tests.night import NIGHT
from tests.unit.receipts import ALL, Data, copied, resealed

import memoriter
from memoriter.core.canonical import canonical
from memoriter.core.errors import BadQuery
from memoriter.pipeline.load import recipe_of
from memoriter.why import verify as alone
from memoriter.why.read_receipt import receipt_columns
from memoriter.why.receipt import sealed


@pytest.fixture(params=list(ALL))
def body(request: pytest.FixtureRequest) -> Data:
    return copied(request.param)


# -- what is derived -------------------------------------------------------------------------------


def test_it_takes_a_receipt_its_bytes_its_data_or_its_path(tmp_path: Path) -> None:
    receipt = filled().recall("ssh port").receipt
    receipt.save(tmp_path / "r.json")
    path = tmp_path / "r.json"
    forms = [receipt, receipt.to_bytes(), receipt.body, path, str(path)]
    verdicts = [memoriter.verify(each) for each in forms]
    assert all(each.ok for each in verdicts)
    assert len({each.checked for each in verdicts}) == 1


def test_every_part_is_checked_or_attested(body: Data) -> None:
    verdict = memoriter.verify(body)
    named = {*verdict.checked, *verdict.attested}
    parts = {"recipe/fingerprint", "digest", "hits", "moves", "evidence", "query"}
    parts |= {f"slate/columns/{name}" for name in body["slate"]["columns"]}
    parts |= {f"slate/{name}" for name in ("ids", "rows", "steps")}
    parts |= {"view", "outcomes", "skipped", "vectors"}
    assert parts <= named
    assert not set(verdict.checked) & set(verdict.attested)


def test_a_change_without_a_new_digest_is_always_noticed(body: Data) -> None:
    body["query"]["text"] += "?"
    (problem,) = memoriter.verify(body).problems
    assert problem.startswith("digest: ")


def test_a_changed_recipe_is_noticed_by_its_fingerprint(body: Data) -> None:
    body["recipe"]["data"]["window"] += 1
    rest = {key: value for key, value in body.items() if key != "digest"}
    problems = memoriter.verify(sealed(rest)).problems
    assert any(problem.startswith("recipe/fingerprint: ") for problem in problems)


def test_a_problem_says_where_it_is_and_what_follows() -> None:
    changed = copied("lexical")
    changed["slate"]["columns"]["fuse"]["grid"][1] += 1
    (problem,) = memoriter.verify(resealed(changed)).problems
    row = changed["slate"]["rows"][1]
    assert problem.startswith(f"slate/columns/fuse: at row {row} is 0.")


def test_counts_behind_a_word_are_derived_from() -> None:
    changed = copied("lexical")
    facts = changed["evidence"][0]["words"]["parts"][0]["facts"]
    facts["df"] += 1
    assert any("idf" in problem for problem in memoriter.verify(resealed(changed)).problems)
    changed = copied("lexical")
    changed["evidence"][0]["words"]["parts"][0]["facts"]["tf"] += 1
    assert any("value" in problem for problem in memoriter.verify(resealed(changed)).problems)


def test_a_vector_of_a_hit_is_compared_anew() -> None:
    changed = copied("semantic")
    rows = changed["vectors"]["best"]["toy"]
    one, two = list(rows)[:2]
    assert rows[one] != rows[two]
    rows[one], rows[two] = rows[two], rows[one]
    assert any("meaning" in problem for problem in memoriter.verify(resealed(changed)).problems)


def test_a_given_vector_is_brought_to_unit_length_anew() -> None:
    given = [0.5, -1.0, 0.0, 0.25, 3.0, 0.0, 0.0, 1e-9]
    receipt = filled().recall("", vector=given, recipe="semantic").receipt
    changed = json.loads(receipt.to_bytes())
    assert changed["query"]["vector"] == given
    assert "outcomes/vector" in memoriter.verify(changed).checked
    changed["query"]["vector"][0] = 0.75
    assert not memoriter.verify(resealed(changed)).ok


def test_a_missing_vector_of_what_diversity_took_is_noticed() -> None:
    changed = copied("ordered")
    del changed["vectors"]["units"][str(changed["slate"]["rows"][0])]
    assert not memoriter.verify(resealed(changed)).ok


def test_what_fits_a_budget_follows_from_the_sizes() -> None:
    receipt = filled().recall("ssh port", budget_chars=500).receipt
    changed = json.loads(receipt.to_bytes())
    kept = changed["budget"]["kept"]
    assert 0 < len(kept) < len(changed["budget"]["chars"])
    assert "budget/kept" in memoriter.verify(changed).checked
    changed["budget"]["chars"][kept[0]] += 500
    assert not memoriter.verify(resealed(changed)).ok


def test_who_was_asked_again_follows_from_the_first_pass() -> None:
    changed = copied("rerank")
    changed["outcomes"]["rerank"]["rows"].reverse()
    assert not memoriter.verify(resealed(changed)).ok


# -- kinds that other packages bring ---------------------------------------------------------------


def test_a_lane_of_another_package_is_attested_but_its_ranks_fall_with_its_scores() -> None:
    changed = copied("rrf")
    changed["recipe"]["data"]["lanes"]["words"]["kind"] = "theirs"
    verdict = memoriter.verify(resealed(changed))
    assert verdict.ok, verdict.problems
    assert "evidence/0/words/port in text" in verdict.attested
    ranks = changed["slate"]["columns"]["words.rank"]["whole"]
    first, second = ranks.index(1), ranks.index(3)
    ranks[first], ranks[second] = 3, 1
    assert not memoriter.verify(resealed(changed)).ok


def test_a_boost_of_another_package_is_attested_but_its_steps_add_up() -> None:
    changed = copied("weighted")
    changed["recipe"]["data"]["boosts"]["session"]["kind"] = "theirs"
    verdict = memoriter.verify(resealed(changed))
    assert verdict.ok, verdict.problems
    assert "slate/columns/boost.session" in verdict.attested
    name = changed["slate"]["steps"][-1]["out"]
    changed["slate"]["columns"][name]["grid"][0] += 1
    assert not memoriter.verify(resealed(changed)).ok


def beside_session(kind: str = "theirs") -> Data:
    """A receipt whose pass applies an unknown boost before `session` and one after it."""
    memory = filled()
    recipe = json.loads(canonical(recipe_of("memoriter").to_data()))
    recipe["boosts"] |= {
        "early": {"kind": "trust"},
        "session": {"kind": "session"},
        "late": {"kind": "reflection", "factor": 2.0},
    }
    recipe["pass"] = recipe["pass"][:1]
    recipe["pass"][0]["boosts"] = ["early", "session", "late"]
    body = json.loads(memory.recall("ssh port", recipe=recipe).receipt.to_bytes())
    for label in ("early", "late"):
        body["recipe"]["data"]["boosts"][label]["kind"] = kind
    return body


def test_a_boost_of_another_package_is_attested_alone() -> None:
    verified = memoriter.verify(resealed(beside_session()))
    assert verified.ok, verified.problems
    checked = {"boost.session", "fuse", "fuse.boosted", "fuse.boosted.2"}
    assert {f"slate/columns/{name}" for name in checked} <= {*verified.checked}
    assert "slate/columns/boost.early" in verified.attested


def test_beside_a_lane_of_another_package_the_relevance_is_still_checked() -> None:
    body = json.loads(filled().recall("ssh port").receipt.to_bytes())
    body["recipe"]["data"]["lanes"]["meaning"]["kind"] = "theirs"
    verified = memoriter.verify(resealed(body))
    assert verified.ok, verified.problems
    assert "slate/columns/relevance" in verified.checked
    body["slate"]["columns"]["relevance"]["grid"][0] += 1
    assert not memoriter.verify(resealed(body)).ok


@pytest.mark.parametrize("name", ["boost.session", "fuse", "fuse.boosted", "fuse.boosted.2"])
@pytest.mark.parametrize("step", [1, -1])
def test_beside_a_boost_of_another_package_a_grid_step_is_noticed(name: str, step: int) -> None:
    body = beside_session()
    (values,) = body["slate"]["columns"][name].values()
    at = next(at for at, value in enumerate(values) if value is not None)
    values[at] += step
    assert not memoriter.verify(resealed(body)).ok


def test_a_boost_of_another_package_changes_a_score_in_one_way() -> None:
    body = beside_session()
    (step,) = [each for each in body["slate"]["steps"] if "boost.early" in each["inputs"]]
    step["op"] = "max"
    assert not memoriter.verify(resealed(body)).ok


def test_known_boosts_cannot_leave_the_step_that_they_share() -> None:
    """`early` adds and `session` reads the score: two sums, in two steps. Joined, it is noticed."""
    body = beside_session()
    steps = [step for step in body["slate"]["steps"] if step["stage"] == "boosted"]
    first, second = steps[:2]
    first["inputs"] = sorted({*first["inputs"], "boost.session"})
    body["slate"]["steps"].remove(second)
    assert not memoriter.verify(resealed(body)).ok


def test_a_kind_is_never_imported_by_its_name_in_a_receipt() -> None:
    body = beside_session("antigravity")
    assert memoriter.verify(resealed(body)).ok
    body["recipe"]["data"]["boosts"]["early"]["kind"] = "..rules"
    assert memoriter.verify(resealed(body)).ok
    assert "antigravity" not in sys.modules


def test_a_lane_of_another_package_may_bring_rows_without_a_score() -> None:
    body = sourced()
    assert memoriter.verify(resealed(body)).ok
    body["recipe"]["data"]["lanes"]["origins"]["kind"] = "theirs"
    verified = memoriter.verify(resealed(body))
    assert verified.ok, verified.problems


def sourced() -> Data:
    """A receipt with a lane that brings the sources of reflections."""
    memory = memoriter.open(":memory:", embedder=None)
    memory.remember("the ssh port moved", id="port")
    memory.remember("about the port", id="deep", kind="reflection")
    memory.link("deep", "port", "consolidated_from")
    recipe = recipe_of("lexical").to_data()
    recipe["lanes"]["origins"] = {"kind": "sources", "seeds": ["words"]}
    recipe["boosts"]["lend"] = {"kind": "sources"}
    recipe["pass"][0]["boosts"] = ["lend"]
    return json.loads(memory.recall("about", recipe=recipe).receipt.to_bytes())


def test_an_ordering_of_another_package_is_attested() -> None:
    changed = copied("ordered")
    changed["recipe"]["data"]["order"][1]["kind"] = "theirs"
    changed["moves"][1]["name"] = "theirs"
    verdict = memoriter.verify(resealed(changed))
    assert verdict.ok, verdict.problems
    assert "moves/1" in verdict.attested
    changed["moves"][1]["kept"][0] = changed["moves"][1]["kept"][1]
    assert not memoriter.verify(resealed(changed)).ok


# -- what a receipt holds --------------------------------------------------------------------------


def test_a_receipt_does_not_depend_on_the_order_in_which_lanes_are_written() -> None:
    memory = filled()
    first = memory.recall("ssh port", recipe="memoriter").receipt
    again = json.loads(first.to_bytes())["recipe"]["data"]
    assert list(again["lanes"]) == sorted(again["lanes"])
    assert memory.recall("ssh port", recipe=again).receipt.to_bytes() == first.to_bytes()


def test_no_text_of_a_record_is_there_but_words_that_matched() -> None:
    memory = memoriter.open(":memory:")
    memory.remember("the ssh port of Zanzibar", title="quixotic", metadata={"secret": "hush"})
    text = memory.recall("ssh port").receipt.to_bytes().decode().lower()
    assert "ssh" in text
    assert not [word for word in ("zanzibar", "quixotic", "hush") if word in text]


def test_what_was_skipped_is_there_with_its_reason() -> None:
    old, off = {"kind": "recency", "unit": "cycle"}, {"kind": "trust", "enabled": False}
    boosts = {"old": old, "off": off}
    recipe = {**ALL["rrf"]["recipe"]["data"], "boosts": boosts}
    recipe["pass"][0]["boosts"] = list(boosts)
    changed = json.loads(filled().recall("port", recipe=recipe).receipt.to_bytes())
    assert changed["skipped"]["off"] == "switched off"
    assert changed["skipped"]["old"].startswith("no cycle is given")
    assert memoriter.verify(changed).ok


def test_columns_are_plain_numbers_again() -> None:
    columns = receipt_columns(ALL["again"])
    assert columns["tier"][:4] == [1.0, 1.0, 1.0, 1.0]
    assert all(value is None or isinstance(value, float) for value in columns["words.score"])


# -- hostile receipts ------------------------------------------------------------------------------


def paths(node: Any, at: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    if at:
        yield at
    pairs: Any = node.items() if isinstance(node, dict) else ()
    for key, value in enumerate(node) if isinstance(node, list) else pairs:
        yield from paths(value, (*at, key))


WRONG: list[object] = [None, [], {}, "x", -1, 1e300, True]


def places(body: Data, other: object) -> list[tuple[str | int, ...]]:
    """Where the other value is put: everywhere at night.

    By day in one place of each kind (places of a kind differ by numbers of lists alone), where the
    wrong values take turns.
    """
    kinds = {tuple("" if isinstance(key, int) else key for key in at): at for at in paths(body)}
    return list(paths(body)) if NIGHT else list(kinds.values())[WRONG.index(other) :: len(WRONG)]


@pytest.mark.parametrize("name", ["memoriter", "weighted", "again", "rerank", "ordered"])
@pytest.mark.parametrize("other", WRONG, ids=repr)
def test_whatever_stands_anywhere_the_verifier_answers(name: str, other: object) -> None:
    changed = copied(name)
    del changed["digest"]
    for path in places(changed, other):
        holder: Any = changed
        for key in path[:-1]:
            holder = holder[key]
        before, holder[path[-1]] = holder[path[-1]], other
        try:
            memoriter.verify(sealed(changed))
        except BadQuery:
            assert path == ("receipt",)
        holder[path[-1]] = before


@pytest.mark.parametrize("given", [b"", b"[]", b'{"receipt":1}', b"\xff", {}, 5, None, "none.json"])
def test_what_is_no_receipt_is_a_typed_error(given: Any) -> None:
    with pytest.raises(BadQuery):
        memoriter.verify(given)


# -- alone -----------------------------------------------------------------------------------------


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """The folder of the verifier, somewhere else."""
    shutil.copytree(Path(alone.__file__).parent, tmp_path / "verify")
    for name, receipt in (("good", ALL["memoriter"]), ("bad", {**ALL["memoriter"], "hits": []})):
        (tmp_path / f"{name}.json").write_bytes(canonical(receipt))
    (tmp_path / "other.json").write_text("{}")
    return tmp_path


def ran(folder: Path, *arguments: str, path: str = "") -> subprocess.CompletedProcess[str]:
    """In a Python without any package."""
    command = [sys.executable, "-S", "-m", "verify", *arguments]
    bare = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
    bare |= {"PYTHONPATH": path} if path else {}
    return subprocess.run(  # noqa: S603  # our own command
        command, cwd=folder, env=bare, capture_output=True, text=True, check=False
    )


def test_a_copy_of_its_folder_is_enough(copy: Path) -> None:
    good = ran(copy, "good.json")
    assert (good.returncode, good.stderr) == (0, "")
    assert good.stdout.startswith("good.json: verified: ")


def test_a_zip_of_its_folder_is_enough(copy: Path) -> None:
    shutil.make_archive(str(copy / "alone"), "zip", copy, "verify")
    shutil.rmtree(copy / "verify")
    good = ran(copy, "good.json", path=str(copy / "alone.zip"))
    assert (good.returncode, good.stderr) == (0, "")
    assert "verified" in good.stdout


def test_the_copy_says_what_is_wrong(copy: Path) -> None:
    bad = ran(copy, "good.json", "bad.json")
    assert bad.returncode == 9
    assert "hits: is []" in bad.stdout
    other = ran(copy, "other.json", "nothing.json")
    assert (other.returncode, other.stdout) == (2, "")
    assert other.stderr.count("\n") == 2


def test_the_copy_without_a_receipt_says_how_it_is_used(copy: Path) -> None:
    none = ran(copy)
    assert (none.returncode, none.stdout) == (2, "")
    assert none.stderr.startswith("usage: ")
