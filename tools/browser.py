"""Set-up of the browser tests: a browser of the system, and axe-core for what all can use.

`make test` runs it first. It installs what it can (a browser as root with apt-get, axe-core with
npm, by its hash) and never fails: tests whose tool is missing are skipped and say how to get it.
"""

from __future__ import annotations

import base64
import hashlib
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path
from typing import Final

from tests.browser.chrome import INSTALL, browser_path

AXE: Final = Path(sys.prefix) / "axe.min.js"
"""Where axe-core is, for the tests: in the environment, never in the tree."""
VERSION: Final = "4.14.0"
SHA512: Final = (
    "9WTZxEjsZ7b13TH8JPmbV2z8CHbl80/2hm3XPEG4JgNdQLK81IBRXmSxHfMAOkSqQeRxT/0dwNDz2GOm3zzpcQ=="
)
FETCH: Final = "python -m tools.browser"


def install_browser() -> str:
    """Install a browser if there is none and this is possible; returns what to print."""
    if path := browser_path():
        return f"browser: {path}"
    if os.geteuid() != 0 or shutil.which("apt-get") is None:
        return f"browser: none, its tests are skipped; as root: {INSTALL}"
    for command in (["apt-get", "update", "-qq"], [*INSTALL.split(), "-qq"]):
        done = subprocess.run(command, capture_output=True, check=False)  # noqa: S603  # ours
        if done.returncode:
            return f"browser: {' '.join(command)} failed, its tests are skipped"
    return f"browser: {browser_path()}"


def fetch_axe() -> str:
    """Fetch axe-core if it is not there; returns what to print."""
    if AXE.exists():
        return f"axe-core: {VERSION}"
    npm = shutil.which("npm")
    if npm is None:
        return "axe-core: there is no npm, the test of accessibility is skipped"
    with tempfile.TemporaryDirectory() as folder:
        command = [npm, "pack", f"axe-core@{VERSION}", "--silent"]
        done = subprocess.run(command, cwd=folder, capture_output=True, check=False)  # noqa: S603  # ours
        packed = next(Path(folder).glob("*.tgz"), None)
        if done.returncode or packed is None:
            return "axe-core: npm cannot fetch it, the test of accessibility is skipped"
        digest = base64.b64encode(hashlib.sha512(packed.read_bytes()).digest()).decode()
        if digest != SHA512:
            return "axe-core: what npm fetched has another hash, it is not used"
        with tarfile.open(packed) as archive:
            member = archive.extractfile("package/axe.min.js")
            AXE.write_bytes(b"" if member is None else member.read())
    return f"axe-core: {VERSION}"


if __name__ == "__main__":
    sys.stdout.write(f"{install_browser()}\n{fetch_axe()}\n")
