"""Counts words in general English: makes `src/memoriter/text/background_en.txt`.

    python -m tools.background TEXTS.jsonl.gz

TEXTS has one JSON object a line with a `text`. The file keeps, for each stem of the default
analyzer that enough texts contain, its idf in sixteenths. Counts only: no text can be read from it.
"""

from __future__ import annotations

import gzip
import json
import sys
from collections import Counter, defaultdict
from pathlib import Path

from memoriter.rank.bm25 import idf
from memoriter.text.default import DefaultAnalyzer

TARGET = Path(__file__).parents[1] / "src/memoriter/text/background_en.txt"
LEAST = 20
"""Texts that must contain a stem; rarer ones count as unlisted."""


def main(source: str) -> None:
    """Count the stems of every text and write the table."""
    analyzer, df, total = DefaultAnalyzer(), Counter[str](), 0
    with gzip.open(source, "rt", encoding="utf-8") as lines:
        for line in lines:
            df.update(set(analyzer.terms(json.loads(line)["text"])))
            total += 1
    by_idf: dict[int, list[str]] = defaultdict(list)
    for stem, count in df.items():
        if count >= LEAST and stem.isascii() and stem.isalpha():
            by_idf[round(16 * idf(total, count))].append(stem)
    lines_out = [f"{steps} {' '.join(sorted(stems))}" for steps, stems in sorted(by_idf.items())]
    TARGET.write_text("\n".join(lines_out) + "\n", encoding="utf-8")
    sys.stdout.write(
        f"{sum(map(len, by_idf.values())):,} stems of {total:,} texts in {TARGET.name}\n"
    )


if __name__ == "__main__":
    main(sys.argv[1])
