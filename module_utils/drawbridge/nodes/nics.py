# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The RDMA NICs of a node class."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from ..core import hostlist
from ..core.options import Shape, option

PCI_ID = Shape(
    r"[0-9a-f]{4}:[0-9a-f]{4}",
    "the number of a PCI vendor and device",
    "two times four hexadecimal digits, such as 15b3:1021",
)
PCI = Shape(
    r"[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}[.][0-7]",
    "a PCI address with its domain",
    "the form of lspci -D, such as 0000:18:00.0",
)
FIRMWARE = Shape(
    r"[A-Z][A-Z0-9_]*=[0-9]+",
    "a parameter of firmware with its number",
    "the form NAME=NUMBER of mlxconfig, such as ROCE_ADAPTIVE_ROUTING_EN=1",
)
NETDEV = Shape(
    r"(?!(all|default|[0-9]+)$)[A-Za-z0-9_][A-Za-z0-9._-]{0,14}",
    "the name of a network device",
    "at most 15 letters, digits, dots, dashes and underscores, such as rail0, and not all, default or a number",
)
"""The kernel takes 15 characters. In /proc/sys/net, `all` and `default` mean other devices. systemd refuses numbers."""
RDMA_DEVICE = Shape(
    r"[A-Za-z0-9_][A-Za-z0-9._-]{0,62}",
    "the name of an RDMA device",
    "at most 63 letters, digits, dots, dashes and underscores, such as mlx5_0",
)
MELLANOX, INTEL, BROADCOM = "15b3", "8086", "14e4"
"""PCI vendors whose drivers need their own treatment; Mellanox' is NVIDIA's."""
BLUEFIELDS = ("15b3:a2d2", "15b3:a2d6", "15b3:a2dc", "15b3:a2df")
"""Devices of BlueField, BlueField-2, 3 and 4."""
NIC_MODE = "INTERNAL_CPU_OFFLOAD_ENGINE=1"
"""The parameter that makes a BlueField a NIC of its host. In DPU mode, the default, its Arm cores own the ports."""
RAILS, STORAGE = "rails", "storage"
"""Purposes of NICs."""


@dataclass(frozen=True)
class Nics:
    """NICs of a node with one purpose, one network device a port."""

    netdev: str = option("hostlist of the network devices, in rail order", hosts=NETDEV)
    rdma: str = option("hostlist of the RDMA devices, in rail order", hosts=RDMA_DEVICE)
    numa: tuple[int, ...] = option("NUMA node of each network device, in rail order", low=0, high=63)
    purpose: str = option("rails (NCCL and the RDMA plugin) or storage", RAILS, choices=(RAILS, STORAGE))
    device: str = option(
        "PCI vendor and device of the ports by `lspci -n`, such as 15b3:1021 (empty: not compared)", "", pattern=PCI_ID
    )
    gbps: int = option("line rate of each port in Gb/s, such as 400 (0: not compared)", 0, low=0, high=3200)
    members: str = option(
        "hostlist of the ports of all bonds in netdev, bond by bond (empty: the devices are ports)", "", hosts=NETDEV
    )
    pci: tuple[str, ...] = option(
        "PCI address of each port, such as 0000:18:00.0, in the order of the ports",
        (),
        pattern=PCI,
    )
    ring_size: int = option("entries of each port's receive and send rings (0: the driver's)", 0, low=0, high=65536)
    read_request_bytes: int = option(
        "bytes that one PCIe read of each port asks for: 128, 256, 512, 1024, 2048 or 4096 (0: the system's)",
        0,
        low=0,
        high=4096,
    )
    relaxed_ordering: str = option(
        "whether PCIe writes of each port may pass each other (empty: the system's)",
        "",
        choices=("", "disabled", "enabled"),
    )
    local_interrupts: bool = option("true: CPUs of its NUMA node alone serve each port's interrupts", False)
    route_table: int = option(
        "routing table of the first device, and priority of its rule: packets from its address leave through it. The"
        " others have the next numbers (0: no tables)",
        0,
        low=0,
        high=32000,
    )
    gateway: str = option(
        "which address of each device's subnet is its gateway, in the device's table (empty: none)",
        "",
        choices=("", "first", "last"),
    )
    firmware: tuple[str, ...] = option(
        "parameters of the NICs' firmware as mlxconfig takes them, such as ATS_ENABLED=0; each run compares them",
        (),
        pattern=FIRMWARE,
    )
    name_rails: bool = option("true: systemd names the ports at pci as netdev (or members) does", False)

    @cached_property
    def netdevs(self) -> tuple[str, ...]:
        """Network devices in rail order."""
        return tuple(hostlist.expand(self.netdev))

    @cached_property
    def rdma_devices(self) -> tuple[str, ...]:
        """RDMA devices in rail order."""
        return tuple(hostlist.expand(self.rdma))

    @property
    def vendor(self) -> str:
        """PCI vendor of the ports; empty if the intent does not say."""
        return self.device.partition(":")[0]

    @cached_property
    def ports(self) -> tuple[str, ...]:
        """Ports of the NICs, on which QoS is set."""
        return tuple(hostlist.expand(self.members)) if self.members else self.netdevs

    @property
    def ports_per_device(self) -> int:
        """Members of each bond; 1 without bonds."""
        return max(1, len(self.ports) // len(self.netdevs))
