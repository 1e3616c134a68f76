"""Copies: which texts are one, which record stands for them, and where the others are named."""

from __future__ import annotations

import json
from collections.abc import Sequence
from io import StringIO
from pathlib import Path
from typing import Any, cast

import pytest
from rich.console import Console
from tests.inside import log_of
from tests.unit.slates import Data, asked, holding, ids, recipe, step_of

import memoriter
from memoriter.core.errors import BadQuery, MemoriterError
from memoriter.core.record import Record
from memoriter.doors.mcp.reply_text import as_text
from memoriter.doors.render.hits import hit_list
from memoriter.doors.render.reports import status_report
from memoriter.memory.facade import Memory
from memoriter.testing.fakes import START
from memoriter.text.copies import LONGEST, are_copies, compared_text
from memoriter.why.result import Result

LONG = "We keep the release notes of every service in the shared folder of the platform team"


def copied(one: str, other: str, alike: float = 0.9) -> bool:
    first, second = compared_text(one), compared_text(other)
    assert are_copies(first, second, alike) == are_copies(second, first, alike)
    return are_copies(first, second, alike)


# -- texts -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Prod SSH port is 49222", "prod SSH port is 49222"),
        ("Prod SSH port is 49222", "  The prod SSH   port: 49222!"),
        ("Prod SSH port is 49222", "- **Prod** SSH port is 49222"),
        ("Prod SSH port is 49222", "“Prod SSH port is 49222.”"),
        ("It's cold and I can't sleep", "It is cold, and I cannot sleep"),
        ("It's cold and I can't sleep", "It\u2019s Cold And I Can Not Sleep"),
        ("We won't go", "We will not go"),
        ("Café Straße", "café strasse"),
        ("The key is aB3x", "the key: aB3x."),
        ("The CAFE\u0301 is open", "The CAF\u00c9 is open"),
        ("端口是22。", "端口是22"),
        ("…", " … "),
        ("Is the server down?", "is server down?"),
        ("Are the ports open", "- are ports open!"),
        ("Isn't it cold", "Is not it cold"),
        # one word more in a text of at least nine, which is plain
        (LONG, LONG.replace("keep", "carefully keep")),
        (LONG, LONG + " today"),
        (LONG, LONG.replace("shared", "large shared")),
    ],
)
def test_copies_differ_in_what_changes_no_statement(one: str, other: str) -> None:
    assert copied(one, other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        # numbers
        ("Prod SSH port is 49222", "Prod SSH port is 49223"),
        ("It is 5 degrees", "It is -5 degrees"),
        ("It costs 1.5", "It costs 15"),
        ("Latency < 5", "Latency > 5"),
        ("Wake me at 5 am", "Wake me at 5"),
        ("Two cats", "Three cats"),
        (LONG, LONG + " 2"),
        (LONG, LONG + " twice"),
        # negations
        ("The port is open", "The port is not open"),
        ("The port is open", "The port isn't open"),
        ("a == b", "a != b"),
        (LONG, LONG.replace("keep", "never keep")),
        (LONG, "We don't keep" + LONG[7:]),
        (LONG, LONG.replace("every", "hardly every")),
        # keys, passwords and acronyms
        ("The key is Ab", "The key is aB"),
        ("The key is x7Gq", "The key is x7gq"),
        ("The key is 7Gq", "The key is 7gq"),
        ("The password is SESAME", "The password is sesame"),
        ("The password is SESAME", "The password is Sesame"),
        ("THE PASSWORD IS SESAME", "The password is sesame"),
        ("Ask IT", "Ask it"),
        ("The word is THE", "The word is the"),
        # names, also where no capital tells them
        ("Ana likes tea", "Bob likes tea"),
        ("ana likes tea", "bob likes tea"),
        ("William called", "Williams called"),
        ("Take vitamin A daily", "Take vitamin daily"),
        (LONG, LONG + " and Ana"),
        (LONG.lower(), LONG.lower() + " ana"),
        (LONG.upper(), LONG.upper() + " ANA"),
        ("Ann paid Bob", "Bob paid Ann"),
        # another word, another order, a question
        (LONG, LONG.replace("shared", "private")),
        ("I prefer tea over coffee", "I prefer coffee over tea"),
        ("The port is open", "The port is open?"),
        ("The server is down", "Is the server down"),
        ("The server is down", "Also, is the server down"),
        ("Ana: The server is down", "Ana: is the server down"),
        ("Hello. The servers are down.", "Hello. Are the servers down."),
        ("Hello\nThe servers are down", "Hello\n- Are the servers down"),
        ("The server was down", "Was the server down"),
        ("The server can start", "Can the server start"),
        ("Not the server, is it", "Isn't the server it"),
        ("Is the server down", "Is the server down?"),
        (LONG, LONG + "?"),
        (LONG, LONG + " ?"),
        (LONG, f"Is it that {LONG}"),
        ("Great 👍", "Great 👎"),
        # more than one stretch, or too long a one
        (LONG, LONG.replace("shared", "large shared") + " today"),
        (LONG, LONG + " so that people look them up"),
        ("The key is in the safe", "The key is in the small safe"),
    ],
)
def test_texts_with_another_number_negation_name_or_word_are_no_copies(
    one: str, other: str
) -> None:
    assert not copied(one, other)


