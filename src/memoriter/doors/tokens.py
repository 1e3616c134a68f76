"""Tokens of the HTTP server: each gives one right on one tenant.

They are in a file by the store, or in the database of a store on a server, so that all its machines
accept the same ones.

A token reads `mem_<id>_<secret>`. The secret is 256 random bits; it is shown once, and only its
SHA-256 is stored. A running server reads them again whenever they have changed, so it refuses a
revoked token at once.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import json
import os
import threading
from collections.abc import Callable, Generator, Mapping
from contextlib import AbstractContextManager
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import Any, Final, Protocol, cast

from memoriter.core.clock import Clock, Entropy, SystemClock, SystemEntropy
from memoriter.core.errors import Corrupt, Forbidden, InputError, NotFound, Unauthenticated
from memoriter.core.fields import TRUST
from memoriter.core.lazy_dataclass import dataclass
from memoriter.core.names import choice, name
from memoriter.core.scope import Scope
from memoriter.core.shown import named, shown
from memoriter.core.times import TimeLike, iso, micros, to_datetime, to_micros
from memoriter.doors.port import RIGHTS, Right
from memoriter.memory.places import is_address, open_document
from memoriter.write.ceiling import USUAL

try:
    import fcntl
except ImportError:  # Windows has no flock: two processes must not change tokens at once there
    fcntl = None

_PREFIX: Final = "mem"
_FORMAT: Final = 1
_ID_BYTES: Final = 6
_SECRET_BYTES: Final = 32
_ALLOWS: Final = {right: RIGHTS[: at + 1] for at, right in enumerate(RIGHTS)}
_TIMES: Final = ("created", "expires")
_NO_SECRET: Final = hashlib.sha256(b"nobody").hexdigest()
"""Compared with where an id is unknown, so that it takes as long as a known one."""


@dataclass(frozen=True, slots=True)
class Credential:
    """What a token allows: its right, and the lower ones, on one tenant."""

    id: str
    tenant: str
    right: Right
    created: datetime
    expires: datetime | None = None
    name: str | None = None
    trust: str = USUAL
    """The highest trust that what it writes may have."""

    def __repr__(self) -> str:
        return shown(f"Credential {self.id}", f"may {self.right}, tenant {named(self.tenant)}")

    def allows(self, right: Right) -> bool:
        """Whether its right includes this one."""
        return right in _ALLOWS[self.right]

    def need(self, right: Right) -> None:
        """Raise Forbidden unless its right includes this one."""
        if not self.allows(right):
            raise Forbidden(
                f"this request needs the right {right}, but its token has only {self.right}",
                hint=f"make a token that has it: memoriter token create --right {right}",
            )

    def to_dict(self) -> dict[str, object]:
        """The credential as plain data; it contains no secret."""
        ends = None if self.expires is None else iso(self.expires)
        return {**asdict(self), "created": iso(self.created), "expires": ends}


@dataclass(frozen=True, slots=True)
class _Entry:
    """A credential and the hash of its secret."""

    credential: Credential
    hash: str


class TokenHome(Protocol):
    """Where the tokens of a store are kept."""

    name: str

    def stamp(self) -> object | None:
        """A value that changes whenever they do; None if there are none."""
        ...

    def read(self) -> bytes:
        """All of them, as they were written."""
        ...

    def changing(self) -> AbstractContextManager[Callable[[bytes], None]]:
        """Let nobody else change them, and yield a function that replaces them."""
        ...


class Tokens:
    """All tokens of a store. Safe to share between threads and processes."""

    def __init__(
        self,
        home: Path | TokenHome | None = None,
        clock: Clock | None = None,
        entropy: Entropy | None = None,
    ) -> None:
        self._home = TokenFile(home) if isinstance(home, Path) else home
        self._clock = clock or SystemClock()
        self._entropy = entropy or SystemEntropy()
        self._lock = threading.Lock()
        self._seen: object | None = None
        self._entries: Mapping[str, _Entry] = {}

    def __repr__(self) -> str:
        place = "in memory" if self._home is None else named(self._home.name)
        return shown(f"Tokens {place}")

    @classmethod
    def for_store(cls, store: str | Path) -> Tokens:
        """The tokens of a store: in the file `<store>.tokens`, or in its database.

        They are in memory for ":memory:".
        """
        if str(store) == ":memory:":
            return cls()
        if is_address(store):
            return cls(open_document(str(store), "tokens"))
        # Two paths of one store, one through a symbolic link, must not have two sets of tokens.
        real = Path(os.path.realpath(Path(store).expanduser()))
        return cls(real.with_name(real.name + ".tokens"))

    def create(
        self,
        tenant: str,
        right: str,
        *,
        expires: TimeLike | None = None,
        label: str | None = None,
        trust: str = USUAL,
    ) -> tuple[str, Credential]:
        """Make a token; returns its text, which cannot be read again later, and what it allows.

        Raises InputError for a wrong name or right, and for an expiry that is not in the future.
        """
        now = self._clock.now()
        ends = None
        if expires is not None:
            ends = micros(expires, "expires", InputError, lambda: now, ahead=True)
        if ends is not None and ends <= now:
            raise InputError(
                "expires: the time is not in the future",
                hint="give a later time, such as 30d (in 30 days)",
                field="expires",
            )
        credential = Credential(
            self._entropy.draw(_ID_BYTES).hex(),
            Scope.of(tenant).tenant,
            cast("Right", choice(right, "right", RIGHTS, InputError)),
            to_datetime(now),
            None if ends is None else to_datetime(ends),
            name=None if label is None else name(label, "name", InputError),
            trust=choice(trust, "trust", TRUST, InputError),
        )
        secret = self._entropy.draw(_SECRET_BYTES).hex()
        with self._changing() as entries:
            entries[credential.id] = _Entry(credential, _hash(secret))
        return f"{_PREFIX}_{credential.id}_{secret}", credential

    def revoke(self, id: str) -> Credential:
        """Delete a token; raises NotFound if there is none with this id."""
        with self._changing() as entries:
            if id not in entries:
                raise NotFound(
                    f"there is no token {id[:80]!r}",
                    hint="`memoriter token list` shows the ids of all tokens",
                    field="id",
                )
            return entries.pop(id).credential

    def list(self) -> tuple[Credential, ...]:
        """What each token allows, oldest first; expired tokens are included."""
        credentials = [entry.credential for entry in self._read().values()]
        return tuple(sorted(credentials, key=lambda each: (each.created, each.id)))

    def find(self, token: str) -> Credential:
        """What a token allows; raises Unauthenticated if it is unknown or has expired."""
        prefix, _, rest = token.partition("_")
        id, _, secret = rest.partition("_")
        entry = self._read().get(id)
        # In constant time, and for an unknown id too: how long it takes must not tell anything.
        same = hmac.compare_digest(_hash(secret), entry.hash if entry else _NO_SECRET)
        if entry is None or not same or prefix != _PREFIX:
            raise Unauthenticated(
                "the token is unknown, or was revoked",
                hint="make a new one: memoriter token create",
            )
        ends = entry.credential.expires
        if ends is not None and to_micros(ends) <= self._clock.now():
            raise Unauthenticated(
                "the token has expired", hint="make a new one: memoriter token create"
            )
        return entry.credential

    # -- where they are kept ---------------------------------------------------------------------

    def _read(self) -> Mapping[str, _Entry]:
        """All entries by id; they are parsed only if they have changed since the last read."""
        if self._home is None:
            return self._entries
        with self._lock:
            seen = self._home.stamp()
            if seen is None:
                self._seen, self._entries = None, {}
            elif seen != self._seen:
                self._entries = _parsed(self._home)
                self._seen = seen
            return self._entries

    @contextlib.contextmanager
    def _changing(self) -> Generator[dict[str, _Entry]]:
        """A copy of the entries to change; written when the block ends without an error."""
        if self._home is None:
            with self._lock:
                entries = dict(self._entries)
                yield entries
                self._entries = entries
            return
        with self._home.changing() as replace:
            entries = dict(self._read())
            yield entries
            data = {"tokens": _FORMAT, "entries": [_plain(entry) for entry in entries.values()]}
            replace(json.dumps(data, ensure_ascii=False, indent=1).encode() + b"\n")


class TokenFile:
    """Tokens in a file, replaced as a whole; the methods are documented in `TokenHome`."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.name = path.name

    def stamp(self) -> object | None:
        """A change replaces the file, so its inode differs even within one tick of the clock."""
        try:
            stat = os.stat(self._path, follow_symlinks=False)  # noqa: PTH116  # Path follows
        except FileNotFoundError:
            return None
        return stat.st_ino, stat.st_mtime_ns, stat.st_size

    def read(self) -> bytes:
        """The file, which must not be a symbolic link."""
        file = os.open(self._path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0))
        with os.fdopen(file, "rb") as opened:
            return opened.read()

    @contextlib.contextmanager
    def changing(self) -> Generator[Callable[[bytes], None]]:
        """Hold the lock beside the file."""
        with _locked(self._path):
            yield lambda data: _write(self._path, data)


