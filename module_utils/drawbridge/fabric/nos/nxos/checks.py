# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Cisco NX-OS: what a switch can't become, whether a marked change is there to stay, what the hardware does."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime, timedelta

from ...model import SwitchProfile
from ...plan import PORT
from ..channels import wrong_groups
from ..dialect import DialectError
from .lines import Block

JUMBO, PLAIN = 9216, 1500
"""The only MTUs of layer 2 ports."""
SPARE = timedelta(seconds=60)
"""How long a roll-back may take."""
_TIMES = re.compile(r"^!(Running configuration last done at|Time): (.*?) *$", re.MULTILINE)
_RELEASE = re.compile(r"version (\S+)")
_PAUSING = re.compile(r"(Ethernet[\d/]+) +(\w+) +(?:On +\(([0-9a-f]+)\)|Off)")


def refuse(config: Block, profile: SwitchProfile) -> None:
    """What no line can change: ports that are not there, the MTU of layer 2 ports."""
    if missing := [port for port in profile.ports if f"{PORT}{port}" not in config]:
        raise DialectError(
            f"it has no {', '.join(missing)}, which drawbridge_fabric.switches lists; correct ports there,"
            " or insert the line card"
        )
    for why in wrong_groups(config, profile):
        raise DialectError(why)
    if profile.mtu_bytes in (PLAIN, JUMBO) or "no system default switchport" in config:
        return
    own = [port for port in profile.ports if port not in profile.channel_of]
    own += [channel.name for channel in profile.channels]
    if switched := [port for port in own if "no switchport" not in config[f"{PORT}{port}"]]:
        raise DialectError(
            f"{switched[0]} is a layer 2 port, which takes an MTU of {PLAIN} or {JUMBO}, not {profile.mtu_bytes};"
            f" set drawbridge_fabric.switch_mtu_bytes: {JUMBO}, or make it a routed port"
        )


def release_of(config: Block) -> str:
    """The release that the configuration begins with."""
    return next((match[1] for match in map(_RELEASE.match, config) if match), "")


def clock(running: str) -> datetime:
    """The switch's time when it printed its configuration."""
    try:
        return _time(dict(_TIMES.findall(running))["Time"])
    except (KeyError, ValueError):
        return datetime.min


def over(running: str, limit: timedelta) -> bool:
    """Whether nothing has changed for longer than until the roll-back: the change is there to stay."""
    times = dict(_TIMES.findall(running))
    try:
        done, now = (_time(times[name]) for name in ("Running configuration last done at", "Time"))
    except (KeyError, ValueError):
        return False
    return now - done > limit + SPARE


def _time(text: str) -> datetime:
    return datetime.strptime(" ".join(text.split()), "%a %b %d %H:%M:%S %Y")


def unproven(pausing: str, profile: SwitchProfile) -> Iterator[str]:
    """Ports where the hardware does not pause exactly the lossless priorities."""
    wanted = sum(1 << priority for priority in profile.lossless)
    shown = {
        match[1]: (match[2], int(match[3] or "0", 16)) for match in map(_PAUSING.match, pausing.splitlines()) if match
    }
    for port in profile.ports:
        mode, bits = shown.get(port, ("not listed", 0))
        if (mode, bits) != ("On", wanted):
            found = ", ".join(str(priority) for priority in range(8) if bits >> priority & 1) or "none"
            only = " ".join(map(str, profile.lossless))
            yield f"{port} does not pause priority {only} alone (PFC {mode}, priorities {found})"
