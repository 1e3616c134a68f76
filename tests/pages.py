"""The pages that people read: README and docs, their examples, their headings and their links."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

ROOT: Final = Path(__file__).parents[1]
README: Final = ROOT / "README.md"
DOCS: Final = ROOT / "docs"
FENCE: Final = re.compile(
    r"^(?P<fence>`{3,}|~{3,})(?P<kind>\w*)\n(?P<text>.*?)^(?P=fence)$", re.S | re.M
)
LINK: Final = re.compile(r"\[[^\]]*\]\((?P<to>[^)\s]+)\)|(?:src|srcset|href)=\"(?P<at>[^\"]+)\"")


class Block(NamedTuple):
    """A fenced piece of a page."""

    page: Path
    number: int
    text: str

    def __str__(self) -> str:
        """Where it stands: the name of a test."""
        return f"{name(self.page)}:{self.number}"


def name(page: Path) -> str:
    """A page as it is called in the repository."""
    return page.relative_to(ROOT).as_posix()


def docs() -> list[Path]:
    """All pages below docs/ but the decisions, which tell of their own time."""
    return [page for page in sorted(DOCS.rglob("*.md")) if DOCS / "adr" not in page.parents]


def blocks(page: Path, kind: str) -> list[Block]:
    """The fenced pieces of a kind, counted from 1."""
    matches = FENCE.finditer(page.read_text(encoding="utf-8"))
    texts = [each["text"] for each in matches if each["kind"] == kind]
    return [Block(page, number, text) for number, text in enumerate(texts, start=1)]


def anchors(text: str) -> set[str]:
    """What a link may name after `#`: every heading as GitHub spells it."""
    titles = re.findall(r"^#{1,6} (.+?)\s*$", FENCE.sub("", text), re.M)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def links(text: str) -> Iterator[str]:
    """Where the links of a page lead, without what is shown as code."""
    prose = re.sub(r"`[^`\n]+`", "", FENCE.sub("", text))
    for match in LINK.finditer(prose):
        yield match["to"] or match["at"]


def broken(page: Path, text: str) -> Iterator[str]:
    """Links of a page to a file or a heading that is not there; other sites are not asked."""
    for link in links(text):
        if re.match(r"[a-z]+:", link):
            continue
        file, _, anchor = link.partition("#")
        target = (page.parent / file).resolve() if file else page
        if not target.exists():
            yield f"{link}: there is no such file"
        elif anchor and anchor not in anchors(target.read_text(encoding="utf-8")):
            yield f"{link}: there is no such heading"
