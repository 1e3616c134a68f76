"""Finds and loads the native kernel, which the distribution `memoriter-fast` installs.

The environment variable `MEMORITER_KERNEL` chooses: `auto` (the native kernel if it is installed),
`numpy`, or `native`, which fails where the kernel is missing. Answers are the same to the last bit.
Long calls release the interpreter's lock (`ctypes.CDLL`). Short ones keep it (`ctypes.PyDLL`): who
releases it waits until another thread gives it back, which takes longer than the call.
"""

from __future__ import annotations

import ctypes
import importlib
import os
import struct
from array import array
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from memoriter.core.errors import InputError, InvariantError, Unsupported
from memoriter.core.lazy_dataclass import dataclass
from memoriter.kernel.turn_lock import TURN_CALLS, NativeLock
from memoriter.kernel.turns import TURNS

if TYPE_CHECKING:
    import numpy as np

VARIABLE: Final = "MEMORITER_KERNEL"
CHOICES: Final = ("auto", "numpy", "native")
ABI: Final = 7
"""The number of the calls as they are declared here; the library has the one it was built with."""
_BYTE: Final = ctypes.c_char
_POINTER, _COUNT, _REAL = ctypes.c_void_p, ctypes.c_int64, ctypes.c_double
_WORDS: Final = (_POINTER, _COUNT, *[_POINTER] * 2, _COUNT, *[_POINTER] * 2, _REAL, _REAL)
"""Segments, their number, posting lists, weights of fields, their step, leaves, means, k1, b."""
_CALLS: Final = {
    "find": (_POINTER, _COUNT, _POINTER, _POINTER, _COUNT, _POINTER),
    "union": (*[_POINTER] * 3, _COUNT, *[_POINTER] * 3),
    "holders": (*[_POINTER] * 3, _COUNT, _POINTER),
    "rough": (_POINTER, _COUNT, _COUNT, _COUNT, _POINTER, _POINTER),
    "bytes": (_POINTER, _COUNT, _COUNT, _POINTER, _POINTER, _POINTER),
    "within": (_POINTER, _COUNT, _COUNT, _POINTER, _POINTER, _COUNT, _POINTER, _POINTER),
    "dots": (_POINTER, _COUNT, _COUNT, _POINTER, _POINTER),
    "split": (_POINTER, _POINTER, _COUNT, _COUNT, _COUNT, *[_POINTER] * 4),
    "times": (_POINTER, _POINTER, _COUNT, *[_POINTER] * 3, _COUNT, _POINTER),
    "ends": (_POINTER, _POINTER, _COUNT, *[_POINTER] * 3, _COUNT, _COUNT, _POINTER, _POINTER),
    "sums": (_POINTER, _POINTER, _COUNT, _POINTER, _POINTER, _COUNT, _POINTER),
    "units": (_POINTER, _COUNT, _COUNT, _POINTER, _POINTER),
    "scan_bytes": (_POINTER, _COUNT, _COUNT, *[_POINTER] * 4),
    "transform": (
        *(_POINTER, _COUNT, _POINTER, _COUNT, *[_POINTER] * 2, _COUNT, *[_POINTER] * 3),
        *(_COUNT, _POINTER),
    ),
    "run": (_POINTER, _COUNT),
}
"""The functions of the library, without the prefix `kernel_`, and their arguments."""
_WANTED: Final = (_POINTER,) * 6
"""`Wanted.given`."""
_JOBS: Final = {
    "words_best": (*_WORDS, _COUNT, _POINTER, _POINTER),
    "windows": (_POINTER, _COUNT, *[_POINTER] * 3, _COUNT, _COUNT, *[_POINTER] * 4),
    "nearest": (_POINTER, _COUNT, _COUNT, _POINTER, _COUNT, _REAL, _POINTER, _POINTER),
    "found_rows": (_COUNT, _COUNT, _POINTER),
    "words_of": (*_WORDS, *_WANTED),
    "cosines": (_POINTER, _COUNT, _COUNT, _POINTER, *_WANTED),
    "counts": (_POINTER, _COUNT, _POINTER, _COUNT, *_WANTED),
}
"""Functions that run as jobs, several in one call; each is given all its arguments in one place.

`found_rows` is given three addresses more for each search.
"""
_LETTERS: Final = {_POINTER: "q", _COUNT: "q", _REAL: "d"}
_JOB_BYTES: Final = 32
_RESULT: Final = 16
"""A job in memory, `Job` in kernel.h, and where its result is."""
_LONG: Final = 1_000_000
"""Numbers that a call reads: with more, it takes longer than some tenths of a millisecond."""


