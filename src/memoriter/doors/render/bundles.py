"""Bundles for people: each hit, and below it what hangs on it."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.text import Text
from rich.tree import Tree

from memoriter.doors.render.ink import DIM, STRONG, replaced
from memoriter.text.safe import one_line
from memoriter.why.bundles import Bundle, Bundles
from memoriter.why.figures import figure, path_line


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
