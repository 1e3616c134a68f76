"""Receipts on the page: verified, replayed, compared."""

from __future__ import annotations

import json
from pathlib import Path

from tests.browser.pages import ASKED, HOLD, QUESTION, Open
from tests.http.live import Live

import memoriter
from memoriter.memory.facade import Memory


def test_a_receipt_is_verified_replayed_and_compared(
    opened: Open, memory: Memory, tmp_path: Path
) -> None:
    one, two = tmp_path / "one.json", tmp_path / "two.json"
    memory.recall(QUESTION).receipt.save(one)
    memory.recall(QUESTION, overrides={"select.superseded": "show"}).receipt.save(two)
    forged = tmp_path / "forged.json"
    body = json.loads(one.read_text())
    body["hits"] = body["hits"][::-1]
    forged.write_text(json.dumps(body))
    tab = opened("#/prove")
    tab.drop(".drop input", one)
    tab.wait("document.querySelector('[data-verified=\"true\"]')")
    tab.wait("document.querySelector('[data-replayed=\"true\"]')")
    tab.drop(".drop + .drop input", two)
    tab.wait("document.querySelector('.side')")
    assert "port-old entered at #" in tab.run("document.querySelector('.side').innerText")
    covered = len(memoriter.verify(one).not_covered)
    assert f"Not covered: what no receipt can say: {covered}" in tab.texts(".drop summary")
    assert "does not lead to it" in tab.texts(".drop")[0]
    tab.drop(".drop input", Path(__file__))
    tab.sees("is not JSON")
    tab.wait("!document.querySelector('.side')")
    tab.drop(".drop input", forged)
    tab.wait("document.querySelector('[data-verified=\"false\"]')")


def test_two_receipts_have_a_link(opened: Open, site: Live) -> None:
    tab = opened(f"{ASKED}&not=port-old")
    tab.click(".obstacle button")
    tab.click('.side a[href^="#/prove"]')
    tab.wait("document.querySelector('.view.prove .side')")
    assert "port-old entered at #" in tab.run("document.querySelector('.side').innerText")
    other = tab.beside()
    other.open(f"{site.url}/page/{tab.run('location.hash')}")
    other.wait("document.querySelector('.view.prove .side')")
    assert other.texts(".side li") == tab.texts(".side li")
    handle = other.run("document.querySelector('input[name=and]').value")
    tab.run("location.hash = '#/prove'")
    tab.wait("document.querySelector('input[name=of]') && !document.querySelector('.side')")
    tab.fill("input[name=of]", handle)
    tab.press("Enter")
    tab.wait("document.querySelector('[data-replayed=\"true\"]')")
    assert tab.run("location.hash") == f"#/prove?of={handle}"
    tab.fill("input[name=and]", "0" * 64)
    tab.press("Enter")
    tab.sees("no receipt is kept under")
    assert len(tab.texts("[data-verified]")) == 1
    assert [each.split(" ")[0] for each in tab.errors] == ["Failed"]  # the browser notes the 404
    tab.errors.clear()


def test_a_proof_belongs_to_the_file_that_came_last(
    opened: Open, memory: Memory, tmp_path: Path
) -> None:
    good, bad = tmp_path / "good.json", tmp_path / "bad.json"
    memory.recall(QUESTION).receipt.save(good)
    bad.write_text('{"hello": 1}')
    tab = opened("#/prove")
    tab.run(HOLD % "'v1/verify'")
    tab.drop(".drop input", good)
    tab.wait("window.held.length")
    tab.drop(".drop input", bad)
    tab.wait("document.querySelector('.drop .bad, .drop .problem')")
    tab.wait("document.querySelector('.drop').innerText.includes('your file bad.json')")
    tab.run("window.held[0]()")
    for _ in range(3):  # what the first file still asks for has come
        tab.run("new Promise((go) => setTimeout(go, 50))")
        tab.wait("window.flying === 0")
    assert tab.run("document.querySelectorAll('[data-verified=true], [data-replayed]').length") == 0
    assert "good.json" not in tab.texts(".drop")[0]
    tab.errors.clear()  # the browser notes that the file was refused


def test_a_file_may_be_dropped_anywhere(opened: Open, memory: Memory) -> None:
    receipts = [memory.recall(QUESTION, limit).receipt.to_bytes().decode() for limit in (2, 3)]
    tab = opened("#/health")
    tab.run(
        f"(() => {{ const files = new DataTransfer(); {json.dumps(receipts)}.forEach((text, at) =>"
        " files.items.add(new File([text], `${at}.json`)));"
        " document.body.dispatchEvent(new DragEvent('drop', { dataTransfer: files, bubbles: true,"
        " cancelable: true })); })()"
    )
    tab.wait("document.querySelector('.view.prove .side')")
    assert [len(memory.recall(QUESTION, limit)) for limit in (2, 3)] == tab.run(
        "[...document.querySelectorAll('.side .pair ol')].map((e) => e.childElementCount)"
    )
