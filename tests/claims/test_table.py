"""Every claim has a test of its number, a door that will complete it, or an ADR that refuses it."""

from __future__ import annotations

import pytest
from tests.claims.__main__ import Outcomes
from tests.claims.table import COUNTS, NUMBERS, by_number, listed, numbers_of, sentence, table


@pytest.mark.parametrize("system", COUNTS)
def test_no_claim_is_missing(system: str) -> None:
    claims = [claim for claim in table({}) if claim.number.startswith(system)]
    assert len(claims) == COUNTS[system]
    assert [claim.number for claim in claims if claim.state == "missing"] == []


def test_numbers_are_those_of_the_documents() -> None:
    known = set(NUMBERS)
    assert len(known) == 215
    assert set(by_number()) <= known
    assert {*listed("doors.txt"), *listed("refused.txt")} <= known


def test_a_name_tells_its_numbers_and_its_sentence() -> None:
    assert numbers_of("test_jb_16_and_18_words_answer") == ["JB-16", "JB-18"]
    assert numbers_of("test_md_07_filters_change_nothing") == ["MD-07"]
    assert numbers_of("test_nothing_at_all") == []
    assert sentence("test_jb_16_and_18_words_answer") == "words answer"


def test_a_file_that_cannot_be_read_fails_with_every_claim_in_it() -> None:
    outcomes = Outcomes()
    nodeid = "tests/claims/test_mentisdb_meaning.py"
    outcomes.pytest_collectreport(pytest.CollectReport(nodeid, "failed", "gone", []))
    state = {claim.number: claim.state for claim in table(outcomes.failed)}
    assert (state["MD-25"], state["MD-01"]) == ("failed", "passed")


def test_a_claim_is_told_by_a_test_of_its_own() -> None:
    lines = {claim.number: claim.line for claim in table({})}
    assert lines["EN-32"] == "the result names the signals that took part"
    assert lines["EN-40"].startswith("a setting has one place")
