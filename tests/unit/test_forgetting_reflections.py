"""A reflection quotes its members: it goes with them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import memoriter
from memoriter.core.errors import InputError, NotFound
from memoriter.memory.facade import Memory
from memoriter.write.writer import Writer


@pytest.fixture
def memory() -> Iterator[Memory]:
    with memoriter.open(":memory:") as each:
        yield each


def _surfed(memory: Memory, **fields: Any) -> str:
    """Writes three memories and their reflection; returns its id."""
    for n in range(3):
        memory.remember(f"Marta surfed at Nazare in October {n}", id=f"s{n}", **fields)
    (made,) = memory.reflect(min_size=3, similarity=0.5).created
    return made.id


def test_a_reflection_goes_with_a_member_and_the_preview_names_it(memory: Memory) -> None:
    made = _surfed(memory)
    memory.remember(
        "Marta likes the sea", id="fact", links=[{"target": "s1", "kind": "derived_from"}]
    )
    preview = memory.forget("s1", dry_run=True)
    assert (preview.ids, preview.count) == (("s1", made), 2)
    assert (preview.reflections, preview.derived) == ((made,), ("fact",))
    assert memory.get(made)
    erasure = memory.forget("s1")
    assert set(erasure.ids) == {"s1", made}
    assert (erasure.reflections, erasure.derived) == ((made,), ("fact",))
    with pytest.raises(NotFound):
        memory.get(made)
    assert {"reflections", "derived"}.isdisjoint(memory.forget("s2").to_dict())


def test_a_reflection_stays_if_the_caller_keeps_it_or_wrote_it(memory: Memory) -> None:
    made = _surfed(memory)
    memory.remember("Marta surfs", id="own", kind="reflection")
    memory.link("own", "s1", "consolidated_from")
    erasure = memory.forget("s1", keep_reflections=True)
    assert (erasure.ids, erasure.reflections) == (("s1",), ())
    assert set(erasure.derived) == {made, "own"}
    assert "Nazare in October 1" in memory.get(made).text
    memory.link("own", "s2", "consolidated_from")
    assert memory.forget("s2").derived == ("own",)
    with pytest.raises(NotFound):
        memory.get(made)
    with pytest.raises(InputError, match="keep_reflections"):
        memory.forget("s0", keep_reflections="yes")  # type: ignore[arg-type]


def test_no_file_holds_the_words_of_a_forgotten_member_of_a_reflection(tmp_path: Path) -> None:
    with memoriter.open(tmp_path / "m.db", flush_rows=3) as memory:
        for n, place in enumerate(("Nazare", "Ericeira", "Zambujeira")):
            text = f"Marta surfed at {place} in October"
            memory.remember(text, id=f"surfing-{n}", session=f"t{n}")
        (made,) = memory.reflect(min_size=3, similarity=0.4).created
        memory.update(made.id, text="rewritten by hand")  # the version before has the words
        assert b"Zambujeira" in b"".join(_files(tmp_path))
        # The reflection has no session: it is outside this scope, and goes all the same.
        assert memory.scoped(session="t2").forget("surfing-2", now=True).reflections == (made.id,)
        for needle in (b"ambujeira", b"ambuj", b"surfing-2", made.id.encode()):
            assert not any(needle in body for body in _files(tmp_path)), needle
    assert not any(b"ambuj" in body for body in _files(tmp_path))


def _files(folder: Path) -> list[bytes]:
    return [path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()]


def test_a_reflection_that_is_made_while_its_member_is_forgotten_goes_too(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    for n in range(3):
        memory.remember(f"Marta surfed at Nazare in October {n}", id=f"s{n}")
    made: list[str] = []
    commit = Writer.forget

    def late(self: Writer, *given: Any) -> Any:
        if not made:  # between the look for reflections and the commit
            made.extend(each.id for each in memory.reflect(similarity=0.5).created)
        return commit(self, *given)

    monkeypatch.setattr(Writer, "forget", late)
    erasure = memory.forget("s1")
    assert erasure.reflections == tuple(made) != ()
    assert memory.count() == 2


def test_a_reflection_that_goes_meanwhile_does_not_stop_a_forget(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = _surfed(memory)
    commit, gone = Writer.forget, []

    def late(self: Writer, *given: Any) -> Any:
        if not gone:
            gone.append(made)
            commit(self, [made], None)
        return commit(self, *given)

    monkeypatch.setattr(Writer, "forget", late)
    assert memory.forget("s1").ids == ("s1",)
    assert memory.count() == 2
    with pytest.raises(NotFound):
        memory.forget("s1")
