"""The server keeps to its own description, asked by a tester that others wrote."""

from __future__ import annotations

from typing import Final

import schemathesis
from hypothesis import settings
from schemathesis import Case
from schemathesis.checks import ensure_resource_availability
from schemathesis.specs.openapi.checks import positive_data_acceptance, use_after_free
from tests.http.live import Live
from tests.night import NIGHT

from memoriter.doors.http.openapi import document
from memoriter.doors.operations import OPERATIONS

CASES: Final = 20_000 if NIGHT else 100
APART: Final = (
    positive_data_acceptance,  # values are checked beyond what a schema can say: filters, recipes
    use_after_free,  # expire and forget take ids in bodies, of memories that may not be there
    ensure_resource_availability,  # as above
)
schema = schemathesis.openapi.from_dict(document())
schema.config.phases.coverage.enabled = NIGHT  # ten times as many requests again
_TOKENS: Final[dict[str, str]] = {}


@schema.parametrize()
@settings(max_examples=-(-CASES // len(OPERATIONS)))
def test_every_answer_is_one_that_was_described(case: Case, site: Live) -> None:
    if site.url not in _TOKENS:
        _TOKENS[site.url] = site.token("admin", "tested")
    headers = {"Authorization": f"Bearer {_TOKENS[site.url]}"}
    answer = case.call_and_validate(base_url=site.url, headers=headers, excluded_checks=list(APART))
    assert answer.status_code < 500
