# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Run one emulated OS10 switch."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lab.emulators.fabric.os10.lines import XGS
from lab.emulators.fabric.os10.switch import Switch
from lab.emulators.fabric.os10.transaction import factory
from lab.emulators.fabric.program import run

if TYPE_CHECKING:
    from lab.emulators.common import Device


def make(device: Device, name: str, platform: str, ports: int, address: str) -> Switch:
    """Take up the switch, as the site's staging left it if it is new."""
    return Switch(device, factory(name, platform, ports, address))


if __name__ == "__main__":
    run("a Dell OS10 switch", (XGS,), make)
