"""Who may come in: tokens bound to a tenant and a right, kept as hashes in a file beside the store.

A token reads `mem_<id>_<secret>`; the secret is 256 random bits, shown once and kept as its
SHA-256. The file is read again whenever it has changed, so a revoked token is refused at once by a
server that runs.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import json
import os
import threading
from collections.abc import Generator, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Final, cast

from memoriter.core.clock import Clock, Entropy, SystemClock, SystemEntropy
from memoriter.core.errors import Corrupt, Forbidden, InputError, NotFound, Unauthenticated
from memoriter.core.names import choice, name
from memoriter.core.scope import Scope
from memoriter.core.shown import named, shown
from memoriter.core.times import TimeLike, iso, micros, to_datetime, to_micros
from memoriter.doors.operations import RIGHTS, Right

try:
    import fcntl
except ImportError:  # Windows: one who changes tokens there is alone
    fcntl = None

_PREFIX: Final = "mem"
_FORMAT: Final = 1
_ID_BYTES: Final = 6
_SECRET_BYTES: Final = 32
_ALLOWS: Final = {right: RIGHTS[: at + 1] for at, right in enumerate(RIGHTS)}
_TIMES: Final = ("created", "expires")
_NOBODY: Final = hashlib.sha256(b"nobody").hexdigest()


@dataclass(frozen=True, slots=True)
class Credential:
    """What a token allows: everything of its right and below, for one tenant."""

    id: str
    tenant: str
    right: Right
    created: datetime
    expires: datetime | None = None
    name: str | None = None

    def __repr__(self) -> str:
        return shown(f"Credential {self.id}", f"may {self.right}, tenant {named(self.tenant)}")

    def allows(self, right: Right) -> bool:
        """Whether it contains a right."""
        return right in _ALLOWS[self.right]

    def need(self, right: Right) -> None:
        """Refuse what it does not allow."""
        if not self.allows(right):
            raise Forbidden(
                f"this token may {self.right}; {right} is needed",
                hint=f"memoriter token create --right {right} makes one that may",
            )

    def to_dict(self) -> dict[str, object]:
        """The credential as plain data, for people: no secret is in it."""
        ends = None if self.expires is None else iso(self.expires)
        return {**asdict(self), "created": iso(self.created), "expires": ends}


@dataclass(frozen=True, slots=True)
class _Entry:
    """A credential and the hash of its secret."""

    credential: Credential
    hash: str


class Tokens:
    """All tokens of a store. Safe to share between threads and processes."""

    def __init__(
        self,
        path: Path | None = None,
        clock: Clock | None = None,
        entropy: Entropy | None = None,
    ) -> None:
        self._path = path
        self._clock = clock or SystemClock()
        self._entropy = entropy or SystemEntropy()
        self._lock = threading.Lock()
        self._seen: tuple[int, int, int] | None = None
        self._entries: Mapping[str, _Entry] = {}

    def __repr__(self) -> str:
        place = "in memory" if self._path is None else named(self._path.name)
        return shown(f"Tokens {place}")

    @classmethod
    def beside(cls, store: str | Path) -> Tokens:
        """The tokens of a store, in a file beside it; those of a store in memory end with it."""
        if str(store) == ":memory:":
            return cls()
        real = Path(os.path.realpath(Path(store).expanduser()))
        return cls(real.with_name(real.name + ".tokens"))

    def create(
        self,
        tenant: str,
        right: str,
        *,
        expires: TimeLike | None = None,
        label: str | None = None,
    ) -> tuple[str, Credential]:
        """(the token, which nobody can read again, and what it allows)."""
        now = self._clock.now()
        ends = None
        if expires is not None:
            ends = micros(expires, "expires", InputError, lambda: now, ahead=True)
        if ends is not None and ends <= now:
            raise InputError(
                "expires: must be in the future", hint="name a later time", field="expires"
            )
        made = Credential(
            self._entropy.draw(_ID_BYTES).hex(),
            Scope.of(tenant).tenant,
            cast("Right", choice(right, "right", RIGHTS, InputError)),
            to_datetime(now),
            None if ends is None else to_datetime(ends),
            None if label is None else name(label, "name", InputError),
        )
        secret = self._entropy.draw(_SECRET_BYTES).hex()
        with self._changing() as entries:
            entries[made.id] = _Entry(made, _hash(secret))
        return f"{_PREFIX}_{made.id}_{secret}", made

    def revoke(self, id: str) -> Credential:
        """Let a token open nothing from now on."""
        with self._changing() as entries:
            if id not in entries:
                raise NotFound(
                    f"there is no token {id[:80]!r}",
                    hint="memoriter token list shows their ids",
                    field="id",
                )
            return entries.pop(id).credential

    def list(self) -> tuple[Credential, ...]:
        """All tokens, the oldest first, those that expired too."""
        found = [entry.credential for entry in self._read().values()]
        return tuple(sorted(found, key=lambda each: (each.created, each.id)))

    def find(self, token: str) -> Credential:
        """What a token allows now."""
        prefix, _, rest = token.partition("_")
        id, _, secret = rest.partition("_")
        entry = self._read().get(id)
        same = hmac.compare_digest(_hash(secret), entry.hash if entry else _NOBODY)
        if entry is None or not same or prefix != _PREFIX:
            raise Unauthenticated("the token is not known", hint="memoriter token create makes one")
        ends = entry.credential.expires
        if ends is not None and to_micros(ends) <= self._clock.now():
            raise Unauthenticated("the token has expired", hint="memoriter token create makes one")
        return entry.credential

    # -- the file ----------------------------------------------------------------------------------

    def _read(self) -> Mapping[str, _Entry]:
        """All entries; the file is parsed only when it is another one than before."""
        if self._path is None:
            return self._entries
        with self._lock:
            try:
                found = os.stat(self._path, follow_symlinks=False)  # noqa: PTH116  # Path follows
            except FileNotFoundError:
                self._seen, self._entries = None, {}
                return {}
            seen = found.st_ino, found.st_mtime_ns, found.st_size
            if seen != self._seen:
                self._entries = _parsed(self._path)
                self._seen = seen
            return self._entries

    @contextlib.contextmanager
    def _changing(self) -> Generator[dict[str, _Entry]]:
        """The entries to change; written whole, or not at all."""
        if self._path is None:
            with self._lock:
                entries = dict(self._entries)
                yield entries
                self._entries = entries
            return
        with _alone(self._path):
            entries = dict(self._read())
            yield entries
            told = {"tokens": _FORMAT, "entries": [_plain(entry) for entry in entries.values()]}
            _write(self._path, json.dumps(told, ensure_ascii=False, indent=1).encode() + b"\n")


@contextlib.contextmanager
def _alone(path: Path) -> Generator[None]:
    """One process and one thread at a time; a process that dies lets go."""
    with _plainly(path):
        lock = os.open(path.with_name(path.name + ".lock"), os.O_RDWR | os.O_CREAT, 0o600)
    try:
        if fcntl is not None:
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)


def _write(path: Path, data: bytes) -> None:
    """Replace a file by a whole new one."""
    part = path.with_name(path.name + ".part")
    with _plainly(path):
        part.unlink(missing_ok=True)
        file = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(file, "wb") as opened:
            opened.write(data)
            opened.flush()
            os.fsync(file)
        part.replace(path)


@contextlib.contextmanager
def _plainly(path: Path) -> Generator[None]:
    try:
        yield
    except OSError as error:
        raise InputError(
            f"{path}: {error.strerror}", hint="tokens lie beside the store: check its folder"
        ) from None


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def _plain(entry: _Entry) -> dict[str, object]:
    """What the file holds: times as microseconds."""
    fields = asdict(entry.credential)
    times = {key: to_micros(fields[key]) for key in _TIMES if fields[key] is not None}
    return {**fields, **times, "hash": entry.hash}


def _parsed(path: Path) -> dict[str, _Entry]:
    """The entries of a file; one that cannot be read lets nobody in."""
    try:
        file = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0))
        with os.fdopen(file, "rb") as opened:
            data = json.loads(opened.read())
        entries = cast("list[dict[str, Any]]", data["entries"])
        return {told["id"]: _entry(dict(told)) for told in entries}
    except (OSError, ValueError, TypeError, KeyError, OverflowError) as error:
        raise Corrupt(
            f"{path.name} cannot be read", hint="remove it and create the tokens again"
        ) from error


def _entry(told: dict[str, Any]) -> _Entry:
    spelled = str(told.pop("hash"))
    if told["right"] not in RIGHTS:
        raise ValueError(told["right"])
    told |= {key: to_datetime(told[key]) for key in _TIMES if told.get(key) is not None}
    return _Entry(Credential(**told), spelled)