def test_an_ambiguous_stretch_is_plain_in_every_reading() -> None:
    # "a Bob" of "a Bob a Bob" is not plain, whether it is the first or the second one
    few = "We met and then a Bob came and left with the others by train"
    assert not copied(few, few.replace("a Bob", "a Bob a Bob"))


def test_long_texts_are_copies_only_if_they_are_equal() -> None:
    long = "word " * (LONGEST // 5) + "end"
    assert copied(long, long)
    assert not copied(long, long.upper())


def test_alike_is_the_share_of_the_longer_text() -> None:
    few, more = "The key is in our safe", "The key is in our small safe"  # 4 of 5 words: in is one
    assert compared_text(more).words == ("key", "in", "our", "small", "safe")
    assert copied(few, more, alike=0.8)
    assert not copied(few, more, alike=0.81)


# -- records ---------------------------------------------------------------------------------------

SCORES = {name: 10.0 - nth for nth, name in enumerate("abcdefgh")}
SAME = dict.fromkeys("abcdefgh", "Prod SSH port is 49222")


def ordered(memory: Memory, limit: int = 10, **options: Any) -> Result:
    known = {record.id for record in memory.browse().records}
    listed = [(one, score) for one, score in SCORES.items() if one in known]
    own = recipe("list", order=[{"kind": "copies", **options}])
    return memory.recall("", limit, recipe=own, lists={"list": listed})


def test_the_most_trusted_and_then_the_newest_stands_at_the_best_place() -> None:
    memory = holding(
        *"abcde", text={**SAME, "b": "other"}, trust={"a": "external", "c": "learned"},
        created={"a": START, "c": START - 5, "d": START - 9, "e": START - 1},
    )  # fmt: skip
    result = ordered(memory)
    assert [(hit.id, hit.copies) for hit in result] == [("e", ("c", "d", "a")), ("b", ())]
    assert dict(result[0].moves["copies"]) == {"from": 5, "group": 4}
    assert dict(result[1].moves["copies"]) == {"from": 2}
    assert (step_of(result, "copies").rows, step_of(result, "copies").shows["copies"]) == (2, 3)


def test_of_one_age_the_record_written_last_stands() -> None:
    memory = holding(*"ab", text=SAME, created=dict.fromkeys("ab", START))
    assert ids(ordered(memory)) == ["b"]


def test_the_place_of_a_copy_is_filled_by_the_next_hit() -> None:
    memory = holding(*"abcdefgh", text={name: SAME[name] for name in "abcdf"})
    assert ids(ordered(memory, limit=3)) == ["f", "e", "g"]


def test_a_near_copy_stands_for_one_that_is_no_copy_of_a_third() -> None:
    """Copies of copies are not collapsed: every dropped row is a copy of the one that stands."""
    chain = {"a": LONG, "b": f"{LONG} today", "c": f"{LONG} today again"}
    assert not copied(chain["a"], chain["c"])
    made = {name: START - nth for nth, name in enumerate("abc")}
    memory = holding(*"abc", text=chain, created=made)
    result = ordered(memory)
    assert [(hit.id, hit.copies) for hit in result] == [("a", ("b",)), ("c", ())]


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("user", "ana"),
        ("source", {"who": "ana"}),
        ("occurred", START),
        ("title", "staging"),
    ],
)
def test_records_about_another_user_speaker_time_or_title_are_no_copies(
    field: str, value: object
) -> None:
    differing: Data = {field: {"b": value}}
    memory = holding(*"ab", text=SAME, **differing)
    assert ids(ordered(memory)) == ["a", "b"]
    assert len(ordered(memory, same=[])) == (1 if field != "title" else 2)


