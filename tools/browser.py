"""Set-up of the browser tests: a browser of the system, axe-core and the type checker tsc.

`make test` runs it first. It installs what it can (a browser as root with apt-get, the others with
npm, by their hashes) and never fails: tests whose tool is missing are skipped and say how to get
it.
"""

from __future__ import annotations

import base64
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path
from typing import Final, NamedTuple

from tests.browser.chrome import INSTALL, browser_path

AXE: Final = Path(sys.prefix) / "axe.min.js"
"""Where axe-core is, for the tests: in the environment, never in the tree."""
TSC: Final = Path(sys.prefix) / "typescript" / "tsc.js"
"""Where the type checker of the page's files is, as above."""
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


class Package(NamedTuple):
    """A package of npm of which some files are used."""

    name: str
    version: str
    sha512: str
    wanted: str
    """A regular expression for the names of these files in the archive; it has no group."""
    into: Path
    """The file, or the folder if there are several, that they are written to."""
    used_by: str

    def is_there(self) -> bool:
        """Whether it was fetched before."""
        return self.into.exists()


PACKAGES: Final = (
    Package(
        "axe-core", "4.14.0",
        "9WTZxEjsZ7b13TH8JPmbV2z8CHbl80/2hm3XPEG4JgNdQLK81IBRXmSxHfMAOkSqQeRxT/0dwNDz2GOm3zzpcQ==",
        r"package/axe\.min\.js", AXE, "the test of accessibility",
    ),
    Package(
        "typescript", "5.9.3",
        "jl1vZzPDinLr9eUt3J/t7V6FgNEw9QjvBPdysz9KfQDD41fQrC2Y4vKQdiaUpFT4bXlb1RHhLpp8wtm6M5TgSw==",
        r"package/lib/(?:_?tsc\.js|lib\..*\.d\.ts)", TSC.parent, "the type check of the page",
    ),
)  # fmt: skip


def fetch(package: Package) -> str:
    """Fetch a package if it is not there; returns what to print."""
    if package.is_there():
        return f"{package.name}: {package.version}"
    npm = shutil.which("npm")
    if npm is None:
        return f"{package.name}: there is no npm, {package.used_by} is skipped"
    with tempfile.TemporaryDirectory() as folder:
        command = [npm, "pack", f"{package.name}@{package.version}", "--silent"]
        done = subprocess.run(command, cwd=folder, capture_output=True, check=False)  # noqa: S603  # ours
        packed = next(Path(folder).glob("*.tgz"), None)
        if done.returncode or packed is None:
            return f"{package.name}: npm cannot fetch it, {package.used_by} is skipped"
        digest = base64.b64encode(hashlib.sha512(packed.read_bytes()).digest()).decode()
        if digest != package.sha512:
            return f"{package.name}: what npm fetched has another hash, it is not used"
        _unpack(packed, package)
    return f"{package.name}: {package.version}"


def _unpack(packed: Path, package: Package) -> None:
    """Write the wanted files; the last step makes them appear at once."""
    made = package.into.with_name(f"{package.into.name}.part")
    shutil.rmtree(made, ignore_errors=True)
    made.mkdir()
    with tarfile.open(packed) as archive:
        for member in archive:
            content = archive.extractfile(member) if member.isfile() else None
            if content is not None and re.fullmatch(package.wanted, member.name):
                (made / Path(member.name).name).write_bytes(content.read())
    if package.into.suffix:
        (made / package.into.name).replace(package.into)
        made.rmdir()
    else:
        made.replace(package.into)


if __name__ == "__main__":
    lines = [install_browser(), *map(fetch, PACKAGES)]
    sys.stdout.write("".join(f"{line}\n" for line in lines))
