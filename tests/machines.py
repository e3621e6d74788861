# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Machines of machines.yml as trees of /sys, /proc and /dev, made without Drawbridge's own arithmetic."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

DIMENSIONS = ("thread", "socket", "numa", "core")
FILE = Path(__file__).with_suffix(".yml")
ONLY_HWLOC = re.compile(r".*/(core_.*|package_cpus|cpumap|distance|meminfo|shared_cpu_map|size|type)")
"""Files that Drawbridge does not read."""
IN_MEMORY = "/dev/shm" if Path("/dev/shm").is_dir() else None
"""Where these thousands of files cost little."""
PRODUCT = "NVIDIA H100 80GB HBM3"


@dataclass(frozen=True)
class Machine:
    """One machine: what it has, how its firmware numbers that, and what Drawbridge must make of it."""

    sockets: int
    numa: int
    """NUMA nodes of a socket that have CPUs."""
    cores: int
    """Cores of such a NUMA node."""
    threads: int
    cpus: tuple[str, ...]
    """In which order CPUs are counted: the last of these changes first."""
    nodes: tuple[str, ...] = ("socket", "numa")
    """In which order NUMA nodes are counted."""
    l3: int = 1
    """L3 caches of a NUMA node."""
    sockets_of_a_node: int = 1
    """Sockets that one NUMA node has."""
    memory_only: int = 0
    """NUMA nodes without CPUs, behind the others."""
    without_memory: tuple[int, ...] = ()
    number_by: int = 1
    """Distance of the CPUs' numbers, for threads that were switched off."""
    node_number_by: int = 1
    gpus: tuple[int, ...] = ()
    """NUMA node of each GPU, in the order of PCI addresses."""
    minors: tuple[int, ...] = ()
    products: tuple[str, ...] = ()
    odd_core_threads: int = 0
    """Threads of the last cores of each NUMA node, half of them, if they have others."""
    described: dict[str, Any] = field(default_factory=dict)
    """Keys of the node class."""
    refused: str = ""
    """Why no node class describes it."""
    reserved: str = "0"
    slurmd: str = ""
    """SlurmdParameters of the site."""
    slurm_cpu: str = "thread"
    slurm: dict[str, Any] = field(default_factory=dict)
    """Keys of the node's line."""
    gres: tuple[tuple[str, str], ...] = ()
    """File and Cores of the lines of gres.conf."""
    machine_cpus: str = ""
    """CPUs that slurmd reserves."""
    kubelet: str = ""
    """max-allowable-numa-nodes, or the refusal of any policy but none."""
    reserves_on: tuple[int, ...] = ()
    """NUMA nodes of reserved memory."""

    def __post_init__(self) -> None:
        for name in ("cpus", "nodes", "without_memory", "gpus", "minors", "products", "gres", "reserves_on"):
            object.__setattr__(
                self, name, tuple(map(tuple, getattr(self, name)) if name == "gres" else getattr(self, name))
            )

    def places(self) -> list[dict[str, int]]:
        """Socket, NUMA node, core and thread of each CPU, by number."""
        sizes = {"thread": self.threads, "socket": self.sockets, "numa": self.numa, "core": self.cores}
        assert sorted(self.cpus) == sorted(DIMENSIONS)
        every = itertools.product(*(range(sizes[one]) for one in self.cpus))
        found = [{one: place[at] for at, one in enumerate(self.cpus)} for place in every]
        return [place for place in found if place["thread"] < self._threads_of(place["core"])]

    def _threads_of(self, core: int) -> int:
        odd = self.odd_core_threads and core >= self.cores // 2
        return self.odd_core_threads if odd else self.threads

    def node_of(self, place: dict[str, int]) -> int:
        """The NUMA node of a CPU."""
        sizes = {"socket": self.sockets, "numa": self.numa}
        number = place[self.nodes[0]] * sizes[self.nodes[1]] + place[self.nodes[1]]
        return number // self.sockets_of_a_node * self.node_number_by

    def l3_of(self, place: dict[str, int]) -> tuple[int, ...]:
        """The L3 cache of a CPU."""
        return (place["socket"], place["numa"], place["core"] * self.l3 // self.cores)


def machines() -> dict[str, Machine]:
    """All of them."""
    return {name: Machine(**raw) for name, raw in yaml.safe_load(FILE.read_text()).items()}


def address(gpu: int) -> str:
    """The PCI address of a GPU."""
    return f"0000:{0x10 + 8 * gpu:02x}:00.0"


def write(machine: Machine, root: Path, memory_mib: int = 262144, hwloc: bool = False) -> None:
    """Write the machine's files below root; with `hwloc` also those that only hwloc reads."""
    cpus = {at * machine.number_by: place for at, place in enumerate(machine.places())}
    files = {"etc/os-release": 'ID=debian\nVERSION_ID="13"\n', "proc/mounts": "proc /proc proc rw 0 0\n"}
    files["proc/meminfo"] = f"MemTotal: {memory_mib * 1024} kB\n"
    files |= _sys_cpu(machine, cpus) | _sys_node(machine, cpus, memory_mib)
    for gpu, numa in enumerate(machine.gpus):
        files |= _gpu(machine, gpu, numa)
    if not hwloc:
        files = {path: text for path, text in files.items() if not ONLY_HWLOC.fullmatch(f"/{path}")}
    for folder in {(root / path).parent for path in files}:
        folder.mkdir(parents=True, exist_ok=True)
    for path, text in files.items():
        (root / path).write_text(text)
    (root / "sys/class/net").mkdir(parents=True)


def products(machine: Machine) -> str:
    """What nvidia-smi prints of the GPUs."""
    names = machine.products or [PRODUCT] * len(machine.gpus)
    return "".join(f"0000{address(gpu).upper()}, {name}\n" for gpu, name in enumerate(names))


def _sys_cpu(machine: Machine, cpus: dict[int, dict[str, int]]) -> dict[str, str]:
    """Files of /sys/devices/system/cpu."""
    base, files = "sys/devices/system/cpu", {}
    for those in _alike(cpus, lambda place: (place["socket"], place["numa"], place["core"])):
        topology = {"thread_siblings_list": _ranges(those), "core_cpus": _mask(those, cpus)}
        files |= {f"{base}/cpu{cpu}/topology/{name}": text for cpu in those for name, text in topology.items()}
    for those in _alike(cpus, lambda place: (place["socket"],)):
        files |= dict.fromkeys((f"{base}/cpu{cpu}/topology/package_cpus" for cpu in those), _mask(those, cpus))
    for those in _alike(cpus, machine.l3_of) if machine.l3 else ():
        cache = {"level": "3\n", "type": "Unified\n", "size": "32768K\n"}
        cache |= {"shared_cpu_map": _mask(those, cpus), "shared_cpu_list": _ranges(those)}
        files |= {f"{base}/cpu{cpu}/cache/index3/{name}": text for cpu in those for name, text in cache.items()}
    for cpu, place in cpus.items():
        files[f"{base}/cpu{cpu}/topology/core_id"] = f"{place['numa'] * machine.cores + place['core']}\n"
        files[f"{base}/cpu{cpu}/topology/physical_package_id"] = f"{place['socket']}\n"
    return {**files, **{f"{base}/{name}": _ranges(cpus) for name in ("online", "possible", "present")}}


def _alike(cpus: dict[int, dict[str, int]], group: Callable[[dict[str, int]], Any]) -> Iterable[list[int]]:
    found: dict[Any, list[int]] = {}
    for cpu, place in cpus.items():
        found.setdefault(group(place), []).append(cpu)
    return found.values()


def _sys_node(machine: Machine, cpus: dict[int, dict[str, int]], memory_mib: int) -> dict[str, str]:
    own: dict[int, list[int]] = {}
    for cpu, place in cpus.items():
        own.setdefault(machine.node_of(place), []).append(cpu)
    own |= {max(own) + 1 + at: [] for at in range(machine.memory_only)}
    base, files = "sys/devices/system/node", {}
    with_memory = sorted(set(own) - set(machine.without_memory))
    for number, those in own.items():
        size = memory_mib * 1024 // len(with_memory) if number in with_memory else 0
        files |= {
            f"{base}/node{number}/cpulist": _ranges(those),
            f"{base}/node{number}/cpumap": _mask(those, cpus),
            f"{base}/node{number}/meminfo": f"Node {number} MemTotal: {size} kB\nNode {number} MemFree: {size} kB\n",
            f"{base}/node{number}/distance": " ".join("10" if other == number else "20" for other in sorted(own))
            + "\n",
        }
    has = {"online": own, "possible": own, "has_memory": with_memory, "has_cpu": [node for node in own if own[node]]}
    return {**files, **{f"{base}/{name}": _ranges(numbers) for name, numbers in has.items()}}


def _gpu(machine: Machine, gpu: int, numa: int) -> dict[str, str]:
    device, minor = f"sys/bus/pci/devices/{address(gpu)}", (machine.minors or range(len(machine.gpus)))[gpu]
    about = f"Model: \t\t NVIDIA\nIRQ:   \t\t 120\nDevice Minor: \t {minor}\n"
    return {
        f"{device}/vendor": "0x10de\n",
        f"{device}/class": "0x030200\n",
        f"{device}/numa_node": f"{numa}\n",
        f"proc/driver/nvidia/gpus/{address(gpu)}/information": about,
        f"dev/nvidia{minor}": "",
    }


def _ranges(numbers: Iterable[int]) -> str:
    """Numbers as the kernel lists them."""
    parts: list[list[int]] = []
    for number in sorted(numbers):
        if parts and parts[-1][-1] == number - 1:
            parts[-1].append(number)
        else:
            parts.append([number])
    return ",".join(f"{part[0]}-{part[-1]}" if len(part) > 1 else f"{part[0]}" for part in parts) + "\n"


def _mask(cpus: Sequence[int], all_of_them: Iterable[int]) -> str:
    """The kernel's bit mask: groups of eight hexadecimal digits, the highest CPUs first."""
    digits = f"{sum(1 << cpu for cpu in cpus):0{-(-(max(all_of_them) + 1) // 32) * 8}x}"
    return ",".join(digits[at : at + 8] for at in range(0, len(digits), 8)) + "\n"
