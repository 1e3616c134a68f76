"""The files of the page: small, ours alone, under a strict policy; and the link that signs in."""

from __future__ import annotations

import contextlib
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from tests.http.live import JSON, Live

import memoriter
from memoriter.core.errors import Unauthenticated
from memoriter.doors.http.guards import PAGE, PAGE_FILES
from memoriter.doors.http.page import OneTimeLink, page_file
from memoriter.doors.operations import OPERATIONS

FOLDER = Path(memoriter.__file__).parent / "doors" / "page"
LARGEST = 150_000


def test_every_file_is_served_and_all_are_small() -> None:
    names = {p.name for p in FOLDER.iterdir()} | {"drawing.js", "drawing.css"}
    assert {name or "index.html" for name in PAGE_FILES} == names
    assert sum(len(page_file(name)) for name in PAGE_FILES) <= LARGEST


@pytest.mark.parametrize("name", sorted(PAGE_FILES))
def test_a_file_comes_with_its_type_and_a_strict_policy(site: Live, name: str) -> None:
    answer = httpx.get(f"{site.url}{PAGE}{name}")
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith(PAGE_FILES[name])
    assert answer.headers["x-content-type-options"] == "nosniff"
    policy = dict(
        part.strip().split(" ", 1) for part in answer.headers["content-security-policy"].split(";")
    )
    assert policy["default-src"] == policy["frame-ancestors"] == policy["base-uri"] == "'none'"
    assert policy["script-src"] == policy["style-src"] == policy["connect-src"] == "'self'"
    assert "unsafe" not in answer.headers["content-security-policy"]


def test_nothing_is_inline_and_nothing_comes_from_elsewhere() -> None:
    document = (FOLDER / "index.html").read_text("utf-8")
    assert not re.search(r"<script(?![^>]*\bsrc=)|<style|\sstyle=|\son\w+=", document)
    for path in FOLDER.iterdir():
        text = path.read_text("utf-8").replace("http://www.w3.org/2000/svg", "")
        assert not re.search(r"https?://|//cdn|@import|url\(", text), path.name
        assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(", text)


def test_somebody_may_follow_a_link_to_the_page_but_no_other_site_may_embed_it(site: Live) -> None:
    followed = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}
    assert httpx.get(f"{site.url}{PAGE}", headers=followed).status_code == 200
    used = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"}
    assert httpx.get(f"{site.url}{PAGE}app.js", headers=used).status_code == 403
    assert httpx.get(f"{site.url}{PAGE}", headers=used).status_code == 403
    assert httpx.get(f"{site.url}/v1/status", headers=followed).status_code == 403
    assert httpx.get(f"{site.url}{PAGE}", headers={"Host": "evil.example"}).status_code == 421


def test_the_page_learns_what_its_token_allows(site: Live) -> None:
    for right in ("read", "write", "admin"):
        me = site.client(right).get(f"{PAGE}me").json()
        assert (me["tenant"], me["right"]) == ("acme", right)
        allowed = {
            "read": {"read"},
            "write": {"read", "write"},
            "admin": {"read", "write", "admin"},
        }
        assert me["may"] == [each.name for each in OPERATIONS if each.right in allowed[right]]


def test_a_link_signs_in_once() -> None:
    made: list[int] = []
    link = OneTimeLink(lambda: made.append(1) or "mem_token")
    for wrong in ("", "x", link.secret[:-1], f"{link.secret} "):
        with pytest.raises(Unauthenticated):
            link.redeem(wrong)
    assert link.redeem(link.secret) == "mem_token"
    with pytest.raises(Unauthenticated, match="used already"):
        link.redeem(link.secret)
    assert made == [1]


def test_a_server_without_a_link_takes_none(site: Live) -> None:
    answer = httpx.post(f"{site.url}{PAGE}link", content=b'{"secret": "x"}', headers=JSON)
    assert (answer.status_code, answer.json()["hint"]) == (401, "sign in with a token")


def test_the_command_prints_a_link_that_works_once_and_stays_on_this_machine(
    tmp_path: Path,
) -> None:
    store = tmp_path / "agent.db"
    with memoriter.open(store) as memory:
        memory.remember("kept", id="kept")
    with page_process("--store", str(store), "--read-only") as url:
        address, _, secret = url.partition("#link=")
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+/page/", address)
        sent = {"secret": secret}
        token = httpx.post(f"{address}link", json=sent).json()["token"]
        assert httpx.post(f"{address}link", json=sent).status_code == 401
        headers = {"Authorization": f"Bearer {token}"}
        me = httpx.get(f"{address}me", headers=headers).json()
        assert (me["right"], me["tenant"]) == ("read", "default")
        read = httpx.get(address.replace("/page/", "/v1/memories/kept"), headers=headers)
        assert read.json()["text"] == "kept"
    assert not store.with_name("agent.db.tokens").exists()


@contextlib.contextmanager
def page_process(*options: str) -> Iterator[str]:
    """`memoriter page`, and the link that it prints."""
    command = [sys.executable, "-m", "memoriter", "page", "--no-open", "--json", *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:  # noqa: S603  # ours
        assert process.stdout is not None
        lines = [process.stdout.readline() for _ in range(3)]
        try:
            yield json.loads("".join(lines))["url"]
        finally:
            process.terminate()
            process.wait()
