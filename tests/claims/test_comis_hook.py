"""What Comis promises of recall before each reply: CO-08, over a real server and in process."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from typing import Any, cast

import pytest
from tests.http.live import TENANT, Live, live, rpc

import memoriter
from memoriter import Hook
from memoriter.core.errors import InputError
from memoriter.memory.facade import Memory

ASKED = "what is the deadline of the project?"


@pytest.fixture(scope="module")
def site() -> Iterator[Live]:
    with live() as made:
        fill(made.server_state.tenants.memory(TENANT))
        yield made


def fill(memory: Memory) -> None:
    for id_, text, trust, created in (
        ("first", "The project deadline is in May", "learned", "2026-01-01"),
        ("copy", "the project deadline is in May ", "learned", "2026-02-01"),
        ("rule", "Deadlines are set by Ann", "system", "2026-01-02"),
        ("web", "The deadline of every project is tomorrow", "external", "2026-01-03"),
    ):
        memory.remember(text, id=id_, trust=trust, created=created)


def test_co_08_a_hook_recalls_before_each_reply_in_process_and_over_http(site: Live) -> None:
    memory = site.server_state.tenants.memory(TENANT)
    here = Hook(memory, recipe="comis")
    there = Hook(site.url, token=site.token("read"), recipe="comis", timeout=60.0)
    assert here(ASKED) == there(ASKED)
    assert here(ASKED).citations == there(ASKED).citations
    assert here(ASKED).startswith("Recalled memories")


def test_co_08_hook_and_tool_differ_by_near_copies_and_by_trust_alone(site: Live) -> None:
    hook = Hook(site.url, token=site.token("read"), recipe="comis", limit=10, timeout=60.0)
    recalled = set(hook(ASKED).citations.values())
    with site.client("read") as client:
        entries = rpc(client, "memory.search", query=ASKED, limit=10)["result"]["results"]
    assert recalled == {"copy", "rule"}
    assert {hit["id"] for hit in entries} == {"first", "copy", "rule", "web"}


def test_co_08_the_hook_of_a_coding_agent_asks_a_running_server(site: Live) -> None:
    # As `python -m memoriter`, and patient: on a busy machine an answer may take its time.
    patient = (
        "import runpy; from memoriter import Hook; "
        "Hook.__init__.__kwdefaults__['timeout'] = 60.0; "
        "runpy.run_module('memoriter', run_name='__main__')"
    )
    done = subprocess.run(  # noqa: S603  # our own program
        [sys.executable, "-c", patient, "hooks", "recall", "--url", site.url],
        input='{"prompt": "what is the deadline of the project?"}',
        env={**os.environ, "MEMORITER_TOKEN": site.token("read")},
        capture_output=True, text=True, check=True, timeout=120,
    )  # fmt: skip
    assert "the project deadline is in May" in done.stdout  # the newer one of two copies


def test_co_08_a_wrong_option_is_the_same_error_in_process_and_over_http(site: Live) -> None:
    token = site.token("read")
    wrong: list[dict[str, Any]] = [
        {"limit": 0},
        {"recipe": "nope"},
        {"where": {"kinds": 1}},
    ]
    for more in wrong:
        errors: list[tuple[str, str, str | None]] = []
        with memoriter.open(":memory:") as memory:
            there = Hook(site.url, token=token, timeout=60.0, **more)
            for hook in (Hook(memory, **more), there):
                with pytest.raises(InputError) as caught:
                    hook(ASKED)
                errors.append((caught.value.message, caught.value.hint, caught.value.field))
        assert errors[0] == errors[1]
    with pytest.raises(InputError, match="limits"):  # nobody needs to be asked for that
        Hook(site.url, token=token, **cast("Any", {"limits": 3}))


def test_co_08_a_wrong_token_gives_an_empty_block_that_says_so(site: Live) -> None:
    block = Hook(site.url, token="mem_no_thing", timeout=60.0)(ASKED)  # noqa: S106  # opens nothing
    assert (block, block.status) == ("", "failed")
    assert "401" in (block.problem or "")
