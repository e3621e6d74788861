# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Probes of GPUs, PCI devices and NICs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..core.command import Run, tool
from ..core.converge import DeviceError
from ..nodes.gpus.vendors import VENDORS
from ..nodes.lldp_io import neighbours
from . import text
from .work_io import Want, read, said


def gpus(want: Want, run: Run) -> dict[str, Any]:
    """Device files, driver, the switches' manager and peer memory."""
    vendor = VENDORS[want["gpu_vendor"]]
    command, *words = vendor.release
    try:
        releases, error = run([tool(command), *words]).out.split(), ""
    except DeviceError as err:
        releases, error = [], str(err)
    show = ("systemctl", "show", "--property=ActiveState", "--value", vendor.switch_unit)
    return {
        "files": len(list(Path("/").glob(f"{vendor.devices[1:]}[0-9]*"))),
        "drivers": sorted(set(releases)),
        "error": error,
        "loaded": read(vendor.driver),
        "peermem": Path(f"/sys/module/{vendor.peer_memory}").exists(),
        "switches": any(Path("/").glob(f"{vendor.switches[1:]}[0-9]*")),
        "manager": (said(run, *show) or "").strip(),
    }


def pci(want: Want, run: Run) -> dict[str, Any]:
    """ACS redirection of bridges, and types of IOMMU groups."""
    types = {read(str(path)).strip() for path in Path("/sys/kernel/iommu_groups").glob("*/type")}
    listed = (said(run, "lspci", "-vvv") or "") if want["gpus"] else ""
    return {"acs": text.acs_bridges(listed), "iommu": sorted(types)}


def nics(want: Want, run: Run) -> dict[str, Any]:
    """Devices, the tool of their QoS, neighbours."""
    devices = [path.name for path in Path("/sys/class/net").glob("*")]
    present = [name for name in want["netdevs"] if name in devices]
    return {
        "missing": [name for name in want["netdevs"] if name not in devices],
        "rdma_missing": [name for name in want["rdma"] if not Path(f"/sys/class/infiniband/{name}").exists()],
        "mlnx_qos": _mlnx_qos(run, present[0]) if present else "",
        "lldp": _neighbours(run) if want["netdevs"] else {},
    }


def _neighbours(run: Run) -> dict[str, list[str]]:
    """Without LLDP on the host nothing is compared."""
    try:
        return neighbours(run)
    except DeviceError:
        return {}


def _mlnx_qos(run: Run, device: str) -> str:
    """Why mlnx_qos can't read the port, if dcb can't either."""
    try:
        printed = run([tool("mlnx_qos"), "-i", device]).out
        error = "" if "trust state" in printed else f"mlnx_qos -i {device} prints no trust state"
    except DeviceError as err:
        error = str(err)
    return error if error and "prio_pfc" not in (said(run, "dcb", "-j", "pfc", "show", "dev", device) or "") else ""
