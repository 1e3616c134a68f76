"""Finds data sets in a file or folder and loads each with the reader of its format."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from memoriter.core.errors import InputError, NotFound
from memoriter.evaluate.data import Dataset, beir, locomo, longmemeval
from memoriter.evaluate.json_lines import holds_lines, questions_file, replayed_folders

VARIABLE: Final = "MEMORITER_DATA"
"""The environment variable that names the data."""
_KNOWN: Final = (
    "a folder with memories.jsonl and questions.jsonl, a .jsonl file of questions, a LoCoMo or "
    "LongMemEval json file, a folder in the BEIR layout, or a folder of these"
)


def find_datasets(place: Path | None) -> list[Dataset]:
    """Every data set in a file or folder; without a place, in the one that MEMORITER_DATA names.

    Raises NotFound if there is none, and InputError if a file has another format.
    """
    variable = os.environ.get(VARIABLE)
    path = Path(variable) if place is None and variable else place
    if path is None:
        raise NotFound(
            "no data set was given",
            hint=f"give --data PATH, or set {VARIABLE}; the path is that of {_KNOWN}",
            field="data",
        )
    if not path.exists():
        raise NotFound(f"there is no file or folder {path}", hint=f"give {_KNOWN}", field="data")
    datasets = list(_within(path, depth=2))
    if not datasets:
        raise NotFound(
            f"{path} has no data set in a known format", hint=f"give {_KNOWN}", field="data"
        )
    return datasets


def _within(place: Path, depth: int) -> Iterator[Dataset]:
    if place.is_file():
        yield from _loaded(place, questions_file if place.suffix == ".jsonl" else _official)
    elif holds_lines(place):
        yield from _loaded(place, lambda folder: replayed_folders(folder, [folder]))
    elif (place / "corpus.jsonl").is_file():
        yield from _loaded(place, beir)
    elif depth:
        children = sorted(place.iterdir())
        # Folders beside each other are the stores of one data set: a mean goes over all of them.
        stores = [child for child in children if holds_lines(child)]
        if stores:
            yield from _loaded(place, lambda folder: replayed_folders(folder, stores))
        for child in children:
            if child not in stores and (child.is_dir() or child.suffix == ".json"):
                yield from _within(child, depth - 1)


def _loaded(place: Path, load: Callable[[Path], list[Dataset]]) -> list[Dataset]:
    try:
        return load(place)
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, OSError) as error:
        detail = f"{type(error).__name__}: {error}"
        raise InputError(
            f"{place}: is not in a known format ({detail})", hint=f"give {_KNOWN}", field="data"
        ) from None


def _official(path: Path) -> list[Dataset]:
    """The data sets of a LoCoMo or LongMemEval file."""
    data = json.loads(path.read_text(encoding="utf-8"))
    return locomo(data, path.name) if "conversation" in data[0] else longmemeval(data, path.name)
