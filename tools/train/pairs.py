"""The training pairs: scenes of memories and the questions that they answer.

A scene is a title (`# `), memories (`+ `) and questions (`? … => 3`, `=> 2,9`, or `=> -` where no
memory answers). `python -m tools.train.pairs FILE …` checks and counts them.
"""

from __future__ import annotations

import hashlib
import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from tools.bench_data import bench_data

OURS: Final = Path(__file__).parent / "pairs"
QUESTION: Final = re.compile(r"\? (.*?)\s*=>\s*([\d,\s]+|-)\s*$")
SPEAKER: Final = re.compile(r"(?:\[[^\]]*\] )?[^:]{1,25}: ")
SAYS: Final = 5
"""Content words that a turn needs to answer by itself."""
HELD: Final = 10  # one scene in ten is never trained on
LONG: Final = 12  # words of a long question

# Words that carry no content: what the counts below leave out.
EMPTY: Final = frozenset(
    """
    a about after again all also am an and any anything are as ask at be been before being
    both but by can could did do does doing done down each else ever every everything few
    for from get give go got had has have having he her here hers him his how i if in into
    is it its just know last let like made make many may me mean might mine more most much
    must my need never next no not nothing now of off on once one only or other our ours out
    over own people person please put really same say see shall she should so some somebody
    something still such take tell than that the their them then there these they thing
    things this those through till to told too two under until up us use used user want was
    we were what when where which while who whom whose why will with without would yes yet
    you your yours first
    """.split()  # noqa: SIM905 - a list of so many words is harder to read
)


@dataclass
class Scene:
    """Memories that belong together; questions with the places of the memories that answer each."""

    title: str
    file: str
    memories: list[str] = field(default_factory=list[str])
    questions: list[tuple[str, tuple[int, ...]]] = field(
        default_factory=list[tuple[str, tuple[int, ...]]]
    )

    @property
    def held(self) -> bool:
        """Whether it is never trained on: by hash, so that it stays in the development set."""
        text = "\n".join([self.title, *self.memories])
        return int(hashlib.sha256(text.encode()).hexdigest(), 16) % HELD == 0

    @property
    def taught(self) -> list[tuple[str, tuple[int, ...]]]:
        """The questions to train on: none whose answer says nothing without the turn before it.

        "Thursday, after lunch" has no vector that answers anything; in an answer of the engine the
        turns around it lift it.
        """
        turns = [SPEAKER.match(memory) for memory in self.memories]
        if not all(turns):
            return self.answerable
        says = [
            len(stems(memory[turn.end() :])) >= SAYS if turn else True
            for memory, turn in zip(self.memories, turns, strict=True)
        ]
        return [each for each in self.answerable if all(says[place] for place in each[1])]

    @property
    def answerable(self) -> list[tuple[str, tuple[int, ...]]]:
        """The questions that a memory answers."""
        return [each for each in self.questions if each[1]]


def read(path: Path) -> Iterator[Scene]:
    """The scenes of a file.

    Raises SystemExit if a line is none of the format or names no memory; says which.
    """
    scene: Scene | None = None
    for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
        if line.startswith("# "):
            if scene is not None:
                yield scene
            scene = Scene(line[2:], path.stem)
        elif line.strip() and (scene is None or not _added(scene, line)):
            raise SystemExit(f"{path}:{number}: no memory and no question: {line[:60]}")
    if scene is not None:
        yield scene


def _added(scene: Scene, line: str) -> bool:
    """Add a memory or a question to a scene; False if the line is neither."""
    asked = QUESTION.match(line)
    if asked is None:
        scene.memories.append(line[2:])
        return line.startswith("+ ")
    places = () if asked[2] == "-" else tuple(int(each) - 1 for each in asked[2].split(","))
    scene.questions.append((asked[1], places))
    return all(0 <= place < len(scene.memories) for place in places)


def files() -> list[Path]:
    """All files of pairs: those of the data folder and those of this repository."""
    shared = bench_data("pairs")
    return sorted([*(shared.glob("*.txt") if shared else ()), *OURS.glob("*.txt")])


def scenes(paths: Iterable[Path] | None = None) -> list[Scene]:
    """The scenes of the files, in the order of the files."""
    return [each for path in (files() if paths is None else paths) for each in read(path)]


def stems(text: str) -> set[str]:
    """Content words of a text, cut to five letters: a crude stem is enough to count with."""
    words: list[str] = re.findall(r"\w+", text.lower())
    return {each[:5] for each in words if each not in EMPTY and len(each) > 2}


def counts(some: list[Scene]) -> str:
    """How many scenes, questions, questions in other words, with a trap, long ones; one line."""
    asked = shares = traps = long = several = 0
    for scene in some:
        read = [stems(each) for each in scene.memories]
        for question, gold in scene.answerable:
            words = stems(question)
            asked += 1
            shares += any(words & read[place] for place in gold)
            traps += any(words & each for place, each in enumerate(read) if place not in gold)
            long += len(question.split()) > LONG
            several += len(gold) > 1
    share = 100 / max(asked, 1)
    questions = sum(len(scene.questions) for scene in some)
    return (
        f"{len(some)} scenes, {questions} questions, {questions - asked} without an answer; of the"
        f" others {100 - shares * share:.0f} % share no word with their answer, {traps * share:.0f}"
        f" % name a word of a memory that does not answer, {long * share:.0f} % have more than"
        f" {LONG} words, {several * share:.0f} % several answers"
    )


def faults(scene: Scene) -> Iterator[str]:
    """What is wrong with the shape of a scene."""
    unanswered = len(scene.questions) - len(scene.answerable)
    if not unanswered:
        yield "no question without an answer"
    if len(set(scene.memories)) < len(scene.memories):
        yield "the same memory twice"
    if len({question for question, _ in scene.questions}) < len(scene.questions):
        yield "the same question twice"
    if len(scene.memories) < 5 or len(scene.questions) < 8:
        yield f"{len(scene.memories)} memories, {len(scene.questions)} questions"


def main(names: list[str]) -> int:
    """Print the counts of each file and what is wrong with its scenes."""
    wrong = 0
    for path in [Path(name) for name in names] or files():
        some = scenes([path])
        print(f"{path.name}: {counts(some)}")
        for scene in some:
            for fault in faults(scene):
                print(f"  {scene.title}: {fault}")
                wrong += 1
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