@contextlib.contextmanager
def _locked(path: Path) -> Generator[None]:
    """Hold the lock of the file; the system releases it if the process dies."""
    with _typed_errors(path):
        lock = os.open(path.with_name(path.name + ".lock"), os.O_RDWR | os.O_CREAT, 0o600)
    try:
        if fcntl is not None:
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)


def _write(path: Path, data: bytes) -> None:
    """Replace the file atomically, so that a reader never sees half of it.

    It is made anew with mode 0600 (O_EXCL): writing into an existing file would keep its mode.
    """
    part = path.with_name(path.name + ".part")
    with _typed_errors(path):
        part.unlink(missing_ok=True)
        file = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(file, "wb") as opened:
            opened.write(data)
            opened.flush()
            os.fsync(file)
        part.replace(path)


@contextlib.contextmanager
def _typed_errors(path: Path) -> Generator[None]:
    """Turn an error of the file system into InputError."""
    try:
        yield
    except OSError as error:
        raise InputError(
            f"the token file {path} cannot be used: {error.strerror}",
            hint="check the permissions of the file and of its folder",
        ) from None


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def _plain(entry: _Entry) -> dict[str, object]:
    """An entry as the file stores it: times are microseconds."""
    fields = asdict(entry.credential)
    times = {key: to_micros(fields[key]) for key in _TIMES if fields[key] is not None}
    return {**fields, **times, "hash": entry.hash}


def _parsed(home: TokenHome) -> dict[str, _Entry]:
    """The entries of a home; raises Corrupt if it cannot be read, so that no token is accepted."""
    try:
        data = json.loads(home.read())
        entries = cast("list[dict[str, Any]]", data["entries"])
        return {fields["id"]: _entry(dict(fields)) for fields in entries}
    except (OSError, ValueError, TypeError, KeyError, OverflowError) as error:
        raise Corrupt(
            f"the tokens in {home.name} cannot be read",
            hint=f"remove {home.name} and create the tokens again",
        ) from error


def _entry(fields: dict[str, Any]) -> _Entry:
    secret_hash = str(fields.pop("hash"))
    for key, known in (("right", RIGHTS), ("trust", TRUST)):
        if fields.get(key, known[0]) not in known:
            raise ValueError(key)
    fields |= {key: to_datetime(fields[key]) for key in _TIMES if fields.get(key) is not None}
    return _Entry(Credential(**fields), secret_hash)