class Library:
    """The loaded library; each call takes addresses (`address`), whole numbers and floats."""

    def __init__(self, path: Path) -> None:
        loaded = ctypes.CDLL(str(path))
        loaded.kernel_abi.restype = _COUNT
        self.abi = int(loaded.kernel_abi())
        fits = self.abi == ABI
        # Systems other than Linux have no lock of the kernel.
        self._has_lock = hasattr(loaded, "kernel_turn_begin")
        calls = {**_CALLS, **(TURN_CALLS if self._has_lock else {})}
        self._releasing = _functions(loaded, calls) if fits else {}
        self._keeping = _functions(ctypes.PyDLL(str(path)), calls) if fits else {}
        self._jobs = _job_functions(loaded) if fits else {}

    def call(self, name: str, given: Sequence[int | float | bytes | None], work: int) -> int:
        """Call a function; raises MemoryError if it has no memory for its work.

        `work` is roughly how many numbers it reads: a long call lets other threads run.
        """
        if work < _LONG:
            done = self._keeping[name](*given)
        else:
            done = TURNS.beside(partial(self._releasing[name], *given))
        return _sound(name, done)

    def turn_lock(self) -> NativeLock | None:
        """A new lock for threads that take turns; None if this system has none."""
        return NativeLock(self._releasing, self._keeping) if self._has_lock else None

    def run(self, jobs: Sequence[Job]) -> None:
        """Run jobs one after the other, in one call; their results are then known."""
        table = array("q", bytes(_JOB_BYTES * len(jobs)))
        at = table.buffer_info()[0]
        # Where each job's result will be: jobs behind it read it there.
        results = {job: at + _JOB_BYTES * n + _RESULT for n, job in enumerate(jobs)}
        held: list[object] = []
        for n, job in enumerate(jobs):
            function, letters = self._jobs[job.name]
            given = [results[each] if isinstance(each, Job) else each for each in job.given]
            packed = struct.pack(letters + "q" * (len(given) - len(letters) + 1), *given)
            own = ctypes.create_string_buffer(packed, len(packed))
            held.append(own)
            table[4 * n], table[4 * n + 1] = function, ctypes.addressof(own)
        if sum(each.work for each in jobs) < _LONG:
            self._keeping["run"](at, len(jobs))
        else:
            TURNS.run_jobs(self._releasing["run"], at, len(jobs))
        for job, done, took in zip(jobs, table[2::4], table[3::4], strict=True):
            job.done, job.ms = _sound(job.name, done), took / 1e6
            job.given = job.held = ()  # who keeps its result keeps no more


class Job:
    """A call of the library that is made with others (`Library.run`), and then its result.

    As an argument of a job behind it, it stands for the address of its result.
    """

    def __init__(
        self, name: str, given: Sequence[int | float | Job], work: int, held: object
    ) -> None:
        """`held` is what must outlive the call; `work` as for `Library.call`."""
        self.name, self.given, self.work, self.held = name, given, work, held
        self.done = 0
        """What the function returned."""
        self.ms = 0.0
        """How long it took, for people."""


