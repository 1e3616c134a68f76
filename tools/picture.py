"""`python -m tools.picture`: draws the pictures of the README from a real recall.

One recall on a small memory goes through the renderer of the command line into
`docs/images/recall-light.svg` and `recall-dark.svg`. Clock and ids are fixed, so the output is
reproducible byte for byte; `tests/unit/test_picture.py` fails when the files are stale.
"""

from __future__ import annotations

import html
import io
import re
import sys
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.terminal_theme import TerminalTheme
from rich.text import Text

import memoriter
from memoriter.doors.render.hits import HitTable
from memoriter.doors.render.ink import inks_of
from memoriter.doors.render.tree import hit_tree
from memoriter.testing.fakes import CountedEntropy, HandClock
from memoriter.why.result import Result

FOLDER: Final = Path(__file__).parents[1] / "docs" / "images"
COLUMNS: Final = 100
QUESTION: Final = "which garden was my sister's marriage in?"
MEMORIES: Final = (
    ("wedding", "My sister had her wedding in June, in the garden of the old mill", "2026-06-14"),
    ("sail", "My sister is learning to sail in Lisbon", "2026-03-02"),
    ("passport", "The passport expires in 2027; renew it before the summer", "2026-01-19"),
    ("coffee", "I prefer oat milk in my morning coffee", "2026-02-07"),
    ("deploy", "To roll back a release, run tools/release.sh --back", "2026-04-21"),
    ("port", "Prod SSH moved to port 49222 with the new firewall", "2026-05-11"),
)
SHOWN: Final = 2

LIGHT: Final = TerminalTheme(
    (246, 248, 250),
    (27, 31, 36),
    [
        (36, 41, 47), (207, 34, 46), (26, 127, 55), (154, 103, 0),
        (9, 105, 218), (130, 80, 223), (5, 120, 135), (87, 96, 106),
    ],
)  # fmt: skip
DARK: Final = TerminalTheme(
    (13, 17, 23),
    (230, 237, 243),
    [
        (72, 79, 88), (255, 123, 114), (86, 211, 100), (227, 179, 65),
        (88, 166, 255), (210, 168, 255), (57, 197, 207), (230, 237, 243),
    ],
)  # fmt: skip
THEMES: Final = {"recall-light.svg": LIGHT, "recall-dark.svg": DARK}

TEMPLATE: Final = """\
<svg xmlns="http://www.w3.org/2000/svg" class="rich-terminal" viewBox="0 0 {width} {height}">
<style>
.{unique_id}-matrix {{
  font-family: ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace;
  font-size: {char_height}px;
  line-height: {line_height}px;
}}
.{unique_id}-title {{ font-family: ui-sans-serif, "DejaVu Sans", sans-serif; font-size: 16px; }}
{styles}
</style>
<defs>
<clipPath id="{unique_id}-clip-terminal">
<rect x="0" y="0" width="{terminal_width}" height="{terminal_height}" />
</clipPath>
{lines}
</defs>
{chrome}
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}
<g class="{unique_id}-matrix">
{matrix}
</g>
</g>
</svg>
"""
"""The template of Rich without its web font: the picture must not load anything."""
SPACE: Final = "\xa0"
RUN: Final = re.compile(
    r'(?P<head><text[^>]*?) x="(?P<x>[\d.]+)"(?P<mid>[^>]*?) textLength="(?P<length>[\d.]+)"'
    r"(?P<tail>[^>]*)>(?P<text>[^<]*)</text>"
)


def example_result() -> Result:
    """The result that the picture shows."""
    memory = memoriter.open(
        ":memory:", embedder="memory-en", clock=HandClock(), entropy=CountedEntropy("picture")
    )
    with memory:
        for name, text, day in MEMORIES:
            memory.remember(text, id=name, created=day)
        return memory.recall(QUESTION, SHOWN)


def drawn(result: Result, theme: TerminalTheme) -> str:
    """The hits and the explanation of the first one, as SVG."""
    console = Console(
        file=io.StringIO(), record=True, width=COLUMNS, force_terminal=True,
        color_system="standard", highlight=False, markup=False, emoji=False, legacy_windows=False,
    )  # fmt: skip
    console.print(Text(f'$ memoriter recall "{QUESTION}" --limit {SHOWN}', "bold"))
    console.print(HitTable(result))
    console.print()
    console.print(Text(f'$ memoriter explain {result[0].id} --query "{QUESTION}"', "bold"))
    console.print(hit_tree(result[0], inks_of(result.plan.recipe)))
    picture = console.export_svg(
        title="memoriter", theme=theme, code_format=TEMPLATE, unique_id="recall"
    )
    picture = RUN.sub(trimmed, picture)
    return "\n".join(line.rstrip() for line in picture.splitlines()) + "\n"


def trimmed(run: re.Match[str]) -> str:
    """A run of text without outer spaces, moved accordingly: some viewers drop these spaces."""
    x, length, text = float(run["x"]), float(run["length"]), run["text"].replace("&#160;", SPACE)
    cells = len(html.unescape(text))
    first = len(text) - len(text.lstrip(SPACE))
    bare = text.strip(SPACE)
    x, length = x + length * first / cells, length * len(html.unescape(bare)) / cells
    return f'{run["head"]} x="{x:g}"{run["mid"]} textLength="{length:g}"{run["tail"]}>{bare}</text>'


def pictures() -> dict[str, str]:
    """The SVG of every picture, by file name."""
    result = example_result()
    return {name: drawn(result, theme) for name, theme in THEMES.items()}


def main() -> int:
    """Write the pictures."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, picture in pictures().items():
        (FOLDER / name).write_text(picture, encoding="utf-8", newline="\n")
        sys.stdout.write(f"{FOLDER / name}: {len(picture) / 1000:.0f} kB\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
