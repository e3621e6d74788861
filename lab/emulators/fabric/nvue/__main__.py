# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Run one emulated Cumulus Linux switch."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lab.emulators.fabric.nvue import revisions
from lab.emulators.fabric.nvue.switch import Switch
from lab.emulators.fabric.program import run

if TYPE_CHECKING:
    from lab.emulators.common import Device

ASICS = ("spectrum",)


def make(device: Device, name: str, platform: str, ports: int, address: str) -> Switch:
    """Take up the switch, as the site's staging left it if it is new."""
    return Switch(device, revisions.factory(name, platform, ports, address))


if __name__ == "__main__":
    run("a Cumulus Linux switch", ASICS, make)
