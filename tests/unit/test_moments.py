"""The time that a question names, as a span of the calendar."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from memoriter.text import moments, time_words
from memoriter.text.moments import moment_of
from memoriter.text.time_words import asks_when, has_time_words

NOW = datetime(2026, 4, 18, 15, 30, tzinfo=UTC)  # a Saturday


def micros(when: datetime) -> int:
    return int(when.timestamp()) * 1_000_000


def spelled(time: int) -> str:
    """A time as text: a date, with the hour unless that is midnight."""
    text = datetime.fromtimestamp(time / 1_000_000, UTC).isoformat(timespec="hours")[:13]
    return text.removesuffix("T00")


_SPANS = {
    # ranges of two times
    "what happened between 2 and 4 November?": "2025-11-02 2025-11-05",
    "who came 2–4 November 2025": "2025-11-02 2025-11-05",  # as people write it
    "what was on Nov 2-4": "2025-11-02 2025-11-05",
    "between November 2 and 4, 2024": "2024-11-02 2024-11-05",
    "between the 3rd and 5th of March": "2026-03-03 2026-03-06",
    "between 28 February and 3 March": "2026-02-28 2026-03-04",
    "where was I from Monday to Wednesday": "2026-04-13 2026-04-16",
    "what did I do from Thursday to Tuesday": "2026-04-09 2026-04-15",
    "from November to January": "2025-11-01 2026-02-01",
    "between March and May 2025": "2025-03-01 2025-06-01",
    "from 2023 to 2024": "2023-01-01 2025-01-01",
    "from 2026-03-01 to 2026-03-05": "2026-03-01 2026-03-06",
    "between Christmas and New Year": "2025-12-24 2026-01-02",
    "what changed from March until now": "2026-03-01 2026-04-18T15",
    # counted from today
    "where was I yesterday": "2026-04-17 2026-04-18",
    "what happened today?": "2026-04-18 2026-04-19",
    "what do we do tomorrow": "2026-04-19 2026-04-20",
    "who called this morning": "2026-04-18T05 2026-04-18T12",
    "what is on tonight": "2026-04-18T20 2026-04-19T06",
    "what did we eat last night": "2026-04-17T20 2026-04-18T06",
    "where were we yesterday evening": "2026-04-17T17 2026-04-18",
    "who came by the other day": "2026-04-11 2026-04-18",
    "what did I write an hour ago": "2026-04-18T14 2026-04-18T15",
    "three days ago I ran": "2026-04-15 2026-04-16",
    "what did I do 2 weeks ago": "2026-04-01 2026-04-08",
    "three weeks ago": "2026-03-25 2026-04-01",
    "two months ago": "2026-02-01 2026-03-01",
    "a year ago": "2025-01-01 2026-01-01",
    "a couple of days ago": "2026-04-15 2026-04-18",
    "a few weeks ago": "2026-03-11 2026-04-08",
    "the past few days": "2026-04-13 2026-04-19",
    "in the last two weeks": "2026-04-04 2026-04-19",
    "the next three days": "2026-04-18 2026-04-22",
    "in the past week": "2026-04-11 2026-04-19",
    "during the last hour": "2026-04-18T14 2026-04-18T16",
    "what happened last week": "2026-04-06 2026-04-13",
    "next week": "2026-04-20 2026-04-27",
    "the week before last": "2026-03-30 2026-04-06",
    "this month": "2026-04-01 2026-05-01",
    "last month": "2026-03-01 2026-04-01",
    "last quarter": "2026-01-01 2026-04-01",
    "last year": "2025-01-01 2026-01-01",
    "last weekend": "2026-04-11 2026-04-13",
    "what did we cook two weekends ago": "2026-04-04 2026-04-06",
    "what did we do over the weekend of 1 November 2025": "2025-11-01 2025-11-03",
    "the weekend of 31 October 2025": "2025-11-01 2025-11-03",
    "on the weekend of March 2026": "2026-03-01 2026-04-01",
    "a weekend ago": "2026-04-11 2026-04-13",
    "the night before last": "2026-04-16T20 2026-04-17T06",
    "this weekend": "2026-04-18 2026-04-20",
    "over the weekend": "2026-04-18 2026-04-20",
    # weekdays
    "what did I watch last Friday?": "2026-04-17 2026-04-18",
    "last saturday": "2026-04-11 2026-04-12",
    "what did I book on Monday?": "2026-04-13 2026-04-14",
    "what will I do on Monday?": "2026-04-20 2026-04-21",
    "next Monday": "2026-04-20 2026-04-21",
    "this Monday": "2026-04-13 2026-04-14",
    "Monday two weeks ago": "2026-03-30 2026-03-31",
    "Friday of last week": "2026-04-10 2026-04-11",
    "last week on Tuesday": "2026-04-07 2026-04-08",
    "Monday’s meeting": "2026-04-13 2026-04-14",
    "on Friday morning": "2026-04-17T05 2026-04-17T12",
    # dates
    "on 2026-03-05": "2026-03-05 2026-03-06",
    "the report of 2026/03": "2026-03-01 2026-04-01",
    "on May 7, 2023": "2023-05-07 2023-05-08",
    "on the 7th of May 2023": "2023-05-07 2023-05-08",
    "on 12 May": "2025-05-12 2025-05-13",
    "what will happen on 12 May": "2026-05-12 2026-05-13",
    "March 3rd": "2026-03-03 2026-03-04",
    "on 29 February": "2024-02-29 2024-03-01",
    "on 3/14": "2026-03-14 2026-03-15",
    "the letter of 14/03/2025": "2025-03-14 2025-03-15",
    "on the 12th": "2026-04-12 2026-04-13",
    "who came on the 30th?": "2026-03-30 2026-03-31",
    "the morning of 3 March": "2026-03-03T05 2026-03-03T12",
    # months, quarters, seasons, years
    "in March 2024": "2024-03-01 2024-04-01",
    "back in March": "2026-03-01 2026-04-01",
    "in December": "2025-12-01 2026-01-01",
    "last March": "2026-03-01 2026-04-01",
    "last April": "2025-04-01 2025-05-01",
    "who will come in September": "2026-09-01 2026-10-01",
    "early March": "2026-03-01 2026-03-11",
    "in mid-March 2025": "2025-03-11 2025-03-22",
    "in late May": "2025-05-22 2025-06-01",
    "at the beginning of April 2026": "2026-04-01 2026-04-11",
    "at the end of November 2025": "2025-11-21 2025-12-01",
    "in the second week of November": "2025-11-08 2025-11-15",
    "Q3": "2025-07-01 2025-10-01",
    "the second quarter of 2025": "2025-04-01 2025-07-01",
    "last summer": "2025-06-01 2025-09-01",
    "this summer": "2026-06-01 2026-09-01",
    "summer 2024": "2024-06-01 2024-09-01",
    "last winter": "2025-12-01 2026-03-01",
    "in the spring": "2026-03-01 2026-06-01",
    "in 2022": "2022-01-01 2023-01-01",
    # feasts
    "last Christmas": "2025-12-24 2025-12-27",
    "at Easter 2026": "2026-04-03 2026-04-07",
    "on New Year's Eve": "2025-12-31 2026-01-01",
    # beside a time
    "the day before yesterday": "2026-04-16 2026-04-17",
    "the day after tomorrow": "2026-04-20 2026-04-21",
    "the day before 3 March": "2026-03-02 2026-03-03",
    "two days after the outage of 19 February": "2026-02-21 2026-02-22",
    "the week before Christmas 2025": "2025-12-17 2025-12-24",
    "the month after March 2025": "2025-04-01 2025-05-01",
    "since March": "2026-03-01 2026-04-19",
    "since 2024": "2024-01-01 2026-04-19",
    "before September 2025": "2024-09-01 2025-09-01",
    "after May 2025": "2025-06-01 2026-04-19",
    # the newest
    "what did we most recently promise": "2026-03-20 2026-04-19",
    "the latest release": "2026-03-20 2026-04-19",
    "when did I last see her": "2026-03-20 2026-04-19",
}


@pytest.mark.parametrize(("text", "span"), _SPANS.items())
def test_a_time_that_is_named_is_a_span(text: str, span: str) -> None:
    moment = moment_of(text, micros(NOW))
    assert moment is not None
    assert f"{spelled(moment.since)} {spelled(moment.until)}" == span


@pytest.mark.parametrize(
    "text",
    [
        "",
        "which port for ssh?",
        "on 31 February 2024",
        "2024-13-40",
        "may I ask",
        "this may be wrong",
        "being late may cost us",
        "what did she paint recently",
        "on 3/4",
        "support is there 24/7",
        "is it in Spring Boot",
        "what is on Mondays",
        "a list of 2000 customers",
        "release 2026.6",
        "the day before we left",
        "\ud800 \x00",
        "9" * 5000,
    ],
)
def test_a_text_without_a_time_has_none(text: str) -> None:
    assert moment_of(text, micros(NOW)) is None


def test_easter_is_where_the_almanac_has_it() -> None:
    sundays = {2000: "04-23", 2008: "03-23", 2024: "03-31", 2025: "04-20", 2027: "03-28"}
    for year, sunday in sundays.items():
        moment = moment_of(f"Easter {year}", micros(NOW))
        assert moment is not None
        assert spelled(moment.since + 2 * 86_400_000_000) == f"{year}-{sunday}"


def test_the_words_that_name_the_time_are_shown() -> None:
    moment = moment_of("What was it the week before Christmas 2025?", micros(NOW))
    assert moment is not None
    assert moment.text == "the week before christmas 2025"


_WORDS = st.sampled_from(
    sorted({word for text in _SPANS for word in text.split()} | {"0", "99", "9999", "13/13", "-"})
)


@given(st.lists(_WORDS, max_size=8).map(" ".join) | st.text(), st.integers(-(10**18), 10**18))
@example("the year before 2000-01-01", -(10**17))
@example("last year", 253_402_300_799_000_000)
def test_any_text_at_any_time_gives_a_span_or_nothing(text: str, now: int) -> None:
    moment = moment_of(text, now)
    assert moment == moment_of(text, now)
    assert moment is None or moment.since < moment.until


def test_words_for_times_are_recognised_in_records_and_questions() -> None:
    for text in (
        "Mondays, 7:30",
        "on 3 May",
        "two years ago",
        "since 2024",
        "at 5 pm",
        "last week",
    ):
        assert has_time_words(text), text
    for text in ("we may march on", "the second one", "seventy", "by car"):
        assert not has_time_words(text), text
    for text in ("When is it?", "how long did it take", "which day", "How many weeks was she away"):
        assert asks_when(text), text
    for text in ("who is it?", "how many plants", "whenever"):
        assert not asks_when(text), text


_VOCABULARY = (
    "in", "on", "the", "a", "of", "from", "to", "between", "and", "since", "this", "last", "next",
    "may", "march", "monday", "friday's", "christmas", "easter", "new year", "spring", "fall",
    "quarter", "second", "q3", "2024", "3rd", "12/5", "7:30", "5 pm", "o'clock", "noon", "ago",
    "few", "weeks", "weekend", "night", "before", "recently", "latest", "when", "we", "ran", "-",
)  # fmt: skip


@given(st.lists(st.sampled_from(_VOCABULARY), max_size=7).map(" ".join))
def test_a_text_that_is_passed_over_names_no_time(text: str) -> None:
    """The cheap look before the rules changes no answer."""
    with pytest.MonkeyPatch.context() as patched:
        quick = moment_of.__wrapped__(text, micros(NOW)), has_time_words(text)
        patched.setattr(moments, "may_name_a_time", lambda text: True)
        patched.setattr(time_words, "TIME_PARTS", ("",))
        assert (moment_of.__wrapped__(text, micros(NOW)), has_time_words(text)) == quick
