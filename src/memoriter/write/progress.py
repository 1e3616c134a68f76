"""A progress bar on stderr for long operations, or the caller's own progress callback."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Generator

ProgressCallback = Callable[[int], None]
"""Called with the number of rows that are done so far."""


@contextlib.contextmanager
def show_progress(
    show: bool | ProgressCallback,  # noqa: FBT001  # as in the public methods
    label: str,
    total: int | None = None,
) -> Generator[ProgressCallback]:
    """Yield a function to call with the count so far.

    `show` is True for a progress bar, False for none, or the caller's callback.
    """
    if callable(show):
        yield show
    elif not show:
        yield _ignore
    else:
        from rich.console import Console  # noqa: PLC0415  # rich is slow to import
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
    """Show nothing."""
