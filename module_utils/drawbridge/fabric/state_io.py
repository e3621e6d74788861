# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Reads the state of a switch's ports over one SSH session, and changes nothing.

Only the controller imports this: it needs netmiko.
"""

from __future__ import annotations

from contextlib import closing
from typing import Any

from ..core.converge import DeviceError
from .login import Login
from .model import SwitchProfile
from .nos.dialect import Dialect
from .nos.state import Ports, of_ports
from .session_io import NetmikoSession, Refused

SHAPE = (ValueError, KeyError, TypeError, AttributeError)


def read_state(login: Login, dialect: Dialect, profile: SwitchProfile, answer_s: float) -> dict[str, Any]:
    """Counters and neighbours of the profile's ports, and why parts are missing. Raises DeviceError.

    A command that the switch refuses, or answers in another shape, costs its part alone.
    """
    reads = dialect.state_reads(profile)
    if not reads:
        raise DeviceError(f"{login.name}: Drawbridge does not read the state of {profile.platform} switches yet")
    parts: list[Ports] = []
    unknown: list[str] = []
    with closing(NetmikoSession(login, dialect, answer_s)) as session:
        for read in reads:
            try:
                parts.append(read.parse(session.send(read.line)))
            except Refused as err:
                unknown.append(f"{read.what}: {err}")
            except SHAPE:
                unknown.append(f"{read.what}: {login.name} answers {read.line!r} in an unknown form")
    return {"ports": of_ports(parts, profile.ports), "unknown": unknown}
