# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Run one emulated SONiC switch."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lab.emulators.fabric.program import run
from lab.emulators.fabric.sonic import configdb
from lab.emulators.fabric.sonic.switch import Switch

if TYPE_CHECKING:
    from lab.emulators.common import Device

ASICS = ("xgs", "spectrum")


def make(device: Device, name: str, platform: str, ports: int, address: str) -> Switch:
    """Take up the switch, as the site's staging left it if it is new."""
    return Switch(device, configdb.factory(name, platform, ports, address))


if __name__ == "__main__":
    run("a SONiC switch", ASICS, make)
