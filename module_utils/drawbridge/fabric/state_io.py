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
from .nos.state import Ports, crowded, of_ports
from .session_io import NetmikoSession, Refused

SHAPE = (ValueError, LookupError, TypeError, AttributeError)


def read_state(login: Login, dialect: Dialect, profile: SwitchProfile, answer_s: float) -> dict[str, Any]:
    """Counters and neighbours of the profile's ports, and why parts are missing. Raises DeviceError.

    A command that the switch refuses, or answers in another shape, costs its part alone. A counter that an answer
    should have and lacks is named.
    """
    if not dialect.state_reads(profile):
        raise DeviceError(f"{login.name}: Drawbridge does not read the state of {profile.platform} switches yet")
    parts: list[Ports] = []
    unknown: list[str] = []
    with closing(NetmikoSession(login, dialect, answer_s)) as session:
        release = dialect.releases.read(session.send(dialect.releases.line))
        for read in dialect.state_reads(profile, release):
            if read.lacking:
                unknown.append(f"{read.what}: {read.lacking}")
                continue
            try:
                found = read.parse(session.send(read.line))
            except Refused as err:
                unknown.append(f"{read.what}: {err}")
            except SHAPE:
                unknown.append(f"{read.what}: {login.name} answers {read.line!r} in an unknown form")
            else:
                parts.append(found)
                said = f"is not in the answer of {login.name} to {read.line!r}"
                unknown += [f"{read.what}: {lack} {said}" for lack in read.missing(found, profile)]
    unknown += [f"LLDP neighbours: {sentence}" for sentence in crowded(parts, profile.ports)]
    return {"ports": of_ports(parts, profile.ports), "unknown": unknown}
