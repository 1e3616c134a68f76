"""Every statement of the store, found in its modules: none reaches a row of another tenant."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import psycopg
import pytest
from tests.postgres.server import OF_THE_STORE

from memoriter.core.batch import Commit, Embed
from memoriter.core.times import to_datetime
from memoriter.store import postgres
from memoriter.store.port import Dump, Head, Manifest, SegmentRef
from memoriter.store.postgres.in_doubt import Trace, was_written
from memoriter.store.postgres.segments import PostgresSegments
from memoriter.store.postgres.shared_state import PostgresAnswers, PostgresDocument
from memoriter.store.postgres.store import Postgres
from memoriter.store.postgres.wire import Wire
from memoriter.store.sequence import SequencedBatch
from memoriter.testing.acts import batch, forget_act, make_key, put, vector
from memoriter.testing.whole import whole

_MAKING: Final = ("schema.py", "migrations.py")
"""Modules whose statements make tables, before there is a row."""
_TABLE: Final = re.compile(r"memoriter\.(?!tenant\b|every_)(\w+|\0)")
_HOLE: Final = re.compile(r"\{\w*\}")


def texts(node: ast.AST) -> Iterator[str]:
    """The texts of a module that are not documentation; NUL where a value is put in."""
    if isinstance(node, ast.JoinedStr):
        yield "".join(str(p.value) if isinstance(p, ast.Constant) else "\0" for p in node.values)
    elif isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield _HOLE.sub("\0", node.value)
    elif not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)):
        for child in ast.iter_child_nodes(node):
            yield from texts(child)


def written_statements() -> list[str]:
    """Every text in the modules of the store that names a table."""
    folder = Path(postgres.__file__).parent
    modules = [path for path in sorted(folder.glob("*.py")) if path.name not in _MAKING]
    quoted = [text for path in modules for text in texts(ast.parse(path.read_text()))]
    return [text for text in quoted if _TABLE.search(text)]


def plain(sql: str) -> str:
    return " ".join(sql.split())


def runs(written: str, sql: str) -> bool:
    """Whether a statement that was run is, or has as a part, one that a module has."""
    parts = (re.escape(plain(part)) for part in written.split("\0"))
    return re.search(r"\s?.*?\s?".join(parts), plain(sql)) is not None


def every_statement(url: str, monkeypatch: pytest.MonkeyPatch, cache: Any) -> dict[str, Any]:
    """What the store executes for tenant `ann` when every method of it is called."""
    seen: dict[str, Any] = {}
    with monkeypatch.context() as patched:
        for owner in (Wire, psycopg.Connection, psycopg.ServerCursor):
            patched.setattr(owner, "execute", noted(owner.execute, seen))
        log = Postgres(url)
        use_the_log(log)
        use_the_segments(PostgresSegments(log.sessions, cache))
        use_the_answers(PostgresAnswers(log.sessions))
        with PostgresDocument(log.sessions, "tokens").changing() as replace:
            replace(b"secret")
        assert PostgresDocument(log.sessions, "tokens").stamp() == 1
        assert PostgresDocument(log.sessions, "tokens").read() == b"secret"
        log.close()
    return {sql: values for sql, values in seen.items() if _TABLE.search(sql)}


def noted(execute: Any, seen: dict[str, Any]) -> Any:
    def run(self: Any, sql: Any, values: Any = (), **more: Any) -> Any:
        seen.setdefault(sql, values)
        return execute(self, sql, values, **more)

    return run


def use_the_log(log: Postgres) -> None:
    """Every method that reads or writes."""
    rich: dict[str, Any] = {
        "vectors": (vector(1, 0), vector(3, 4, space="given:2", form="f8")),
        "owes": ("late/1",),
        "entities": ("Ann",),
        "key": make_key("k"),
    }
    log.commit(batch(put("a", "secret", **rich), put("b", refs=(0,)), tenant="ann"))
    log.restore("copy", whole(log, "bob"))
    log.append("copy2", Dump(Head(), [], [], [], [], [], [], [], [], [], []), Head())
    part = log.stretch("ann", 0, 99)
    read_the_log(log, part.head.seq)
    log.owe("ann", 0, 9, log.debts("ann", 9))
    log.mend("ann", part.words, part.vectors[:1])
    log.publish("ann", "i", Manifest(), Manifest((SegmentRef("x", 0, 1, 1),), 0))
    commit = Commit("ann", 1, to_datetime(0), ())
    for new in (
        SequencedBatch(part.head, commit, chain=part.chain),
        SequencedBatch(part.head, commit, vectors=part.vectors),
    ):
        assert was_written(log.sessions, "ann", Trace.of("ann", [new]))
    log.commit(batch(Embed(1, "late/1", vector(0, 1, space="late/1")), tenant="ann"))
    log.append("copy3", log.stretch("ann", 0, 99), Head())
    log.commit(batch(forget_act("a"), tenant="ann"))
    log.append("copy3", log.stretch("ann", log.head("copy3").seq, 99), log.head("copy3"))
    rich["key"] = make_key("l")
    log.commit(batch(put("c", "again", **rich), tenant="ann"))
    log.scrub("ann", 1)
    log.unerased("ann")
    log.close_space("words/1")


def read_the_log(log: Postgres, seq: int) -> None:
    log.stretch("ann", seq, 99)
    for read in (log.head, log.unerased, log.manifests):
        read("ann")
    list(log.words("ann"))
    list(log.embedded("ann"))
    whole(log, "ann")
    list(log.deltas("ann", 0, seq, ("words/1", "toy/1")))
    log.tenants()
    log.ends(["ann"])
    log.spaces()
    log.seq_at("ann", 2**60)
    log.records("ann", [1])
    log.sizes("ann", [1])
    log.versions("ann", "a", 99)
    log.latest("ann", "a", 99)
    log.vectors("ann", 1)
    log.edges("ann", 0, 99)
    log.agents("ann", 99)
    log.debts("ann", 9)
    log.keys("ann", ["k"])
    log.manifest("ann", "i")


def use_the_answers(home: PostgresAnswers) -> None:
    home.keep("ann", "h", b"secret")
    home.find("ann", "h")


def use_the_segments(home: PostgresSegments) -> None:
    home.put("ann", "x.seg", [b"secret"])
    home.open("ann", "x.seg")
    home.list("ann")
    home.drop("ann", ["x.seg"])
    home.put("ann", "y.seg", [b"secret"])


def reached(db: psycopg.Connection[Any], sql: str, values: Any) -> list[Any]:
    """The rows that a statement reads or changes."""
    try:
        done = db.execute(sql.encode(), values)
    except psycopg.errors.InsufficientPrivilege as refused:
        return [] if "row-level security" in str(refused) else [refused]
    if sql.startswith("WITH"):  # inserts rows, of which it counts only the last ones
        return ["not refused"]
    if not sql.strip().startswith("SELECT"):
        return [done.rowcount] if done.rowcount else []
    # An aggregate answers a row over no rows: nothing, no or zero.
    return [row for row in done.fetchall() if any(row)]


def test_no_statement_reaches_a_row_of_another_tenant(
    url: str, cache: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    statements = every_statement(url, monkeypatch, cache)
    missed = [text for text in written_statements() if not any(runs(text, s) for s in statements)]
    assert missed == [], "use_the_log and its like must run these too"
    fenced = {
        sql: values
        for sql, values in statements.items()
        if not {*_TABLE.findall(sql)} <= {*OF_THE_STORE} and not sql.startswith("LOCK")
    }
    assert len(fenced) > 80
    log = Postgres(url)
    for setting in ("bob", "", None):
        for sql, values in fenced.items():
            with log.sessions.held() as db:
                db.execute("BEGIN")
                if setting is not None:
                    db.execute("SELECT set_config('memoriter.tenant', %s, true)", (setting,))
                assert reached(db, sql, values) == [], sql
                db.rollback()
    dump = whole(log, "ann")
    assert {record.id for record in dump.records} == {"b", "c"}, "and nothing was changed"
    assert PostgresDocument(log.sessions, "tokens").read() == b"secret"
    log.close()
