"""docs/compose.yaml: what it starts is what our own commands and the store's address take."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.postgres.server import server
from typer.testing import CliRunner

import memoriter
from memoriter.doors.cli.main import app
from memoriter.store.postgres.address import Address

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture(scope="module")
def services() -> dict[str, Any]:
    return yaml.safe_load((DOCS / "compose.yaml").read_text())["services"]


def test_the_command_of_the_server_is_one_that_we_take(services: dict[str, Any]) -> None:
    shell, option, script = shlex.split(services["memoriter"]["command"])
    assert (shell, option) == ("sh", "-c")
    install, serve = (shlex.split(part) for part in script.split("&&"))
    assert install == ["pip", "install", "-q", ".[server,postgres]"]
    assert serve[:2] == ["memoriter", "serve"]
    # `--help` ends a command after its other options were read: an unknown one is an error.
    assert CliRunner().invoke(app, [*serve[1:], "--help"]).exit_code == 0
    assert CliRunner().invoke(app, [*serve[1:], "--no-such-option", "--help"]).exit_code == 2
    published = services["memoriter"]["ports"][0].split(":")
    assert published == ["127.0.0.1", "8321", "8321"], "the default port, on this machine alone"


def test_role_database_and_password_are_those_of_the_address(services: dict[str, Any]) -> None:
    parameters = Address.of(services["memoriter"]["environment"]["MEMORITER_STORE"]).parameters
    whole = yaml.safe_load((DOCS / "compose.yaml").read_text())
    sql = whole["configs"][services["db"]["configs"][0]["source"]]["content"]
    with server().connect() as db:
        for statement in sql.replace("keeper", "composed").split(";"):
            if statement.strip():
                db.execute(statement.encode())
        owner = (
            "SELECT r.rolname FROM pg_database d JOIN pg_roles r ON r.oid=d.datdba WHERE datname=%s"
        )
        assert db.execute(owner, (parameters["dbname"],)).fetchall() == [("composed",)]
    assert f"PASSWORD '{parameters['password']}'" in sql
    assert parameters["host"] in whole["services"], "the address names a service"
    assert services["memoriter"]["depends_on"] == {"db": {"condition": "service_healthy"}}
    check = services["db"]["healthcheck"]["test"]
    assert check[check.index("-U") + 1] == parameters["user"]
    assert check[check.index("-d") + 1] == parameters["dbname"]
    server().run("pg_isready", "-h", str(server().folder), *check[check.index("-U") :])
    with memoriter.open(server().url(parameters["dbname"], "composed"), embedder=None) as memory:
        assert memory.remember("the port is 22").seq == 1
