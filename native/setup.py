"""Builds the C library with the system's compiler; it does not use the API of Python.

One wheel therefore serves every version of Python on a platform: `py3-none-<platform>`.
"""

import os
import subprocess
import sys
from pathlib import Path

from setuptools import Distribution, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_py import build_py

SOURCES = sorted(Path("c").glob("*.c"))
LIBRARY = "kernel.dylib" if sys.platform == "darwin" else "kernel.so"
# No fast-math and no fused multiply-add: the arithmetic is the one of IEEE 754, as numpy's. No
# -march=native either: the library chooses among instruction sets when it is loaded.
FLAGS = [
    "-std=c11", "-O3", "-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math", "-fPIC",
    "-shared", "-fvisibility=hidden", "-Wall", "-Wextra", "-Werror=implicit-function-declaration",
]  # fmt: skip


class BuildLibrary(build_py):
    """Copies the package and compiles the library into it."""

    def run(self):  # noqa: D102  # of the base class
        super().run()
        target = Path(self.build_lib) / "memoriter_fast" / LIBRARY
        target.parent.mkdir(parents=True, exist_ok=True)
        compiler = os.environ.get("CC", "cc").split()
        command = [*compiler, *FLAGS, "-o", str(target), *map(str, SOURCES), "-lm"]
        subprocess.run(command, check=True)  # noqa: S603  # the compiler that the caller chose


class PlatformWheel(bdist_wheel):
    """A wheel for any Python on this platform."""

    def get_tag(self):  # noqa: D102
        return ("py3", "none", super().get_tag()[2])


class Native(Distribution):
    """Has a library, so its wheels belong to a platform."""

    def has_ext_modules(self):  # noqa: D102
        return True


setup(distclass=Native, cmdclass={"build_py": BuildLibrary, "bdist_wheel": PlatformWheel})
