"""`python -m memoriter` is the command `memoriter`."""

from __future__ import annotations

from memoriter.doors.cli.main import run

if __name__ == "__main__":
    run()
