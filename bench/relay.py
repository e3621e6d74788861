# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A ProxyCommand that counts: ssh and netmiko start it once per SSH session, and all bytes of the session pass it.

    ProxyCommand python3 relay.py FOLDER %h %p

A multiplexed connection is one session, as it is on the wire. The counts are in FOLDER/ADDRESS_PORT_PROCESS while
the session lasts and afterwards: bytes to the host, bytes from it, twenty digits each. They are written before the
bytes go on, so that whoever has an answer finds it counted.
"""

from __future__ import annotations

import contextlib
import os
import socket
import sys
import threading
import time
from pathlib import Path

CHUNK_BYTES = 65536
CONNECT_S = 60.0


class Counter:
    """A file of two numbers, always whole."""

    def __init__(self, path: Path) -> None:
        """Begin at zero; readers never see an empty file."""
        self._lock = threading.Lock()
        self._sent = self._received = 0
        fresh = path.with_name(f".{path.name}")
        self._file = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        self.add(0, 0)
        fresh.rename(path)

    def add(self, sent: int, received: int) -> None:
        """Count bytes of either direction."""
        with self._lock:
            self._sent += sent
            self._received += received
            os.pwrite(self._file, f"{self._sent:020} {self._received:020}\n".encode(), 0)


def up(connection: socket.socket, counter: Counter) -> None:
    """Pass on data to the host, and the end of the data."""
    with contextlib.suppress(OSError):
        while data := os.read(0, CHUNK_BYTES):
            counter.add(len(data), 0)
            connection.sendall(data)
        connection.shutdown(socket.SHUT_WR)


def down(connection: socket.socket, counter: Counter) -> None:
    """Pass on data from the host until either side closes."""
    with contextlib.suppress(OSError):
        while data := connection.recv(CHUNK_BYTES):
            counter.add(0, len(data))
            while data:
                data = data[os.write(1, data) :]


def main(folder: str, address: str, port: str) -> int:
    """Connect and relay; 1 and a sentence when the host can't be reached."""
    try:
        connection = socket.create_connection((address, int(port)), CONNECT_S)
    except OSError as err:
        print(f"{address} port {port} can't be reached: {err}", file=sys.stderr)
        return 1
    connection.settimeout(None)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    name = f"{address}_{port}_{os.getpid()}-{time.time_ns()}"
    counter = Counter(Path(folder) / name)
    # a thread, because either direction may have to wait for the other
    threading.Thread(target=up, args=(connection, counter), daemon=True).start()
    down(connection, counter)
    return 0


if __name__ == "__main__":
    # not sys.exit(): the thread may sit in a read of standard input for as long as the other side likes
    os._exit(main(*sys.argv[1:]))
