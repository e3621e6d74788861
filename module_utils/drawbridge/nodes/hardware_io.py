# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A host's description, read from /sys, /proc and tools. Nothing is changed, and a missing tool stops nothing."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from ..core.command import Run, tool
from ..core.converge import DeviceError
from ..core.cpus import cpu_list
from . import hardware_cpus
from . import hardware_text as text
from .gpus import instances_text
from .gpus.listed_io import listed, on_bus
from .gpus.vendor import Vendor
from .gpus.vendors import VENDORS
from .lldp_io import neighbours

T = TypeVar("T")


class Host:
    """This host; `root` is a prefix of all paths, for tests."""

    def __init__(self, run: Run, root: str = "/") -> None:
        self._run, self._root = run, Path(root)
        self.missing: list[str] = []
        """What could not be read, and why."""

    def read(self) -> dict[str, Any]:
        """All facts. What can't be read is absent or empty, and named in `missing`."""
        facts: dict[str, Any] = {
            "os": self._try("operating system", lambda: text.system(self._file("etc/os-release")), ""),
            "cpus": self._try("CPUs", self._cpus, {}),
            "memory_mib": self._try("memory", self._memory_mib, 0),
            "gpus": self._gpus(),
            "nics": self._try("NICs", self._nics, []),
            "neighbours": self._try("LLDP neighbours", lambda: neighbours(self._run), {}),
            "mounts": self._try("mounts", lambda: text.mounts(self._file("proc/mounts")), []),
        }
        return {**facts, "missing": self.missing}

    def _try(self, what: str, read: Callable[[], T], otherwise: T) -> T:
        try:
            return read()
        except (DeviceError, OSError, ValueError, KeyError) as err:
            self.missing.append(f"{what}: {err}")
            return otherwise

    def _file(self, path: str) -> str:
        return (self._root / path).read_text(errors="replace")

    def _tool(self, *argv: str) -> str:
        """Output of a tool. Raises DeviceError if it is not installed or fails."""
        return self._run([tool(argv[0]), *argv[1:]]).out

    def _cpus(self) -> dict[str, Any]:
        base = self._root / "sys/devices/system"
        numbers = sorted(int(place.parent.name[3:]) for place in base.glob("cpu/cpu[0-9]*/topology"))
        if not numbers:
            raise DeviceError("/sys has no topology of CPUs")
        nodes = cpu_list((base / "node/online").read_text().strip())
        numa = {node: _listed(base / f"node/node{node}/cpulist") for node in nodes}
        cpus = {number: _cpu(base / f"cpu/cpu{number}") for number in numbers}
        return hardware_cpus.keys(cpus, numa, _listed(base / "node/has_memory"))

    def _memory_mib(self) -> int:
        """All that the kernel has, which is what `slurmd -C` says."""
        line = next(row for row in self._file("proc/meminfo").splitlines() if row.startswith("MemTotal:"))
        return int(line.split()[1]) // 1024

    def _gpus(self) -> list[dict[str, Any]]:
        """GPUs on the PCI bus. The driver gives their names and order; without it the bus does."""
        return [gpu for name, vendor in VENDORS.items() for gpu in self._gpus_of(name, vendor)]

    def _gpus_of(self, name: str, vendor: Vendor) -> list[dict[str, Any]]:
        base = self._root / "sys/bus/pci/devices"
        if vendor.kernel_list and (known := self._try("GPUs", lambda: listed(vendor, str(self._root)), [])):
            return self._named(name, vendor, known)
        there = on_bus(vendor, str(self._root))
        if not there and (vendor.kernel_list or not list(self._root.glob(f"{vendor.devices[1:]}[0-9]*"))):
            return []
        bare = [{"pci": address, "name": ""} for address in there]
        found = self._try("GPUs", lambda: vendor.read_products(self._tool(*vendor.products)), bare)
        layouts = self._try("instances of GPUs", lambda: self._layouts(vendor), []) if found != bare else []
        own = [
            {**gpu, "vendor": name, "numa": _numa(base / gpu["pci"]), "minor": self._minor(vendor, gpu["pci"])}
            for gpu in found
        ]
        divided = len(layouts) == len(own) and any(layouts)
        return [{**gpu, "instances": layout} for gpu, layout in zip(own, layouts)] if divided else own

    def _layouts(self, vendor: Vendor) -> list[dict[str, int]]:
        """Instances of each GPU by profile; none for a vendor without instances."""
        return instances_text.listed(self._tool(*vendor.listing), vendor) if vendor.instance else []

    def _named(self, name: str, vendor: Vendor, known: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """GPUs of the kernel's list. Their names need the vendor's tool."""
        found = self._try("names of GPUs", lambda: vendor.read_products(self._tool(*vendor.products)), [])
        names, base = {gpu["pci"]: gpu["name"] for gpu in found}, self._root / "sys/bus/pci/devices"
        return [
            {**gpu, "name": names.get(gpu["pci"], ""), "vendor": name, "numa": _numa(base / gpu["pci"])}
            for gpu in known
        ]

    def _minor(self, vendor: Vendor, pci: str) -> int:
        """Number of a GPU's device file; -1 if the driver does not tell."""
        return vendor.read_minor(_word(self._root / vendor.about.format(pci=pci).lstrip("/")))

    def _nics(self) -> list[dict[str, Any]]:
        """Network devices that have an RDMA device."""
        found = [_nic(place) for place in (self._root / "sys/class/net").glob("*") if (place / "device").exists()]
        return sorted((nic for nic in found if nic["rdma"]), key=lambda nic: _natural(nic["netdev"]))


def _cpu(place: Path) -> hardware_cpus.Cpu:
    topology = place / "topology"
    core = cpu_list((topology / "thread_siblings_list").read_text().strip())
    l3 = _word(place / "cache/index3/shared_cpu_list") if _word(place / "cache/index3/level") == "3" else ""
    return hardware_cpus.Cpu((topology / "physical_package_id").read_text().strip(), tuple(core), l3)


def _listed(path: Path) -> list[int]:
    """Numbers in a file of the kernel, which may be empty."""
    text = path.read_text().strip()
    return cpu_list(text) if text else []


def _numa(place: Path) -> int:
    """NUMA node of a PCI device; -1 if the kernel does not know it."""
    return int(_word(place / "numa_node") or -1)


def _nic(place: Path) -> dict[str, Any]:
    device = place / "device"
    identity = [_word(device / key)[2:] for key in ("vendor", "device")]
    rdma = sorted(entry.name for entry in (device / "infiniband").glob("*"))
    return {
        "netdev": place.name,
        "rdma": rdma[0] if rdma else "",
        "pci": device.resolve().name,
        "device": ":".join(identity) if all(identity) else "",
        "numa": _numa(device),
        "mtu": int(_word(place / "mtu") or 0),
        "speed_mbps": int(_word(place / "speed") or 0),
    }


def _word(path: Path) -> str:
    """Text of a file of /sys; "" if it can't be read, such as the speed of a link that is down."""
    try:
        return path.read_text().strip()
    except OSError:
        return ""


def _natural(name: str) -> list[Any]:
    return [int(part) if part.isdigit() else part for part in re.split(r"([0-9]+)", name)]