def test_only_the_head_is_compared_if_so_many_rows_stay() -> None:
    memory = holding(*"abcd", text={**SAME, "a": "The cache"})
    assert ids(ordered(memory, head=2)) == ["a", "b", "c", "d"]


def test_more_rows_are_compared_while_fewer_than_the_head_stay() -> None:
    memory = holding(*"abcdefgh", text={name: SAME[name] for name in "abcd"} | {"h": SAME["a"]})
    result = ordered(memory, head=2)  # of a and b one stays, of a to d one, of a to h four
    assert [(hit.id, hit.copies) for hit in result if hit.copies] == [("h", ("d", "c", "b", "a"))]
    assert ids(result) == ["h", "e", "f", "g"]
    assert memoriter.verify(result).ok


def test_at_most_ten_times_the_head_is_compared() -> None:
    memory = memoriter.open(":memory:")
    memory.remember_many([{"text": SAME["a"], "id": str(n)} for n in range(23)])
    own = recipe("list", order=[{"kind": "copies", "head": 2}])
    result = memory.recall("", recipe=own, lists={"list": [(str(n), 30.0 - n) for n in range(23)]})
    assert ids(result) == ["19", "20", "21", "22"]
    assert memoriter.verify(result).ok


def test_forty_copies_stand_as_one_in_the_default_answer() -> None:
    with memoriter.open(":memory:") as memory:
        memory.remember_many([{"text": "The prod SSH port is 49222"} for _ in range(40)])
        memory.remember("The staging SSH port is 22")
        result = memory.recall("What is the prod SSH port?")
        assert sorted(len(hit.copies) for hit in result) == [0, 39]
        assert len({hit.text for hit in result}) == len(result) == 2
        assert memoriter.verify(result).ok


