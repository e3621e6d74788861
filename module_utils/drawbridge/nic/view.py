# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What RDMA ports and NCCL of one node need from the intent."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from ..nodes.model import Nodes
from ..nodes.nics import MELLANOX, RAILS, STORAGE, Nics

ECT0 = 2
"""ECN field of a packet whose sender supports marking (RFC 3168). Without it switches drop instead of mark."""


class TrafficClass(Protocol):
    """A traffic class of the fabric."""

    @property
    def priority(self) -> int:
        """Priority, 0 to 7."""
        raise NotImplementedError

    @property
    def dscp(self) -> int:
        """DSCP, 0 to 63."""
        raise NotImplementedError


class SharedClass(TrafficClass, Protocol):
    """A traffic class with a share of the link."""

    @property
    def bandwidth_percent(self) -> int:
        """Share that the class gets when a link is full."""
        raise NotImplementedError


class StorageClass(SharedClass, Protocol):
    """The class of storage traffic."""

    @property
    def lossless(self) -> bool:
        """Whether PFC keeps it lossless."""
        raise NotImplementedError


def nic_qos(
    nodes: Nodes, lossless: SharedClass, cnp: TrafficClass, storage: StorageClass | None, name: str, cable_m: int = 0
) -> list[dict[str, Any]]:
    """The groups of ports of one node, as the module mlnx_qos takes them.

    Rails carry GPU traffic. Storage traffic has NICs of its own, or passes through the rails too. Shares are those of
    the switches: congestion notifications have strict priority, all priorities without a class share the rest.
    """
    build = nodes.class_of(name)
    groups = []
    for nics in build.nics:
        own = nics.purpose == STORAGE
        together = not build.nics_for(STORAGE)
        shares: list[SharedClass] = [] if own and storage else [lossless]
        paused = [] if own and storage else [lossless.priority]
        if storage and (own or together):
            shares.append(storage)
            paused += [storage.priority] if storage.lossless else []
        classes: list[TrafficClass] = [*shares, cnp]
        percent = {it.priority: it.bandwidth_percent for it in shares} | {cnp.priority: 0}
        groups.append(
            {
                "interfaces": list(nics.ports),
                "lossless_priorities": sorted(paused),
                "dscp_priorities": [{"dscp": it.dscp, "priority": it.priority} for it in classes],
                "bandwidth": [{"priority": it, "percent": share} for it, share in sorted(percent.items())],
                "cable_m": cable_m,
                "pci_vendor": nics.vendor,
            }
        )
    return groups


def roce_groups(
    nodes: Nodes,
    lossless: SharedClass,
    cnp: TrafficClass,
    storage: StorageClass | None,
    name: str,
    control: str = "dcqcn",
    rates: Mapping[str, int] | None = None,
) -> list[dict[str, Any]]:
    """The groups of RDMA devices of one node, as the module nic_roce takes them.

    Connections of RDMA-CM, such as those of GPFS, carry the GPU class on rails and the storage class on storage ports.
    NCCL does not use RDMA-CM. Drawbridge sets congestion control on NICs of NVIDIA alone.
    """
    groups = []
    set_rates = {"rates": [{"name": it, "value": value} for it, value in rates.items()]} if rates else {}
    for nics, qos in zip(nodes.class_of(name).nics, nic_qos(nodes, lossless, cnp, storage, name)):
        carried = storage if storage and nics.purpose == STORAGE else lossless
        marks = nics.vendor in ("", MELLANOX)
        groups.append(
            {
                "devices": _devices(nics),
                "tos": carried.dscp << 2 | ECT0,
                **({"cnp_dscp": cnp.dscp, "cnp_priority": cnp.priority} if marks else {}),
                "ecn_priorities": qos["lossless_priorities"] if marks else [],
                "ecn_enabled": control != "off",
                "needs_gid": nics.purpose == RAILS,
                "gid_index": nodes.class_of(name).nccl_gid_index,
                **(set_rates if marks else {}),
            }
        )
    return groups


PARAMETERS = {
    "off": ("ROCE_CC_PRIO_MASK_P1=0",),
    "adaptive_routing": ("ROCE_ADAPTIVE_ROUTING_EN=1", "USER_PROGRAMMABLE_CC=1", "TX_SCHEDULER_LOCALITY_MODE=2"),
}
"""Parameters of NIC firmware that a way of congestion control needs. DCQCN is on in the vendor's."""


