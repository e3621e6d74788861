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
LONGEST = 300
"""Bytes of a sender's word: phase and name."""


class Receiver:
    """Lets senders begin, phase by phase. Others than the expected senders are ignored."""

    def __init__(self, port: int, senders: Mapping[str, Collection[str]]) -> None:
        """`senders` are the expected nodes by phase. Raises OSError if the port is taken."""
        self._waiting: dict[str, dict[str, socket.socket]] = {phase: {} for phase in senders}
        self._wanted = {phase: set(names) for phase, names in senders.items()}
        self._open: set[str] = set()
        self._lock = threading.Lock()
        self._server = socket.create_server(("", port), reuse_port=False, backlog=256)
        threading.Thread(target=self._accept, daemon=True).start()

    def open(self, phase: str) -> None:
        """The servers of this phase listen."""
        with self._lock:
            self._open.add(phase)
            self._release(phase)

    def missing(self, phase: str, wait_s: float) -> set[str]:
        """The senders that have not come after so many seconds. Those that wait may begin then."""
        end = time.monotonic() + wait_s
        while time.monotonic() < end and self._wanted[phase] - self._waiting[phase].keys():
            time.sleep(PAUSE_S)
        with self._lock:
            late = self._wanted[phase] - self._waiting[phase].keys()
            self._wanted[phase] -= late
            self._release(phase)
        return late

    def close(self) -> None:
        """End all connections."""
        self._server.close()

    def _accept(self) -> None:
        while True:
            try:
                peer, _address = self._server.accept()
            except OSError:
                return
            threading.Thread(target=self._greet, args=(peer,), daemon=True).start()

    def _greet(self, peer: socket.socket) -> None:
        peer.settimeout(LONGEST)
        try:
            phase, _space, name = peer.makefile().readline(LONGEST).strip().rpartition(" ")
        except OSError:
            return
        with self._lock:
            if phase in self._waiting:
                self._waiting[phase][name] = peer
                self._release(phase)

    def _release(self, phase: str) -> None:
        here = self._waiting[phase]
        if phase in self._open and self._wanted[phase] <= here.keys():
            for peer in here.values():
                with contextlib.suppress(OSError):
                    peer.sendall(GO)


def wait_for(host: str, port: int, phase: str, name: str, until: float) -> bool:
    """Wait until the receiver lets this node begin; False if it does not before this time of the monotonic clock."""
    while time.monotonic() < until:
        try:
            with socket.create_connection((host, port), timeout=max(PAUSE_S, until - time.monotonic())) as peer:
                peer.sendall(f"{phase} {name}\n".encode())
                peer.settimeout(max(PAUSE_S, until - time.monotonic()))
                if peer.recv(len(GO)) == GO:
                    return True
        except OSError:
            pass
        time.sleep(PAUSE_S)
    return False
