# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Probes of GPUs, PCI devices and NICs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..core.command import Run, tool
from ..core.converge import DeviceError
from ..nodes.lldp_io import neighbours
from . import text
from .work_io import Want, read, said


def gpus(want: Want, run: Run) -> dict[str, Any]:
    """Device files, driver, fabric manager and peer memory."""
    try:
        smi = run([tool("nvidia-smi"), "--query-gpu=driver_version", "--format=csv,noheader"]).out.split()
        error = ""
    except DeviceError as err:
        smi, error = [], str(err)
    return {
        "files": len(list(Path("/dev").glob("nvidia[0-9]*"))),
        "drivers": sorted(set(smi)),
        "error": error,
        "loaded": read("/proc/driver/nvidia/version"),
        "peermem": Path("/sys/module/nvidia_peermem").exists(),
        "nvswitch": any(Path("/dev").glob("nvidia-nvswitch[0-9]*")),
        "manager": (
            said(run, "systemctl", "show", "--property=ActiveState", "--value", "nvidia-fabricmanager") or ""
        ).strip(),
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
