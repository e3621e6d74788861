# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""LLDP neighbours of this host."""

from __future__ import annotations

from ..core.command import Run, tool
from ..core.converge import DeviceError
from . import hardware_text as text


def neighbours(run: Run) -> dict[str, list[str]]:
    """Switch and port of each network device, from lldpd or systemd-networkd. Raises DeviceError if neither answers."""
    try:
        return text.lldpctl(run([tool("lldpctl"), "-f", "json0"]).out)
    except (DeviceError, ValueError) as err:
        reason = str(err)
    try:
        return text.networkctl(run([tool("networkctl"), "lldp", "--json=short"]).out)
    except (DeviceError, ValueError, KeyError) as err:
        raise DeviceError(f"{reason}; {err}") from err
