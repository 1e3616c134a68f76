"""Bundles for people: each hit, and below it what hangs on it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.console import Group, RenderableType
from rich.text import Text
from rich.tree import Tree

from recollect.doors.render.ink import DIM, STRONG, figure, replaced
from recollect.text.safe import one_line
from recollect.why.bundles import Bundle, Bundles


def bundle_list(found: Bundles) -> RenderableType:
    """All bundles of a page."""
    noun = "bundle" if found.total == 1 else "bundles"
    head = Text(f"{len(found)} of {found.total} {noun}", STRONG)
    return Group(head, *(_bundle(each) for each in found))


def _bundle(bundle: Bundle) -> Tree:
    seed = bundle.seed
    line = Text(f"#{seed.rank} {figure(seed.score)}  ", STRONG)
    line.append(one_line(seed.record.text)).append(f"  {one_line(seed.id)}", DIM)
    if seed.superseded_by:
        line.append("\n").append_text(replaced(seed.superseded_by))
    tree = Tree(line, guide_style=DIM)
    for each in bundle.support:
        told = Text(one_line(each.record.text))
        told.append(f"\n{path_line(each.path)}", DIM)
        if each.superseded_by:
            told.append("\n").append_text(replaced(each.superseded_by))
        tree.add(told)
    return tree


def path_line(path: Sequence[Mapping[str, object]]) -> str:
    """A path in one line: `a ←derived_from b`; a record that may not be shown is (hidden)."""
    out = ""
    for hop in path:
        name = one_line(str(hop["id"])) if "id" in hop else "(hidden)"
        if "kind" in hop:
            kind = one_line(str(hop["kind"]))
            out += f" {kind}→ " if hop["direction"] == "out" else f" ←{kind} "
        out += name
    return out
