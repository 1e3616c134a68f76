"""Direct runtime dependencies, and all packages they bring (row 2: at most 7 and 20)."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from bench.tools import Options, table


def run(options: Options) -> None:
    project = tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))["project"]
    direct = [Requirement(line) for line in project["dependencies"]]
    versions = closure(direct)
    named = {canonicalize_name(each.name) for each in direct}
    table(["runtime packages", "count"], [("direct", len(named)), ("all", len(versions))])
    brought = ", ".join(sorted(set(versions) - named))
    print(f"\ndirect: {', '.join(sorted(named))}; they bring: {brought}")
    missing = sorted(name for name, version in versions.items() if version is None)
    if missing:
        print(f"not installed here, so what they need is not counted: {', '.join(missing)}")


def closure(wanted: Iterable[Requirement]) -> dict[str, str | None]:
    """Everything the requirements bring on this machine, with the versions installed here."""
    versions: dict[str, str | None] = {}
    queue = [(each, frozenset[str]()) for each in wanted]
    while queue:
        requirement, extras = queue.pop()
        marker = requirement.marker
        if marker and not any(marker.evaluate({"extra": extra}) for extra in {"", *extras}):
            continue
        name = canonicalize_name(requirement.name)
        if name in versions and not requirement.extras:
            continue
        try:
            versions[name] = metadata.version(name)
            needs = metadata.requires(name) or []
        except metadata.PackageNotFoundError:
            versions[name], needs = None, []
        queue += [(Requirement(line), frozenset(requirement.extras)) for line in needs]
    return versions
