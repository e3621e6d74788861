# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Run one emulated Juniper QFX switch."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lab.emulators.fabric.junos import commits
from lab.emulators.fabric.junos.switch import Switch
from lab.emulators.fabric.program import run

if TYPE_CHECKING:
    from lab.emulators.common import Device

ASICS = ("tomahawk3", "tomahawk", "tomahawk2", "tomahawk4", "tomahawk5", "trident3", "trident4", "other")


def make(device: Device, name: str, platform: str, ports: int, address: str) -> Switch:
    """Take up the switch, as the site's staging left it if it is new."""
    return Switch(device, commits.factory(name, platform, ports, address, device.now()))


if __name__ == "__main__":
    run("a Juniper QFX switch", ASICS, make)
