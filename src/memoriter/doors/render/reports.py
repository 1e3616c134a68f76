"""Reports of a store: what is in it, what an import wrote, what a reflection summed up."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.text import Text

from memoriter.core.shown import counted
from memoriter.doors.render.ink import DIM, STRONG, WARN, TextColumns, fact_table, time_text
from memoriter.embed.calibrate import TABLE
from memoriter.text.safe import one_line

if TYPE_CHECKING:
    from memoriter.memory.importing import Counts, Imported
    from memoriter.memory.spaces import SpaceCalibration
    from memoriter.memory.status import Status
    from memoriter.write.reflect import Reflected

_KILO: Final = 1000
_FIRST: Final = 10
"""How many refused rows are shown; `--json` has them all."""

_MEMBERS: Final = 8
"""So many members of a cluster are shown."""


class ImportReports:
    """The reports of several files, one below the other."""

    def __init__(self, files: Sequence[Imported]) -> None:
        self._files = files

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for each in self._files:
            yield from _file(each)


def _file(report: Imported) -> Iterator[RenderableType]:
    """Counts, refused rows, and fields that have no place here."""
    yield Text(one_line(f"{report.path}: {report.format}, because {report.why}"), style=DIM)
    verb = "would write" if report.dry_run else "written"
    yield f"read {report.read:,}; " + _counts(report.records, verb)
    for name, counts in (("links", report.links), ("agents", report.agents)):
        if counts.written or counts.already or counts.refused:
            yield f"{name}: " + _counts(counts, verb)
    if report.refused:
        rows = [(row.where, row.reason, row.hint) for row in report.refused[:_FIRST]]
        yield TextColumns(("refused", "because", "hint"), rows, wide=1)
        if len(report.refused) > _FIRST:
            yield f"… and {len(report.refused) - _FIRST:,} more: --json lists them all"
    if report.left:
        fields = [
            (each.field, f"{each.count:,}", each.became, each.example)
            for each in report.left.values()
        ]
        yield TextColumns(("no place for", "rows", "became", "for example"), fields, wide=3)
    yield from report.notes


def _counts(counts: Counts, verb: str) -> str:
    return (
        f"{verb} {counts.written:,}, already there {counts.already:,}, refused {counts.refused:,}"
    )


def reflection_report(report: Reflected, texts: Mapping[str, str]) -> RenderableType:
    """How many reflections were made, kept and retired, and which clusters were rejected.

    `texts` has what the members of new reflections say.
    """
    make, keep, retire = (
        ("would make", "keep", "retire") if report.dry_run else ("made", "kept", "retired")
    )
    count = len(report.created)
    lines = [
        Text(
            f"{make} {'1 reflection' if count == 1 else f'{count} reflections'}, "
            f"{keep} {len(report.kept)}, {retire} {len(report.retired)}, "
            f"from {counted(report.considered, 'memory', 'memories')}",
            STRONG,
        )
    ]
    if report.remark:
        lines.append(Text(f"  {report.remark}", WARN))
    if report.left_out:
        lines.append(Text(f"  {report.left_out} were left out: older, or without a vector", WARN))
    for each in report.created:
        lines += [Text(f"  {one_line(each.summary)}"), Text(f"    {each.id}", DIM)]
        lines += [
            Text(
                f"    {one_line(member)}  {one_line(texts[member])}",
                no_wrap=True,
                overflow="ellipsis",
            )
            for member in each.members[:_MEMBERS]
        ]
        if len(each.members) > _MEMBERS:
            lines.append(Text(f"    and {len(each.members) - _MEMBERS} more", DIM))
    for id in report.retired:
        lines.append(Text(f"  retired {one_line(id)}: it lost a member", DIM))
    for each in report.rejected:
        members = ", ".join(map(one_line, each.members[:_MEMBERS]))
        more = len(each.members) - _MEMBERS
        also = f" and {more} more" if more > 0 else ""
        lines.append(Text(f"  not summed up: {members}{also}: {each.reason}", DIM))
    return Group(*lines)


def status_report(
    status: Status, place: str, sizes: Mapping[str, int], by: str | None
) -> RenderableType:
    """How much is in a store; `by` is the field that its memories are counted by."""
    records = str(status.records)
    if status.expired:
        records += f", and {status.expired} expired"
    counts = {} if status.counts is None else {f"by {by}": _listed(status.counts)}
    return fact_table(
        {
            "store": place,
            "tenant": status.tenant,
            "all tenants": ", ".join(status.tenants) or "none yet",
            "memories": records,
            **counts,
            "sequence": status.seq,
            "last commit": time_text(status.time) if status.time else "never",
            **({"embedder": _embedder(status)} if status.calibrations else {}),
            "debt": _debts(status),
            **{f"calibration {each.embedder}": each.summary for each in status.calibrations},
            "forgotten": _erasing(status),
            **({} if status.repeats is None else {"repeats": _repeats(status)}),
            "segments": f"{status.segments} published, {status.tail} rows in the tail",
            "kernel": status.kernel,
            **({"size": _listed_bytes(sizes)} if sizes else {}),
        }
    )


def _embedder(status: Status) -> str:
    """What serves, and the command that changes it where the packaged table does."""
    serving = status.calibrations[0]
    more = "; memoriter embed migrate memory-en --promote gives it the packaged model"
    return f"{serving.embedder or serving.space}{more if serving.space.startswith(TABLE) else ''}"


def _debts(status: Status) -> str:
    """What is still to be computed or asked for."""
    of = f"{counted(status.debt, 'vector')} of {counted(status.records, 'memory', 'memories')}"
    vectors = f"{of} owed: memoriter maintain computes them" if status.debt else ""
    facts = f"facts of {counted(status.facts_owed, 'turn')} owed" if status.facts_owed else ""
    return ", ".join(filter(None, (vectors, facts))) or "none"


def _repeats(status: Status) -> str:
    """The groups of copies, one to a line."""
    groups = status.repeats or ()
    compared = counted(status.compared or 0, "memory", "memories")
    count = status.repeat_groups or 0
    cut = f", the first {len(groups)} are listed" if count > len(groups) else ""
    heads = f"{counted(count, 'group')} among {compared}{cut}"
    lines = (f"{', '.join(record.id for record in group)}: {group[0].text}" for group in groups)
    return "\n".join((heads, *(one_line(line) for line in lines)))


def _listed_bytes(sizes: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {_bytes(size)}" for name, size in sizes.items())


def _erasing(status: Status) -> str:
    """Whether upkeep has erased all that was forgotten."""
    if status.unerased_since is None:
        return "all erased"
    since = time_text(status.unerased_since)
    return f"{counted(status.unerased, 'memory', 'memories')} to erase, since {since}"


def calibration_report(state: SpaceCalibration) -> RenderableType:
    """The calibration of a vector space: how it came about, and its numbers."""
    cosines = {} if state.calibration is None else state.calibration.to_dict()
    return fact_table(
        {
            "embedder": state.embedder or "unknown",
            "space": state.space,
            "calibration": state.summary,
            **{f"{float(level):.2%} below": f"{cosine:.4f}" for level, cosine in cosines.items()},
        }
    )


def _listed(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{value} {count}" for value, count in counts.items()) or "none"


def _bytes(size: float) -> str:
    for unit in ("B", "kB", "MB", "GB"):
        if size < _KILO:
            return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
        size /= _KILO
    return f"{size:.1f} TB"
