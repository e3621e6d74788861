# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Views of switches and NICs; views.py lists them with the others."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ..core import hostlist
from ..fabric.model import DCQCN, Fabric
from ..fabric.storage_reach import carries_storage
from ..fabric.view import ports_of_nodes, switch_profile, switches_of_nodes
from ..nic.files_view import boot_files, nccl_blocks
from ..nic.view import firmware_groups, gpu_direct, mtu_groups, nccl_env, nic_qos, roce_groups, unmarked_groups
from ..nodes.model import Nodes

Json = dict[str, Any]


def switch(fabric: Fabric, nodes: Nodes, name: str, chosen: str = "") -> Json:
    """The traffic classes on one switch: on all its ports, or only on those that are cabled to the chosen nodes.

    O(drawbridge.drawbridge.switch_roce#module:profile): ports expanded, thresholds in bytes, times in milliseconds. A
    switch that storage traffic can't pass, by C(drawbridge_fabric.cabling), has no class for it.
    """
    only = ports_of_nodes(fabric, nodes, name, hostlist.expand(chosen)) if chosen else None
    profile = switch_profile(fabric, name, only)
    if profile.storage and not carries_storage(fabric, nodes, name):
        profile = replace(profile, storage=None)
    return profile.as_dict()


def nic(fabric: Fabric | None, nodes: Nodes, name: str) -> Json:
    """The RDMA ports of one node, and the lossless class on them.

    C(qos), C(mtu) and C(roce), options of the modules C(mlnx_qos), C(nic_link) and C(nic_roce). C(nccl), names and
    values of NCCL's variables. C(blocks) and C(files) as M(drawbridge.drawbridge.host_files) takes them: NCCL's
    configuration; the settings for a boot, systemd's C(.link) files, and drop-ins for the ports' device units. Without
    C(drawbridge_fabric), classes and MTU are the site's, and C(qos) has no groups.
    """
    control = fabric.congestion_control if fabric else DCQCN
    qos = nic_qos(nodes, fabric.roce, fabric.cnp, fabric.storage, name, fabric.host_cable_m) if fabric else []
    mtu = mtu_groups(nodes, fabric.host_mtu_bytes if fabric else 0, name)
    roce = _marks(fabric, nodes, name) if fabric else unmarked_groups(nodes, name)
    nccl = nccl_env(nodes, fabric.roce if fabric else None, name, control)
    return {
        "qos": {"groups": qos, "slurm_node": name},
        "mtu": {"groups": mtu, "slurm_node": name},
        "roce": {
            "groups": roce,
            "firmware": firmware_groups(nodes, control, name),
            "gpu_direct": gpu_direct(nodes, name),
            "topology_file": nccl.get("NCCL_TOPO_FILE", ""),
        },
        "nccl": nccl,
        "blocks": nccl_blocks(nccl, nodes.class_of(name).gpus.made_by.collectives),
        "files": boot_files(nodes, name, {"qos": qos, "mtu": mtu, "roce": roce}),
    }


def _marks(fabric: Fabric, nodes: Nodes, name: str) -> list[Json]:
    control, rates = fabric.congestion_control, fabric.dcqcn.rates
    return roce_groups(nodes, fabric.roce, fabric.cnp, fabric.storage, name, control, rates)


def node_switches(fabric: Fabric | None, nodes: Nodes, chosen: str) -> list[str]:
    """Switches that nodes are cabled to: their leaves, and those of their storage ports.

    Names of the switches, each once; none of a site without C(drawbridge_fabric).
    """
    return switches_of_nodes(fabric, nodes, hostlist.expand(str(chosen))) if fabric else []
