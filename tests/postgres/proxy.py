"""A proxy before the server's socket that can cut a connection at COMMIT or BEGIN."""

from __future__ import annotations

import contextlib
import shutil
import socket
import tempfile
import threading
from pathlib import Path
from typing import Literal

from tests.postgres.server import Server

Cut = Literal["never", "before", "after"]


class Proxy:
    """Listens on a socket of its own and passes everything on, until it is told to cut."""

    def __init__(self, server: Server) -> None:
        self._server = str(server.folder / ".s.PGSQL.5432")
        self.folder = Path(tempfile.mkdtemp(prefix="memoriter-proxy-"))
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.bind(str(self.folder / ".s.PGSQL.5432"))
        self._socket.listen()
        self.cut: Cut = "never"
        self.at = b"COMMIT\0"
        """What is sent when the connection is cut."""
        self.cuts = 0
        threading.Thread(target=self._accept, daemon=True).start()

    def url(self, url: str) -> str:
        """The address of a store, through the proxy."""
        return f"{url.partition('?')[0]}?host={self.folder}"

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._socket.accept()
                server = socket.socket(socket.AF_UNIX)
                server.connect(self._server)
                lost = threading.Event()
                threading.Thread(target=self._up, args=(client, server, lost), daemon=True).start()
                threading.Thread(
                    target=self._down, args=(client, server, lost), daemon=True
                ).start()

    def _up(self, client: socket.socket, server: socket.socket, lost: threading.Event) -> None:
        """From the client to the server."""
        with contextlib.suppress(OSError), contextlib.closing(server), contextlib.closing(client):
            while data := client.recv(1 << 20):
                if self.at in data and self.cut != "never":
                    how, self.cut = self.cut, "never"
                    self.cuts += 1
                    if how == "before":
                        server.shutdown(socket.SHUT_RDWR)
                        client.shutdown(socket.SHUT_RDWR)
                        return
                    lost.set()  # the answer will not reach the client
                server.sendall(data)

    def _down(self, client: socket.socket, server: socket.socket, lost: threading.Event) -> None:
        """From the server to the client."""
        with contextlib.suppress(OSError):
            while data := server.recv(1 << 20):
                if lost.is_set():
                    client.shutdown(socket.SHUT_RDWR)
                    return
                client.sendall(data)
            client.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Take no more connections."""
        self._socket.close()
        shutil.rmtree(self.folder, ignore_errors=True)
