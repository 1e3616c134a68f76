"""Progress on stderr while something long runs; silent where nobody watches."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Generator

Told = Callable[[int], None]


@contextlib.contextmanager
def progress(show: bool | Told, label: str, total: int | None = None) -> Generator[Told]:  # noqa: FBT001  # the public verbs take the same
    """Yields what to call with the count so far."""
    if callable(show):
        yield show
    elif not show:
        yield _ignore
    else:
        from rich.console import Console  # noqa: PLC0415  # only when somebody watches
        from rich.progress import (  # noqa: PLC0415  # as above
            BarColumn,
            MofNCompleteColumn,
            Progress,
            TextColumn,
            TimeElapsedColumn,
        )

        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
        )
        with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
            task = bar.add_task(label, total=total)
            yield lambda done: bar.update(task, completed=done)


def _ignore(_: int) -> None:
    """Nobody watches."""
