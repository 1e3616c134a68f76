"""Tokens: who may come in, and where that is written."""

from __future__ import annotations

import json
import threading
from datetime import timedelta
from pathlib import Path

import pytest

from memoriter.core.errors import (
    Corrupt,
    Forbidden,
    InputError,
    NotFound,
    Unauthenticated,
)
from memoriter.core.times import to_datetime
from memoriter.doors.tokens import Tokens
from memoriter.testing.fakes import START, HandClock


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "agent.db.tokens"


def test_a_token_opens_its_tenant_with_its_right_and_those_below(path: Path) -> None:
    tokens = Tokens(path)
    text, made = tokens.create("acme", "write", label="laptop")
    token = tokens.find(text)
    assert token == made
    assert (token.tenant, token.name, token.expires) == ("acme", "laptop", None)
    assert [token.allows(right) for right in ("read", "write", "admin")] == [True, True, False]
    with pytest.raises(Forbidden, match="needs the right admin"):
        token.need("admin")


def test_the_file_holds_hashes_alone_and_only_its_owner_reads_it(path: Path) -> None:
    text, _ = Tokens(path).create("acme", "read")
    secret = text.split("_")[2]
    assert len(bytes.fromhex(secret)) == 32
    assert secret not in path.read_text()
    assert path.stat().st_mode & 0o777 == 0o600
    assert {each.name for each in path.parent.iterdir()} == {path.name, path.name + ".lock"}


@pytest.mark.parametrize(
    "spoilt",
    ["", "mem", "mem__", "x", "mem_{id}_", "mem_{id}_00", "abc_{id}_{secret}", "{secret}",
     "mem_000000000000_{secret}", "mem_{id}_{secret}0", "mem_{id}_{secret}\ud800",
     "RCL_{id}_{secret}"],
)  # fmt: skip
def test_what_is_not_the_token_opens_nothing(path: Path, spoilt: str) -> None:
    tokens = Tokens(path)
    _, id, secret = tokens.create("acme", "read")[0].split("_")
    with pytest.raises(Unauthenticated, match="the token is unknown"):
        tokens.find(spoilt.format(id=id, secret=secret))


def test_an_expired_token_opens_nothing() -> None:
    clock = HandClock()
    tokens = Tokens(clock=clock)
    text, _ = tokens.create("acme", "read", expires=clock.now() + 10)
    assert tokens.find(text)
    clock.time += 10
    with pytest.raises(Unauthenticated, match="expired"):
        tokens.find(text)


@pytest.mark.parametrize("spelled", ["30d", timedelta(days=30), "+30d"])
def test_an_end_may_be_a_duration(spelled: str | timedelta, path: Path) -> None:
    tokens = Tokens(path, HandClock())
    _, made = tokens.create("acme", "read", expires=spelled)
    assert made.created == to_datetime(START)
    assert made.expires == made.created + timedelta(days=30)
    assert Tokens(path).list() == (made,)
    assert made.to_dict()["expires"] == "2026-10-21T14:13:20Z"
    kept = json.loads(path.read_text(encoding="utf-8"))["entries"][0]
    assert kept["created"] == START  # as the log keeps times
    with pytest.raises(InputError, match="in the future"):
        tokens.create("acme", "read", expires="0d")


def test_a_revoked_token_is_refused_at_once_by_everybody(path: Path) -> None:
    serving, owner = Tokens(path), Tokens(path)
    text, made = owner.create("acme", "read")
    other, _ = owner.create("acme", "admin")
    assert serving.find(text) == made
    assert owner.revoke(made.id) == made
    with pytest.raises(Unauthenticated):
        serving.find(text)
    assert serving.find(other)
    path.unlink()
    with pytest.raises(Unauthenticated):
        serving.find(other)


def test_tokens_are_listed_the_oldest_first_without_secrets(path: Path) -> None:
    clock = HandClock()
    tokens = Tokens(path, clock)
    for right in ("read", "write", "admin"):
        clock.time += 1
        tokens.create("acme", right)
    assert [each.right for each in tokens.list()] == ["read", "write", "admin"]
    assert set(tokens.list()[0].to_dict()) == {
        "id", "tenant", "right", "created", "expires", "name", "trust",
    }  # fmt: skip


def test_what_cannot_be_asked_for_is_refused(path: Path) -> None:
    tokens = Tokens(path)
    with pytest.raises(InputError, match="right"):
        tokens.create("acme", "root")
    with pytest.raises(InputError, match="in the future"):
        tokens.create("acme", "read", expires="2001-01-01")
    with pytest.raises(InputError, match="tenant"):
        tokens.create("", "read")
    with pytest.raises(NotFound):
        tokens.revoke("nobody")
    assert not path.exists()


@pytest.mark.parametrize(
    "text", ["", "{}", "[]", '{"entries": [1]}', '{"entries": [{"id": "a"}]}', "\x00"]
)
def test_a_file_that_cannot_be_read_lets_nobody_in(path: Path, text: str) -> None:
    token, _ = Tokens(path).create("acme", "read")
    path.write_text(text)
    with pytest.raises(Corrupt):
        Tokens(path).find(token)


def test_a_right_nobody_knows_lets_nobody_in(path: Path) -> None:
    tokens = Tokens(path)
    token, _ = tokens.create("acme", "read")
    path.write_text(path.read_text().replace('"read"', '"root"'))
    with pytest.raises(Corrupt):
        tokens.find(token)


def test_a_link_to_tokens_elsewhere_is_not_followed(path: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "mine"
    token, _ = Tokens(elsewhere).create("acme", "admin")
    path.symlink_to(elsewhere)
    with pytest.raises(Corrupt):
        Tokens(path).find(token)


def test_many_who_change_the_file_lose_nothing(path: Path) -> None:
    made: list[str] = []

    def make() -> None:
        made.extend(Tokens(path).create("acme", "read")[1].id for _ in range(10))

    threads = [threading.Thread(target=make) for _ in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert sorted(each.id for each in Tokens(path).list()) == sorted(made)
    assert len(made) == 40


def test_what_a_dead_process_left_half_written_is_in_nobodys_way(path: Path) -> None:
    part = path.with_name(path.name + ".part")
    part.write_text('{"ent')
    Tokens(path).create("acme", "read")
    assert json.loads(path.read_text())["tokens"] == 1
    assert not part.exists()


def test_tokens_lie_beside_the_file_itself_and_not_beside_a_link_to_it(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "agent.db").touch()
    (tmp_path / "link.db").symlink_to(tmp_path / "real" / "agent.db")
    Tokens.for_store(tmp_path / "link.db").create("acme", "read")
    assert (tmp_path / "real" / "agent.db.tokens").exists()
