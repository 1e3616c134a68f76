"""A record is found by any word of its own, in whatever script it was written."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import memoriter
from memoriter.memory.facade import Memory
from memoriter.testing.fakes import CountedEntropy, HandClock

SPACED = {
    "Arabic": "اجتماع الميزانية غدا صباحا في مكتب القاهرة الجديد",
    "Hindi": "कल सुबह दिल्ली कार्यालय में बजट की बैठक होगी",
    "Korean": "내일 아침 서울 사무실에서 예산 회의가 열립니다",
    "Russian": "Завтра утром совещание по бюджету в московском офисе",
    "Greek": "Αύριο το πρωί συνάντηση για τον προϋπολογισμό στην Αθήνα",
    "Hebrew": "מחר בבוקר תתקיים פגישת תקציב במשרד בתל אביב",
    "Amharic": "ነገ ጠዋት የበጀት ስብሰባ በአዲስ አበባ ቢሮ ይካሄዳል",
    "English": "Tomorrow morning the budget meeting happens inside our London office",
}
"""Where spaces part words, a text tells its words itself."""

UNSPACED = {
    "Chinese": (
        "明天早上在北京办公室开预算会议",
        ["明天", "早上", "在", "北京", "办公室", "开", "预算", "会议"],
    ),
    "Japanese": (
        "明日の朝、東京オフィスで予算カイギを開きます",
        ["明日", "の", "朝", "東京", "オフィス", "予算", "カイギ", "開きます"],
    ),
    "Thai": (
        "พรุ่งนี้เช้ามีการประชุมงบประมาณที่สำนักงานกรุงเทพ",
        ["พรุ่งนี้", "เช้า", "มี", "การประชุม", "งบประมาณ", "ที่", "สำนักงาน", "กรุงเทพ"],
    ),
    "Khmer": (
        "ព្រឹកស្អែកមានប្រជុំថវិកានៅការិយាល័យភ្នំពេញ",
        ["ព្រឹក", "ស្អែក", "មាន", "ប្រជុំ", "ថវិកា", "នៅ", "ការិយាល័យ", "ភ្នំពេញ"],
    ),
}
"""Where nothing parts them, somebody who can read it has to."""

TEXTS = SPACED | {script: text for script, (text, _) in UNSPACED.items()}
WORDS = [(script, word) for script, text in SPACED.items() for word in text.split()]
WORDS += [(script, word) for script, (_, words) in UNSPACED.items() for word in words]


@pytest.fixture(scope="module")
def memory() -> Iterator[Memory]:
    """One record in each of twelve scripts."""
    with memoriter.open(
        ":memory:",
        embedder=None,
        clock=HandClock(),
        entropy=CountedEntropy(),
        maintenance="manual",
    ) as opened:
        for script, text in TEXTS.items():
            opened.remember(text, id=script)
        yield opened


def test_there_are_twelve_scripts() -> None:
    assert len(TEXTS) == 12
    assert all(word in TEXTS[script] for script, word in WORDS)


@pytest.mark.parametrize(("script", "word"), WORDS)
def test_a_record_is_found_first_by_any_word_of_its_own(
    memory: Memory, script: str, word: str
) -> None:
    result = memory.recall(word, recipe="lexical")
    assert result[0].id == script
    assert not result.used_retry


@pytest.mark.parametrize("script", TEXTS)
def test_a_record_is_found_by_its_whole_text_and_by_nobody_else_s(
    memory: Memory, script: str
) -> None:
    ids = [hit.id for hit in memory.recall(TEXTS[script], recipe="lexical")]
    sharing = {"Chinese", "Japanese"}  # both write 明, 朝 or 予 with the same characters
    assert ids[0] == script
    assert set(ids) <= (sharing if script in sharing else {script})


@pytest.mark.parametrize(("script", "word"), WORDS)
def test_capitals_and_forms_of_the_same_word_change_nothing(
    memory: Memory, script: str, word: str
) -> None:
    for other in (word.upper(), word.lower(), word.title()):
        assert memory.recall(other, recipe="lexical")[0].id == script
