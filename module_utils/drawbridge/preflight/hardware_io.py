# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Probes of GPUs, PCI devices and NICs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..core.command import Run, tool
from ..core.converge import DeviceError
from ..nodes.gpus.listed_io import files, foreign, listed
from ..nodes.gpus.vendor import Vendor
from ..nodes.gpus.vendors import VENDORS
from ..nodes.lldp_io import neighbours
from . import text
from .work_io import Want, read, said

ROOT = "/"
"""Prefix of the paths of GPUs, for tests."""
PLUGINS = ("usr/lib*/slurm*/gpu_*.so", "usr/lib/*/slurm*/gpu_*.so", "opt/slurm/lib*/slurm/gpu_*.so")
"""Where packages put Slurm's plugins."""


def gpus(want: Want, run: Run) -> dict[str, Any]:
    """Device files, driver, the switches' manager and peer memory, and parts of other vendors."""
    vendor = VENDORS[want["gpu_vendor"]]
    loaded = read(f"{ROOT}{vendor.driver}")
    try:
        releases, error = _releases(vendor, loaded, run), ""
        numbers = [gpu["minor"] for gpu in listed(vendor, ROOT)] if vendor.kernel_list else None
    except DeviceError as err:
        releases, error, numbers = [], str(err), []
    show = ("systemctl", "show", "--property=ActiveState", "--value", vendor.switch_unit)
    own = Path(ROOT).glob(f"{vendor.devices[1:]}[0-9]*") if numbers is None else files(vendor, numbers, ROOT)
    return {
        "files": len(list(own)),
        "drivers": sorted(set(releases)),
        "error": error,
        "loaded": loaded,
        "peermem": bool(vendor.peer_memory) and Path(f"{ROOT}/sys/module/{vendor.peer_memory}").exists(),
        "switches": bool(vendor.switches) and any(Path(ROOT).glob(f"{vendor.switches[1:]}[0-9]*")),
        "manager": (said(run, *show) or "").strip() if vendor.switch_unit else "",
        "foreign": foreign(vendor, ROOT),
        "plugins": _plugins(vendor),
        "lacking": _lacking(vendor, want),
    }


def _releases(vendor: Vendor, loaded: str, run: Run) -> list[str]:
    """The driver's version, by its tool or by its files. Raises DeviceError for a driver that does not work."""
    if vendor.release:
        command, *words = vendor.release
        return run([tool(command), *words]).out.split()
    if loaded.strip() != vendor.loaded:
        raise DeviceError(f"{vendor.driver} says {loaded.strip() or 'nothing'} instead of {vendor.loaded}")
    version = read(f"{ROOT}{vendor.driver_version}").strip()
    # a driver that came with the kernel has its version
    return [version or f"kernel-{read(f'{ROOT}/proc/sys/kernel/osrelease').strip()}"]


def _plugins(vendor: Vendor) -> list[str]:
    """Slurm's plugins for GPUs of other vendors."""
    others = {other.slurm_plugin for other in VENDORS.values() if other is not vendor}
    return sorted(str(path) for path in _installed() if path.name in others)


def _installed() -> list[Path]:
    return [path for place in PLUGINS for path in Path(ROOT).glob(place)]


def _lacking(vendor: Vendor, want: Want) -> list[str]:
    """Programs and plugins that instances of GPUs need."""
    lacking = []
    if want["divided"] and vendor.divider:
        try:
            tool(vendor.divider.program)
        except DeviceError:
            lacking.append(f"{vendor.divider.program} ({vendor.divider.package})")
    if want["detects"] and not any(path.name == vendor.slurm_plugin for path in _installed()):
        lacking.append(f"Slurm's plugin {vendor.slurm_plugin}")
    return lacking


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
