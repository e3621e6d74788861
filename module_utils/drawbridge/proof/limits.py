# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Limits of an acceptance run: derived from the hardware, each with its derivation as a printed line."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Union

from .gpu_models import gpu_model
from .measure import Limit, Measure, Missing

ROCE, INFINIBAND = "RoCEv2", "InfiniBand"
OVERHEAD: Mapping[str, int] = {
    # preamble 8, gap 12, Ethernet 14, FCS 4, IPv4 20, UDP 8, BTH 12, ICRC 4
    ROCE: 82,
    # LRH 8, BTH 12, ICRC 4, VCRC 2
    INFINIBAND: 26,
}
"""Bytes that each packet has on the wire besides its payload."""
VLAN_BYTES = 4
MTUS = (256, 512, 1024, 2048, 4096)
"""Sizes of RDMA packets."""
ROCE_HEADERS = 96
"""Bytes of a netdev's MTU that the kernel keeps for headers when it chooses the RDMA MTU (iboe_get_mtu)."""
RAIL_SHARE = 0.97
"""ib_write_bw with messages of 1 MiB; 193.7 of 200 Gb/s are published."""

LEAF_US, SWITCH_US = 5.0, 1.0
"""ib_write_lat through one leaf, a published limit, and the allowance for each further switch."""

TRANSFERS: Mapping[int, float] = {3: 8, 4: 16, 5: 32, 6: 64}
"""PCIe generation -> GT/s of a lane."""
PCIE_PAYLOAD = 256 / (256 + 24)
"""Payload of a PCIe write: 256 bytes and about 24 of headers."""
COPY_SHARE = 0.80
"""Copies between host and GPU: 46.8 to 55.1 GB/s are published over Gen5 x16, of which 57.6 is payload."""

GEMM_SHARE = 0.90
"""Of a published GEMM: 5 % of difference between the GPUs of a node is normal."""

FILE_SYSTEM_GB_S = 2.0
"""GB/s of each node where the intent names no other rate."""
OVERSUBSCRIPTION, MOST_OVERSUBSCRIPTION = "oversubscription", 2.0


@dataclass(frozen=True)
class NoLimit:
    """No limit can be derived: `why` says so in the report. A site may set one, in this unit and direction."""

    why: str
    unit: str
    at_least: bool = True


Derived = Union[Limit, NoLimit]


def number(value: float, digits: int = 1) -> str:
    """Print with at most so many decimals, and at least three below 1: 380.4, 5, 0.025."""
    text = f"{value:.{digits if abs(value) >= 1 else max(3, digits)}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def shown(limit: Derived) -> str:
    """Return the line of a report: `at least 380.4 Gb/s: 0.97 x ...`."""
    if isinstance(limit, NoLimit):
        return f"no limit: {limit.why}"
    return f"at {'least' if limit.at_least else 'most'} {number(limit.value)} {limit.unit}: {limit.why}"


def overridden(limit: Derived, value: float) -> Limit:
    """Replace the value by the site's, in the unit of `limit`. Raises ValueError unless it is positive and finite."""
    if not 0 < value < math.inf:
        raise ValueError(f"a limit must be a positive number, not {value}")
    return Limit(value, limit.unit, limit.at_least, f"the site set it; derived: {shown(limit)}")


def roce_mtu(netdev_bytes: int) -> int:
    """Return the RDMA MTU in bytes that the kernel chooses on a netdev with this MTU. Raises ValueError below 352."""
    fitting = [mtu for mtu in MTUS if mtu + ROCE_HEADERS <= netdev_bytes]
    if not fitting:
        raise ValueError(f"no RDMA packet fits into an MTU of {netdev_bytes}")
    return fitting[-1]


def path_mtu(netdev_bytes: int) -> Limit:
    """Return the bytes of an RDMA packet that two rails must agree on. Raises ValueError below 352."""
    why = f"RDMA's packets on a netdev with an MTU of {netdev_bytes}"
    return Limit(roce_mtu(netdev_bytes), "bytes", True, why)


def wire_share(mtu_bytes: int, fabric: str = ROCE, vlan: bool = False) -> float:
    """Return the payload's share of the line rate with full packets. Raises ValueError for an unknown MTU or fabric."""
    if mtu_bytes not in MTUS or fabric not in OVERHEAD:
        raise ValueError(f"no packets of {mtu_bytes} bytes over {fabric}")
    return mtu_bytes / (mtu_bytes + OVERHEAD[fabric] + (VLAN_BYTES if vlan else 0))


