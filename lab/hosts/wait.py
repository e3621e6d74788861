# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""When a host or switch counts as reachable."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable


def banner(address: str, seconds: float, alive: Callable[[], bool] = lambda: True) -> bool:
    """Whether an SSH server greets on port 22 in time, and `alive` says yes then; gives up early when it says no.

    A connection alone proves nothing: some networks answer for every address and then stay silent. Nor does a greeting
    prove that it came from the wanted host, once that one is dead.
    """
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline and alive():
        try:
            with socket.create_connection((address, 22), timeout=1) as connection:
                connection.settimeout(3)
                if connection.recv(4) == b"SSH-":
                    return alive()
        except OSError:
            pass
        time.sleep(0.1)
    return False
