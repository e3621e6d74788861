# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Run one emulated Arista EOS switch."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lab.emulators.fabric.eos import lines, sessions
from lab.emulators.fabric.eos.switch import Switch
from lab.emulators.fabric.program import run

if TYPE_CHECKING:
    from lab.emulators.common import Device


def make(device: Device, name: str, platform: str, ports: int, address: str) -> Switch:
    """Take up the switch, as the site's staging left it if it is new."""
    return Switch(device, sessions.factory(name, platform, ports, address))


if __name__ == "__main__":
    run("an Arista EOS switch", (lines.XGS, lines.JERICHO), make)