def rail_bandwidth(
    gbps: float, mtu_bytes: int, fabric: str = ROCE, vlan: bool = False, oversubscription: float = 1.0
) -> Limit:
    """Return Gb/s of ib_write_bw between two rails of `gbps`.

    `oversubscription` counts only while all ports of a leaf send through its uplinks at once.
    Raises ValueError for an unknown MTU or fabric.
    """
    share = wire_share(mtu_bytes, fabric, vlan)
    value = RAIL_SHARE * share * gbps
    tag = " with a VLAN tag" if vlan else ""
    packets = f"{mtu_bytes}-byte packets over {fabric}{tag}"
    why = f"{RAIL_SHARE} x {100 * share:.1f} % ({packets}) x {number(gbps)} Gb/s"
    if oversubscription > 1:
        value /= oversubscription
        why += f" / {number(oversubscription, 2)} (oversubscribed leaf)"
    return Limit(value, "Gb/s", True, why)


def rail_latency(switches: int = 1, read: bool = False) -> Limit:
    """Return microseconds of ib_write_lat, or of ib_read_lat, through so many switches: 1 in a leaf, 3 over a spine.

    Raises ValueError without a switch.
    """
    if switches < 1:
        raise ValueError("two rails are at least one switch apart")
    value, why = LEAF_US, f"{number(LEAF_US)} us through one leaf (published limit)"
    if switches > 1:
        value += SWITCH_US * (switches - 1)
        why += f" + {switches - 1} x {number(SWITCH_US)} us (further switches)"
    if read:
        why = f"2 x {number(value)} us (a read goes there and back, {switches} switches on the way)"
        value *= 2
    return Limit(value, "us", False, why)


def pcie_rate(generation: int, width: int) -> float:
    """Return GB/s of one direction of a PCIe link before headers. Raises ValueError for an unknown generation."""
    if generation not in TRANSFERS:
        raise ValueError(f"PCIe generation {generation} is unknown")
    # from generation 6 on, 242 of a flit's 256 bytes carry packets
    coding = 242 / 256 if generation >= 6 else 128 / 130
    return TRANSFERS[generation] * width * coding / 8


def pcie_payload(generation: int, width: int) -> float:
    """Return GB/s of payload of one direction of a PCIe link. Raises ValueError for an unknown generation."""
    return pcie_rate(generation, width) * PCIE_PAYLOAD


def rail_pcie(gbps: float) -> Limit:
    """Return GB/s of payload that the PCIe link of a rail needs, to be compared with `pcie_payload`."""
    return Limit(gbps / 8, "GB/s", True, f"{number(gbps)} Gb/s of the rail / 8")


def host_copy(generation: int, width: int) -> Limit:
    """Return GB/s of copies between host and GPU, each way. Raises ValueError for an unknown PCIe generation."""
    rate = pcie_rate(generation, width)
    link = f"{number(rate)} GB/s (PCIe Gen{generation} x{width})"
    why = f"{COPY_SHARE:.2f} x {100 * PCIE_PAYLOAD:.1f} % (256-byte payloads) x {link}"
    return Limit(COPY_SHARE * pcie_payload(generation, width), "GB/s", True, why)


def gpu_copy(product: str) -> Derived:
    """Return GB/s of copies between the host and the GPU with this product name, each way.

    The model decides the link that it should have: the one that a GPU came up with may be the fault.
    """
    model = gpu_model(product)
    if model is None:
        return unknown_model(product, "GB/s")
    if not model.pcie:
        return NoLimit(f"no copy over the link between CPU and {model.name} is published", "GB/s")
    return host_copy(model.pcie, 16)


def unknown_model(product: str, unit: str) -> NoLimit:
    """Say that the GPU's datasheet is not known."""
    return NoLimit(f"{product or 'this GPU'} is not in the table of GPU models", unit)


def gemm(product: str) -> Derived:
    """Return BF16 TFLOPS of a large GEMM on the GPU with this product name."""
    model = gpu_model(product)
    if model is None:
        return unknown_model(product, "TFLOPS")
    if not model.gemm:
        return NoLimit(f"no GEMM on {model.name} is published", "TFLOPS")
    share = model.gemm / model.bf16
    rate = f"{number(model.bf16)} TFLOPS ({model.name}, dense BF16)"
    why = f"{GEMM_SHARE:.2f} x {100 * share:.1f} % (published GEMM) x {rate}"
    return Limit(GEMM_SHARE * model.gemm, "TFLOPS", True, why)


def gpu_memory(product: str) -> Derived:
    """Return GB/s, read plus write, of copies within the memory of the GPU with this product name."""
    model = gpu_model(product)
    if model is None:
        return unknown_model(product, "GB/s")
    if not model.copied:
        return NoLimit(f"no copy within the memory of {model.name} is published", "GB/s")
    why = f"{model.copied:.2f} x {number(model.memory)} GB/s ({model.name})"
    return Limit(model.copied * model.memory, "GB/s", True, why)


def host_memory(socket_gb_s: float | None, sockets: int) -> Derived:
    """Return GB/s of STREAM's triad on all sockets, from the intent's rate of one socket; None: it has none."""
    if socket_gb_s is None:
        return NoLimit("the intent has no memory bandwidth of a socket", "GB/s")
    why = f"{sockets} sockets x {number(socket_gb_s)} GB/s (intent)"
    return Limit(sockets * socket_gb_s, "GB/s", True, why)


