"""The head of a response goes out with its body, and never later than the connection closes."""

from __future__ import annotations

import asyncio

import pytest

from memoriter.doors.http.joined_writes import JoinedWrites

HEAD = b"HTTP/1.1 200 \r\ncontent-length: 2\r\n\r\n"
STREAM = b"HTTP/1.1 200 \r\ntransfer-encoding: chunked\r\n\r\n"


class _Wire(asyncio.Transport):
    def __init__(self) -> None:
        super().__init__()
        self.sent: list[bytes] = []

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self.sent.append(bytes(data))

    def close(self) -> None:
        self.sent.append(b"closed")


@pytest.mark.parametrize(
    ("written", "sent"),
    [
        ([HEAD, b"{}", b""], [HEAD + b"{}", b""]),
        ([HEAD, b""], [HEAD]),  # the answer to HEAD
        ([STREAM, b"2\r\n{}\r\n"], [STREAM, b"2\r\n{}\r\n"]),
        ([HEAD, b"x" * 100_000], [HEAD, b"x" * 100_000]),
    ],
)
def test_a_head_that_announces_a_body_is_sent_with_it(
    written: list[bytes], sent: list[bytes]
) -> None:
    wire = _Wire()
    joined = JoinedWrites(wire)
    for each in written:
        joined.write(each)
    assert wire.sent == sent


def test_a_head_whose_body_never_comes_is_sent_before_the_connection_closes() -> None:
    wire = _Wire()
    joined = JoinedWrites(wire)
    joined.write(HEAD)
    joined.close()
    assert wire.sent == [HEAD, b"closed"]
