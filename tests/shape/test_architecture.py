"""Does ARCHITECTURE.md name files that exist, and is its glossary short?"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
SRC = ROOT / "src" / "memoriter"
TEXT = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")

MAX_WORDS = 20


def missing(text: str) -> Iterator[str]:
    """Files and folders in backticks that are nowhere; in the row of a room, also below it."""
    for line in text.splitlines():
        room = re.match(r"\| `(\w+)/` \|", line)
        places = [SRC, ROOT, *([SRC / room[1]] if room else [])]
        for name in re.findall(r"`([a-z_][\w/]*(?:\.py|/))`", line):
            if not any((place / name).exists() for place in places):
                yield name


def section(text: str, title: str) -> str:
    return text.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


def test_the_files_that_it_names_exist() -> None:
    assert not list(missing(TEXT))


def test_it_has_a_row_for_every_room() -> None:
    rows = set(re.findall(r"^\| `(\w+)/` \|", section(TEXT, "Rooms"), re.M))
    rooms = {path.parent.name for path in SRC.glob("*/__init__.py")}
    assert rows == rooms


def test_the_glossary_has_few_words_and_each_once() -> None:
    words = re.findall(r"^\| (\w+) \| [A-Z].*\.", section(TEXT, "Glossary"), re.M)
    assert 1 < len(words) <= MAX_WORDS
    assert len(words) == len(set(words))


def test_a_file_that_is_gone_is_noticed() -> None:
    text = "| `store/` | `port.py`, `gone.py` |\n`core/errors.py`, `core/gone.py`, `why/gone/`\n"
    assert list(missing(text)) == ["gone.py", "core/gone.py", "why/gone/"]
