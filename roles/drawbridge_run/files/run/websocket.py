# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The part of WebSocket (RFC 6455) that Kubernetes' exec needs: each message begins with a channel's byte."""

from __future__ import annotations

import base64
import os
import struct
from typing import Protocol

BINARY, CLOSE, PING, PONG = 2, 8, 9, 10
PROTOCOL = "v5.channel.k8s.io"  # the first that can end standard input
STDIN, STDOUT, STDERR, STATUS, RESIZE = range(5)
END = 255
FINAL, MASKED = 0x80, 0x80
SHORT, MEDIUM = 125, 0xFFFF


class Reader(Protocol):
    """A source of bytes."""

    def read(self, size: int, /) -> bytes:
        """Return `size` bytes, or fewer at the end."""
        raise NotImplementedError


def headers(token: str) -> dict[str, str]:
    """Headers of the request that opens the connection."""
    return {
        "Authorization": f"Bearer {token}",
        "Connection": "Upgrade",
        "Upgrade": "websocket",
        "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Key": base64.b64encode(os.urandom(16)).decode(),
        "Sec-WebSocket-Protocol": PROTOCOL,
    }


def frame(payload: bytes, opcode: int = BINARY, mask: bytes = b"") -> bytes:
    """One message as clients must send it: masked."""
    mask = mask or os.urandom(4)
    size = len(payload)
    if size <= SHORT:
        head = struct.pack("!BB", FINAL | opcode, MASKED | size)
    elif size <= MEDIUM:
        head = struct.pack("!BBH", FINAL | opcode, MASKED | 126, size)
    else:
        head = struct.pack("!BBQ", FINAL | opcode, MASKED | 127, size)
    return head + mask + bytes(byte ^ mask[index % 4] for index, byte in enumerate(payload))


def message(reader: Reader) -> tuple[int, bytes] | None:
    """The next message, fragments put together; None at the end."""
    opcode, whole = 0, b""
    while True:
        head = reader.read(2)
        if len(head) < 2:
            return None
        size = head[1] & 0x7F
        if size > SHORT:
            size = int.from_bytes(reader.read(2 if size == 126 else 8), "big")
        payload = reader.read(size)
        kind = head[0] & 0x0F
        if kind >= CLOSE:  # control messages may come between fragments and are never fragmented
            return kind, payload
        opcode, whole = opcode or kind, whole + payload
        if head[0] & FINAL:
            return opcode, whole
