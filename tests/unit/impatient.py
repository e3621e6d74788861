# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A controller that waits briefly for the one answer that never comes, and long for all others."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, Protocol

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.session_io import NetmikoSession
from netmiko import base_connection

SHORT_S = 1


class Armed(Protocol):
    """An emulated switch."""

    def armed(self) -> bool:
        """Whether a fault still waits for its line."""
        ...


def soon(monkeypatch: pytest.MonkeyPatch, switch: Armed, effect: str, match: str) -> None:
    """Let the line whose fault is armed wait SHORT_S for its answer: all others have time.

    Its time begins with the fault, which a loaded machine may act out late.
    """
    send = NetmikoSession.send

    def sent(session: NetmikoSession, line: str) -> str:
        connection: Any = session._connection
        transport = connection.remote_conn.transport
        if not (switch.armed() and re.search(match, line)):
            return send(session, line)
        struck = (lambda: not switch.armed()) if effect == "hang" else (lambda: not transport.is_active())
        with monkeypatch.context() as short:
            short.setattr(base_connection, "time", SimpleNamespace(time=since(struck), sleep=time.sleep))
            short.setattr(session, "_timeout_s", SHORT_S)
            short.setattr(connection, "read_timeout_override", SHORT_S)
            return send(session, line)

    monkeypatch.setattr(NetmikoSession, "send", sent)


def since(event: Callable[[], bool]) -> Callable[[], float]:
    """A clock that stands still until something has happened."""
    begun = 0.0

    def now() -> float:
        nonlocal begun
        if not begun and event():
            begun = time.monotonic()
        return time.monotonic() - begun if begun else 0.0

    return now
