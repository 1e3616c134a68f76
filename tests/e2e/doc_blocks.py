"""Runs the code blocks of the docs."""

from __future__ import annotations

from tests.pages import Block

from memoriter.memory.facade import Memory


def run(block: Block) -> None:
    """Run an example as if it were pasted into a new Python."""
    names: dict[str, object] = {"__name__": "__main__"}
    try:
        exec(compile(block.text, str(block), "exec", dont_inherit=True), names)  # noqa: S102  # our own page
    finally:
        for each in names.values():
            if isinstance(each, Memory):
                each.close()
