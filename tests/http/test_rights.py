"""Who may do what: every route, every kind of token."""

from __future__ import annotations

from typing import Any

import httpx
import pytest
from starlette.routing import Mount, Route
from tests.http.asks import FIELDS, HANDLES, asked, request
from tests.http.live import JSON, TENANT, Live, rpc
from tests.inside import routes_of

from memoriter.doors.http import app as application
from memoriter.doors.http.guards import LINK, OPEN, PAGE, PAGE_FILES
from memoriter.doors.http.page import ME
from memoriter.doors.http.rpc import methods
from memoriter.doors.mcp.http import mcp_mount
from memoriter.doors.operations import BY_NAME, OPERATIONS
from memoriter.doors.port import RIGHTS
from memoriter.systems.comis.methods import METHODS

OWN: dict[str, tuple[str, str | None]] = {
    "/healthz": ("GET", None),
    "/page": ("GET", None),
    **{f"{PAGE}{name}": ("GET", None) for name in PAGE_FILES},
    LINK: ("POST", None),
    ME: ("GET", "read"),
    "/openapi.json": ("GET", "read"),
    "/metrics": ("GET", "admin"),
    "/rpc": ("POST", "read"),
}
"""The routes that are no operation: method, and the right that they need."""
STATUS = {"/page": 308, LINK: 401}
"""What open routes answer that have nothing to show: a way on, and that this server has no link."""
BESIDE = {"/mcp"}
"""Applications of their own: they need a token like all, and tests of MCP have their rights."""


def test_every_route_has_a_rule(site: Live) -> None:
    guarded = application.app(site.server_state, mounts=[mcp_mount(site.server_state, "core")])
    routes: set[tuple[str, str]] = set()
    apart: set[str] = set()
    for route in routes_of(guarded):
        assert isinstance(route, Route | Mount)
        methods = getattr(route, "methods", None)
        if methods is None:
            apart.add(route.path)
        routes |= {(method, route.path) for method in methods or () if method != "HEAD"}
    assert apart == BESIDE
    own = {(method, path) for path, (method, _) in OWN.items()}
    assert routes == own | {(each.method, each.path) for each in OPERATIONS}
    assert set(FIELDS) == set(BY_NAME)
    assert {path for path, (_, right) in OWN.items() if right is None} == OPEN


def everything() -> list[tuple[str, str | None, dict[str, Any]]]:
    own = [(p, r, {"method": m, "url": p}) for p, (m, r) in OWN.items()]
    return [*own, *((each.name, each.right, request(each.name)) for each in OPERATIONS)]


@pytest.mark.parametrize(
    ("name", "right", "how"),
    [
        *everything(),
        *((path, "read", {"method": "POST", "url": path}) for path in BESIDE),
        *((path, "read", {"method": "POST", "url": f"{path}/below"}) for path in BESIDE),
    ],
)
def test_without_a_valid_token_nothing_is_open(
    site: Live, name: str, right: str | None, how: dict[str, Any]
) -> None:
    expires = site.clock.now() + 1
    expired = site.token("admin", expires=expires)
    site.clock.time = expires + 1
    revoked = site.token("admin")
    site.server_state.tokens.revoke(revoked.split("_")[1])
    spoilt = site.token("admin")[:-1] + "x"
    with httpx.Client(base_url=site.url) as client:
        for header in (
            None, "", "Bearer", "Basic YTpi", "Bearer nonsense", f"Token {spoilt}",
            f"Bearer {spoilt}", f"Bearer {expired}", f"Bearer {revoked}",
        ):  # fmt: skip
            headers = {} if header is None else {"Authorization": header}
            answer = client.request(**how, headers=headers)
            if right is None:
                assert answer.status_code == STATUS.get(name, 200)
                continue
            assert answer.status_code == 401, (name, header)
            assert answer.headers["WWW-Authenticate"].startswith("Bearer")
            assert answer.json()["error"] == "Unauthenticated"


@pytest.mark.parametrize("held", RIGHTS)
def test_a_token_does_what_its_right_contains_and_no_more(site: Live, held: str) -> None:
    client = site.client(held)
    for name, right, how in everything():
        answer = client.request(**how)
        if right is not None and RIGHTS.index(right) > RIGHTS.index(held):  # type: ignore[arg-type]
            assert (answer.status_code, answer.json()["error"]) == (403, "Forbidden"), name
        elif name in STATUS:
            assert answer.status_code == STATUS[name]
        elif name in HANDLES or name in ("forget", "decide"):
            assert answer.status_code in (200, 404), name
        else:
            assert answer.status_code == 200, (name, answer.text)


@pytest.mark.parametrize("held", RIGHTS)
def test_a_call_needs_the_right_of_its_operation(site: Live, held: str) -> None:
    client = site.client(held)
    params = {
        "memory.search": {"query": "ssh"},
        "memory.store": {"content": "kept by a call"},
        "memory.delete": {"ids": ["nothing"]},
    }
    for name, offered in methods().items():
        reply = rpc(client, name, **(FIELDS.get(name) or params.get(name, {})))
        refused = RIGHTS.index(offered.right) > RIGHTS.index(held)  # type: ignore[arg-type]
        error = reply.get("error", {}).get("data", {}).get("error")
        assert (error == "Forbidden") == refused, (name, reply)
    assert set(methods()) == {*BY_NAME, *(each.name for each in METHODS)}


