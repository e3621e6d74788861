# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Runs a program in a container, connected to the user's terminal."""

from __future__ import annotations

import http.client
import json
import os
import signal
import sys
import termios
import threading
import tty
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from io import BufferedReader
from urllib.parse import urlencode

from ..gate.api import Api
from ..gate.clock import Clock
from ..gate.config import Refused
from .kube import reason
from .site import Grant
from .websocket import BINARY, CLOSE, END, PING, PONG, RESIZE, STATUS, STDERR, STDIN, STDOUT, frame, headers, message

PATIENCE_S = 60.0
DETACHED_S = 10.0
NO_CODE = 126


class Session(Api):
    """One exec request over one connection."""

    def __init__(self, grant: Grant, clock: Clock) -> None:
        super().__init__(grant.api_server, grant.ca_file, str(grant.token), PATIENCE_S, clock)
        self._lock = threading.Lock()

    def run(self, path: str, command: Sequence[str]) -> int:
        """Run a command in the pod's first container at this terminal; its exit code. Raises Refused, OSError."""
        live = sys.stdin.isatty()
        wanted = [("stdin", "true"), ("stdout", "true"), ("stderr", str(not live).lower()), ("tty", str(live).lower())]
        reader = self._open(path, wanted, command)
        with raw(live):
            if live:
                self._resize()
                signal.signal(signal.SIGWINCH, lambda *_: self._resize())
            threading.Thread(target=self._type, daemon=True).start()
            return self._show(reader)

    def run_detached(self, path: str, command: Sequence[str]) -> int:
        """Run a short command without input; its exit code. Raises Refused, OSError."""
        return self._show(self._open(path, [("stdout", "true"), ("stderr", "true")], command, DETACHED_S))

    def _open(
        self, path: str, wanted: Sequence[tuple[str, str]], command: Sequence[str], silence_s: float | None = None
    ) -> BufferedReader:
        query = urlencode([*wanted, *(("command", word) for word in command)])
        connection = self._connection()
        connection.timeout = PATIENCE_S  # no retry: it would start another program
        try:
            connection.request("GET", f"{path}/exec?{query}", headers=headers(self._token_file.read_text().strip()))
            response = connection.getresponse()
        except (OSError, http.client.HTTPException) as err:
            raise Refused(f"the pod can't be entered: {type(err).__name__}: {err}") from err
        if response.status != 101:
            raise Refused(f"the pod can't be entered: {reason(response.read().decode(errors='replace'))}")
        self._socket = connection.sock  # connections belong to threads, and another thread sends the user's input
        self._socket.settimeout(silence_s)
        return response.fp

    def _type(self) -> None:
        while data := os.read(sys.stdin.fileno(), 4096):
            self._send(bytes([STDIN]) + data)
        self._send(bytes([END, STDIN]))

    def _resize(self) -> None:
        columns, lines = os.get_terminal_size(sys.stdin.fileno())
        self._send(bytes([RESIZE]) + json.dumps({"Width": columns, "Height": lines}).encode())

    def _send(self, payload: bytes, opcode: int = BINARY) -> None:
        with self._lock:
            self._socket.sendall(frame(payload, opcode))

    def _show(self, reader: BufferedReader) -> int:
        code = NO_CODE
        while (found := message(reader)) and found[0] != CLOSE:
            opcode, payload = found
            if opcode == PING:
                self._send(payload, PONG)
            elif payload[:1] == bytes([STDOUT]):
                _write(1, payload[1:])
            elif payload[:1] == bytes([STDERR]):
                _write(2, payload[1:])
            elif payload[:1] == bytes([STATUS]):
                code = exit_code(payload[1:].decode(errors="replace"))
        return code


def exit_code(text: str) -> int:
    """The program's exit code, from the last message. Raises Refused if it never began."""
    status = json.loads(text)
    if status.get("status") == "Success":
        return 0
    for cause in status.get("details", {}).get("causes", []):
        if cause.get("reason") == "ExitCode":
            return int(cause["message"])
    raise Refused(f"the pod can't be entered: {status.get('message', text)}")


@contextmanager
def raw(live: bool) -> Iterator[None]:
    """Pass on every key; restore the terminal afterwards."""
    if not live:
        yield
        return
    before = termios.tcgetattr(sys.stdin)
    tty.setraw(sys.stdin, termios.TCSADRAIN)  # keeps early input
    try:
        yield
    finally:
        termios.tcsetattr(sys.stdin, termios.TCSADRAIN, before)


def _write(to: int, data: bytes) -> None:
    while data:
        data = data[os.write(to, data) :]
