# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Nodes of a test begin together: a receiver lets its senders begin when its servers listen and all have come."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Collection, Mapping

GO = b"go\n"
PAUSE_S = 0.1
GREETING_BYTES, GREETING_S = 300, 60.0
"""Length of a sender's line, key and name, and seconds that it may take."""


class Receiver:
    """Lets senders begin, by keys such as a test's phase. Others than the expected senders are ignored."""

    def __init__(self, port: int, senders: Mapping[str, Collection[str]], host: str = "") -> None:
        """`senders` are the expected nodes by key, `host` is an own address. Raises OSError if the port is taken."""
        self._waiting: dict[str, dict[str, socket.socket]] = {key: {} for key in senders}
        self._wanted = {key: set(names) for key, names in senders.items()}
        self._open: set[str] = set()
        self._lock = threading.Lock()
        self._server = socket.create_server((host, port), reuse_port=False, backlog=256)
        threading.Thread(target=self._accept, daemon=True).start()

    def open(self, key: str, without: Collection[str] = ()) -> None:
        """The servers of this key listen. Nodes of `without` are not expected any more."""
        with self._lock:
            self._wanted[key] -= {*without}
            self._open.add(key)
            self._release(key)

    def missing(self, key: str, wait_s: float) -> set[str]:
        """The senders that have not come after so many seconds. Those that wait may begin then."""
        end = time.monotonic() + wait_s
        while time.monotonic() < end and self._wanted[key] - self._waiting[key].keys():
            time.sleep(PAUSE_S)
        with self._lock:
            late = self._wanted[key] - self._waiting[key].keys()
            self._wanted[key] -= late
            self._release(key)
        return late

    def close(self) -> None:
        """End all connections, and give the port back."""
        # close alone does not end the call in which the thread waits, and the port stays taken
        with contextlib.suppress(OSError):
            self._server.shutdown(socket.SHUT_RDWR)
        self._server.close()
        with self._lock:
            for peers in self._waiting.values():
                for peer in peers.values():
                    peer.close()

    def _accept(self) -> None:
        while True:
            try:
                peer, _address = self._server.accept()
            except OSError:
                return
            threading.Thread(target=self._greet, args=(peer,), daemon=True).start()

    def _greet(self, peer: socket.socket) -> None:
        peer.settimeout(GREETING_S)
        try:
            line = peer.makefile(errors="replace").readline(GREETING_BYTES)
        except OSError:
            line = ""
        key, _space, name = line.strip().rpartition(" ")
        with self._lock:
            if name in self._wanted.get(key, ()):
                self._waiting[key][name] = peer
                self._release(key)
            else:
                peer.close()

    def _release(self, key: str) -> None:
        here = self._waiting[key]
        if key in self._open and self._wanted[key] <= here.keys():
            for peer in here.values():
                with contextlib.suppress(OSError):
                    peer.sendall(GO)


def wait_for(host: str, port: int, key: str, name: str, until: float) -> bool:
    """Wait until the receiver lets this node begin; False if it does not before this time of the monotonic clock."""
    while time.monotonic() < until:
        try:
            with socket.create_connection((host, port), timeout=max(PAUSE_S, until - time.monotonic())) as peer:
                peer.sendall(f"{key} {name}\n".encode())
                peer.settimeout(max(PAUSE_S, until - time.monotonic()))
                if peer.recv(len(GO)) == GO:
                    return True
        except OSError:
            pass
        time.sleep(PAUSE_S)
    return False
