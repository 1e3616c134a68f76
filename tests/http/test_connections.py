"""Sockets that are held open keep nobody out."""

from __future__ import annotations

import contextlib
import socket
import time
from collections.abc import Iterator
from dataclasses import replace

import pytest
from tests.http.live import PATIENT, Live, heard, live, status_of

from memoriter.doors.http.connections import OpenConnections
from memoriter.doors.http.limits import Limits

FEW = replace(PATIENT, connections=60, per_address=40, strangers=10)
SHORT = replace(PATIENT, idle_s=0.5)


def asked(site: Live, token: str = "") -> bytes:
    head = f"Authorization: Bearer {token}\r\n" if token else ""
    path = "/v1/recipes" if token else "/healthz"
    return f"GET {path} HTTP/1.1\r\nHost: localhost\r\n{head}\r\n".encode()


@contextlib.contextmanager
def idle(site: Live, count: int) -> Iterator[list[socket.socket]]:
    with contextlib.ExitStack() as stack:
        yield [
            stack.enter_context(socket.create_connection(("127.0.0.1", site.port), timeout=60))
            for _ in range(count)
        ]


def test_idle_sockets_keep_nobody_out() -> None:
    with live(FEW) as site:
        token = site.token("read")
        for _ in range(3):
            with idle(site, 2 * FEW.connections):
                assert status_of(site.raw(asked(site, token))) == 200


def test_who_has_a_token_is_not_closed_for_strangers() -> None:
    with live(FEW) as site:
        token = site.token("read")
        with socket.create_connection(("127.0.0.1", site.port), timeout=60) as wire:
            wire.sendall(asked(site, token))
            assert status_of(heard(wire)) == 200
            with idle(site, 2 * FEW.connections):
                wire.sendall(asked(site, token))
                assert status_of(heard(wire)) == 200


def test_a_connection_without_a_token_is_closed_when_idle() -> None:
    assert Limits().idle_s == 2.0
    with live(SHORT) as site:
        for sent in (b"", b"GET /healthz HTTP/1.1\r\nHost: local", asked(site)):
            with socket.create_connection(("127.0.0.1", site.port), timeout=60) as wire:
                wire.sendall(sent)
                if sent == asked(site):
                    assert status_of(heard(wire)) == 200
                assert wire.recv(100) == b""  # 60 s would pass else, and raise
        with socket.create_connection(("127.0.0.1", site.port), timeout=60) as wire:
            for _ in range(2):
                wire.sendall(asked(site, site.token("read")))
                assert status_of(heard(wire)) == 200
                time.sleep(2 * SHORT.idle_s)  # longer than strangers may


class Fake:
    """A connection of a registry."""

    def __init__(self, *, busy: bool = False) -> None:
        self.busy, self.closed = busy, False

    def is_idle(self) -> bool:
        return not self.busy

    def give_way(self) -> None:
        self.closed = True


def added(registry: OpenConnections, count: int, address: str, *, busy: bool = False) -> list[Fake]:
    """New connections; a closed one is removed at once, as the event loop does."""
    made: list[Fake] = []
    for _ in range(count):
        made.append(Fake(busy=busy))
        registry.add(made[-1], address)
        for each in made:
            if each.closed:
                registry.remove(each, address)
    return made


@pytest.mark.parametrize("per_address", [True, False])
def test_the_oldest_idle_stranger_gives_way(*, per_address: bool) -> None:
    limits = Limits(connections=100, per_address=20, strangers=5)
    registry = OpenConnections(limits, per_address=per_address)
    closed = [each.closed for each in added(registry, 8, "a")]
    assert closed == ([True] * 3 + [False] * 5 if per_address else [False] * 8)
    assert not any(each.closed for each in added(registry, 5, "b"))


def test_a_new_one_is_closed_if_nobody_is_idle() -> None:
    registry = OpenConnections(Limits(connections=100, per_address=20, strangers=5))
    busy = added(registry, 5, "a", busy=True)
    assert [each.closed for each in added(registry, 1, "a")] == [True]
    assert not any(each.closed for each in busy)


def test_known_ones_are_limited_per_address_too() -> None:
    registry = OpenConnections(Limits(connections=100, per_address=8, strangers=5))
    known = []
    for _ in range(8):
        known += added(registry, 1, "a")
        registry.welcome(known[-1], "a")
    assert [each.closed for each in added(registry, 1, "a")] == [False]
    assert [each.closed for each in known] == [True] + [False] * 7


def test_strangers_of_any_address_give_way_when_all_is_full() -> None:
    registry = OpenConnections(Limits(connections=10, per_address=8, strangers=5))
    first = added(registry, 5, "a")
    second = added(registry, 5, "b")
    assert [each.closed for each in (*first, *second)] == [True] + [False] * 9