class Search(Job):
    """A job that finds rows, each once, with their scores: as many as it returns."""

    def __init__(
        self,
        name: str,
        given: Sequence[int | float],
        work: int,
        held: object,
        *,
        rows: np.ndarray[Any, np.dtype[np.int64]],
        scores: np.ndarray[Any, np.dtype[np.float64]],
    ) -> None:
        super().__init__(name, given, work, (held, rows, scores))
        self._rows, self._scores = address(rows), address(scores)

    @property
    def outputs(self) -> tuple[int, Job, int]:
        """Where rows, their number and scores will be: arguments of jobs behind it."""
        return self._rows, self, self._scores


def _sound(name: str, done: int) -> int:
    """What a function returned; raises MemoryError if it had no memory."""
    if done < 0:
        raise MemoryError(f"the native kernel could not get enough memory for {name}")
    return done


def _job_functions(loaded: ctypes.CDLL) -> dict[str, tuple[int, str]]:
    """By name, the address of a function that runs as a job, and the format of what it is given."""
    out: dict[str, tuple[int, str]] = {}
    for name, takes in _JOBS.items():
        at = ctypes.cast(getattr(loaded, f"kernel_{name}"), _POINTER).value or 0
        out[name] = (at, "@" + "".join(_LETTERS[each] for each in takes))
    return out


def _functions(
    loaded: ctypes.CDLL, calls: Mapping[str, Sequence[Any]]
) -> dict[str, Callable[..., int]]:
    """The functions of a loaded library by name."""
    out: dict[str, Callable[..., int]] = {}
    for name, takes in calls.items():
        call = getattr(loaded, f"kernel_{name}")
        call.argtypes, call.restype = takes, _COUNT
        out[name] = call
    return out


def address(array: np.ndarray[Any, Any]) -> int:
    """The address of an array's first element; the array must outlive the call.

    The library reads elements one behind the other. Where all rows of a segment are equal, its file
    has one value and numpy repeats it with a stride of 0: such an array must be copied first.
    """
    flags = array.flags
    if not flags.c_contiguous:
        raise InvariantError("internal error: the kernel was given an array that is not contiguous")
    if flags.writeable and array.size:  # several times as fast as numpy's own dictionary
        return ctypes.addressof(_BYTE.from_buffer(array))
    return array.__array_interface__["data"][0]


@dataclass(frozen=True, slots=True)
class KernelChoice:
    """Which kernel works, and the library if it is the native one."""

    name: str
    """`native` or `numpy`."""
    why: str
    """Why this one."""
    library: Library | None = None


def native_library() -> Library | None:
    """The native kernel; None if numpy works."""
    return kernel_choice().library


@cache
def kernel_choice() -> KernelChoice:
    """The kernel of this process; raises Unsupported if `native` is asked for and missing."""
    asked = os.environ.get(VARIABLE, "auto") or "auto"
    if asked not in CHOICES:
        raise InputError(
            f"{VARIABLE} is {asked!r}, which is not a kernel",
            hint=f"set it to one of {', '.join(CHOICES)}, or leave it out",
            field=VARIABLE,
        )
    if asked == "numpy":
        return KernelChoice("numpy", f"{VARIABLE} is numpy")
    loaded = _installed()
    if isinstance(loaded, Library):
        return KernelChoice("native", "memoriter-fast is installed", loaded)
    if asked == "native":
        raise Unsupported(
            f"{VARIABLE} is native, but {loaded}",
            hint="in a clone of Memoriter: pip install ./native (it needs a C compiler);"
            f" or set {VARIABLE} to auto",
            field=VARIABLE,
        )
    return KernelChoice("numpy", loaded)


def _installed() -> Library | str:
    """The installed library, or why there is none that fits."""
    try:
        path: Path | None = importlib.import_module("memoriter_fast").LIBRARY
    except ImportError:
        return "memoriter-fast is not installed"
    if path is None:
        return "memoriter-fast was installed without its library"
    try:
        loaded = Library(path)
    except (OSError, AttributeError) as error:
        return f"memoriter-fast cannot be loaded: {error}"
    if loaded.abi != ABI:
        return f"memoriter-fast has ABI {loaded.abi}, and this version of memoriter needs {ABI}"
    return loaded
