# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The driver of an emulated port."""

from __future__ import annotations

from pathlib import Path


def drive(sysfs: Path, port: str, name: str) -> None:
    """Let sysfs say that the driver of this name has the port."""
    device = sysfs / "class/net" / port / "device"
    device.mkdir(exist_ok=True)
    (device / "driver").symlink_to(f"/sys/bus/pci/drivers/{name}")