def test_a_search_reads_only_its_hits_where_no_text_shares_an_end_with_another(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with memoriter.open(":memory:") as memory:
        memory.remember_many([f"{n} ports are open on host number {n}" for n in range(30)])
        read: list[int] = []
        log = log_of(memory)
        records = log.records

        def counted(tenant: str, rows: Sequence[int]) -> Sequence[Record | None]:
            read.extend(rows)
            return records(tenant, rows)

        monkeypatch.setattr(log, "records", counted)
        assert len(memory.recall("which ports are open?", limit=3)) == 3
        assert len(read) == 3


def test_copies_that_share_less_than_the_index_keeps_are_found_too() -> None:
    memory = holding(
        *"ab", text={"a": "The key is in the safe", "b": "The key is in my small safe"}
    )
    assert ids(ordered(memory, alike=0.5)) == ["b"]


@pytest.mark.parametrize(
    ("compared", "problem"), [(2, "fewer than 2 rows stay"), (3, "none of"), (400, "none of")]
)
def test_a_receipt_that_compared_too_few_rows_or_too_many_is_wrong(
    compared: int, problem: str
) -> None:
    texts = {name: SAME[name] for name in "ab"}
    body = json.loads(ordered(holding(*"abcdefgh", text=texts), head=2).receipt.to_bytes())
    assert body["moves"][0]["looked"]["compared"] == 4
    body["moves"][0]["looked"]["compared"] = compared
    assert any(problem in each for each in memoriter.verify(body).problems)


def test_copies_of_copies_are_named_when_two_orderings_collapse() -> None:
    memory = holding(*"abc", text={**SAME, "c": SAME["c"]}, user={"a": "u", "b": "u"})
    order: list[Data] = [{"kind": "copies"}, {"kind": "copies", "same": []}]
    result = asked(memory, {"list": {n: SCORES[n] for n in "abc"}}, order=order)
    assert [(hit.id, hit.copies) for hit in result] == [("c", ("b", "a"))]
    assert memoriter.verify(result).ok


def test_an_unknown_attribute_is_refused_by_name() -> None:
    with pytest.raises(MemoriterError, match="colour"):
        ordered(holding("a"), same=["colour"])


# -- where copies are named ------------------------------------------------------------------------


@pytest.fixture
def result() -> Result:
    return ordered(holding(*"abcd", text={**SAME, "c": "The cache", "d": "prod SSH port: 49222"}))


def test_every_output_names_the_copies(result: Result) -> None:
    hit, other = result
    assert hit.to_dict()["copies"] == ["b", "a"]
    assert "copies" not in other.to_dict()
    console = Console(width=100)
    with console.capture() as screen:
        console.print(hit_list(result, explain=True))
    assert screen.get().count("(+2 copies: b, a)") == 2  # in the list, and in the explanation
    assert "(+2 copies: b, a)" in result.to_html()
    reply = json.loads(json.dumps(result.to_dict()))
    assert "+2 copies, score" in as_text("recall", reply)


def test_why_not_says_which_record_stands_for_a_copy() -> None:
    memory = holding(*"ab", text=SAME)
    result = ordered(memory)
    why = memory.why_not(result, "a")
    assert (why.stage, why.reason) == (
        "copies",
        "it is a copy of b, which is more trusted or newer",
    )
    assert why.admits


def test_a_receipt_proves_the_collapse_and_holds_no_text(result: Result) -> None:
    report = memoriter.verify(result)
    assert report.ok
    assert {"moves/0/kept", "moves/0/beside/group"} <= set(report.checked)
    assert "moves/0/looked" in report.attested
    assert b"49222" not in result.receipt.to_bytes()


@pytest.mark.parametrize(
    ("key", "value", "problem"),
    [
        ("trust", 2, "moves/0/kept"),
        ("created", 0, "moves/0/kept"),
        ("digest", "another", "no copies of"),
        ("words", 9, "no copies of"),
        ("at", 2, "beside/group"),
        ("at", 99, "was not compared"),
        ("at", 0, "a row twice"),
    ],
)
def test_a_changed_input_of_the_collapse_is_a_problem(
    result: Result, key: str, value: object, problem: str
) -> None:
    body = json.loads(result.receipt.to_bytes())
    member = body["moves"][0]["looked"]["groups"][0]
    member[0 if key == "created" else 1][key] = value
    assert any(problem in each for each in memoriter.verify(body).problems)


def test_a_recipe_file_turns_it_on(tmp_path: Path) -> None:
    """The lines for a recipe, beside everything else that the default has."""
    own = tmp_path / "own.toml"
    default = Path(memoriter.__file__).parent / "pipeline" / "recipes" / "memoriter.toml"
    own.write_text(default.read_text() + '\n[[order]]\nkind = "copies"\n')
    memory = holding(*"abcd", memory=memoriter.open(":memory:"), text={**SAME, "d": "ssh is 22"})
    result = memory.recall("ssh port", recipe=own)
    assert [(hit.id, hit.copies) for hit in result] == [("c", ("b", "a")), ("d", ())]
    assert memoriter.verify(result).ok


# -- the status of a store -------------------------------------------------------------------------


def test_status_lists_texts_that_repeat_and_says_how_many_it_compared() -> None:
    memory = memoriter.open(":memory:", embedder=None)
    first, again = "The prod SSH port is 22", "The prod SSH port is 22!"
    memory.remember(first, id="a", user="ann")
    memory.remember("the prod ssh port is 22.", id="lower", user="ann")
    memory.remember(again, id="b", user="ann")
    memory.remember(first, id="bob", user="bob")
    memory.remember("Something else", id="c", user="ann")
    memory.remember(first, id="gone", user="ann", expires="2020-01-01")
    status = memory.status(repeats=True)
    assert status.repeats is not None
    assert [[record.id for record in group] for group in status.repeats] == [["b", "a"]]
    assert status.compared == 5
    shown = [{"id": "b", "text": again}, {"id": "a", "text": first}]
    assert status.to_dict()["repeats"] == [shown]
    assert "repeats" not in memory.status().to_dict()


def test_groups_of_copies_that_are_not_listed_are_counted() -> None:
    memory = memoriter.open(":memory:", embedder=None)
    memory.remember_many([f"Shelf {n} holds box {n}" for n in range(103)] * 2)
    status = memory.status(repeats=True)
    assert status.repeats is not None
    assert (len(status.repeats), status.repeat_groups) == (100, 103)
    console = Console(width=200, record=True, file=StringIO())
    console.print(status_report(status, "agent.db", {}, None))
    line = "103 groups among 206 memories, the first 100 are listed"
    assert line in console.export_text()


def test_status_refuses_a_flag_that_is_none() -> None:
    memory = memoriter.open(":memory:", embedder=None)
    with pytest.raises(BadQuery, match="repeats: "):
        memory.status(repeats=cast("Any", "yes"))
