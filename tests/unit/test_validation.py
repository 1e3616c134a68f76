"""Reading plain data as annotated types: what is taken, and the words and the path of a mistake."""

from __future__ import annotations

import copy
import pickle
from typing import Annotated, Any, Literal

import pytest

from memoriter.core.validation import After, Before, Bounds, DataMistake, OneOf, reader
from memoriter.lanes.spec import Spec, fields_of, option

Name = Annotated[str, Bounds(pattern=r"^[a-z][a-z0-9_]{0,31}$")]
Share = Annotated[float, Bounds(ge=0.0, le=1.0)]


class Cap(Spec):
    """A value with a rule over two options."""

    kind: Literal["cap"]
    least: int = option("the least", 1, ge=0)
    most: int = option("the most", 3, le=1_000)

    def check(self) -> None:
        """The bounds are in order."""
        if self.least > self.most:
            raise ValueError("`least` is above `most`")


def _short_form(data: object) -> object:
    return {"kind": "cap", "most": data} if isinstance(data, int) else data


def _even(value: int) -> int:
    if value % 2:
        raise ValueError(f"{value} is odd")
    return value


AnyCap = Annotated[Cap, OneOf({"cap": Cap}.get, lambda: (Cap,))]


class Box(Spec):
    """A value with options of every type."""

    caps: dict[Name, AnyCap] = option("by name", make=dict)
    first: Annotated[Cap | None, Before(_short_form)] = option("or a number", None)
    shares: tuple[Share, ...] = option("shares", (), max_length=2)
    pair: tuple[int, bool] = option("two", (1, True))
    how: Literal["max", "none"] | dict[str, Share] = option("one, or several", "max")
    even: Annotated[int, After(_even)] | None = option("an even number", None, key="of")


NOT_A_NAME = "is not a valid name: use a small letter, then at most 31 small letters, digits or _"
TAKEN: list[tuple[Any, object, object]] = [
    (float, 1, 1.0),
    (float | None, None, None),
    (tuple[float, ...], [1, 2.5], (1.0, 2.5)),
    (Literal[0, 1], 1.0, 1),
    (bool | int | float | str, True, True),
    (bool | int | float | str, 1.5, 1.5),
    (dict[Name, Share], {"a": 1}, {"a": 1.0}),
    (Name | tuple[str, ...], ["A"], ("A",)),
]
REFUSED: list[tuple[dict[str, object], tuple[str | int, ...], str]] = [
    ({"caps": []}, ("caps",), "expected a table, not []"),
    ({"caps": {"A": {"kind": "cap"}}}, ("caps", "A"),
     f"'A' {NOT_A_NAME}"),
    ({"caps": {"a\n": {"kind": "cap"}}}, ("caps", "a\n"),
     f"'a\\\\n' {NOT_A_NAME}"),
    ({"caps": {"a": {}}}, ("caps", "a"), "has no kind"),
    ({"caps": {"a": {"kind": 7}}}, ("caps", "a"), "there is no kind '7'"),
    ({"caps": {"a": {"kind": "cap", "least": -1}}}, ("caps", "a", "least"),
     "must be at least 0, not -1"),
    ({"caps": {"a": {"kind": "cap", "least": 9}}}, ("caps", "a"), "`least` is above `most`"),
    ({"caps": {"a": {"kind": "cap", "best": 9}}}, ("caps", "a", "best"), "there is no such option"),
    ({"first": 5_000}, ("first",), "must be at most 1000, not 5000"),
    ({"first": {"most": 2}}, ("first", "kind"), "is required"),
    ({"shares": [0, "1"]}, ("shares", 1), "expected a number, not '1'"),
    ({"shares": [2]}, ("shares", 0), "must be at most 1, not 2"),
    ({"shares": [float("nan")]}, ("shares", 0), "expected a finite number, not NaN"),
    ({"shares": [0, 0, 0]}, ("shares",), "has 3 entries, at most 2 are allowed"),
    ({"pair": [True, True]}, ("pair", 0), "expected an integer, not true"),
    ({"pair": [1]}, ("pair", 1), "is required"),
    ({"pair": [1, True, 2]}, ("pair",), "has 3 entries, at most 2 are allowed"),
    ({"how": True}, ("how",), "expected 'max' or 'none', not true"),
    ({"of": 3}, ("of",), "3 is odd"),
    ({"even": 2}, ("even",), "there is no such option"),
]  # fmt: skip


@pytest.mark.parametrize(("hint", "data", "value"), TAKEN)
def test_data_becomes_a_value_of_the_type(hint: Any, data: object, value: object) -> None:
    read = reader(hint)(data)
    assert (read, type(read)) == (value, type(value))


@pytest.mark.parametrize(("data", "path", "message"), REFUSED)
def test_the_first_mistake_has_a_path_and_plain_words(
    data: dict[str, object], path: tuple[str | int, ...], message: str
) -> None:
    with pytest.raises(DataMistake) as caught:
        Box.read(data)
    assert (caught.value.path, caught.value.message) == (path, message)


@pytest.mark.parametrize("text", ["\ud800", "a\udfff"])
def test_half_of_a_character_is_no_text(text: str) -> None:
    with pytest.raises(DataMistake, match="has a lone surrogate"):
        reader(str)(text)


def test_a_value_is_written_as_it_is_read() -> None:
    box = Box.read({"caps": {"a": {"kind": "cap"}}, "shares": [1], "of": 4})
    assert box.spelled_out() == {"caps": {"a": {"kind": "cap"}}, "shares": [1.0], "of": 4}
    assert Box.read(box.to_data()) == box
    assert box.to_data()["caps"] == {"a": {"kind": "cap", "least": 1, "most": 3}}
    assert [each.key for each in fields_of(Box).values()][-1] == "of"


def test_a_value_is_frozen_and_can_be_copied() -> None:
    cap = Cap(kind="cap", most=5)
    with pytest.raises(AttributeError):
        cap.most = 6
    with pytest.raises(AttributeError):
        del cap.most
    assert cap.shows() == {"least": 1, "most": 5}
    wider = cap.with_options(most=7, least=2)
    assert wider.shows() == {"least": 2, "most": 7}  # derived anew
    assert wider.spelled_out() == {"kind": "cap", "least": 2, "most": 7}
    assert (cap.most, cap == wider, len({cap, wider, Cap(kind="cap", most=5)})) == (5, False, 2)
    assert pickle.loads(pickle.dumps(cap)) == copy.deepcopy(cap) == cap  # noqa: S301  # made here
