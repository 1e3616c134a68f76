"""Why not, replays and differences, for people."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Final, cast

from rich.console import Group, RenderableType
from rich.table import Table as Grid
from rich.text import Text

from memoriter.doors.render.ink import BAD, DIM, STRONG, WARN, joined
from memoriter.doors.render.plain import facts
from memoriter.doors.render.table import Table
from memoriter.text.safe import one_line
from memoriter.why.change import Change
from memoriter.why.diff import Diff, Move
from memoriter.why.figures import figure
from memoriter.why.replay import Replay
from memoriter.why.whynot import WhyNot

_SHOWN: Final = 8
"""So many differences are listed."""


def why_not_card(found: WhyNot) -> RenderableType:
    """What kept a memory out, lane by lane where none found it, and what to ask instead."""
    head = joined([Text(f"{found.stage}", STRONG), one_line(found.id)])
    told: dict[str, object] = {"why": one_line(found.reason)}
    if found.lanes:
        told["why"] = "no lane found it" if found.stage == "lanes" else one_line(found.reason)
        told |= {label: one_line(why) for label, why in found.lanes.items()}
    if found.change:
        told["ask with"] = "\n".join(_flags(found.change))
        told["then"] = f"rank {found.rank_then}, tested"
    elif found.stage != "hit":
        told["ask with"] = "no change is known that lets it in"
    return Group(head, facts(told))


def _flags(change: Change) -> Iterator[str]:
    """A change as options of the command line."""
    for key, value in change.items():
        match key:
            case "overrides":
                for path, told in cast("dict[str, object]", value).items():
                    yield f"--override {path}={_spelled(told)}"
            case "lists":
                for label, pairs in cast("dict[str, list[list[object]]]", value).items():
                    told = ",".join(f"{id}:{score}" for id, score in pairs)
                    yield f"--list {_spelled(f'{label}={told}')}"
            case "scope":
                kept = cast("dict[str, str]", value)
                rest = [f"--{who} {name}" for who, name in kept.items()]
                yield f"only {' '.join(rest)}" if rest else "no --agent, --user, --session"
            case _:
                flag = f"--{key.replace('_', '-')}"
                yield f"no {flag}" if value is None else f"{flag} {_spelled(value)}"


def _spelled(value: object) -> str:
    plain = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    told = one_line(plain)
    return f"'{told}'" if " " in told or "{" in told else told


def replay_card(found: Replay) -> RenderableType:
    """Whether an answer is still the same, what is gone, and the answer as it is now."""
    if found.same:
        return Group(Text("the same, byte for byte", STRONG), Text(), Table(found.result))
    lines = [Text("not the same", BAD)]
    if found.forgotten:
        count = found.forgotten
        lines.append(Text(f"{count} record{'' if count == 1 else 's'} forgotten since", WARN))
    if found.gone:
        lines.append(Text(f"gone: {', '.join(map(one_line, found.gone))}", WARN))
    rest = len(found.differences) - _SHOWN
    lines += [Text(f"differs: {one_line(path)}", DIM) for path in found.differences[:_SHOWN]]
    lines += [Text(f"and {rest} more", DIM)] if rest > 0 else []
    return Group(*lines, Text(), Table(found.result))


def diff_card(found: Diff) -> RenderableType:
    """What differs in what two searches were given, and every hit that moved."""
    parts: list[RenderableType] = []
    if found.inputs:
        told = {
            f"{each.cause}: {each.path}": f"{_short(each.was)} → {_short(each.now)}"
            for each in found.inputs
        }
        parts += [facts(told), Text()]
    if found.same:
        return Group(*parts, Text("the same hits, ranks and scores", STRONG))
    grid = Grid.grid(padding=(0, 2, 0, 0))
    for move in found.moves:
        rank = f"{move.was or '—'} → {move.now or '—'}"
        score = f"{_figure(move.score_was)} → {_figure(move.score_now)}"
        grid.add_row(Text(rank, STRONG), Text(one_line(move.id)), Text(score), _moves(move))
    return Group(*parts, grid)


def _moves(move: Move) -> Text:
    """What changed its score, part by part, or who went past it."""
    told = [
        f"{part.name.removeprefix('fuse.')} {_figure(part.was)} → {_figure(part.now)}"
        f" ({', '.join(part.causes)})"
        for part in move.parts
    ]
    if not told and move.passed_by:
        told = [f"passed by {', '.join(map(one_line, move.passed_by))}"]
    if not told and move.passed:
        told = [f"passed {', '.join(map(one_line, move.passed))}"]
    return Text("\n".join(told or [", ".join(move.causes)]), DIM)


def _figure(value: float | None) -> str:
    return "—" if value is None else figure(value)


def _short(value: object) -> str:
    if value is None:
        return "—"
    return one_line(value if isinstance(value, str) else json.dumps(value))
