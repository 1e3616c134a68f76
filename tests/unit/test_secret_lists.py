"""Lists of secrets in the forms of real services, and of harmless texts that look alike."""

from __future__ import annotations

import random
import re
import string
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.unit.planted_secrets import PLANTED

from memoriter.text import secrets

_LETTERS, _DIGITS = string.ascii_letters, string.digits
_ALPHABETS = {
    "hex": "0123456789abcdef",
    "UPPERHEX": "0123456789ABCDEF",
    "digit": _DIGITS,
    "letters": _LETTERS,
    "alnum": _LETTERS + _DIGITS,
    "url64": _LETTERS + _DIGITS + "-_",
    "base64": _LETTERS + _DIGITS + "+/",
    "lower36": string.ascii_lowercase + _DIGITS,
    "lower32": "0123456789abcdfghijklmnpqrsvwxyz",
    "UPPER36": string.ascii_uppercase + _DIGITS,
    "UPPER32": "ABCDEFGHJKMNPQRSTVWXYZ234567",
}
_SEEDS = 5


def _texts(suffix: str) -> list[tuple[str, str]]:
    """(list and kind, text with places for random characters) of the lists that end so."""
    lines = (Path(__file__).parent / "secret_texts.txt").read_text(encoding="utf-8").splitlines()
    rows = (line.split(" | ", 2) for line in lines if not line.startswith("#"))
    return [(f"{name} {kind}", text) for name, kind, text in rows if name.endswith(suffix)]


def _filled(text: str) -> Iterator[str]:
    """The text with random characters, once for each seed."""
    text = re.sub(r"(?<!\\)\\n", "\n", text).replace("\\\\n", "\\n")
    text = text.replace("{pem}", "\n".join(["{base64:64}"] * 6)).replace("{pem1}", "{base64:380}")
    for seed in range(_SEEDS):
        source = random.Random(seed)
        fresh = text.replace("{uuid}", str(uuid.UUID(int=source.getrandbits(128), version=4)))
        yield re.sub(r"\{(\w+):(\d+)\}", lambda m, s=source: _characters(s, m), fresh)


def _characters(source: random.Random, place: re.Match[str]) -> str:
    return "".join(source.choices(_ALPHABETS[place[1]], k=int(place[2])))


@pytest.mark.parametrize(("kind", "text"), _texts("secret"), ids=lambda value: str(value)[:24])
def test_every_secret_is_refused(kind: str, text: str) -> None:
    for fresh in _filled(text):
        assert secrets.secret_kinds(fresh), kind


@pytest.mark.parametrize(("kind", "text"), _texts("harmless"), ids=lambda value: str(value)[:24])
def test_no_harmless_text_is_refused(kind: str, text: str) -> None:
    for fresh in _filled(text):
        assert secrets.secret_kinds(fresh) == (), kind


def test_every_kind_has_a_text() -> None:
    texts = [text for _, text in PLANTED] + [next(_filled(text)) for _, text in _texts("secret")]
    seen = {kind for text in texts for kind in secrets.secret_kinds(text)}
    table = {kind for kind, _ in (*secrets.SPACED_SHAPES, *secrets.WORD_SHAPES)}  # the table itself
    assert table <= seen
