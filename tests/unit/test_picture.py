"""The pictures of the README are those that the sources draw, and fetch nothing."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest
from tools.picture import FOLDER, THEMES, example_result, pictures


def test_the_pictures_are_not_stale() -> None:
    for name, picture in pictures().items():
        kept = (FOLDER / name).read_text(encoding="utf-8")
        assert kept == picture, f"{name} is stale: `make pictures` draws it anew"


def test_the_question_of_the_picture_is_answered() -> None:
    result = example_result()
    assert (result[0].id, result.status) == ("wedding", "complete")
    assert "marriage ~ wedding" in [part.label for part in result[0].lanes["kin"].why.parts]


@pytest.mark.parametrize("name", THEMES)
def test_a_picture_is_sound_and_fetches_nothing(name: str) -> None:
    text = (FOLDER / name).read_text(encoding="utf-8")
    root = ElementTree.fromstring(text)  # noqa: S314  # our own file
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert not re.findall(r"@import|@font-face|href=|url\((?!#)", text)
    assert set(re.findall(r"https?://[^\"]+", text)) == {"http://www.w3.org/2000/svg"}
