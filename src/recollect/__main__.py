"""`python -m recollect` is the command `recollect`."""

from __future__ import annotations

from recollect.doors.cli.main import run

if __name__ == "__main__":
    run()
