# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""`openibd restart` of NVIDIA's drivers: the ports lose the driver's settings, and keep those in their registers.

Trust, DSCP map and PFC stay, and PCIe's register. The driver's defaults return for traffic classes, shares, cable
length, pause, rings, MTU, interrupts and RDMA-CM. The lab's network devices stay: only their settings go.
"""

from __future__ import annotations

import subprocess
import sys

from ..common import Call, host_device, procfs, sysfs
from .driver import RAIL, reloaded


def main(name: str, argv: list[str]) -> int:
    """Run `openibd restart` and return its exit code."""
    with Call(host_device("openibd"), name, argv) as call:
        if argv != ["restart"]:
            print("Usage: openibd restart", file=sys.stderr)
            call.rc = 1
            return 1
        call.fault(writes=True)
        with host_device("mlnx_qos").state({"version": "25.7", "ports": {}}) as state:
            for port in state["ports"].values():
                port.update(reloaded(port))
        with host_device("ethtool").state({"ports": {}}) as state:
            state["ports"] = {}
        _forget()
    return 0


def _forget() -> None:
    """Reset what the kernel shows as files, and the MTU."""
    every = (sysfs() / "devices/system/cpu/online").read_text()
    for path in (sysfs() / "class/net").iterdir():
        if RAIL.fullmatch(path.name):
            subprocess.run(["ip", "link", "set", "dev", path.name, "mtu", "1500"], check=True)
            for interrupt in (path / "device/msi_irqs").glob("*"):
                (procfs() / "irq" / interrupt.name / "smp_affinity_list").write_text(every)
    for path in (sysfs() / "kernel/config/rdma_cm").glob("*/ports/1/default_roce_tos"):
        path.write_text("0\n")
