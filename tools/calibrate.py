"""`python -m tools.calibrate`: writes the calibration of the packaged table from the probe texts.

It is run when the table or the probes change; a test makes the numbers again and compares them.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np

from memoriter.embed.calibrate import PACKAGED_FILE, calibration_of, probes
from memoriter.embed.static import Static


def made() -> str:
    """The text of the file: the embedder's fingerprint, and its cosines by level."""
    static, texts = Static(), probes()
    queries = [each for each in static.embed(texts.questions, "query") if each is not None]
    records = [each for each in static.embed(texts.notes, "record") if each is not None]
    cosines = calibration_of(queries, np.array(records)).to_dict()
    return json.dumps({"embedder": static.fingerprint, "cosines": cosines}, indent=2) + "\n"


def main() -> int:
    """Write the file and print it."""
    text = made()
    Path("src/memoriter/embed", PACKAGED_FILE).write_text(text, "utf-8")
    sys.stdout.write(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
