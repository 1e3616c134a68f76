"""`python -m tools.calibrate`: writes the calibrations of the packaged table and model.

It is run when one of them or the probes change; a test makes the numbers again and compares them.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np

from memoriter.embed.calibrate import PACKAGED_FILES, calibration_of, probes
from memoriter.embed.memory_en import MemoryModel
from memoriter.embed.port import Embedder
from memoriter.embed.static import Static

EMBEDDERS: tuple[type[Embedder], ...] = (Static, MemoryModel)
"""In the order of the files."""


def made(embedder: Embedder) -> str:
    """The text of a file: the embedder's fingerprint, and its cosines by level."""
    texts = probes()
    queries = [each for each in embedder.embed(texts.questions, "query") if each is not None]
    records = [each for each in embedder.embed(texts.notes, "record") if each is not None]
    cosines = calibration_of(queries, np.array(records)).to_dict()
    return json.dumps({"embedder": embedder.fingerprint, "cosines": cosines}, indent=2) + "\n"


def main() -> int:
    """Write the files and print them."""
    for name, embedder in zip(PACKAGED_FILES, EMBEDDERS, strict=True):
        text = made(embedder())
        Path("src/memoriter/embed", name).write_text(text, "utf-8")
        sys.stdout.write(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
