"""Which requests are meant for this server: Host, Origin and Sec-Fetch-Site, row by row."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.http.live import Live, live, status_of

from memoriter.core.errors import InputError
from memoriter.doors.http.headers import HostPolicy

Headers = list[tuple[str, str]]
OK, NOT_US, NO = 200, 421, 403
OUR = ("Host", "localhost:{port}")
ROWS: list[tuple[int, Headers]] = [
    # -- names of this server
    (OK, [("Host", "127.0.0.1:{port}")]),
    (OK, [("Host", "localhost:{port}")]),
    (OK, [("Host", "LocalHost:{port}")]),
    (OK, [("Host", "[::1]:{port}")]),
    (OK, [("Host", "localhost")]),
    (OK, [("Host", "localhost:9999")]),  # a port that somebody forwards
    (OK, [("Host", "memory.example.org")]),  # allowed by name
    # -- other names
    (NOT_US, [("Host", "evil.com")]),
    (NOT_US, [("Host", "evil.com:{port}")]),
    (NOT_US, [("Host", "localhost.evil.com")]),
    (NOT_US, [("Host", "localhost.evil.com:{port}")]),
    (NOT_US, [("Host", "evil-localhost")]),
    (NOT_US, [("Host", "127.0.0.1.evil.com")]),
    (NOT_US, [("Host", "127.0.0.1:x@evil.com")]),
    (NOT_US, [("Host", "127.0.0.1:x@")]),
    (NOT_US, [("Host", "evil.com@127.0.0.1")]),
    (NOT_US, [("Host", "127.0.0.1:{port}:80")]),
    (NOT_US, [("Host", "127.0.0.1:")]),
    (NOT_US, [("Host", "127.0.0.1:99999")]),
    (NOT_US, [("Host", "127.0.0.1:٣")]),
    (NOT_US, [("Host", "127.0.0.2")]),
    (NOT_US, [("Host", "0.0.0.0")]),  # noqa: S104  # nothing is bound there
    (NOT_US, [("Host", "0.0.0.0:{port}")]),
    (NOT_US, [("Host", "2130706433")]),
    (NOT_US, [("Host", "0x7f000001")]),
    (NOT_US, [("Host", "[::]")]),
    (NOT_US, [("Host", "[::1")]),
    (NOT_US, [("Host", "::1")]),
    (NOT_US, [("Host", "localhost.")]),
    (NOT_US, [("Host", "localhost/")]),
    (NOT_US, [("Host", "http://localhost")]),
    (NOT_US, [("Host", "localhost evil.com")]),
    (NOT_US, [("Host", "localhost,evil.com")]),
    (NOT_US, [("Host", "")]),
    (NOT_US, [("X-Forwarded-Host", "localhost"), ("Host", "evil.com")]),
    (400, []),
    (400, [("Host", "localhost"), ("Host", "localhost")]),
    (400, [("Host", "localhost"), ("Host", "evil.com")]),
    # -- origins
    (OK, [OUR, ("Origin", "http://localhost:{port}")]),
    (OK, [OUR, ("Origin", "https://localhost:{port}")]),  # a proxy speaks TLS
    (OK, [OUR, ("Origin", "https://app.example.org")]),  # allowed by name
    (OK, [("Host", "[::1]:{port}"), ("Origin", "http://[::1]:{port}")]),
    (NO, [OUR, ("Origin", "http://localhost")]),
    (NO, [OUR, ("Origin", "http://localhost:1")]),
    (NO, [OUR, ("Origin", "http://127.0.0.1:{port}")]),  # another origin than the host's
    (NO, [OUR, ("Origin", "https://evil.com")]),
    (NO, [OUR, ("Origin", "https://app.example.org.evil.com")]),
    (NO, [OUR, ("Origin", "http://app.example.org")]),
    (NO, [OUR, ("Origin", "https://app.example.org:444")]),
    (NO, [OUR, ("Origin", "null")]),
    (NO, [OUR, ("Origin", "")]),
    (NO, [OUR, ("Origin", "file://")]),
    (NO, [OUR, ("Origin", "http://localhost:{port}/")]),
    (NO, [OUR, ("Origin", "http://x@localhost:{port}")]),
    (NO, [OUR, ("Origin", "http://localhost:{port}"), ("Origin", "https://evil.com")]),
    # -- where a browser says the request comes from
    (OK, [OUR, ("Sec-Fetch-Site", "same-origin")]),
    (OK, [OUR, ("Sec-Fetch-Site", "none")]),
    (OK, [OUR, ("Origin", "https://app.example.org"), ("Sec-Fetch-Site", "cross-site")]),
    (NO, [OUR, ("Sec-Fetch-Site", "cross-site")]),
    (NO, [OUR, ("Sec-Fetch-Site", "same-site")]),
    (NO, [OUR, ("Sec-Fetch-Site", "same-origin"), ("Sec-Fetch-Site", "cross-site")]),
]


@pytest.fixture(scope="module")
def named() -> Iterator[Live]:
    with live(hosts=["memory.example.org"], origins=["https://app.example.org"]) as made:
        yield made


@pytest.mark.parametrize(("expected", "headers"), ROWS, ids=str)
def test_the_matrix_of_hosts_and_origins(named: Live, expected: int, headers: Headers) -> None:
    token = named.token("admin")
    lines = [f"{name}: {value}".replace("{port}", str(named.port)) for name, value in headers]
    for path in ("/healthz", "/v1/status", "/openapi.json", "/metrics", "/nothing"):
        head = [f"GET {path} HTTP/1.1", *lines, f"Authorization: Bearer {token}"]
        answer = named.raw("\r\n".join([*head, "", ""]).encode())
        wanted = 404 if (path, expected) == ("/nothing", OK) else expected
        assert status_of(answer) == wanted, answer


def test_a_request_without_a_host_is_not_ours_in_old_http_either(named: Live) -> None:
    assert status_of(named.raw(b"GET /healthz HTTP/1.0\r\n\r\n")) == NOT_US


def test_no_header_lets_pages_of_others_in_by_default(site: Live) -> None:
    client = site.client("read")
    for answer in (client.get("/v1/status"), client.options("/v1/status"), client.get("/x")):
        assert not [name for name in answer.headers if name.startswith("access-control")]


def test_a_page_of_an_allowed_origin_may_ask_and_read(named: Live) -> None:
    client = named.client("read")
    origin = {"Origin": "https://app.example.org"}
    before = client.options("/v1/recall", headers={**origin, "Authorization": ""})
    assert before.status_code == 204
    assert before.headers["access-control-allow-origin"] == origin["Origin"]
    assert "authorization" in before.headers["access-control-allow-headers"]
    answer = client.get("/v1/status", headers=origin)
    assert answer.headers["access-control-allow-origin"] == origin["Origin"]
    assert answer.headers["vary"] == "Origin"
    assert "access-control-allow-credentials" not in answer.headers


@pytest.mark.parametrize("host", ["", "a b", "host:80", "http://host", "*", "[::1", "ä.org"])
def test_a_name_that_is_none_cannot_be_allowed(host: str) -> None:
    with pytest.raises(InputError, match="allow-host"):
        HostPolicy.of([host], [])


@pytest.mark.parametrize("origin", ["", "*", "null", "app.org", "ftp://app.org", "https://a/b"])
def test_an_origin_that_is_none_cannot_be_allowed(origin: str) -> None:
    with pytest.raises(InputError, match="allow-origin"):
        HostPolicy.of([], [origin])


def test_a_body_whose_end_is_told_twice_is_refused_and_the_line_is_cut(named: Live) -> None:
    inner = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
    head = "POST /v1/recall HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n"
    answer = named.raw(f"{head}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n{inner}".encode())
    assert status_of(answer) == 400
    assert b"connection: close" in answer.lower()