def firmware_groups(nodes: Nodes, control: str, name: str) -> list[dict[str, Any]]:
    """The groups of ports with parameters of their firmware, as the module nic_roce takes them."""
    groups = []
    for nics in nodes.class_of(name).nics:
        named = {it.partition("=")[0] for it in nics.firmware}
        needed = PARAMETERS.get(control, ()) if nics.vendor in ("", MELLANOX) else ()
        own = [it for it in needed if it.partition("=")[0] not in named]
        groups.append({"ports": list(nics.ports), "parameters": [*own, *nics.firmware]})
    return [group for group in groups if group["parameters"]]


def unmarked_groups(nodes: Nodes, name: str) -> list[dict[str, Any]]:
    """The groups of RDMA devices of one node whose network is the site's: they are compared, and nothing is set."""
    return [
        {"devices": _devices(nics), "tos": -1, "ecn_priorities": [], "needs_gid": False}
        for nics in nodes.class_of(name).nics
    ]


def _devices(nics: Nics) -> list[dict[str, Any]]:
    each = nics.ports_per_device
    pairs = enumerate(zip(nics.netdevs, nics.rdma_devices))
    return [
        {"netdev": netdev, "rdma": rdma, "ports": list(nics.ports[at * each : (at + 1) * each])}
        for at, (netdev, rdma) in pairs
    ]


def nccl_env(nodes: Nodes, lossless: TrafficClass | None, name: str, control: str = "dcqcn") -> dict[str, str]:
    """NCCL's variables on one node: collectives use the lossless class, if there is one, on all rails.

    NCCL_IB_TC is the whole traffic class octet, DSCP and ECN. In NCCL_IB_HCA the `=` makes names exact; without it
    mlx5_1 also matches mlx5_10. Since 2.21 NCCL finds the RoCE v2 address itself. NCCL_IB_GID_INDEX is for older
    ones: an index depends on the order in which addresses were added. Where rails have leaves of their own, a ring
    that changes its rail passes a spine; NCCL_CROSS_NIC=0 keeps it on one. NCCL's PXN, which such a fabric needs, is on
    by itself.
    """
    build, part = nodes.class_of(name), nodes.range_of(name)
    rails = build.nics_for(RAILS)
    if not rails:
        return {}
    found = {
        "NCCL_IB_HCA": "=" + ",".join(rails.rdma_devices),
        "NCCL_IB_TC": str(lossless.dscp << 2 | ECT0) if lossless else "",
        "NCCL_CROSS_NIC": "0" if part and len(part.leaf_names) > rails.ports_per_device else "",
        "NCCL_SOCKET_IFNAME": f"={build.management_netdev}" if build.management_netdev else "",
        "NCCL_TOPO_FILE": build.nccl_topology_file,
        "NCCL_IB_GID_INDEX": str(build.nccl_gid_index) if build.nccl_gid_index >= 0 else "",
        "NCCL_IB_ADAPTIVE_ROUTING": "1" if control == "adaptive_routing" else "",
    }
    return {key: value for key, value in found.items() if value}


def gpu_direct(nodes: Nodes, name: str) -> bool:
    """Whether the rails of a node shall reach the memory of its GPUs."""
    build = nodes.class_of(name)
    return bool(build.gpus.count and build.rails)


def mtu_groups(nodes: Nodes, mtu_bytes: int, name: str) -> list[dict[str, Any]]:
    """The groups of network devices of one node, as the module nic_link takes them. Ports follow the MTU of their bond.

    Several devices may have addresses of one subnet; then each must answer for its own. With 0 for the MTU, the network
    is the site's: only what the class itself asks for is set.
    """
    groups = nodes.class_of(name).nics
    several = sum(len(nics.netdevs) for nics in groups) > 1
    return [
        {
            "interfaces": list(nics.netdevs),
            "mtu_bytes": mtu_bytes,
            "own_addresses": several and bool(mtu_bytes or nics.route_table),
            "ports": list(nics.ports),
            "pause_off": bool(mtu_bytes),
            "ring_size": nics.ring_size,
            "read_request_bytes": nics.read_request_bytes,
            "relaxed_ordering": nics.relaxed_ordering,
            "interrupts_numa": list(nics.numa) if nics.local_interrupts else [],
            "route_table": nics.route_table,
            "gateway": nics.gateway,
        }
        for nics in groups
    ]