def file_system(node_gb_s: float | None = None, nodes: int = 1) -> Limit:
    """Return the sum in GB/s that so many nodes read, or write, at once; None: the intent names no rate."""
    each = FILE_SYSTEM_GB_S if node_gb_s is None else node_gb_s
    origin = "default" if node_gb_s is None else "intent"
    count = "1 node" if nodes == 1 else f"{nodes} nodes at once"
    return Limit(nodes * each, "GB/s", True, f"{count} x {number(each)} GB/s of each ({origin})")


def oversubscription(leaf: str, node_gbps: float, uplink_gbps: float) -> Measure | Missing:
    """Return what the ports to nodes can send for each 1 that the uplinks carry, from the sums of their speeds."""
    if not uplink_gbps:
        return Missing(OVERSUBSCRIPTION, leaf, "the cabling has no uplinks of this leaf")
    return Measure(OVERSUBSCRIPTION, node_gbps / uplink_gbps, ":1", leaf)


def most_oversubscription() -> Limit:
    """Return the ratio above which Drawbridge warns."""
    why = f"above {number(MOST_OVERSUBSCRIPTION)}:1 jobs over several leaves are slow"
    return Limit(MOST_OVERSUBSCRIPTION, ":1", False, why)


_LINK = "`current_link_speed` and `current_link_width`"
_COPY = f"{_LINK} of the GPU, then IOMMU and NUMA node"
_GPU_MEMORY = "ECC errors, remapped rows and memory clock of the GPU"
_FILES = "the mount, its network path and other load on the servers"
NEXT: Mapping[str, str] = {
    "rail bandwidth": "speed, PCIe width and MTU of both rails, then the cable and errors of the switch ports",
    "rail latency": "the number of switches on the path, CPU frequency and power states, then pauses on the ports",
    "path MTU": "the MTU of both netdevs and of each switch port between them",
    "PCIe": f"{_LINK} of the device, then its slot and riser",
    "GPU memory": _GPU_MEMORY,
    "device_local": _GPU_MEMORY,
    "device_to_device": "the links between the GPUs and the manager of their switch",
    "host_to_device": _COPY,
    "device_to_host": _COPY,
    "copy": _COPY,
    "node bus bandwidth": "state of the links between the GPUs, Fabric Manager and `NVLS` in NCCL's log",
    "bus bandwidth": "`NVLS`, `NET/IB` and `GDRDMA` in NCCL's log, then one rail at a time with `NCCL_TESTS_SPLIT`",
    "GEMM": "clocks, power limit and `clocks_event_reasons.active` of the GPU",
    "memory bandwidth": "missing memory modules, memory speed and NUMA settings of the BIOS",
    "file ": _FILES,
    "read ": _FILES,
    "write ": _FILES,
    "training": "the other measurements of the node, then the script's own log",
    OVERSUBSCRIPTION: "the number and speed of the leaf's uplinks in the cabling",
}
"""Part of a measure's name -> the next things to look at. The first that fits counts."""


@dataclass(frozen=True)
class Finding:
    """A measure beyond its limit."""

    measure: Measure
    limit: Limit

    @property
    def warning(self) -> bool:
        """Whether it only warns: a site may have built its leaves so."""
        return self.measure.name == OVERSUBSCRIPTION

    @property
    def look(self) -> str:
        """The next things to look at."""
        # a path in the name is no quantity
        name = self.measure.name.partition(" of /")[0].casefold()
        fits = (advice for part, advice in NEXT.items() if part.casefold() in name)
        return next(fits, "the same test with another partner")

    @property
    def fact(self) -> str:
        """One sentence: where, value, limit, reason."""
        value, most = self.measure.value, self.limit.value
        # a value that misses by little must not look equal
        digits = next((it for it in range(1, 6) if number(value, it) != number(most, it)), 6)
        side, unit = ("below" if self.limit.at_least else "above"), self.limit.unit
        found = f"{self.measure.where}: {self.measure.name} is {number(value, digits)} {unit}"
        return f"{found}, {side} {number(most, digits)} {unit} ({self.limit.why})"

    @property
    def text(self) -> str:
        """One sentence: where, value, limit, reason, the next things to look at."""
        return f"{self.fact}; look at {self.look}"


def judge(measure: Measure, limit: Derived) -> Finding | None:
    """Compare a measure with its limit; the limit itself passes, and no limit finds nothing.

    Raises ValueError if the units differ.
    """
    if measure.unit != limit.unit:
        raise ValueError(f"{measure.name} is in {measure.unit}, but its limit in {limit.unit}")
    if isinstance(limit, NoLimit):
        return None
    # a value that is no number is within no limit
    within = measure.value >= limit.value if limit.at_least else measure.value <= limit.value
    return None if within else Finding(measure, limit)