def test_another_tenants_memories_are_not_there(site: Live) -> None:
    client = site.client("admin")
    for name in ("get", "history", "links", "update", "expire"):
        fields = {**FIELDS[name], "id": "secret"}
        answer = client.request(**asked(BY_NAME[name], fields))
        assert answer.status_code == 404, (name, answer.text)
        assert "others" not in answer.text
    for name in ("recall", "keywords", "bundles", "context"):
        answer = client.request(**asked(BY_NAME[name], {"query": "secret of others"}))
        assert "A secret of others" not in answer.text
    assert site.client("read", "other").get("/v1/memories/secret").status_code == 200


@pytest.mark.parametrize("key", ["tenant", "tenantId", "tenant_id"])
def test_a_tenant_in_a_request_that_is_not_the_tokens_is_refused(site: Live, key: str) -> None:
    client = site.client("admin")
    for each in OPERATIONS:
        how = request(each.name)
        place = "params" if each.method == "GET" else "json"
        reply = client.request(**{**how, place: {**how[place], key: "other"}})
        assert (reply.status_code, reply.json()["error"]) == (403, "Forbidden"), each.name
        spelled = client.request(**{**how, "params": {**how.get("params", {}), key: "other"}})
        assert spelled.status_code == 403, each.name
        own = client.request(**{**how, place: {**how[place], key: "acme"}})
        assert own.status_code in (200, 404), (each.name, own.text)
    reply = rpc(client, "memory.search", query="ssh", **{key: "other"})
    assert reply["error"]["data"]["error"] == "Forbidden"
    assert "result" in rpc(client, "memory.search", query="ssh", **{key: "acme"})


@pytest.mark.parametrize("header", ["X-Tenant", "x-tenant-id", "X-Memoriter-Tenant"])
def test_a_tenant_in_a_header_that_is_not_the_tokens_is_refused(site: Live, header: str) -> None:
    client = site.client("read")
    assert client.get("/v1/status", headers={header: "other"}).status_code == 403
    assert client.get("/v1/status", headers={header: "acme"}).status_code == 200


def test_two_tenants_in_one_address_are_refused(site: Live) -> None:
    client = site.client("read")
    assert client.get("/v1/status?tenant=other&tenant=acme").status_code == 403
    assert client.get("/v1/status?tenant=acme&tenant=other").status_code == 403


def test_a_receipt_of_another_tenant_is_refused(site: Live) -> None:
    theirs = site.client("read", "other")
    handle = theirs.post("/v1/recall", json={"query": "secret"}).json()["receipt"]
    whole = theirs.post("/v1/receipt", json={"receipt": handle}).json()
    reader = site.client("read")
    assert reader.post("/v1/receipt", json={"receipt": handle}).status_code == 404
    answer = reader.post("/v1/replay", json={"receipt": whole})
    assert answer.status_code in (400, 403, 404), answer.text
    answer = reader.post("/v1/explain", json={"receipt": whole, "id": "secret"})
    assert answer.status_code in (400, 403, 404), answer.text


def test_a_revoked_token_is_refused_by_the_running_server(site: Live) -> None:
    token = site.token("read")
    with httpx.Client(base_url=site.url, headers={"Authorization": f"Bearer {token}"}) as client:
        assert client.get("/v1/status").status_code == 200
        site.server_state.tokens.revoke(token.split("_")[1])
        assert client.get("/v1/status").status_code == 401


def test_what_is_open_says_nothing_of_anybody(site: Live) -> None:
    answer = httpx.get(f"{site.url}/healthz")
    assert answer.json() == {"status": "ok"}
    assert "server" not in answer.headers


def test_a_path_nobody_has_needs_a_token_too(site: Live) -> None:
    assert httpx.get(f"{site.url}/nothing").status_code == 401
    assert httpx.get(f"{site.url}/healthz/").status_code == 401
    assert httpx.get(f"{site.url}/%68ealthz").status_code == 401
    response = site.client("read").post("/nothing", content=b"{}", headers=JSON)
    assert (response.status_code, response.json()["error"]) == (404, "NotFound")


def test_a_token_gives_no_more_trust_than_it_was_made_with(site: Live) -> None:
    """Any write token set trust system, and a prompt then had its text without a fence."""
    client = site.client("admin")
    made = client.post("/v1/memories", json={"text": "trusted?", "trust": "system"})
    assert (made.status_code, made.json()["error"], made.json()["field"]) == (
        403, "Forbidden", "trust",
    )  # fmt: skip
    id = client.post("/v1/memories", json={"text": "trusted?"}).json()["ids"][0]
    assert client.patch(f"/v1/memories/{id}", json={"trust": "system"}).status_code == 403
    higher, _ = site.server_state.tokens.create(TENANT, "write", trust="system")
    with httpx.Client(base_url=site.url, headers={"Authorization": f"Bearer {higher}"}) as other:
        assert other.patch(f"/v1/memories/{id}", json={"trust": "system"}).status_code == 200
    assert client.patch(f"/v1/memories/{id}", json={"text": "no"}).status_code == 403


def test_claims_of_less_trusted_memories_are_reviewed_over_http(site: Live) -> None:
    client = site.client("write")
    for fields in (
        {"id": "claimed", "text": "The key is in the safe"},
        {"id": "claims", "text": "The key is with me", "trust": "external", "corrects": "claimed"},
    ):
        assert client.post("/v1/memories", json=fields).status_code == 200
    claims = client.get("/v1/review").json()["claims"]
    assert [(c["source"]["id"], c["kind"], c["target"]["id"]) for c in claims] == [
        ("claims", "corrects", "claimed")
    ]
    decision = {"source": "claims", "target": "claimed", "accept": True}
    assert client.post("/v1/review", json=decision).status_code == 200
    assert client.get("/v1/review").json() == {"claims": []}
