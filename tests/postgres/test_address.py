"""Addresses: what libpq takes we take, and no message or setting shows a password."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

import memoriter
from memoriter.doors.cli.main import app
from memoriter.memory.places import shown_place
from memoriter.store.postgres.address import Address

WRONG = (
    "postgresql://keeper:100%sesame@localhost/db",
    "postgresql://keeper:sesame@[::1]x/db",
    "postgresql://keeper:1/sesame@localhost/db",
    "postgresql://keeper:open/sesame@localhost/db",
    "postgresql://keeper:open@sesame@localhost/db",
    "postgresql://keeper:open@a/sesame@localhost/db",
    "postgresql://keeper:open?sesame@localhost/db",
    "postgresql://keeper:1?sesame/x@localhost/db",
    "postgresql://keeper:1?sesame=/x@localhost/db",
    "postgresql://localhost?password=sesame@x",
    "postgresql://keeper:sesame/db",
    "postgresql://keeper@localhost/db?password=open&sesame",
    "postgresql://keeper@localhost/db?password=open&sesame=1",
    "postgresql://keeper@localhost/db?password=open=sesame",
    "postgresql://keeper:sesame@localhost/d\0b",
    "postgresql://keeper:sesame@localhost/\ud800",
    "postgresql://keeper:sesame@localhost/db?user=%00",
)


@pytest.mark.parametrize("place", WRONG)
def test_no_message_quotes_an_address_that_cannot_be_read(place: str) -> None:
    with pytest.raises(memoriter.InputError, match="cannot be used") as raised:
        memoriter.open(place)
    assert "sesame" not in f"{raised.value} {raised.value.hint}"
    assert raised.value.__cause__ is None
    assert "sesame" not in shown_place(place)


@pytest.mark.parametrize(
    "place",
    [
        *WRONG,
        "postgresql://keeper:sesame@localhost/db",
        "postgresql://keeper:#sesame@localhost/db",
        *(
            f"postgresql://keeper@localhost/db?{name}=sesame"
            for name in ("password", "sslpassword", "oauth_client_secret", "pass%77ord")
        ),
    ],
)
def test_no_setting_of_a_host_gets_a_password(
    place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    for words in (["hooks", "show"], ["mcp", "install"]):
        done = CliRunner().invoke(app, [*words, "claude-code", "--store", place])
        assert done.exit_code == 2
        assert "sesame" not in done.output
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]
    shown = CliRunner().invoke(app, ["config", "show", "--json", "--store", place])
    assert "sesame" not in shown.output


def test_parameters_reach_libpq_as_they_are_written(url: str) -> None:
    with memoriter.open(f"{url}&options=-c%20lock_timeout%3D5s%20-c%20work_mem%3D4MB") as memory:
        memory.remember("port 22")
        assert memory.count() == 1
    options = "-c%20search_path%3Da%2Bb&application_name=a+b"
    given = Address.of(f"postgresql://ann:x%23#y@h,[::1]:5/db?connections=7&options={options}")
    assert given.connections == 7
    assert {
        name: given.parameters[name] for name in ("options", "application_name", "password", "port")
    } == {
        "options": "-c search_path=a+b",
        "application_name": "a+b",
        "password": "x##y",
        "port": ",5",
    }
    assert "ssl" not in Address.of("postgresql://h/db?ssl=true").parameters


@pytest.mark.parametrize("count", ["²", "1e3", "-1", "", "9" * 5000, "٣"])
def test_a_number_of_connections_is_written_in_digits(count: str) -> None:
    with pytest.raises(memoriter.InputError, match="connections"):
        Address.of(f"postgresql://h/db?connections={count}")


def test_an_unknown_parameter_is_named() -> None:
    with pytest.raises(memoriter.InputError, match="nonsense"):
        Address.of("postgresql://ann:x@h/db?nonsense=1")
    with pytest.raises(memoriter.InputError, match="parameter 2 of the address"):
        Address.of("postgresql://ann@h/db?password=x&nonsense=1")
    assert shown_place("Postgres://ann:sesame@h/db") == "Postgres://ann@h/db"
