"""Proofs: what kept a memory out, whether a replay agrees, how two answers differ."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Final, cast

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from memoriter.doors.render.hits import HitTable
from memoriter.doors.render.ink import BAD, DIM, STRONG, WARN, TextColumns, fact_table, joined_line
from memoriter.text.figures import figure
from memoriter.text.safe import one_line
from memoriter.why.change import Change
from memoriter.why.diff import Diff, Move
from memoriter.why.replay import Replay
from memoriter.why.versus import Versus
from memoriter.why.whynot import WhyNot

_SHOWN: Final = 8
"""How many differences are listed."""


def why_not_card(answer: WhyNot) -> RenderableType:
    """What kept a memory out, lane by lane where no lane found it, and what to ask instead."""
    head = joined_line([Text(f"{answer.stage}", STRONG), one_line(answer.id)])
    lines: dict[str, object] = {"why": one_line(answer.reason)}
    if answer.lanes:
        lines["why"] = "no lane found it" if answer.stage == "lanes" else one_line(answer.reason)
        lines |= {label: one_line(why) for label, why in answer.lanes.items()}
    if answer.change:
        lines["ask with"] = "\n".join(_flags(answer.change))
        lines["then"] = f"rank {answer.rank_then}, tested"
    elif answer.stage != "hit":
        lines["ask with"] = "no change is known that lets it in"
    return Group(head, fact_table(lines))


def versus_card(compared: Versus) -> RenderableType:
    """What separates two hits: every part of both scores, the largest difference first."""
    first, second = compared.first, compared.second
    rows = [(part.label, *part.texts) for part in compared.parts]
    total = ("score", *compared.texts)
    heads = ("part", f"#{first.rank}", f"#{second.rank}", "difference")
    lines = [Text(one_line(note), DIM) for note in compared.notes]
    table = TextColumns(heads, [*rows, total], wide=0)
    return Group(Text(one_line(compared.summary), STRONG), table, *lines)


def _flags(change: Change) -> Iterator[str]:
    """A change as options of the command line."""
    for key, value in change.items():
        match key:
            case "overrides":
                for path, number in cast("dict[str, object]", value).items():
                    yield f"--override {path}={_quoted(number)}"
            case "lists":
                for label, pairs in cast("dict[str, list[list[object]]]", value).items():
                    ranked = ",".join(f"{id}:{score}" for id, score in pairs)
                    yield f"--list {_quoted(f'{label}={ranked}')}"
            case _:
                flag = "--tag" if key == "tags" else f"--{key.replace('_', '-')}"
                yield f"no {flag}" if value is None else f"{flag} {_quoted(value)}"


def _quoted(value: object) -> str:
    """A value as a shell takes it."""
    text = one_line(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))
    return f"'{text}'" if " " in text or "{" in text else text


def replay_card(replay: Replay) -> RenderableType:
    """Whether the answer is still the same, what is gone, and the answer as it is now."""
    if replay.same:
        return Group(Text("the same, byte for byte", STRONG), Text(), HitTable(replay.result))
    lines = [Text("not the same", BAD)]
    if replay.forgotten:
        count = replay.forgotten
        lines.append(Text(f"{count} record{'' if count == 1 else 's'} forgotten since", WARN))
    if replay.gone:
        lines.append(Text(f"gone: {', '.join(map(one_line, replay.gone))}", WARN))
    rest = len(replay.differences) - _SHOWN
    lines += [Text(f"differs: {one_line(path)}", DIM) for path in replay.differences[:_SHOWN]]
    lines += [Text(f"and {rest} more", DIM)] if rest > 0 else []
    return Group(*lines, Text(), HitTable(replay.result))


def diff_card(diff: Diff) -> RenderableType:
    """Which inputs of two searches differ, and every hit that moved."""
    parts: list[RenderableType] = []
    if diff.inputs:
        inputs = {
            f"{each.cause}: {each.path}": f"{_short(each.was)} → {_short(each.now)}"
            for each in diff.inputs
        }
        parts += [fact_table(inputs), Text()]
    if diff.same:
        return Group(*parts, Text("the same hits, ranks and scores", STRONG))
    grid = Table.grid(padding=(0, 2, 0, 0))
    for move in diff.moves:
        rank = f"{move.was or '—'} → {move.now or '—'}"
        score = f"{_figure(move.score_was)} → {_figure(move.score_now)}"
        grid.add_row(Text(rank, STRONG), Text(one_line(move.id)), Text(score), _causes(move))
    return Group(*parts, grid)


def _causes(move: Move) -> Text:
    """Which parts of the score changed; where none did, which hits passed it or were passed."""
    lines = [
        f"{part.name.removeprefix('fuse.')} {_figure(part.was)} → {_figure(part.now)}"
        f" ({', '.join(part.causes)})"
        for part in move.parts
    ]
    if not lines and move.passed_by:
        lines = [f"passed by {', '.join(map(one_line, move.passed_by))}"]
    if not lines and move.passed:
        lines = [f"passed {', '.join(map(one_line, move.passed))}"]
    return Text("\n".join(lines or [", ".join(move.causes)]), DIM)


def _figure(value: float | None) -> str:
    return "—" if value is None else figure(value)


def _short(value: object) -> str:
    if value is None:
        return "—"
    return one_line(value if isinstance(value, str) else json.dumps(value))
